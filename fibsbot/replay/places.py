"""Places in what is replayed: match, game, turn; and how to begin at one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Self

from attrs import frozen

from fibsbot.replay.happenings import Differed, GameBegan, GameEnded, Happened, Happening, MatchBegan

_PLACE: Final = re.compile(r"([1-9]\d{0,8})(?:/([1-9]\d{0,8})(?:/([1-9]\d{0,8}))?)?")


class PlaceError(ValueError):
    """A place that is none, or that is not there; the text is one line."""


@frozen(order=True)
class Place:
    """Where something happened; each number counts from 1, and 0 is before the first."""

    match: int
    game: int = 0
    turn: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `MATCH`, `MATCH/GAME` or `MATCH/GAME/MOVE`. Raises PlaceError."""
        found = _PLACE.fullmatch(text.strip())
        if not found:
            raise PlaceError(f"expected MATCH/GAME/MOVE as in 2, 2/1 or 2/1/14, got {text[:40]!r}")
        return cls(*(int(number or 0) for number in found.groups()))

    def __str__(self) -> str:
        """Write it as it is read."""
        return "/".join(str(number) for number in (self.match, self.game, self.turn) if number)


def place_of(happening: Happening) -> Place | None:
    """Return where something happened; None for an end, which belongs to what was before it."""
    match happening:
        case MatchBegan():
            return Place(happening.match)
        case GameBegan():
            return Place(happening.match, happening.game.number)
        case Happened(step=step):
            return Place(happening.match, step.game, step.turn)
        case Differed():
            return Place(happening.match, happening.game, happening.turn)
    return None


def starting_at(happenings: Iterable[Happening], start: Place | None) -> Iterator[Happening]:
    """Leave out what happened before a place, but not which match and which game it belongs to.

    Raises PlaceError at the end if the place never came.
    """
    if start is None:
        yield from happenings
        return
    waiting = iter(happenings)
    context: list[Happening] = []
    last = Place(0)
    for happening in waiting:
        place = place_of(happening)
        if place is not None and place >= start:
            yield from context if not isinstance(happening, MatchBegan) else ()
            yield happening
            yield from waiting
            return
        last = place or last
        if isinstance(happening, MatchBegan):
            context = [happening]
        elif isinstance(happening, GameBegan):
            context = [*context[:1], happening]
        elif isinstance(happening, GameEnded):
            context = context[:1]
    raise PlaceError(f"nothing happened at {start} or later; the last was at {last}" if last.match else "no match")
