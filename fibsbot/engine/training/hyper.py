"""Hyper-backgammon solved without a cube: how each position ends if both sides play best.

A side has three checkers on 26 places, which are 3,276 arrangements: 8.0 million positions are possible. They are
visited in the order of the arrangement that is farther from the end, so that in one pass everything is right but for
hits and lost rolls. Passes that look for the best plays alternate with faster ones that go on with these plays
(modified policy iteration, Puterman and Shin 1978), until no value changes by more than a tolerance. The chances of
each result follow from the plays.

The table is kept in the folder of the bear-off tables (80 MB); solving takes 1 GB of memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import ArrayType, Floats32, Int64s, IntMatrix32, IntMatrix64, IntVector32, Matrix32, Vector32
from fibsbot.engine.bearoff.storage import cache_folder
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network import write_whole
from fibsbot.engine.rulesets.parameters import SIDE, State

Int16s: TypeAlias = Annotated[npt.NDArray[np.int16], ArrayType("int16", 1)]
UInt16s: TypeAlias = Annotated[npt.NDArray[np.uint16], ArrayType("uint16", 2)]

HAND: Final = 25
SIDES: Final = 3276
"""Arrangements of three checkers on 26 places."""
TOLERANCE: Final = 1e-5
"""Points; a pass that changes no value by more is the last one."""
CHANCES: Final = 5
"""Chances of a position: to win, to win a gammon, a backgammon, to lose a gammon, a backgammon."""
ROLLS: Final = 21
SCALE: Final = 65535
"""A chance of 1 in the table."""
_WAYS: Final = 36
_MOST_PASSES: Final = 100
_AT_ONCE: Final = 100_000
"""Positions between two looks whether the user has interrupted."""
_NO_PLAY: Final = -9
"""The result of a number that cannot be played."""


class Positions(NamedTuple):
    """The numbering of the positions, in which neither side has borne off all."""

    triples: IntMatrix64
    """The arrangements, shape (SIDES, 3), those nearest to the end first."""
    arrangements: Int16s
    """The number of an arrangement by three places in any order, as digits of base 26."""
    numbers: IntVector32
    """The number of a position by those of the player's arrangement, times SIDES, and of the opponent's; else -1."""
    pairs: IntMatrix32
    """Both arrangements of each position, shape (positions, 2)."""


class Solver(NamedTuple):
    """Values, plays and working memory."""

    positions: Positions
    values: Vector32
    """What the player who is to roll can expect in each position, in points."""
    replies: IntMatrix32
    """Where each roll leads: the number of the position that the opponent gets, or the points won, negative."""
    boards: IntMatrix64
    """Boards within a roll, both sides' places in a row; then rows for the search of doubles."""


class ExactTable(NamedTuple):
    """The chances of all positions."""

    arrangements: Int16s
    numbers: IntVector32
    chances: UInt16s
    """Shape (positions, CHANCES), as shares of SCALE."""


NO_TABLE: Final = ExactTable(np.zeros(1, np.int16), np.zeros(1, np.int32), np.zeros((1, 1), np.uint16))
"""In place of a table where none is needed."""


def new_positions(limit: int = SIDES) -> Positions:
    """Return the numbering of the positions with arrangements below a limit."""
    triples = sorted(combinations_with_replacement(range(HAND, -1, -1), 3), key=lambda places: (sum(places), places))
    arrangements = np.zeros(26**3, np.int16)
    for number, triple in enumerate(triples):
        for a, b, c in {(triple[i], triple[j], triple[3 - i - j]) for i in range(3) for j in range(3) if i != j}:
            arrangements[(a * 26 + b) * 26 + c] = number
    places = np.array(triples, np.int64)
    numbers, pairs = np.full(SIDES * SIDES, -1, np.int32), np.zeros((limit * limit, 2), np.int32)
    count = _number_positions(places, limit, numbers, pairs)
    return Positions(places, arrangements, numbers, pairs[:count].copy())


def new_solver(positions: Positions) -> Solver:
    """Return a solver that knows no values yet."""
    count = len(positions.pairs)
    return Solver(
        positions,
        values=np.zeros(count, np.float32),
        replies=np.zeros((count, ROLLS), np.int32),
        boards=np.zeros((7, 6), np.int64),
    )


def solve(solver: Solver) -> Iterator[float]:
    """Find all values; yield the largest change after each search for the best plays."""
    count = len(solver.values)
    change = np.zeros(1, np.float32)
    for _ in range(_MOST_PASSES):
        largest = 0.0
        for first in range(0, count, _AT_ONCE):
            find_plays(solver, first, min(first + _AT_ONCE, count), change)
            largest = max(largest, float(change[0]))
        yield largest
        if largest <= TOLERANCE:
            return
        for _ in range(_MOST_PASSES):
            follow_plays(solver, change)
            if change[0] <= TOLERANCE:
                break


def chances_of(solver: Solver) -> Floats32:
    """Return the chances of each position by the plays that a solver has found."""
    chances = np.zeros((len(solver.values), CHANCES), np.float32)
    change = np.ones(1, np.float32)
    for _ in range(_MOST_PASSES):
        find_chances(solver, chances, change)
        if change[0] <= TOLERANCE:
            break
    return chances


def solve_all() -> Iterator[float]:
    """Make the table unless the cache has it; yield the largest change after each search for the best plays.

    A solver that was killed goes on with its values.
    """
    path = _path()
    if path.exists():
        return
    unfinished = path.with_name("hyper.values")
    solver = new_solver(new_positions())
    if unfinished.exists() and unfinished.stat().st_size == solver.values.nbytes:
        solver.values[:] = np.fromfile(unfinished, np.float32)
    path.parent.mkdir(parents=True, exist_ok=True)
    for change in solve(solver):
        write_whole(unfinished, solver.values.tobytes())
        yield change
    write_whole(path, np.round(chances_of(solver) * SCALE).astype(np.uint16).tobytes())
    unfinished.unlink()


def exact_table() -> ExactTable:
    """Return the table, made first if the cache has none."""
    for _ in solve_all():
        pass
    positions = new_positions()
    chances = np.fromfile(_path(), np.uint16).reshape(len(positions.pairs), CHANCES)
    return ExactTable(positions.arrangements, positions.numbers, chances)


def _path() -> Path:
    return cache_folder() / "hyper-v1.table"


# -- positions ------------------------------------------------------------------------------------------------------


@inner
def _is_possible(triples: Int64s, own: int, other: int) -> bool:
    """Return whether no point has checkers of both sides, and both have some left."""
    if triples[own, 0] == 0 or triples[other, 0] == 0:
        return False
    for one in range(3):
        for two in range(3):
            point = triples[own, one]
            if 0 < point < HAND and point == HAND - triples[other, two]:
                return False
    return True


@compiled
def _number_positions(triples: IntMatrix64, limit: int, numbers: IntVector32, pairs: IntMatrix32) -> int:
    """Number the positions; return how many there are."""
    count = 0
    for far in range(limit):
        for near in range(far + 1):
            if not _is_possible(triples, far, near):
                continue
            for turn in range(1 if far == near else 2):
                own, other = (far, near) if turn == 0 else (near, far)
                numbers[own * SIDES + other] = count
                pairs[count, 0], pairs[count, 1] = own, other
                count += 1
    return count


@inner
def _arrangement(arrangements: Int16s, board: Int64s, first: int) -> int:
    return int(arrangements[(board[first] * 26 + board[first + 1]) * 26 + board[first + 2]])


@inner
def number_of(table: ExactTable, state: State) -> int:
    """Return the number of a position in the table, seen by the player who is to roll."""
    number = 0
    for side in range(2):
        digits = 0
        for place in range(HAND + 1):
            for _ in range(state[side * SIDE + place]):
                digits = digits * 26 + place
        number = number * SIDES + table.arrangements[digits]
    return int(table.numbers[number])


@compiled
def points_of(table: ExactTable, state: State) -> float:
    """Return what the player who is to roll can expect; the game is not over."""
    number, total = number_of(table, state), 0.0
    for chance in range(CHANCES):
        total += table.chances[number, chance] * (1.0 if chance < 3 else -1.0)
    total += table.chances[number, 0]
    return float(total / SCALE - 1.0)


# -- plays ----------------------------------------------------------------------------------------------------------


@inner
def _reply(positions: Positions, board: Int64s) -> int:
    """Return what the opponent gets, as in `Solver.replies`."""
    if board[0] + board[1] + board[2] > 0:
        own = _arrangement(positions.arrangements, board, 0)
        return int(positions.numbers[_arrangement(positions.arrangements, board, 3) * SIDES + own])
    if board[3] == 0 or board[4] == 0 or board[5] == 0:
        return -1
    return -3 if max(board[3], board[4], board[5]) > HAND - 7 else -2


@inner
def _worth(solver: Solver, reply: int) -> float:
    """Return what a roll is worth that leads there."""
    if reply == _NO_PLAY:
        return float(_NO_PLAY)
    return -float(solver.values[reply]) if reply >= 0 else -float(reply)


@inner
def _better(solver: Solver, reply: int, board: Int64s) -> int:
    """Return the better one of a reply and of that to a board."""
    other = _reply(solver.positions, board)
    return other if _worth(solver, other) > _worth(solver, reply) else reply


@inner
def _blocked(board: Int64s) -> int:
    """Return our number of the point that the opponent holds, 0 if there is none."""
    x, y, z = board[3], board[4], board[5]
    double = y if y in (x, z) else x if x == z else 0
    return int(HAND - double) if 0 < double < HAND else 0


@inner
def _move(before: Int64s, after: Int64s, checker: int, number: int, blocked: int) -> bool:
    """Write the board after a move; return False if the move is illegal."""
    source = before[checker]
    if source == 0:
        return False
    farthest = max(before[0], before[1], before[2])
    if farthest == HAND and source != HAND:
        return False
    target = source - number
    if target <= 0:
        if farthest > 6 or (target < 0 and farthest > source):
            return False
        target = 0
    elif target == blocked:
        return False
    for place in range(6):
        after[place] = before[place]
    after[checker] = target
    if target > 0:
        for place in range(3, 6):
            if after[place] == HAND - target:
                after[place] = HAND
    return True


@inner
def _two_numbers(solver: Solver, blocked: int, first: int, second: int, best: int) -> int:
    """Return the best that comes of playing one number and then another one, or of `best`."""
    for one in range(3):
        if not _move(solver.boards[0], solver.boards[1], one, first, blocked):
            continue
        if solver.boards[1, 0] + solver.boards[1, 1] + solver.boards[1, 2] == 0:
            return _reply(solver.positions, solver.boards[1])
        best = _one_number(solver, blocked, second, 1, best)
    return best


@inner
def _one_number(solver: Solver, blocked: int, number: int, depth: int, best: int) -> int:
    """Return the best that comes of playing one number from the board at `depth`, or of `best`."""
    for one in range(3):
        if _move(solver.boards[depth], solver.boards[depth + 1], one, number, blocked):
            best = _better(solver, best, solver.boards[depth + 1])
    return best


@inner
def _double(solver: Solver, blocked: int, number: int) -> int:
    """Return the best that comes of playing a number four times, or as often as possible; no checker before another.

    A checker that starts farther away moves first, so that each set of moves is looked at once.
    """
    best, longest, depth = _NO_PLAY, 0, 0
    solver.boards[5, 0] = 0  # row 5 has the next checker to try at each depth
    while depth >= 0:
        checker = solver.boards[5, depth]
        if checker == 3:
            depth -= 1
            continue
        solver.boards[5, depth] += 1
        source = solver.boards[depth, checker]
        if depth > 0 and source > solver.boards[6, depth - 1]:
            continue
        if not _move(solver.boards[depth], solver.boards[depth + 1], checker, number, blocked):
            continue
        depth += 1
        solver.boards[6, depth - 1] = source  # row 6 has the sources
        over = solver.boards[depth, 0] + solver.boards[depth, 1] + solver.boards[depth, 2] == 0
        if depth >= longest:
            if depth > longest:
                best, longest = _NO_PLAY, depth
            best = _better(solver, best, solver.boards[depth])
        if over or depth == 4:
            depth -= 1
        else:
            solver.boards[5, depth] = 0
    return best


@inner
def _best_reply(solver: Solver, high: int, low: int) -> int:
    """Return where the best play of a roll on the board in the first row leads."""
    blocked = _blocked(solver.boards[0])
    if high == low:
        best = _double(solver, blocked, high)
    else:
        best = _two_numbers(solver, blocked, high, low, _NO_PLAY)
        best = _two_numbers(solver, blocked, low, high, best)
        if best == _NO_PLAY:
            best = _one_number(solver, blocked, high, 0, _NO_PLAY)
        if best == _NO_PLAY:
            best = _one_number(solver, blocked, low, 0, _NO_PLAY)
    return _reply(solver.positions, solver.boards[0]) if best == _NO_PLAY else best


# -- passes ---------------------------------------------------------------------------------------------------------


@compiled
def find_plays(solver: Solver, first: int, end: int, change: Vector32) -> None:
    """Find the best plays and the values of some positions; write the largest change of a value."""
    largest = 0.0
    for number in range(first, end):
        for side in range(2):
            arrangement = solver.positions.pairs[number, side]
            for place in range(3):
                solver.boards[0, 3 * side + place] = solver.positions.triples[arrangement, place]
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                solver.replies[number, roll] = _best_reply(solver, high, low)
                roll += 1
        largest = max(largest, _follow(solver, number))
    change[0] = largest


@compiled
def follow_plays(solver: Solver, change: Vector32) -> None:
    """Improve the values of all positions by the plays that were found; write the largest change."""
    largest = 0.0
    for number in range(len(solver.values)):
        largest = max(largest, _follow(solver, number))
    change[0] = largest


@inner
def _follow(solver: Solver, number: int) -> float:
    """Write the value of a position by the replies to its rolls; return by how much it changes."""
    total, roll = 0.0, 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            total += _worth(solver, solver.replies[number, roll]) * (1 if high == low else 2)
            roll += 1
    value = total / _WAYS
    change: float = abs(value - solver.values[number])
    solver.values[number] = value
    return change


@compiled
def find_chances(solver: Solver, chances: Matrix32, change: Vector32) -> None:
    """Improve the chances of all positions by the plays that were found; write the largest change."""
    largest = 0.0
    for number in range(len(solver.values)):
        won, gammon, triple, lost_gammon, lost_triple = 0.0, 0.0, 0.0, 0.0, 0.0
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                ways = 1.0 if high == low else 2.0
                reply = solver.replies[number, roll]
                roll += 1
                if reply < 0:
                    won += ways
                    gammon += ways if reply < -1 else 0.0
                    triple += ways if reply < -2 else 0.0
                else:
                    won += ways * (1.0 - chances[reply, 0])
                    gammon += ways * chances[reply, 3]
                    triple += ways * chances[reply, 4]
                    lost_gammon += ways * chances[reply, 1]
                    lost_triple += ways * chances[reply, 2]
        largest = max(largest, abs(won / _WAYS - chances[number, 0]), abs(gammon / _WAYS - chances[number, 1]))
        chances[number, 0] = won / _WAYS
        chances[number, 1] = gammon / _WAYS
        chances[number, 2] = triple / _WAYS
        chances[number, 3] = lost_gammon / _WAYS
        chances[number, 4] = lost_triple / _WAYS
    change[0] = largest
