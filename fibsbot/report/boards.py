"""Hundreds of boards in little room: each differs from the next by a few checkers, so the pieces are kept once.

The pictures are those of `fibsbot.draw.svg`, taken apart before each element. A board is then a row of numbers of
pieces, and most of these follow each other: `0-67 71 69-80`. The page's script puts them together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from fibsbot.draw.svg import Look, Theme, board_svg
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.state import Seat

_TOLD: Final = re.compile(r"<(title|desc)>.*?</\1>", re.DOTALL)
"""What the page itself tells of the board, beside it."""
_PIECE: Final = re.compile(r"<[^/][^>]*>[^<]*(?:</[^>]*>)*")


class Boards:
    """The boards of a match, always seen from the same seat."""

    def __init__(self, seat: Seat, names: tuple[str, str]) -> None:
        """Seat a player below; `names` are those of seat A and seat B."""
        self._below = seat
        self._names = names
        self._numbers: dict[str, int] = {}

    @property
    def pieces(self) -> list[str]:
        """All pieces, in the order of their numbers."""
        return list(self._numbers)

    def add(self, state: MatchState, seat: Seat, play: Play | None = None) -> str:
        """Draw a decision of a player, with a play if there is one, and return the numbers of its pieces."""
        look = Look(theme=Theme.PAGE, dark=seat is self._below, above=seat is not self._below, fixed=True)
        names = (self._names[seat], self._names[seat.other])
        picture = _TOLD.sub("", board_svg(state, look=look, play=play, names=names)).replace("\n", "")
        return " ".join(_runs(self._numbers.setdefault(it, len(self._numbers)) for it in _PIECE.findall(picture)))


def _runs(numbers: Iterable[int]) -> Iterator[str]:
    """Write numbers that follow each other as first and last."""
    first = last = -1
    for number in numbers:
        if number == last + 1 and first >= 0:
            last = number
            continue
        if first >= 0:
            yield _run(first, last)
        first = last = number
    if first >= 0:
        yield _run(first, last)


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
