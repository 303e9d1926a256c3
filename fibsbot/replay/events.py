"""Events of a match, one class per kind, in the order in which they happened.

And places among them: match, game, turn.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, Self, TypeAlias

from attrs import frozen

from fibsbot.bot.tracked_match import Difference
from fibsbot.transcript import Decision, Game, Step, Transcript, decisions


@frozen
class MatchBegan:
    """A match begins, or goes on, or is first seen."""

    match: int
    """Number of the match in what is replayed, from 1."""
    transcript: Transcript
    """As far as it is known now: players, length; and, where it goes on, the games so far."""
    at: dt.datetime | None = None


@frozen
class GameBegan:
    """A game begins, or is first seen."""

    match: int
    game: Game
    """Without entries, unless it goes on after a break."""


@frozen
class EntryAdded:
    """An entry of a game."""

    match: int
    step: Step

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided with it, in order."""
        return decisions(self.step)


@frozen
class DifferenceFound:
    """A `board:` line or a score contradicted what was known."""

    match: int
    game: int
    turn: int
    differences: tuple[Difference, ...]
    offset: int
    """Of the line, in bytes from the beginning of the capture."""
    at: dt.datetime | None = None


@frozen
class GameEnded:
    """A game is over, or nothing more is seen of it."""

    match: int
    game: Game


@frozen
class MatchEnded:
    """A match is over, or nothing more is seen of it: all that is known of it."""

    match: int
    transcript: Transcript


MatchEvent: TypeAlias = MatchBegan | GameBegan | EntryAdded | DifferenceFound | GameEnded | MatchEnded


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


def place_of(happening: MatchEvent) -> Place | None:
    """Return where something happened; None for an end, which belongs to what was before it."""
    match happening:
        case MatchBegan():
            return Place(happening.match)
        case GameBegan():
            return Place(happening.match, happening.game.number)
        case EntryAdded(step=step):
            return Place(happening.match, step.game, step.turn)
        case DifferenceFound():
            return Place(happening.match, happening.game, happening.turn)
    return None


def events_from(happenings: Iterable[MatchEvent], start: Place | None) -> Iterator[MatchEvent]:
    """Leave out what happened before a place, but not which match and which game it belongs to.

    Raises PlaceError at the end if the place never came.
    """
    if start is None:
        yield from happenings
        return
    waiting = iter(happenings)
    context: list[MatchEvent] = []
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
