"""The rating formula of FIBS (`help formula`; docs/reference/protocol.md).

With D = the difference of two ratings and n = the length of their match, the lower-rated player wins with a chance of
1 / (10^(D sqrt(n) / 2000) + 1). A player wins or loses 4 K sqrt(n) P points, P being the chance of the opposite result.
"""

from __future__ import annotations

import math
from typing import Final

MAX_EXPONENT: Final = 300
"""The exponent is limited to this, so that absurd ratings do not overflow."""


def experience_factor(experience: float) -> float:
    """Return K of a player with this many points of rated matches: newcomers' ratings move up to five times as fast."""
    return max(1.0, 5 - experience / 100)


def winning_chance(own: float, opponent: float, length: int) -> float:
    """Return the chance of a player rated `own` to win a match to `length` points against one rated `opponent`."""
    exponent = (opponent - own) * math.sqrt(length) / 2000
    return 1 / (math.pow(10, min(max(exponent, -MAX_EXPONENT), MAX_EXPONENT)) + 1)


def rating_change(experience: float, length: int, opposite: float) -> float:
    """Return the points that a player gains or loses by a result whose opposite had the chance `opposite`."""
    return 4 * experience_factor(experience) * math.sqrt(length) * opposite


def rating_difference(share: float, length: int) -> float | None:
    """Return the rating difference at which this share of matches to `length` is won; None for all or none."""
    if not 0 < share < 1:
        return None
    return 2000 / math.sqrt(length) * math.log10(share / (1 - share))
