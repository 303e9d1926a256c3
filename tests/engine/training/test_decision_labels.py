"""Labels of decisions: the plays of a roll together, one roll ahead and some two."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest
from attrs import evolve

from fibsbot.engine.arrays import CHANCE_OF_ROLL, boards_of, cubeless_equity, other_side
from fibsbot.engine.network_evaluator import NetworkEvaluator, is_settled
from fibsbot.engine.pruner import PlayFilter, new_pruner_buffers
from fibsbot.engine.training.decision_labels import (
    Comparison,
    DecisionLabeller,
    DecisionLabels,
    label_decisions,
    play_decisions,
    read_plays,
    two_ply,
)
from fibsbot.engine.training.labels import FIVE, Chunk, one_ply
from fibsbot.engine.training.random_positions import Variety
from fibsbot.position import Position
from fibsbot.workers.pool import InProcessPool, LocalPool
from tests.engine.toys import solved, some_positions, toy_network, toy_pruner, toy_race

FIRST: Final = PlayFilter(margin=0.3, most=3)
SECOND: Final = PlayFilter(margin=0.2, most=2)
BUFFERS: Final = new_pruner_buffers(toy_pruner())


@pytest.fixture(scope="module")
def teacher() -> DecisionLabeller:
    """A toy that knows some bear-off tables, and whose decisions are often labelled two rolls ahead."""
    columns = solved(2).columns
    evaluator = NetworkEvaluator("toy", toy_network(), columns, toy_race())
    comparison = Comparison(PlayFilter(margin=0.5, most=4), deeper=0.5, near=0.1, first=FIRST, second=SECOND)
    return DecisionLabeller(evaluator, toy_pruner(), columns, comparison, Variety())


@pytest.fixture(scope="module")
def labels(teacher: DecisionLabeller) -> DecisionLabels:
    """Labels of some decisions."""
    return play_decisions(teacher, 150, 1)


def test_two_rolls_ahead_is_the_mean_of_one_roll_ahead_after_the_best_plays(teacher: DecisionLabeller) -> None:
    evaluator = teacher.evaluator
    late = Position.from_sides(own=[0] * 12 + [3] + [0] * 12, opponent=[0, 0, 2] + [0] * 22)  # becomes a race
    boards = boards_of([*some_positions(6, 2), late])
    found = two_ply(evaluator, BUFFERS, boards, FIRST, SECOND)
    left = one_ply(evaluator, BUFFERS, boards, FIRST).left
    settled = 0
    for row, after in zip(found, left, strict=True):
        mean = np.zeros(6)
        for chance, board in zip(CHANCE_OF_ROLL, after[:, None], strict=True):
            if is_settled(board, evaluator.columns, races=True)[0]:
                theirs = evaluator.evaluate(board)
                settled += 1
            else:
                theirs = one_ply(evaluator, BUFFERS, board, SECOND).outcomes
            mean += chance * other_side(theirs)[0]
        assert mean.tolist() == pytest.approx(row.tolist(), abs=1e-5)
    assert 0 < settled < 7 * 21


@pytest.mark.slow
def test_labels_are_the_lookahead_of_so_many_rolls(teacher: DecisionLabeller, labels: DecisionLabels) -> None:
    assert {1, 2} == set(labels.plies.tolist())
    two = labels.plies == 2
    ahead = two_ply(teacher.evaluator, BUFFERS, labels.boards[two], FIRST, SECOND)
    assert ahead[:, FIVE] == pytest.approx(labels.ahead[two], abs=1e-5)
    ahead = one_ply(teacher.evaluator, BUFFERS, labels.boards[~two], FIRST).outcomes
    assert ahead[:, FIVE] == pytest.approx(labels.ahead[~two], abs=1e-5)
    assert not is_settled(labels.boards, teacher.columns, races=True).any()


@pytest.mark.slow
def test_the_plays_of_a_decision_are_close_ones_of_one_roll(teacher: DecisionLabeller, labels: DecisionLabels) -> None:
    assert 120 <= len(labels.decision) < 300
    assert (np.diff(labels.decision) >= 0).all()
    theirs = cubeless_equity(teacher.evaluator.evaluate(labels.boards))
    for number in range(labels.decision.max() + 1):
        rows = np.flatnonzero(labels.decision == number)
        assert len(rows) <= 4
        assert len(rows) == len(np.unique(labels.boards[rows], axis=0))
        assert (np.diff(rows) == 1).all()
        assert np.ptp(theirs[rows]) <= 0.5
        opponents = np.minimum(labels.boards[rows], 0)  # of the mover: the boards are seen by the other side
        own = np.maximum(labels.boards[rows], 0)
        assert np.ptp(own[:, :-1].sum(axis=1)) <= 4, "each play hits some checkers"
        assert np.ptp((opponents * np.arange(26)).sum(axis=1)) <= 24, "the pips of one roll"


@pytest.mark.slow
@pytest.mark.parametrize("deeper", [0.0, 1.0])
def test_only_where_one_roll_prefers_another_play_two_are_looked_ahead(
    teacher: DecisionLabeller, deeper: float
) -> None:
    other = evolve(teacher, comparison=evolve(teacher.comparison, deeper=deeper))
    labels = play_decisions(other, 60, 3)
    two = np.unique(labels.decision[labels.plies == 2])
    theirs = cubeless_equity(teacher.evaluator.evaluate(labels.boards))
    ahead = labels.ahead @ np.array([2, 1, 1, -1, -1])
    agreed = 0
    for number in range(labels.decision.max() + 1):
        rows = labels.decision == number
        if number not in two and rows.any():
            agreed += int(np.argmin(theirs[rows]) == np.argmin(ahead[rows]))
    assert bool(len(two)) == bool(deeper)
    assert (agreed == len(np.unique(labels.decision)) - len(two)) == bool(deeper)


@pytest.mark.slow
def test_one_process_and_two_make_the_same_files(teacher: DecisionLabeller, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, pool in ((one, InProcessPool()), (two, LocalPool(2))):
        folder.mkdir()
        chunks = [Chunk(folder / f"{number}.npz", 30, 100 + number) for number in range(3)]
        assert [30] * 3 == list(label_decisions(teacher, chunks, pool))
        assert [] == list(label_decisions(teacher, chunks, pool)), "what is there is not made again"
    assert ["0.npz", "1.npz", "2.npz"] == sorted(path.name for path in one.iterdir())
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes()


@pytest.mark.slow
def test_plays_of_several_files_are_read_with_the_size_of_each_decision(
    teacher: DecisionLabeller, tmp_path: Path
) -> None:
    chunks = [Chunk(tmp_path / f"{number}.npz", 20, number) for number in range(2)]
    list(label_decisions(teacher, chunks, InProcessPool()))
    plays = read_plays([it.path for it in chunks])
    made = [play_decisions(teacher, 20, number) for number in range(2)]
    assert (np.concatenate([it.boards for it in made]) == plays.boards).all()
    assert (np.concatenate([it.ahead for it in made]) == plays.targets).all()
    sizes = [(it.decision == number).sum() for it in made for number in np.unique(it.decision)]
    assert sizes == plays.counts.tolist()
