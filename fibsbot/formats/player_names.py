"""Whether two spellings are of the same player: programs cut names, change their case and add countries."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, TypeAlias

Names: TypeAlias = tuple[str, str]

SHORTEST_CUT: Final = 3
"""Characters of a name that has been cut, at least."""
_COUNTRY: Final = re.compile(r"[ ,]*[(\[][^()\[\]]*[)\]]$")


def order_of_names(known: Names, stated: Names) -> tuple[int, int] | None:
    """Return the place of each known player among two stated names; None if no name is one of theirs."""
    straight = likeness(known[0], stated[0]) + likeness(known[1], stated[1])
    crossed = likeness(known[0], stated[1]) + likeness(known[1], stated[0])
    if not straight and not crossed:
        return None
    return (1, 0) if crossed > straight else (0, 1)


def likeness(one: str, other: str) -> int:
    """Return 3 for equal names, 2 for those that differ in case or country, 1 for one that is cut, else 0."""
    if one == other:
        return 3
    first, second = _plain(one), _plain(other)
    if first == second:
        return 2
    shorter, longer = sorted((first, second), key=len)
    return int(len(shorter) >= SHORTEST_CUT and longer.startswith(shorter))


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return _COUNTRY.sub("", " ".join(folded.split())) or folded
