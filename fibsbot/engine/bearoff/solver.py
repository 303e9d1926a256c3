"""Compute the bear-off tables; needs compiled functions, which looking them up does not.

In a bear-off nothing is in the way: while a checker is left, every number can be played, so a roll is its numbers
played one after the other, in either order. Tests compare this with the rules core (`fibsbot/rules/plays.py`).

One side alone: each roll is played so that the mean number of further rolls is smallest (of equal plays, the first
found), as in GNU Backgammon's table; for the first checker off, the mean number of rolls until then. The best play is
found without listing all plays: the best result of `k` moves of one die is the best, over all positions after one
move, of the best result of `k - 1` moves from there.

Both sides with few checkers: exact chances and money equities under the best play and cube action. The unit is the
value of the cube. Nobody can lose a gammon any more, so the Jacoby rule changes nothing and no position is too good
to double. The equities of not doubling now are stored; the rest follows:

- no double: n(owner) is the mean over the rolls of the best of -v(owner) of the opponent afterwards;
- double and take: 2 n(opponent's), because the opponent then owns the cube;
- best cube action: v(owner) = max(n(owner), min(1, 2 n(opponent's))) for a player who may double, else n(opponent's).

Plays are chosen for each owner of the cube separately: the best play can depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import (
    CHANCE_OF_ROLL,
    CHECKERS,
    ROLL_COUNT,
    Floats32,
    Floats64,
    Int32s,
    IntTensor32,
    IntVector32,
    IntVector64,
    Matrix64,
    Vector64,
)
from fibsbot.engine.bearoff.tables import (
    CENTRED,
    COLUMNS,
    MAX_ROLLS,
    MAX_ROLLS_TO_FIRST,
    OWNED,
    POINTS,
    THEIRS,
    WIN,
    BearoffTables,
    Counts,
    all_counts,
    indices_of,
    position_count,
    read_only_arrays,
)
from fibsbot.engine.jit import compiled, inner
from fibsbot.match import ROLLS
from fibsbot.workers.pool import Piece, WorkerPool

FACES: Final = 6


def single_moves(counts: Counts) -> Int32s:
    """Return the positions after each single move, shape (n, 6, 6), for rows of counts in the order of numbers.

    Cell [number, die - 1, point - 1] is the position after a move from the point, -1 if it is impossible. The position
    without checkers leads to itself.
    """
    moves = np.full((len(counts), FACES, POINTS), -1, np.int32)
    moves[0, :, 0] = 0
    for point in range(1, POINTS + 1):
        there = counts[:, point - 1] > 0
        highest = there & (counts[:, point:] == 0).all(axis=1)
        for die in range(1, FACES + 1):
            # A checker is borne off from the number's own point or, if none is higher, from the highest.
            possible = np.flatnonzero(there if point >= die else highest)
            after = counts[possible]
            after[:, point - 1] -= 1
            if point > die:
                after[:, point - die - 1] += 1
            moves[possible, die - 1, point - 1] = indices_of(after)
    return moves


def positions_after(moves: Sequence[Sequence[Sequence[int]]], number: int, die1: int, die2: int) -> set[int]:
    """Return every position that a roll can lead to; `moves` are those of `single_moves` as a list."""
    orders = [(die1,) * 4] if die1 == die2 else [(die1, die2), (die2, die1)]
    found: set[int] = set()
    for order in orders:
        left = {number}
        for die in order:
            left = {after for before in left for after in moves[before][die - 1] if after >= 0}
        found |= left
    return found


def all_rolls(moves: Int32s) -> tuple[npt.NDArray[np.int64], Int32s]:
    """Return the positions that each roll can lead to from each position: where each list begins, and the lists.

    List 21 * number + roll extends from `begins[...]` to the beginning of the next. The rolls are 1-1, 2-1, 2-2, 3-1
    and so on.
    """
    rows = moves.tolist()
    lists = [sorted(positions_after(rows, number, *roll)) for number in range(len(rows)) for roll in ROLLS]
    begins = np.cumsum([0, *map(len, lists)])
    return begins, np.array([number for found in lists for number in found], np.int32)


CHUNK: Final = 2_000
"""Positions solved between two updates of the progress bar."""


@inner
def _best(moves: Int32s, number: int, die: int, then: Int32s, means: Floats64) -> int:
    """Return the best result of a move by `die`; `then[after]` is the best result of the moves after it."""
    best = -1
    for point in range(POINTS):
        after = moves[number, die, point]
        if after >= 0 and (best < 0 or means[then[after]] < means[best]):
            best = then[after]
    return best


@compiled
def _solve(moves: IntTensor32, first: int, last: int, best: IntTensor32, means: Vector64, chances: Matrix64) -> None:
    """Find means and chances of the positions from `first` to before `last`; those below `first` are done.

    `best[k, die, number]` is the best position after k + 1 moves by the die.
    """
    for number in range(first, last):
        for die in range(FACES):
            best[0, die, number] = _best(moves, number, die, best[4, die], means)
            for k in range(1, 4):
                best[k, die, number] = _best(moves, number, die, best[k - 1, die], means)
        mean = 1.0
        for high in range(FACES):
            for low in range(high + 1):
                weight = 1 / 36
                after = best[3, high, number]
                if low < high:
                    weight = 2 / 36
                    after = _best(moves, number, high, best[0, low], means)
                    other = _best(moves, number, low, best[0, high], means)
                    if means[other] < means[after]:
                        after = other
                mean += weight * means[after]
                for rolls in range(len(chances[0]) - 1):
                    chances[number, rolls + 1] += weight * chances[after, rolls]
        means[number] = mean


def solve(moves: Int32s, done: int, longest: int, on_progress: Callable[[int], None]) -> tuple[Floats64, Floats64]:
    """Return the mean number of rolls, shape (n,), and the chances of each number, shape (n, longest).

    Positions below `done` need no roll. `on_progress` gets the number of positions solved since the last call.
    """
    count = len(moves)
    means = np.zeros(count)
    chances = np.zeros((count, longest))
    chances[:done, 0] = 1.0
    # Positions that need no roll lead to themselves; best[4], for no moves left, stays like this.
    best = np.broadcast_to(np.arange(count, dtype=np.int32), (5, FACES, count)).copy()
    for first, last in _chunks(done, count):
        _solve(moves, first, last, best, means, chances)
        on_progress(last - first)
    return means, chances


def _chunks(first: int, last: int) -> Iterator[tuple[int, int]]:
    for begin in range(first, last, CHUNK):
        yield begin, min(begin + CHUNK, last)


def solve_all(moves: Int32s, on_progress: Callable[[int], None]) -> tuple[Floats64, Floats64]:
    """Return means and chances of the number of rolls until all checkers are off; see `solve`."""
    return solve(moves, 1, MAX_ROLLS, on_progress)


def solve_first(moves: Int32s, on_progress: Callable[[int], None]) -> Floats64:
    """Return the chances of the number of rolls until the first is off, for the positions of 15 in their order."""
    fifteen = position_count(CHECKERS - 1)
    return solve(moves, fifteen, MAX_ROLLS_TO_FIRST, on_progress)[1][fifteen:]


_AFTERWARDS: Final = np.array([0, 1, 3, 2])
"""The opponent's column for each of ours after a play: our own cube is the opponent's cube seen from there."""


@compiled
def _means(begins: IntVector64, lists: IntVector32, values: Matrix64, least: Vector64, out: Matrix64) -> None:
    """Write the values of each position, a row of `out`, before the roll; `out` must be filled with 0.

    `values` has the opponent's values after the roll, a row for each position that it can lead to. All columns of a row
    are treated alike, which is fast if one row holds many opponent positions. `least` is a scratch row.
    """
    width = len(least)
    for row in range(len(out)):
        for roll in range(ROLL_COUNT):
            for place in range(width):
                least[place] = 2.0
            for number in range(begins[row * ROLL_COUNT + roll], begins[row * ROLL_COUNT + roll + 1]):
                position = lists[number]
                for place in range(width):
                    least[place] = min(least[place], values[position, place])
            for place in range(width):
                out[row, place] -= CHANCE_OF_ROLL[roll] * least[place]


def _with_best_cube_action(means: Floats64) -> Floats64:
    """Return the equities with the best cube action, given those of not doubling now, shape (..., 4)."""
    double = np.minimum(1.0, 2 * means[..., THEIRS])
    settled = means.copy()
    for column in (CENTRED, OWNED):
        settled[..., column] = np.maximum(means[..., column], double)
    return settled


def solve_pairs(moves: Int32s, on_progress: Callable[[int], None]) -> Floats32:
    """Return the table of the positions whose moves these are, shape (on roll, opponent, 4), columns as in `tables`.

    `on_progress` is called with the number of pairs solved since the last call. Pairs are solved in the order
    of the higher of the two indices: first the pair with the higher one on roll, which leads to lower pairs only; then
    those with the lower one on roll, which lead to these or to pairs of the first kind.
    """
    begins, lists = all_rolls(moves)
    count = len(moves)
    pairs = np.empty((count, count, COLUMNS), np.float32)
    pairs[0] = 1.0
    pairs[1:, 0] = -1.0
    values = np.ones((count, count, COLUMNS))
    """Equities with the best cube action, [opponent, on roll, column]. A player who has borne off has won."""
    values[0] = -1.0
    for number in range(1, count):
        means = np.zeros((number, COLUMNS))
        _means(
            begins[number * ROLL_COUNT :], lists, values.reshape(count, -1), np.empty(means.size), means.reshape(1, -1)
        )
        means = means[:, _AFTERWARDS]
        means[0] = -1.0
        pairs[number, :number] = means
        current = values[:number, number] = _with_best_cube_action(means)
        means = np.zeros((number, COLUMNS))
        _means(begins[ROLL_COUNT:], lists, np.ascontiguousarray(current[:, _AFTERWARDS]), np.empty(COLUMNS), means)
        pairs[1 : number + 1, number] = means
        values[number, 1 : number + 1] = _with_best_cube_action(means)
        on_progress(2 * number)
    pairs[..., WIN] = (pairs[..., WIN] + 1) / 2
    return pairs


def _pieces(checkers: int) -> dict[str, int]:
    """Return the parts of the tables, none of which needs another, and how long each takes, in pairs."""
    # Measured: a position of one side costs as much as five pairs.
    every, fewer = position_count(CHECKERS), position_count(CHECKERS - 1)
    return {"all": 5 * every, "first": 5 * every - 5 * fewer, "pairs": position_count(checkers) ** 2}


def solve_part(on_progress: Callable[[int], None] | None, part: tuple[str, int]) -> tuple[Floats32, ...]:
    """Return the arrays of a part of the tables: its name of `_pieces` and the checkers of the two-sided table.

    `on_progress` gets what is done since the last call, in pairs.
    """
    name, checkers = part
    show = on_progress or (lambda _: None)
    moves = single_moves(all_counts(checkers if name == "pairs" else CHECKERS))
    if name == "pairs":
        return (solve_pairs(moves, show),)
    if name == "first":
        return (solve_first(moves, lambda count: show(5 * count)).astype(np.float32),)
    means, rolls = solve_all(moves, lambda count: show(5 * count))
    return rolls.astype(np.float32), means.astype(np.float32)


def compute_tables(
    checkers: int, on_progress: Callable[[float], None] = lambda _: None, pool: WorkerPool | None = None
) -> BearoffTables:
    """Compute the tables: one-sided for 15 checkers, two-sided for up to `checkers` each.

    Args:
        checkers: checkers a side of the two-sided table.
        on_progress: called with the share that is done, 0 to 1.
        pool: does the three parts, which are pieces of work; None does them one after the other in this process, and
            shows progress within them.

    Raises:
        WorkError: the workers could not do it.
    """
    parts = _pieces(checkers)
    total = sum(parts.values())
    done = 0

    def add(count: int) -> None:
        nonlocal done
        done += count
        on_progress(min(done / total, 1.0))

    found: dict[str, tuple[Floats32, ...]] = {}
    if pool is None:
        found = {name: solve_part(add, (name, checkers)) for name in parts}
    else:
        # The longest first.
        pieces = [Piece(name, (name, checkers)) for name in sorted(parts, key=parts.__getitem__, reverse=True)]
        for piece, arrays in pool.run(solve_part, pieces, ordered=False):
            found[piece.key] = arrays
            add(parts[piece.key])
    (rolls, means), (first,), (pairs,) = found["all"], found["first"], found["pairs"]
    return BearoffTables(read_only_arrays(rolls, first, means, pairs))
