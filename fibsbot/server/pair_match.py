"""PairMatch: a match of any game between two users: the state of its game, the players, the list of moves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Generic, Self, TypeVar

from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.words import Colour
from fibsbot import fibs_numbering
from fibsbot.rules.laws import Laws
from fibsbot.rules.permissions import match_winner
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.server.database import Database, SavedMatchRow
from fibsbot.server.users import User

MAX_SHOWN: Final = 9999
"""The highest score that a `board:` or `table:` line can show; an unlimited match may pass it."""

Game = TypeVar("Game", bound=GameState)


@define(eq=False)
class PairMatch(Generic[Game]):
    """A match between two users, until its end or until one of them leaves."""

    names: tuple[str, str]
    """The names of seat A, who invited, and seat B."""
    state: Game
    colours: tuple[Colour, Colour]
    serial: int
    """The number of this match of the pair, from 1; with the names it determines seeded dice."""
    rolls: int = 0
    """Number of rolls so far."""
    moves: list[str] = field(factory=list)
    """The list of moves of the current game, as `oldmoves` shows it."""
    agreed: Laws | None = None
    """The laws that both players have agreed on; None: those of FIBS, by their toggles."""
    joined: set[Seat] = field(factory=set)
    """Between two games, the players who have joined the next one."""
    users: dict[Seat, User] = field(factory=dict)
    """The players; empty for a match that is not being played."""
    teammates: list[User] = field(factory=list)
    """The other players of a chouette, who see the board as watchers of seat B do."""

    @property
    def game(self) -> str | None:
        """The name of the game, with options after colons; None for backgammon."""
        return None

    @property
    def length(self) -> int:
        """The length as in messages: UNLIMITED for an unlimited match."""
        return fibs_numbering.length_to_fibs(self.state.length)

    @property
    def key(self) -> str:
        """The match's name for seeded dice."""
        return f"{self.names[0]}:{self.names[1]}:{self.serial}"

    @property
    def between_games(self) -> bool:
        """Whether a game is over and the next one has not begun."""
        return self.state.stage is Stage.OVER

    @property
    def on_turn(self) -> Seat:
        """The player on turn according to the server: while a double waits, the one who answers."""
        return self.state.turn if self.state.answering is None else self.state.answering

    def seat(self, name: str) -> Seat:
        """Return a player's seat."""
        return Seat(self.names.index(name))

    def swap_colours(self) -> None:
        """Swap the colours, as before every game but the first."""
        self.colours = (self.colours[1], self.colours[0])

    def is_shown_to(self, user: User) -> bool:
        """Return whether a user's client understands the lines of this match."""
        return self.agreed is None or user.knows_laws

    def shown(self, seat: Seat, player: str, opponent: str, *, requested: bool = False) -> m.Board | m.TableBoard:
        """Return the board from a seat's side, with the names to show."""
        raise NotImplementedError  # each kind of match has its own

    def pips(self, seat: Seat) -> tuple[int, int]:
        """Return the pip counts of a seat and of the other one."""
        raise NotImplementedError  # each kind of match has its own

    # -- the list of moves ------------------------------------------------------------------------------------------

    def record_action(self, seat: Seat, text: str) -> None:
        """Add an action that is no play to the list."""
        self.moves.append(write(m.MovesAction(self.colours[seat], text)))

    def list_moves(self, seat: Seat) -> tuple[m.Message, ...]:
        """Return the list of the current game, with the score from a seat's side."""
        own, other = self.state.scores[seat], self.state.scores[seat.other]
        x = self.colours.index(Colour.X)
        head = (m.MovesScore(own, other, self.length), m.MovesColours(self.names[x], self.names[1 - x]), m.Unknown(""))
        return (*head, *map(m.Unknown, self.moves))

    # -- saving -----------------------------------------------------------------------------------------------------

    def save(self, database: Database, now: float) -> None:
        """Save the match, and with its end the ratings that have changed."""
        saved = self.to_saved()
        accounts = [user.account for user in self.users.values()] if saved.over else []
        database.save_match(saved, now, *accounts)

    def to_saved(self) -> SavedMatchRow:
        """Return the database row of this match."""
        low, high = sorted(self.names)
        return SavedMatchRow((low, high), self.serial, match_winner(self.state) is not None, self.to_json())

    def to_json(self) -> str:
        """Return everything except the users as JSON."""
        raise NotImplementedError  # each kind of match has its own

    @classmethod
    def from_saved(cls, saved: SavedMatchRow) -> Self | None:
        """Read a saved match; None if the row is corrupt."""
        try:
            match = cls._from_values(json.loads(saved.state))
            flaw = match.shown(Seat.A, *match.names).state.flaw()
        except Exception:  # noqa: BLE001 - nothing in a row of the database is trusted
            return None
        return None if flaw or sorted(match.names) != list(saved.names) else match

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the match that `to_json` has written; raise any exception for other values."""
        raise NotImplementedError  # each kind of match has its own
