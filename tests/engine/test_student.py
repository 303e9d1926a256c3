"""The student: what it says, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.bearoff import compute
from fibsbot.engine.boards import boards_of
from fibsbot.engine.evaluator import NetworkEvaluator, StudentEvaluator
from fibsbot.engine.inputs import encode_all
from fibsbot.engine.outcomes import WIN
from fibsbot.engine.student import CHANCES, Student, new_desk, new_student, value, write_ending
from fibsbot.engine.training.td import learn, new_table
from fibsbot.position import CHECKERS, Position
from tests.engine.toys import board_of, toy_network
from tests.strategies_positions import positions

STUDENT = new_student(6, 1)
DESK = new_desk(STUDENT)


@st.composite
def lost(draw: st.DrawFn) -> tuple[Position, list[int]]:
    """A game that is over, seen by who has lost, and the points of the checkers that are left."""
    points = draw(st.lists(st.integers(1, 25), min_size=1, max_size=CHECKERS))
    cells = [0] * 26
    for point in points:
        cells[point] += 1
    return Position(cells), points


@given(lost())
def test_what_is_over_is_worth_exactly_what_was_lost(game: tuple[Position, list[int]]) -> None:
    position, points = game
    gammon = len(points) == CHECKERS
    backgammon = gammon and max(points) > 18
    assert -(1 + gammon + backgammon) == value(STUDENT, DESK, board_of(position))
    assert [0, 0, 0, gammon, backgammon] == DESK.chances.tolist()


@given(positions())
def test_what_is_not_over_is_no_ending(position: Position) -> None:
    chances = np.full(CHANCES, 9, np.float32)
    assert not write_ending(board_of(position), chances)
    assert (chances == 9).all()


@given(positions())
def test_chances_are_what_the_weights_say_in_their_order(position: Position) -> None:
    student = new_student(9, 5)
    student.offset[:] = (0, 1, 1, 1, 1)
    desk = new_desk(student)
    equity = value(student, desk, board_of(position))
    hidden = encode_all(boards_of([position]))[0].astype(float) @ student.inward + student.threshold
    said = 1 / (1 + np.exp(-(student.outward @ (hidden / (1 + abs(hidden))) + student.offset)))
    win, gammon, lose_gammon = said[0], min(said[1], said[0]), min(said[3], 1 - said[0])
    expected = [win, gammon, min(said[2], gammon), lose_gammon, min(said[4], lose_gammon)]
    assert expected == pytest.approx(desk.chances.tolist(), abs=1e-4)
    assert 2 * win - 1 + sum(expected[1:3]) - sum(expected[3:]) == pytest.approx(equity, abs=1e-4)


def error_in_races(student: Student) -> float:
    """Return the mean error of the chance to win where both bear off, which the tables know."""
    rng = np.random.default_rng(1)
    homes = rng.multinomial(8, [1 / 6] * 6, size=(500, 2))
    boards = boards_of(Position.from_sides([*own, *[0] * 19], [*theirs, *[0] * 19]) for own, theirs in homes.tolist())
    known = NetworkEvaluator("tables", toy_network(), compute(2, lambda _: None).columns).evaluate(boards)[:, WIN]
    said = StudentEvaluator("student", student).evaluate(boards)[:, WIN]
    return float(np.mean(np.abs(known - said)))


@pytest.mark.slow
def test_who_plays_itself_learns() -> None:
    student = new_student(8, 1)
    table = new_table(student)
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


def test_the_same_seed_makes_the_same_student() -> None:
    def taught(seed: int) -> bytes:
        student = new_student(4, 1)
        learn(student, new_table(student), 5, seed, 0.1)
        return b"".join(weights.tobytes() for weights in student)

    assert taught(1) == taught(1)
    assert taught(1) != taught(2)
