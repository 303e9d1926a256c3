"""Training labels for the plays of one decision, compared by a 2-ply lookahead.

A play is chosen by the differences between the positions that the plays of a roll lead to, so these are labelled
together. Games are played as in `labels`; in each decision with several plays that are close at 0-ply, these are
labelled by a 1-ply lookahead. Where that prefers another play, some decisions are labelled by a 2-ply lookahead, which
costs about 1,300 evaluations a play.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from attrs import field, frozen
from attrs.validators import ge, le

from fibsbot.engine.arrays import (
    CELLS,
    CHANCE_OF_ROLL,
    OUTCOMES,
    ROLL_COUNT,
    Boards,
    Floats32,
    Outcomes,
    cubeless_equity,
    other_side,
    swapped,
)
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.generator import successors
from fibsbot.engine.network import NetworkError, load_arrays
from fibsbot.engine.network_evaluator import NetworkEvaluator, is_settled
from fibsbot.engine.pruner import PlayFilter, Pruner, PrunerBuffers, new_pruner_buffers
from fibsbot.engine.training.labels import FIVE, Chunk, SelfPlayGame, content_of, make_chunks, one_ply
from fibsbot.engine.training.optimizer import Plays
from fibsbot.engine.training.random_positions import Variety
from fibsbot.match import ROLLS
from fibsbot.workers.pool import WorkerPool

_GAMES_AT_ONCE: Final = 32


@frozen
class Comparison:
    """Which plays of a decision are labelled, and how deeply."""

    close: PlayFilter = PlayFilter(margin=0.08, most=5)  # noqa: RUF009 - frozen
    """The plays that are labelled, by their values at 0-ply."""
    deeper: float = field(default=0.15, validator=[ge(0.0), le(1.0)])
    """Share labelled at 2-ply of the decisions in which 0-ply and 1-ply prefer different plays."""
    near: float = field(default=0.06, validator=[ge(0.0), le(10.0)])
    """The plays of these that are labelled: those at most this much below the best one at 1-ply."""
    first: PlayFilter = PlayFilter(margin=0.2, most=6)  # noqa: RUF009 - frozen
    """The replies of the first roll that are looked at."""
    second: PlayFilter = PlayFilter(margin=0.15, most=4)  # noqa: RUF009 - frozen
    """The plays of the second roll that are looked at."""


@frozen(eq=False)
class DecisionLabeller:
    """The networks and settings by which a worker plays games and labels their decisions."""

    evaluator: NetworkEvaluator
    pruner: Pruner
    columns: TableArrays
    comparison: Comparison
    variety: Variety


class DecisionLabels(NamedTuple):
    """Labelled positions. The field names are the keys of the files."""

    boards: Boards
    """Shape (n, 26), seen by the player on roll."""
    ahead: Floats32
    """The five chances by lookahead, shape (n, OUTPUTS)."""
    plies: npt.NDArray[np.int8]
    """Of the lookahead, shape (n,)."""
    decision: npt.NDArray[np.int32]
    """The number of the decision whose plays lead to the position, ascending, shape (n,)."""

    @classmethod
    def concatenated(cls, parts: list[Self]) -> Self:
        """Return the labels of all parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def two_ply(
    evaluator: NetworkEvaluator,
    buffers: PrunerBuffers,
    boards: Boards,
    first: PlayFilter,
    second: PlayFilter,
) -> Outcomes:
    """Return the chances by a 2-ply lookahead, shape (n, 6) for boards of shape (n, 26). The games must not be over."""
    left = one_ply(evaluator, buffers, boards, first).left.reshape(-1, CELLS)
    theirs = evaluator.evaluate(left)
    unsettled = ~_is_settled(evaluator, left)
    theirs[unsettled] = one_ply(evaluator, buffers, left[unsettled], second).outcomes
    each = other_side(theirs).reshape(-1, ROLL_COUNT, OUTCOMES)
    return np.asarray((each * CHANCE_OF_ROLL[:, None]).sum(axis=1).astype(np.float32))


def _is_settled(evaluator: NetworkEvaluator, boards: Boards) -> npt.NDArray[np.bool_]:
    """Return for each board whether the network for contact is not needed to evaluate it."""
    return is_settled(boards, evaluator.columns, races=evaluator.race is not None)


@frozen(eq=False)
class _Decision:
    """The close plays of a roll in a game."""

    game: SelfPlayGame
    boards: Boards
    """After each play, seen by the opponent, the best at 0-ply first."""
    outcomes: Outcomes
    """At 0-ply, later deeper."""
    unsettled: npt.NDArray[np.bool_]

    def best(self) -> int:
        return int(np.argmin(cubeless_equity(self.outcomes)))


def play_decisions(teacher: DecisionLabeller, count: int, seed: int) -> DecisionLabels:
    """Play games and label decisions until at least `count` positions after plays are labelled."""
    rng = np.random.default_rng(seed)
    buffers = new_pruner_buffers(teacher.pruner)
    games = [
        SelfPlayGame(teacher.columns, teacher.variety, np.empty((0, CELLS), np.int8), rng)
        for _ in range(_GAMES_AT_ONCE)
    ]
    parts: list[DecisionLabels] = []
    number, found = 0, 0
    while found < count:
        decisions = _decisions(teacher, games)
        _look_ahead(teacher, buffers, decisions)
        for one in decisions:
            if one.best() and rng.random() < teacher.comparison.deeper:
                parts.append(_deeper(teacher, buffers, one, number))
            else:
                parts.append(_labels(one.boards[one.unsettled], one.outcomes[one.unsettled], 1, number))
            one.game.board = one.boards[one.best()]
            found += len(one.boards)
            number += 1
        for game in games:
            if game.is_over() or _is_settled(teacher.evaluator, game.board[None])[0]:
                game.begin()
    return DecisionLabels.concatenated(parts)


def _decisions(teacher: DecisionLabeller, games: list[SelfPlayGame]) -> list[_Decision]:
    """Roll in all games; return the decisions with close plays. In the other games, play."""
    close = teacher.comparison.close
    decisions = []
    plays: list[tuple[SelfPlayGame, Boards]] = []
    for game in games:
        roll, strays = game.roll()
        boards = swapped(successors(game.board, *ROLLS[roll]))
        if strays:
            game.board = boards[game.random(len(boards))]
        else:
            plays.append((game, boards))
    every = teacher.evaluator.evaluate(
        np.concatenate([np.empty((0, CELLS), np.int8), *(reached for _, reached in plays)])
    )
    place = 0
    for game, boards in plays:
        outcomes = every[place : place + len(boards)]
        place += len(boards)
        theirs = cubeless_equity(outcomes)
        order = np.argsort(theirs, kind="stable")[: close.most]
        order = order[theirs[order] <= theirs[order[0]] + close.margin]
        game.board = boards[order[0]]
        unsettled = ~_is_settled(teacher.evaluator, boards[order])
        if len(order) > 1 and unsettled.any():
            decisions.append(_Decision(game, boards[order], outcomes[order], unsettled))
    return decisions


def _look_ahead(teacher: DecisionLabeller, buffers: PrunerBuffers, decisions: list[_Decision]) -> None:
    """Replace the outcomes of decisions by those at 1-ply."""
    if decisions:
        boards = np.concatenate([one.boards[one.unsettled] for one in decisions])
        ahead = one_ply(teacher.evaluator, buffers, boards, teacher.comparison.first).outcomes
        place = 0
        for one in decisions:
            rows = int(one.unsettled.sum())
            one.outcomes[one.unsettled] = ahead[place : place + rows]
            place += rows


def _deeper(teacher: DecisionLabeller, buffers: PrunerBuffers, one: _Decision, number: int) -> DecisionLabels:
    """Return labels of the best plays of a decision at 2-ply, which replace the outcomes."""
    comparison = teacher.comparison
    theirs = cubeless_equity(one.outcomes)
    near = one.unsettled & (theirs <= theirs.min() + comparison.near)
    near[0] = one.unsettled[0]
    one.outcomes[near] = two_ply(teacher.evaluator, buffers, one.boards[near], comparison.first, comparison.second)
    return _labels(one.boards[near], one.outcomes[near], 2, number)


def _labels(boards: Boards, outcomes: Outcomes, plies: int, decision: int) -> DecisionLabels:
    return DecisionLabels(
        boards,
        outcomes[:, FIVE].astype(np.float32),
        np.full(len(boards), plies, np.int8),
        np.full(len(boards), decision, np.int32),
    )


def label_decisions(teacher: DecisionLabeller, chunks: Sequence[Chunk], pool: WorkerPool) -> Iterator[int]:
    """Have the missing chunks made by workers, as `labels.label_all` does."""
    return make_chunks(make_decision_labels, teacher, chunks, pool)


def make_decision_labels(teacher: DecisionLabeller, count_and_seed: tuple[int, int]) -> bytes:
    """Return the content of a file of labels, in a worker."""
    return content_of(play_decisions(teacher, *count_and_seed)._asdict())


def read_plays(paths: Sequence[Path]) -> Plays:
    """Return the labels of some chunks as a fit takes them.

    Raises NetworkError if a file is invalid, OSError if it is missing.
    """
    parts = []
    for path in paths:
        arrays = load_arrays(path)
        if set(arrays) != {*DecisionLabels._fields}:
            raise NetworkError(f"{path}: expected labels of decisions, found something else")
        labels = DecisionLabels(**arrays)
        _, counts = np.unique(labels.decision, return_counts=True)
        parts.append(Plays(labels.boards, labels.ahead, counts.astype(np.int32)))
    return Plays(*map(np.concatenate, zip(*parts, strict=True)))
