"""Events of a match, one class per kind, in the order in which they happened."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeAlias

from attrs import frozen

from fibsbot.bot.tracked_match import Difference
from fibsbot.replay.places import Place, PlaceError
from fibsbot.rules.state import Seat
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


@frozen
class MatchEnded:
    """A match is over, or nothing more is seen of it."""

    match: int
    transcript: Transcript


# -- games other than backgammon --------------------------------------------------------------------------------------


@frozen
class TableMatchBegan:
    """A match of another game starts, is resumed, or is first seen."""

    match: int
    game: str
    """The game's full name, with options after colons."""
    players: tuple[str, str]
    length: int | None
    """Points, 0 for unlimited; None if it is not known."""
    own: bool
    """Whether the first player is the user."""
    at: dt.datetime | None = None


@frozen
class TableGameBegan:
    """A game starts, or is first seen."""

    match: int
    number: int
    scores: tuple[int, int] | None
    """None if they are not known."""
    crawford: bool = False
    """Whether its first line shows that it is the Crawford game."""

    @property
    def place(self) -> Place:
        """Where it is in the replay."""
        return Place(self.match, self.number)


@frozen
class TableActionAdded:
    """A player acts: a part of a turn with its roll, a name, or an action with the cube."""

    match: int
    game: int
    turn: int
    """Number of the action in its game, from 1."""
    seat: Seat
    text: str
    """A play as `32: 24/19`, or words."""
    decision: bool
    """Whether the player may have had a choice: not where no checker could move."""
    at: dt.datetime | None = None

    @property
    def place(self) -> Place:
        """Where it is in the replay."""
        return Place(self.match, self.game, self.turn)


@frozen
class TableGameEnded:
    """A game is over, or nothing more is seen of it."""

    match: int
    number: int
    winner: Seat | None
    points: int
    reason: str
    """How it ended, in the server's words; empty if that was not seen."""
    drawn: bool
    scores: tuple[int, int] | None
    """After it; None if they are not known."""


@frozen
class TableMatchEnded:
    """A match is over, or nothing more is seen of it."""

    match: int
    players: tuple[str, str]
    scores: tuple[int, int] | None
    winner: Seat | None
    at: dt.datetime | None = None
    transcript: Transcript | None = None
    """The match, where the game is backgammon but for its set-up or its count."""


TableEvent: TypeAlias = TableMatchBegan | TableGameBegan | TableActionAdded | TableGameEnded | TableMatchEnded
"""The events of matches of other games, beside DifferenceFound."""
MatchEvent: TypeAlias = MatchBegan | GameBegan | EntryAdded | DifferenceFound | GameEnded | MatchEnded | TableEvent


def place_of(event: MatchEvent) -> Place | None:
    """Return the place of an event; None for an end, which belongs to the event before it."""
    match event:
        case MatchBegan() | TableMatchBegan():
            return Place(event.match)
        case GameBegan():
            return Place(event.match, event.game.number)
        case TableGameBegan() | TableActionAdded():
            return event.place
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
            yield from context if not isinstance(event, MatchBegan | TableMatchBegan) else ()
            yield event
            yield from waiting
            return
        last = place or last
        if isinstance(event, MatchBegan | TableMatchBegan):
            context = [event]
        elif isinstance(event, GameBegan | TableGameBegan):
            context = [*context[:1], event]
        elif isinstance(event, GameEnded | TableGameEnded):
            context = context[:1]
    raise PlaceError(f"nothing happened at {start} or later; the last was at {last}" if last.match else "no match")
