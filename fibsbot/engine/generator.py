"""The fast move generator: compiled, from arrays to arrays, without allocations.

It finds the same positions as `fibsbot.rules.plays.resulting_positions`, which is the reference; tests compare the two.
No position is found twice, and positions need to be compared only where checkers are borne off:

- The checkers of a double move in order, no later one starting behind an earlier one. A position determines how many
  checkers left each point, so each set of moves is found once.
- Of two different numbers, first the high one is played first, then the low one. The second pass repeats only two
  checkers from one point, one checker that plays both numbers and hits nothing in between, and checkers borne off.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from fibsbot.engine.arrays import BAR, CELLS, CHECKERS, Board, Boards, Vector32
from fibsbot.engine.jit import compiled, inner

MAX_PLAYS: Final = 3060
"""Upper limit of the positions after one roll: 15 checkers share the four moves of a double in C(18, 4) ways."""

Scratch: TypeAlias = Boards
"""Working memory of `generate`, shape (5, 26); each thread needs its own."""


def plays_and_scratch() -> tuple[Boards, Scratch]:
    """Return arrays for the positions after a roll and for the work of `generate`."""
    return np.zeros((MAX_PLAYS, CELLS), np.int8), np.zeros((5, CELLS), np.int8)


def successors(board: Board, high: int, low: int) -> Boards:
    """Return every position after a roll, seen by the mover; the board itself if no checker can move."""
    plays, scratch = plays_and_scratch()
    count = generate(board, high, low, plays, scratch)
    return plays[:count] if count else board.reshape(1, CELLS).copy()


@compiled
def swap(board: Board, seen: Board) -> None:
    """Write a board as the other player sees it to `seen`."""
    for cell in range(CELLS):
        seen[cell] = -board[BAR - cell]


@inner
def copy(board: Board, to: Board) -> None:
    """Write a board to another one."""
    for cell in range(CELLS):
        to[cell] = board[cell]


@inner
def bears_off_from(board: Board, number: int) -> int:
    """Return the point from which a number bears a checker off, 0 if from none."""
    for point in range(7, CELLS):
        if board[point] > 0:
            return 0
    if board[number] > 0:
        return number
    for point in range(6, 0, -1):
        if board[point] > 0:
            return point if point < number else 0
    return 0


@inner
def next_source(board: Board, number: int, start: int) -> int:
    """Return the farthest point, `start` or nearer, from which a checker can move by a number; 0 if there is none."""
    if board[BAR] > 0:
        if start == BAR and board[BAR - number] > -2:
            return BAR
        return 0
    point = min(start, BAR - 1)
    while point > number:
        if board[point] > 0 and board[point - number] > -2:
            return point
        point -= 1
    if point > 0:
        source = bears_off_from(board, number)
        if source <= point:
            return source
    return 0


@inner
def move(before: Board, after: Board, source: int, number: int) -> None:
    """Write the board after a checker's move to `after`."""
    for cell in range(CELLS):
        after[cell] = before[cell]
    after[source] -= 1
    target = source - number
    if target > 0:
        if after[target] < 0:
            after[target] = 0
            after[0] -= 1
        after[target] += 1


@compiled
def generate(board: Board, high: int, low: int, plays: Boards, scratch: Scratch) -> int:
    """Write every position after a roll into `plays`, seen by the mover; return their number, 0 if no checker can move.

    `high` must not be below `low`. `plays` has shape (MAX_PLAYS, 26).
    """
    if high == low:
        return _double(board, high, plays, scratch)
    count = high - high  # with a plain 0 numba would compile `_two_numbers` once more, for that number alone
    count = _two_numbers(board, high, low, plays, scratch, count)
    count = _two_numbers(board, low, high, plays, scratch, count)
    if count:
        return count
    number = high
    source = BAR + 1
    while True:
        source = next_source(board, number, source - 1)
        if source:
            move(board, plays[count], source, number)
            count += 1
        elif count or number == low:
            return count
        else:
            number, source = low, BAR + 1


@inner
def _two_numbers(board: Board, first: int, second: int, plays: Boards, scratch: Scratch, known: int) -> int:
    """Append the positions after playing `first` and then `second`; return the new number of positions."""
    between = scratch[0]
    count = known
    source = BAR + 1
    while True:
        source = next_source(board, first, source - 1)
        if not source:
            return count
        move(board, between, source, first)
        then = source + 1
        while True:
            then = next_source(between, second, then - 1)
            if not then:
                break
            move(between, plays[count], then, second)
            found = False
            if first < second:  # the second time: the high number went first before
                if then <= second or source <= first:
                    found = _is_among(plays, known, count)
                elif then == source:
                    found = True
                elif then == source - first:
                    found = board[then] >= 0 and board[source - second] >= 0
            if not found:
                count += 1


@inner
def _is_among(plays: Boards, known: int, wanted: int) -> bool:
    for play in range(known):
        cell = 0
        while cell < CELLS and plays[play, cell] == plays[wanted, cell]:
            cell += 1
        if cell == CELLS:
            return True
    return False


@inner
def _double(board: Board, number: int, plays: Boards, scratch: Scratch) -> int:
    """Play one number four times, or as often as possible: depth first, the farthest checker first."""
    count = 0
    longest = 0
    depth = 0
    starts = BAR  # from where the next checker of this depth may start; above five bits, the same of the last depth
    for cell in range(CELLS):
        scratch[0, cell] = board[cell]
    while depth >= 0:
        start = starts & 31
        source = next_source(scratch[depth], number, start) if start else 0
        if not source:
            depth -= 1
            starts >>= 5
            continue
        starts += source - 1 - start
        if depth + 1 > longest:
            longest = depth + 1
            count = 0
        if depth + 1 == longest:
            move(scratch[depth], plays[count], source, number)
            count += 1
        if depth < 3:
            move(scratch[depth], scratch[depth + 1], source, number)
            depth += 1
            starts = starts << 5 | source
    return count


@compiled
def write_game_over(board: Board, chances: Vector32) -> bool:
    """Write the chances of the player on roll if the opponent has borne off all checkers; else return False."""
    for cell in range(BAR):
        if board[cell] < 0:
            return False
    left, behind = 0, 0
    for cell in range(1, CELLS):
        if board[cell] > 0:
            left += board[cell]
            if cell > 18:
                behind = 1
    gammon = 1.0 if left == CHECKERS else 0.0
    for chance in range(3):
        chances[chance] = 0.0
    chances[3] = gammon
    chances[4] = gammon * behind
    return True
