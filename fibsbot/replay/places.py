"""Places in a replay: match, game, turn. Imports nothing slow, as the command line reads them."""

from __future__ import annotations

import re
from typing import Final, Self

from attrs import frozen

_PLACE: Final = re.compile(r"([1-9]\d{0,8})(?:/([1-9]\d{0,8})(?:/([1-9]\d{0,8}))?)?")


class PlaceError(ValueError):
    """A place that is malformed or does not exist; the text is one line."""


@frozen(order=True)
class Place:
    """A place in a replay; each number counts from 1, and 0 is before the first."""

    match: int
    game: int = 0
    turn: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `MATCH`, `MATCH/GAME` or `MATCH/GAME/TURN`. Raises PlaceError."""
        found = _PLACE.fullmatch(text.strip())
        if not found:
            raise PlaceError(f"expected MATCH/GAME/TURN as in 2, 2/1 or 2/1/14, got {text[:40]!r}")
        return cls(*(int(number or 0) for number in found.groups()))

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return "/".join(str(number) for number in (self.match, self.game, self.turn) if number)
