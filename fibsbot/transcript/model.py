"""What stands on the paper: players, games, and entry by entry what happened. All of it immutable."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

from fibsbot.match import CubeAction, Dice
from fibsbot.position import Play
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import GameState, Result, Seat, Stage

ID_LENGTH: Final = 16
"""Hexadecimal digits of a match's own number."""


@frozen
class Player:
    """Who sits at a seat."""

    name: str
    rating: float | None = None
    """When the match began."""
    experience: int | None = None
    """Points played when the match began."""


@frozen(slots=False, kw_only=True)
class Entry:
    """Something that happened in a game, and what else is known of it."""

    at: dt.datetime | None = None
    """When, UTC."""
    seconds: float | None = None
    """How long the player thought, where a log tells."""
    equity: float | None = None
    """What the player's strategy expected, where a log tells: in points per game at the present cube."""
    rebuilt: bool = False
    """Whether it was not seen, but is the only thing that can have happened between two boards."""


@frozen(slots=False)
class Throw(Entry):
    """A throw of the dice, and what was played with it. The first one of a game is the opening throw."""

    seat: Seat
    dice: Dice
    play: Play | None = None
    """As the player sees the board; no moves: a dance. None: thrown, and nothing more seen before the game ended."""

    @property
    def numbers(self) -> str:
        """The dice as people write them, the higher first: `31`."""
        return f"{max(self.dice)}{min(self.dice)}"


@frozen(slots=False)
class Cube(Entry):
    """A double, or what was answered to one."""

    seat: Seat
    action: CubeAction
    """DOUBLE, TAKE, PASS or BEAVER (ROLL is no entry: a Throw shows it)."""


@frozen(slots=False)
class Resign(Entry):
    """An offer to resign, and what was answered."""

    seat: Seat
    """Who wanted to resign."""
    level: Level
    accepted: bool


@frozen(slots=False)
class Gap(Entry):
    """Something is missing here: what happened is not known, only where the game stood afterwards."""

    reason: str
    """What is missing and why, in a few words."""
    then: GameState
    """Where the game went on."""


@frozen
class Game:
    """A game of a match."""

    number: int
    """Counted from 1, as far as the match was seen."""
    start: GameState
    """Before the opening throw (stage OPENING); any other stage where it was first seen in the middle."""
    entries: tuple[Entry, ...] = ()
    result: Result | None = None
    """How it ended, as it was told or as the entries show; None for a game that was not seen to its end."""

    @property
    def whole(self) -> bool:
        """Whether it was seen from its opening throw, without a gap."""
        return self.start.stage is Stage.OPENING and not any(isinstance(it, Gap) for it in self.entries)


@frozen
class Transcript:
    """A match, as far as it was seen."""

    players: tuple[Player, Player]
    """Those of seat A and seat B."""
    length: int
    """Points; 0 is unlimited."""
    games: tuple[Game, ...] = ()
    user: Seat | None = None
    """Whose log it was; None where somebody else's match was watched, or a file does not say."""
    site: str = ""
    """Where it was played: a server's name or address."""
    started: dt.datetime | None = None
    ended: dt.datetime | None = None
    """When it was won, or last seen."""
    given_id: str = ""
    """The number that a file gave it."""
    tags: Mapping[str, str] = field(factory=dict)
    """Whatever else a file's headers say, by their own names."""

    @property
    def scores(self) -> tuple[int, int]:
        """Points of seat A and seat B at the end, as far as they are known."""
        if not self.games:
            return (0, 0)
        last = self.games[-1]
        a, b = last.start.scores
        if last.result is None:
            return (a, b)
        return (a + last.result.points, b) if last.result.winner is Seat.A else (a, b + last.result.points)

    @property
    def winner(self) -> Seat | None:
        """Who has won the match; None while nobody has, as in an unlimited one."""
        return next((seat for seat in Seat if self.length and self.scores[seat] >= self.length), None)

    @property
    def match_id(self) -> str:
        """A number of its own that is always the same for the same match: the given one, or made of what is known."""
        if self.given_id:
            return self.given_id
        names = sorted(player.name for player in self.players)
        known = [self.site, *names, str(self.length)]
        if self.started:
            known.append(self.started.astimezone(dt.UTC).isoformat(timespec="seconds"))
        else:
            throws = [it.dice for game in self.games[:1] for it in game.entries if isinstance(it, Throw)]
            known.append(repr(throws))
        return hashlib.sha256("\0".join(known).encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]
