"""Which plays are looked at more closely."""

from __future__ import annotations

from typing import Final

from attrs import frozen

from fibsbot.engine.expanding import Filter

EVERYTHING: Final = Filter(margin=100.0, most=3060)
"""Every play."""

_DECIDED: Final = (Filter(0.2, 10), Filter(0.08, 5), Filter(0.04, 3), Filter(0.03, 3))
_LAST: Final = Filter(0.35, 8)
_INNER: Final = Filter(0.3, 8)


@frozen
class Filters:
    """Which plays stay in the running, in equity below the best and by number.

    What was tried, and what it costs and gives away, is in `docs/search.md`.
    """

    decided: tuple[Filter, ...] = _DECIDED
    """Of the plays that are to be decided on: which are looked at 1 roll ahead, 2 rolls and so on."""
    last: Filter = _LAST
    """Of the plays of the last roll: which of them the pruner leaves to the network."""
    inner: Filter = _INNER
    """The same of the rolls before; of these the network then chooses one."""


ALL: Final = Filters((EVERYTHING,) * 4, EVERYTHING, EVERYTHING)
"""Nothing is left out: exact, and far too slow to play with."""
