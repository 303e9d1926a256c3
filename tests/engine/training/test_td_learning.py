"""Learning by playing: the error falls, and the seed decides everything."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import WIN, boards_of
from fibsbot.engine.network_evaluator import NetworkEvaluator
from fibsbot.engine.training.td_network import TDEvaluator, TDNetwork, learn, new_self_play_buffers, new_td_network
from fibsbot.position import Position
from tests.engine.toys import solved, toy_network


def error_in_races(student: TDNetwork) -> float:
    """Return the mean error of the chance to win where both bear off, which the tables know."""
    rng = np.random.default_rng(1)
    homes = rng.multinomial(8, [1 / 6] * 6, size=(500, 2))
    boards = boards_of(Position.from_sides([*own, *[0] * 19], [*theirs, *[0] * 19]) for own, theirs in homes.tolist())
    known = NetworkEvaluator("tables", toy_network(), solved(2).columns).evaluate(boards)[:, WIN]
    said = TDEvaluator("student", student).evaluate(boards)[:, WIN]
    return float(np.mean(np.abs(known - said)))


@pytest.mark.slow
def test_who_plays_itself_learns() -> None:
    student = new_td_network(8, 1)
    table = new_self_play_buffers(student)
    before = error_in_races(student)
    first = learn(student, table, 100, 1, 0.1)
    for seed in range(2, 10):
        learn(student, table, 100, seed, 0.1)
    last = learn(student, table, 100, 10, 0.05)
    assert (100, 100) == (first.games, last.games)
    assert last.turns < 0.8 * first.turns, "games become shorter"
    assert last.error < first.error, "neighbours are worth the same"
    assert error_in_races(student) < 0.7 * before
    assert 0 < last.gammons < 60


@pytest.mark.slow
def test_the_same_seed_gives_the_same_network() -> None:
    def taught(seed: int) -> bytes:
        student = new_td_network(4, 1)
        learn(student, new_self_play_buffers(student), 5, seed, 0.1)
        return b"".join(weights.tobytes() for weights in student)

    assert taught(1) == taught(1)
    assert taught(1) != taught(2)
