"""Features: encode boards as inputs of the networks.

The inputs of each side are raw checker counts, then what players look at: pips, primes, anchors, escapes, shots. A set
of rolls is an integer; bit `high * (high - 1) / 2 + low - 1` represents a roll.
"""

from __future__ import annotations

import enum
from itertools import product
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import AS_INT, BAR, CELLS, CHECKERS, Board, Boards, swapped
from fibsbot.engine.jit import compiled, inner
from fibsbot.match import ROLLS

Inputs: TypeAlias = npt.NDArray[np.float32]
"""The inputs of one position, shape (INPUTS,), or of many, shape (n, INPUTS)."""

_COUNTS: Final = ("blot", "made", "spare", "more")
INPUTS_PER_POINT: Final = len(_COUNTS)
"""Inputs per point: exactly one checker, exactly two, at least three, half of those beyond three."""
BAR_INPUT: Final = 24 * INPUTS_PER_POINT
OFF_INPUT: Final = BAR_INPUT + 1
RAW_INPUTS: Final = OFF_INPUT + 1
"""Raw inputs per side: 24 points, the bar (in halves), checkers off (in fifteenths)."""


class SideFeature(enum.IntEnum):
    """Features of one side that players look at; the value is the index among the side's inputs."""

    PIPS = RAW_INPUTS
    """Pip count / 100."""
    REARMOST = enum.auto()
    """Point of the rearmost checker / 24."""
    HOME = enum.auto()
    """Points made at home / 6."""
    HOME_SQUARED = enum.auto()
    PRIME = enum.auto()
    """Length of the longest prime / 6."""
    PRIME_PLACE = enum.auto()
    """Its highest point / 24, from three points on."""
    ESCAPE = enum.auto()
    """Chance that the opponent's rearmost checker gets more than 6 pips ahead with the next roll."""
    LEAST_ESCAPE = enum.auto()
    """The smallest such chance on its way through our half of the board."""
    CONTAINMENT = enum.auto()
    """1 - that chance, summed over its way / 12."""
    ANCHORS = enum.auto()
    """Points made in the opponent's home board / 3."""
    FOREMOST_ANCHOR = enum.auto()
    """Depth of the anchor (or the opponent's bar point) that is the easiest to leave / 7."""
    DEEPEST_ANCHOR = enum.auto()
    """Depth of the one that is the hardest to leave / 7."""
    BACK_GAME = enum.auto()
    """Whether there are at least two anchors."""
    REAR = enum.auto()
    """Checkers in the opponent's home board and on the bar / 6."""
    OUTFIELD = enum.auto()
    """Checkers on points 7 to 18 / 10."""
    CROSSOVERS = enum.auto()
    """Quarters of the board to cross until all checkers are home / 20."""
    TO_COME_HOME = enum.auto()
    """Pips to bring all checkers home / 100, as needed to save a gammon."""
    DEEP = enum.auto()
    """Checkers on points 1 to 3 / 8."""
    STACKED = enum.auto()
    """Checkers beyond the fourth of a point / 6."""
    SPREAD = enum.auto()
    """Standard deviation of the checkers' points / 10."""
    FREE = enum.auto()
    """Pips to home of the checkers outside, each by its chance to escape / 100."""
    STUCK = enum.auto()
    """The same checkers, each by its chance not to escape / 8."""
    SPARE = enum.auto()
    """Pips that can be played before the home board has to break / 60."""
    DANCE = enum.auto()
    """Chance to dance, with a checker on the bar."""
    HIT = enum.auto()
    """Chance to hit with the next roll; see `shots`."""
    DOUBLE_HIT = enum.auto()
    """Chance of a roll by which two blots can be hit."""
    HIT_PIPS = enum.auto()
    """Pips that the opponent loses by the hit on average / 12."""
    RACE = enum.auto()
    """Whether the sides have passed each other."""
    OFF = enum.auto()
    """Whether a checker is off, so that no gammon can be lost."""
    OFF_HALF = enum.auto()
    """Whether 8 or more are off."""
    OFF_LAST = enum.auto()
    """Checkers off beyond the tenth / 5."""
    ROLLS = enum.auto()
    """Rolls until all are off without a miss / 8, when all are home."""


SIDE_INPUTS: Final = RAW_INPUTS + len(SideFeature)
INPUTS: Final = 2 * SIDE_INPUTS
"""Inputs of a position: of the player on roll, then of the opponent, each seen by itself."""


def input_names() -> tuple[str, ...]:
    """Return a name for each of the INPUTS, in their order."""
    raw = [f"{point}_{count}" for point in range(1, 25) for count in _COUNTS]
    side = [*raw, "bar", "borne_off", *(unit.name.lower() for unit in SideFeature)]
    return tuple(f"{who}_{name}" for who in ("own", "opponent") for name in side)


_WITH: Final = np.array([sum(1 << bit for bit, roll in enumerate(ROLLS) if number in roll) for number in range(7)])
"""The rolls that show a number, by the number."""
_DOUBLES: Final = sum(1 << bit for bit, (high, low) in enumerate(ROLLS) if high == low)


@compiled
def write_shots(sides: Boards, inputs: Inputs) -> None:
    """Write HIT, DOUBLE_HIT and HIT_PIPS of each side, shape (n, 26), as if it rolled next.

    If a roll hits several blots, the pips of the one that loses most count.
    """
    for row in range(len(sides)):
        board = sides[row]
        some, two, cost = 0, 0, 0
        for point in range(BAR - 1, 0, -1):
            if board[point] == -1:
                rolls = _shots_from_the_bar(board, point) if board[BAR] else _shots(board, point)
                cost += point * _weight(rolls & ~some)
                two |= rolls & some
                some |= rolls
        # `two` is a subset of `some`. For either alone numba would infer another type from the initial 0.
        inputs[row, SideFeature.HIT] = _weight(some | two) / 36
        inputs[row, SideFeature.DOUBLE_HIT] = _weight(some & two) / 36
        inputs[row, SideFeature.HIT_PIPS] = cost / 36 / 12


@inner
def _weight(rolls: int) -> int:
    """Return how many of 36 rolls show one of the rolls."""
    count = 0
    left = rolls
    while left:
        left &= left - 1
        count += 2
    left = rolls & _DOUBLES
    while left:
        left &= left - 1
        count -= 1
    return count


@inner
def _shots(board: Board, point: int) -> int:
    """Return the rolls that hit the blot on a point, with no checker on the bar."""
    rolls = 0
    farthest = min(6, BAR - 1 - point)  # with a plain 6 the compiler unrolls each loop, which takes it a second
    for number in range(1, farthest + 1):
        if board[point + number] > 0:
            rolls |= _WITH[number]
    for high in range(2, farthest + 1):
        for low in range(1, min(high, BAR - point - high)):
            if board[point + high + low] > 0 and (board[point + high] > -2 or board[point + low] > -2):
                rolls |= 1 << (high * (high - 1) // 2 + low - 1)
    for number in range(1, farthest + 1):
        source = point
        for _ in range(4):
            source += number
            if source >= BAR or board[source] <= -2:
                break
            if board[source] > 0:
                rolls |= 1 << (number * (number + 1) // 2 - 1)
                break
    return rolls


@inner
def _shots_from_the_bar(board: Board, point: int) -> int:
    """Return the rolls that hit the blot on a point, with checkers on the bar that have to enter first."""
    rolls = 0
    entry = BAR - point
    if entry < 7:
        rolls = _WITH[entry]
    waiting = board[BAR]
    for entered in range(1, 7):
        arrived = BAR - entered
        if board[arrived] <= -2:
            continue
        if waiting == 1:
            for moved in range(1, 7):
                source = point + moved
                if moved != entered and (source == arrived or (source < BAR and board[source] > 0)):
                    high, low = max(entered, moved), min(entered, moved)
                    rolls |= 1 << (high * (high - 1) // 2 + low - 1)
        source = point
        for _ in range(4 - waiting):
            source += entered
            if source >= BAR or board[source] <= -2:
                break
            if board[source] > 0 or source == arrived:
                rolls |= 1 << (entered * (entered + 1) // 2 - 1)
                break
    return rolls


ESCAPE_DISTANCE: Final = 12
"""Number of points ahead of a checker that decide whether it escapes."""
BLOCK_MASK: Final = (1 << ESCAPE_DISTANCE) - 1
"""Bits of all these points."""


def _escapes() -> npt.NDArray[np.float32]:
    """Return the chance that a roll brings a checker more than 6 pips ahead, by the set of blocked points."""
    blocked = np.arange(1 << ESCAPE_DISTANCE)

    def is_open(ahead: int) -> npt.NDArray[np.bool_]:
        return np.asarray((blocked >> (ahead - 1) & 1) == 0)  # every point beyond ESCAPE_DISTANCE is

    rolls = np.zeros(1 << ESCAPE_DISTANCE)
    for one, other in product(range(1, 7), repeat=2):
        if one != other:
            if one + other > 6:
                rolls += is_open(one + other) & (is_open(one) | is_open(other))
        elif (steps := 6 // one + 1) <= 4:
            rolls += np.all([is_open(step * one) for step in range(1, steps + 1)], axis=0)
    return (rolls / 36).astype(np.float32)


ESCAPES: Final = _escapes()
"""Shape (4096,); bit d - 1 of the index is set if the point d pips ahead is blocked."""


def encode_all(boards: Boards) -> Inputs:
    """Return the inputs of boards, shape (n, INPUTS) for n boards of shape (n, 26)."""
    inputs = np.empty((len(boards), INPUTS), np.float32)
    _encode(np.stack((boards, swapped(boards)), axis=1).reshape(-1, CELLS), inputs.reshape(-1, SIDE_INPUTS), ESCAPES)
    return inputs


def _encode(sides: Boards, inputs: Inputs, escapes: Inputs) -> None:
    """Write the inputs of boards, each as the player on roll sees it and then, in the next row, as the opponent does.

    Args:
        sides: Shape (2 n, 26); an odd row is the one before it, swapped.
        inputs: Shape (2 n, SIDE_INPUTS).
        escapes: ESCAPES.
    """
    write_counts(sides, inputs)
    write_blocks(sides, inputs, escapes)
    write_shots(sides, inputs)


encode_into: Final = compiled(_encode)
"""The same for compiled functions. Compiled for calls from Python, too, each part would be compiled twice."""


@compiled
def write_counts(sides: Boards, inputs: Inputs) -> None:
    """Write the inputs that depend on a side's own checkers alone; set all others to 0."""
    for row in range(len(sides)):
        for unit in range(SIDE_INPUTS):
            inputs[row, unit] = 0.0
        _write_checkers(sides[row], inputs[row])
        _write_points(sides[row], inputs[row])


@inner
def _write_checkers(board: Board, inputs: Inputs) -> None:
    pips, squares, checkers, rearmost = 0, 0, 0, 0
    outfield, rear, deep, stacked, crossovers, to_come, spare = 0, 0, 0, 0, 0, 0, 0
    for point in range(1, CELLS):
        count = AS_INT + board[point]
        if count <= 0:
            continue
        pips += point * count
        squares += point * point * count
        checkers += count
        rearmost = point
        if point < BAR:
            first = (point - 1) * INPUTS_PER_POINT
            inputs[first + min(count, 3) - 1] = 1.0
            if count > 3:
                inputs[first + 3] = (count - 3) * 0.5
            if count > 4:
                stacked += count - 4
        if point > 6:
            crossovers += count * ((point - 1) // 6)
            to_come += count * (point - 6)
        elif count > 2:
            spare += (count - 2) * point
        if 6 < point < 19:
            outfield += count
            spare += count * (point - 6)
        if point > 18:
            rear += count
        if point < 4:
            deep += count
    off = CHECKERS - checkers
    inputs[BAR_INPUT] = board[BAR] * 0.5
    inputs[OFF_INPUT] = off / 15
    inputs[SideFeature.PIPS] = pips / 100
    inputs[SideFeature.REARMOST] = rearmost / 24
    inputs[SideFeature.REAR] = rear / 6
    inputs[SideFeature.OUTFIELD] = outfield / 10
    inputs[SideFeature.CROSSOVERS] = crossovers / 20
    inputs[SideFeature.TO_COME_HOME] = to_come / 100
    inputs[SideFeature.DEEP] = deep / 8
    inputs[SideFeature.STACKED] = stacked / 6
    inputs[SideFeature.SPARE] = spare / 60
    inputs[SideFeature.OFF] = 1.0 if off > 0 else 0.0
    inputs[SideFeature.OFF_HALF] = 1.0 if off > 7 else 0.0
    if off > 10:
        inputs[SideFeature.OFF_LAST] = (off - 10) / 5
    if checkers:
        mean = pips / checkers
        inputs[SideFeature.SPREAD] = max(squares / checkers - mean * mean, 0.0) ** 0.5 / 10
        if rearmost < 7:
            inputs[SideFeature.ROLLS] = (checkers + 1) // 2 / 8


@inner
def _write_points(board: Board, inputs: Inputs) -> None:
    home, run, longest, place, anchors, foremost, deepest = 0, 0, 0, 0, 0, 0, 0
    for point in range(1, BAR):
        if board[point] < 2:
            run = 0
            continue
        run += 1
        if run > longest:
            longest, place = run, point
        if point < 7:
            home += 1
        if point > 17:
            anchors += point > 18
            deepest = BAR - point
            if foremost == 0:
                foremost = BAR - point
    inputs[SideFeature.HOME] = home / 6
    inputs[SideFeature.HOME_SQUARED] = home * home / 36
    inputs[SideFeature.PRIME] = longest / 6
    if longest > 2:
        inputs[SideFeature.PRIME_PLACE] = place / 24
    inputs[SideFeature.ANCHORS] = anchors / 3
    inputs[SideFeature.FOREMOST_ANCHOR] = foremost / 7
    inputs[SideFeature.DEEPEST_ANCHOR] = deepest / 7
    inputs[SideFeature.BACK_GAME] = 1.0 if anchors > 1 else 0.0


@compiled
def write_blocks(sides: Boards, inputs: Inputs, escapes: Inputs) -> None:
    """Write how freely a side's checkers come home, how the opponent blocks them, and whether this is a race."""
    for row in range(len(sides)):
        board, own, theirs = sides[row], inputs[row], inputs[row ^ 1]
        rearmost, last, blocked = BAR, 0, 0
        while rearmost > 0 and board[rearmost] <= 0:
            rearmost -= 1
        while last < BAR and board[last] >= 0:
            last += 1
        for point in range(1, BAR):
            if board[point] < -1:
                blocked |= 1 << (BAR - point)
        least = escape = np.float32(1)
        caught, free, stuck = 0.0, 0.0, 0.0
        for point in range(7, rearmost + 1):
            escape = escapes[blocked >> (BAR + 1 - point) & BLOCK_MASK]
            if point > 12:
                least = min(least, escape)
                caught += 1 - escape
            count = board[point]
            if count > 0:
                free += count * escape * (point - 6)
                stuck += count * (1 - escape)
        if rearmost > 12:
            theirs[SideFeature.ESCAPE] = escape
            theirs[SideFeature.LEAST_ESCAPE] = least
            theirs[SideFeature.CONTAINMENT] = caught / 12
        if rearmost <= last:
            own[SideFeature.RACE] = 1.0
            continue
        own[SideFeature.FREE] = free / 100
        own[SideFeature.STUCK] = stuck / 8
        if board[BAR]:
            closed = 0
            for point in range(19, BAR):
                closed += board[point] < -1
            own[SideFeature.DANCE] = closed * closed / 36
