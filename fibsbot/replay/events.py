"""Events of a match, one class per kind, in the order in which they happened."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeAlias

from attrs import frozen

from fibsbot.bot.tracked_match import Difference
from fibsbot.replay.places import Place, PlaceError
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import GameState
from fibsbot.transcript import Decision, Game, Step, Transcript, decisions


@frozen
class ChouetteGame:
    """A game of a chouette, which is a match of its own."""

    host: str
    """Who has opened the table."""
    number: int
    """The server's number of the game."""
    user: str
    """The owner of the log, who may be a member of the team and not its captain."""

    def __str__(self) -> str:
        """Return what a file says of it."""
        return f"chouette of {self.host}, game {self.number}"


@frozen
class MatchBegan:
    """A match starts, is resumed, or is first seen."""

    match: int
    """Number of the match within the source, from 1."""
    transcript: Transcript
    """The players and the length as far as known, and the games so far of a resumed match."""
    at: dt.datetime | None = None
    rules: Ruleset = BACKGAMMON
    """The game that is played; the transcript may have no game yet."""
    chouette: ChouetteGame | None = None


@frozen
class GameBegan:
    """A game starts, or is first seen."""

    match: int
    game: Game
    """Without entries, unless it is resumed."""


@frozen
class EntryAdded:
    """An entry is added to a game."""

    match: int
    step: Step
    own: bool = True
    """Whether the decisions of the user's seat are the user's own, and not those of a chouette's captain."""

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions of the entry, in order."""
        return decisions(self.step)


@frozen
class DifferenceFound:
    """A `board:` line or a score contradicts the known state."""

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
    end: GameState
    """The game after its last entry; it says whether the game was drawn."""


@frozen
class MatchEnded:
    """A match is over, or nothing more is seen of it."""

    match: int
    transcript: Transcript


MatchEvent: TypeAlias = MatchBegan | GameBegan | EntryAdded | DifferenceFound | GameEnded | MatchEnded


def place_of(event: MatchEvent) -> Place | None:
    """Return the place of an event; None for an end, which belongs to the event before it."""
    match event:
        case MatchBegan():
            return Place(event.match)
        case GameBegan():
            return Place(event.match, event.game.number)
        case EntryAdded(step=step):
            return Place(event.match, step.game, step.turn)
        case DifferenceFound():
            return Place(event.match, event.game, event.turn)
    return None


def events_from(events: Iterable[MatchEvent], start: Place | None) -> Iterator[MatchEvent]:
    """Leave out the events before a place, but not the starts of its match and its game.

    Raises PlaceError at the end if the place was not reached.
    """
    return iter(events) if start is None else _events_from(iter(events), start)


def _events_from(waiting: Iterator[MatchEvent], start: Place) -> Iterator[MatchEvent]:
    context: list[MatchEvent] = []
    last = Place(0)
    for event in waiting:
        place = place_of(event)
        if place is not None and place >= start:
            yield from context if not isinstance(event, MatchBegan) else ()
            yield event
            yield from waiting
            return
        last = place or last
        if isinstance(event, MatchBegan):
            context = [event]
        elif isinstance(event, GameBegan):
            context = [*context[:1], event]
        elif isinstance(event, GameEnded):
            context = context[:1]
    raise PlaceError(f"nothing happened at {start} or later; the last was at {last}" if last.match else "no match")
