"""Features: encode boards as inputs of the networks.

The inputs of each side are raw checker counts, then what players look at: pips, primes, anchors, escapes, shots. A set
of rolls is an integer; bit `high * (high - 1) / 2 + low - 1` represents a roll.
"""

from __future__ import annotations

import enum
import math
from itertools import product
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import AS_INT, BAR, CELLS, CHECKERS, Board, Boards, Matrix32, Vector32
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.simd import bit_count, find_cells, highest_bit, lowest_bit
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
    """Features of one side that players look at; the value is the index among the side's inputs.

    Compiled functions write `.value`: numba before 0.68 takes no member of an enumeration as an index.
    """

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


def _combinations() -> npt.NDArray[np.int64]:
    """Return the rolls of two different numbers that move a checker by their sum, by the sum and the open points.

    Shape (12 * 64,): bit n - 1 of the second index is set if the point n pips from the target is blocked, where the
    checker may not stop in between.
    """
    rolls = np.zeros((12, 64), np.int64)
    for blocked in range(64):
        for bit, (high, low) in enumerate(ROLLS):
            if high != low and not blocked >> (high - 1) & blocked >> (low - 1) & 1:
                rolls[high + low, blocked] |= 1 << bit
    return rolls.reshape(-1)


_HOME: Final = (1 << 7) - 2
"""The bits of the points 1 to 6."""
_ANCHORS: Final = (1 << BAR) - (1 << 19)
"""The bits of the points 19 to 24."""
_BAR_POINT: Final = 18
"""The opponent's bar point."""
_ON_POINTS: Final = (1 << BAR) - 2
"""The bits of the points 1 to 24."""
_NEAR: Final = 63
"""The bits of the six points before a target."""
_DIRECT: Final = np.array(
    [
        sum(1 << bit for bit, roll in enumerate(ROLLS) if any(mask >> (number - 1) & 1 for number in roll))
        for mask in range(64)
    ]
)
"""The rolls that show one of a set of numbers; bit n - 1 of the index is set if n is one of them."""
_COMBINATIONS: Final = _combinations()
_STEPS: Final = np.array([sum(1 << (step * number - 1) for step in range(1, 5) if number) for number in range(7)])
"""The points from which one to four moves by a number lead to a target, by the number."""


@compiled
def write_shots(sides: Boards, inputs: Matrix32) -> None:
    """Write HIT, DOUBLE_HIT and HIT_PIPS of each side, shape (n, 26), as if it rolled next.

    If a roll hits several blots, the pips of the one that loses most count.
    """
    for row in range(len(sides)):
        board = sides[row]
        blots = find_cells(board, -1, -1) & _ON_POINTS
        own, blocked = find_cells(board, 1, CHECKERS), find_cells(board, -CHECKERS, -2)
        some, two, cost = 0, 0, 0
        while blots:
            point = highest_bit(blots)
            blots ^= 1 << point
            ours, closed = own >> (point + 1), blocked >> (point + 1)
            rolls = _shots_from_the_bar(board, point) if board[BAR] else _shots(ours, closed)
            cost += point * _weight(rolls & ~some)
            two |= rolls & some
            some |= rolls
        # `two` is a subset of `some`. For either alone numba would infer another type from the initial 0.
        inputs[row, SideFeature.HIT.value] = _weight(some | two) / 36
        inputs[row, SideFeature.DOUBLE_HIT.value] = _weight(some & two) / 36
        inputs[row, SideFeature.HIT_PIPS.value] = cost / 36 / 12


@inner
def _weight(rolls: int) -> int:
    """Return how many of 36 rolls show one of the rolls."""
    return 2 * bit_count(rolls) - bit_count(rolls & _DOUBLES)


@inner
def _shots(own: int, blocked: int) -> int:
    """Return the rolls that hit a blot, with no checker on the bar; bit n - 1 is for the point n pips from it."""
    rolls = int(_DIRECT[own & _NEAR])
    for total in range(3, 12):
        if own >> (total - 1) & 1:
            rolls |= int(_COMBINATIONS[64 * total + (blocked & _NEAR)])
    for number in range(1, 7):
        sources = own & _STEPS[number]
        nearer = (sources & -sources) - 1
        if sources and not blocked & _STEPS[number] & nearer:
            rolls |= 1 << (number * (number + 1) // 2 - 1)
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
    inputs, sides = np.empty((len(boards), INPUTS), np.float32), np.empty((2 * len(boards), CELLS), np.int8)
    _write_sides(boards, sides)
    _encode(sides, inputs.reshape(-1, SIDE_INPUTS), ESCAPES)
    return inputs


@compiled
def _write_sides(boards: Boards, sides: Boards) -> None:
    """Write each board and, in the next row, the same board swapped."""
    for row in range(len(boards)):
        for cell in range(CELLS):
            sides[2 * row, cell] = boards[row, cell]
            sides[2 * row + 1, cell] = -boards[row, BAR - cell]


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


encode_into: Final = inner(_encode)
"""The same for compiled functions. Compiled for calls from Python, too, each part would be compiled twice."""


@compiled
def write_counts(sides: Boards, inputs: Matrix32) -> None:
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
    left = find_cells(board, 1, CHECKERS)
    while left:
        point = lowest_bit(left)
        left &= left - 1
        count = AS_INT + board[point]
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
    inputs[SideFeature.PIPS.value] = pips / 100
    inputs[SideFeature.REARMOST.value] = rearmost / 24
    inputs[SideFeature.REAR.value] = rear / 6
    inputs[SideFeature.OUTFIELD.value] = outfield / 10
    inputs[SideFeature.CROSSOVERS.value] = crossovers / 20
    inputs[SideFeature.TO_COME_HOME.value] = to_come / 100
    inputs[SideFeature.DEEP.value] = deep / 8
    inputs[SideFeature.STACKED.value] = stacked / 6
    inputs[SideFeature.SPARE.value] = spare / 60
    inputs[SideFeature.OFF.value] = 1.0 if off > 0 else 0.0
    inputs[SideFeature.OFF_HALF.value] = 1.0 if off > 7 else 0.0
    if off > 10:
        inputs[SideFeature.OFF_LAST.value] = (off - 10) / 5
    if checkers:
        mean = pips / checkers
        inputs[SideFeature.SPREAD.value] = math.sqrt(max(squares / checkers - mean * mean, 0.0)) / 10
        if rearmost < 7:
            inputs[SideFeature.ROLLS.value] = (checkers + 1) // 2 / 8


@inner
def _write_points(board: Board, inputs: Inputs) -> None:
    made = find_cells(board, 2, CHECKERS) & _ON_POINTS
    home, anchors = bit_count(made & _HOME), bit_count(made & _ANCHORS)
    foremost, deepest, longest, place = 0, 0, 0, 0
    if anchors or made >> _BAR_POINT & 1:
        foremost, deepest = BAR - lowest_bit(made >> _BAR_POINT << _BAR_POINT), BAR - highest_bit(made)
    while made:  # the highest point of each prime of more than `longest` points
        longest, place = longest + 1, lowest_bit(made)
        made &= made << 1
    inputs[SideFeature.HOME.value] = home / 6
    inputs[SideFeature.HOME_SQUARED.value] = home * home / 36
    inputs[SideFeature.PRIME.value] = longest / 6
    if longest > 2:
        inputs[SideFeature.PRIME_PLACE.value] = place / 24
    inputs[SideFeature.ANCHORS.value] = anchors / 3
    inputs[SideFeature.FOREMOST_ANCHOR.value] = foremost / 7
    inputs[SideFeature.DEEPEST_ANCHOR.value] = deepest / 7
    inputs[SideFeature.BACK_GAME.value] = 1.0 if anchors > 1 else 0.0


@compiled
def write_blocks(sides: Boards, inputs: Matrix32, escapes: Vector32) -> None:
    """Write how freely a side's checkers come home, how the opponent blocks them, and whether this is a race."""
    for row in range(len(sides)):
        board, own, theirs = sides[row], inputs[row], inputs[row ^ 1]
        checkers, others = find_cells(board, 1, CHECKERS), find_cells(board, -CHECKERS, -1)
        rearmost = highest_bit(checkers) if checkers else 0
        last = lowest_bit(others) if others else BAR
        blocked = find_cells(sides[row ^ 1], 2, CHECKERS) & _ON_POINTS
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
            theirs[SideFeature.ESCAPE.value] = escape
            theirs[SideFeature.LEAST_ESCAPE.value] = least
            theirs[SideFeature.CONTAINMENT.value] = caught / 12
        if rearmost <= last:
            own[SideFeature.RACE.value] = 1.0
            continue
        own[SideFeature.FREE.value] = free / 100
        own[SideFeature.STUCK.value] = stuck / 8
        if board[BAR]:
            closed = 0
            for point in range(19, BAR):
                closed += board[point] < -1
            own[SideFeature.DANCE.value] = closed * closed / 36
