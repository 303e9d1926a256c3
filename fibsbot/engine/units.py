"""What the networks see of each side, by name: the raw counts, then what players look at."""

from __future__ import annotations

import enum
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Inputs: TypeAlias = npt.NDArray[np.float32]
"""The inputs of one position, shape (INPUTS,), or of many, shape (n, INPUTS)."""

_COUNTS: Final = ("blot", "made", "spare", "more")
COUNTS: Final = len(_COUNTS)
"""Inputs a point: exactly one checker, exactly two, at least three, half of those beyond three."""
BAR_UNIT: Final = 24 * COUNTS
OFF_UNIT: Final = BAR_UNIT + 1
RAW: Final = OFF_UNIT + 1
"""Raw inputs a side: 24 points, the bar (in halves), checkers off (in fifteenths)."""


class Unit(enum.IntEnum):
    """What players look at, for one side; the value is the place among the side's inputs."""

    PIPS = RAW
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
    """How deep the anchor (or the opponent's bar point) lies that is the easiest to leave / 7."""
    DEEPEST_ANCHOR = enum.auto()
    """How deep the one lies that is the hardest to leave / 7."""
    BACK_GAME = enum.auto()
    """Whether there are two anchors or more."""
    REAR = enum.auto()
    """Checkers in the opponent's home board and on the bar / 6."""
    OUTFIELD = enum.auto()
    """Checkers on points 7 to 18 / 10."""
    CROSSOVERS = enum.auto()
    """Quarters of the board to pass until all are home / 20."""
    TO_COME_HOME = enum.auto()
    """Pips to bring all checkers home / 100: what saves a gammon."""
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
    """Pips that can be played until the home board has to break / 60."""
    DANCE = enum.auto()
    """Chance not to enter, with a checker on the bar."""
    HIT = enum.auto()
    """Chance to hit with the next roll; see `shots`."""
    DOUBLE_HIT = enum.auto()
    """Chance of a roll by which two blots can be hit."""
    HIT_PIPS = enum.auto()
    """Pips that the opponent loses by the hit on average / 12."""
    RACE = enum.auto()
    """Whether the sides have passed each other."""
    OFF = enum.auto()
    """Whether a checker is off: no gammon any more."""
    OFF_HALF = enum.auto()
    """Whether 8 or more are off."""
    OFF_LAST = enum.auto()
    """Checkers off beyond the tenth / 5."""
    ROLLS = enum.auto()
    """Rolls until all are off without a miss / 8, when all are home."""


SIDE: Final = RAW + len(Unit)
INPUTS: Final = 2 * SIDE
"""Inputs of a position: of the player on roll, then of the opponent, each seen by itself."""


def names() -> tuple[str, ...]:
    """Return a name for each of the INPUTS, in their order."""
    raw = [f"{point}_{count}" for point in range(1, 25) for count in _COUNTS]
    side = [*raw, "bar", "borne_off", *(unit.name.lower() for unit in Unit)]
    return tuple(f"{who}_{name}" for who in ("own", "opponent") for name in side)
