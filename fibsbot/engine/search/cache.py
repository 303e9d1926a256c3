"""Cache of evaluations: a search meets the same positions over and over."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fibsbot.engine.arrays import CELLS, OUTCOMES, Floats32, Int32s
from fibsbot.engine.hashing import Words, is_same, place_of
from fibsbot.engine.jit import compiled

CACHE_SIZE: Final = 1 << 13
"""Positions in the cache: half a megabyte. Four times as many save 3 % of the evaluations, and no time."""
EMPTY: Final = 127
"""Marks an empty entry in its first word: the first cell would hold a number of checkers that no board has."""


class PositionCache(NamedTuple):
    """Positions and their outcomes; each position has one possible entry, given by its hash."""

    boards: Words
    """Shape (size, 13)."""
    outcomes: Floats32
    used: Int32s
    """The batch in which an entry was last used: it is not replaced before that batch is evaluated."""


def new_cache(size: int = CACHE_SIZE) -> PositionCache:
    """Return an empty cache; the size is a power of 2."""
    cache = PositionCache(
        np.zeros((size, CELLS // 2), np.int16), np.zeros((size, OUTCOMES), np.float32), np.zeros(size, np.int32)
    )
    empty(cache)
    return cache


def empty(cache: PositionCache) -> None:
    """Remove all positions."""
    cache.boards[:, 0] = EMPTY


@compiled
def find(cache: PositionCache, words: Words, batch: int, places: Int32s, unknown: Int32s) -> int:
    """Write the entry of each board to `places` and the boards to be evaluated to `unknown`; return their number.

    `words` are the boards, see `hashing`.
    A board without an entry of its own gets -1 - n in `places`, where n is its index among the boards to be evaluated.
    """
    size = len(cache.used)
    count = 0
    for row in range(len(words)):
        place = place_of(words[row], size)
        if not is_same(cache.boards[place], words[row]):
            unknown[count] = row
            count += 1
            if cache.used[place] == batch:
                places[row] = -count
                continue
            for word in range(len(words[row])):  # one by one: copying a row takes seconds to compile
                cache.boards[place, word] = words[row, word]
        cache.used[place] = batch
        places[row] = place
    return count


def fill(cache: PositionCache, places: Int32s, unknown: Int32s, valued: Floats32) -> Floats32:
    """Store the outcomes of the boards that were evaluated and return those of all boards, shape (n, 6)."""
    outcomes = np.empty((len(places), OUTCOMES), np.float32)
    _fill(cache.outcomes, places, unknown, valued, outcomes)
    return outcomes


@compiled
def _fill(kept: Floats32, places: Int32s, unknown: Int32s, valued: Floats32, outcomes: Floats32) -> None:
    for number in range(len(unknown)):
        place = places[unknown[number]]
        if place >= 0:
            for outcome in range(OUTCOMES):
                kept[place, outcome] = valued[number, outcome]
    for row in range(len(places)):
        place = places[row]
        for outcome in range(OUTCOMES):
            outcomes[row, outcome] = kept[place, outcome] if place >= 0 else valued[-1 - place, outcome]


def forget(cache: PositionCache, places: Int32s, unknown: Int32s) -> None:
    """Free the entries of boards whose evaluation failed."""
    asked = places[unknown]
    cache.boards[asked[asked >= 0], 0] = EMPTY
