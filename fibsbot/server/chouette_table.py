"""ChouetteTable: three to six users who play a chouette, and ChouetteMatch: the game at its board.

Box and captain are the two users of an ordinary ServerMatch, so that every command of a game works at a table, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field

from fibs_protocol.words import Colour
from fibsbot.evolve import evolve
from fibsbot.rules.chouette import LAWS_CHOUETTE, TEAM, Chouette, follow
from fibsbot.rules.laws import MOST_PLAYERS
from fibsbot.rules.state import GameState, Seat
from fibsbot.server.database import Database
from fibsbot.server.saved_games import SAVED_GAMES
from fibsbot.server.server_match import CUBE_LIMIT, ServerMatch
from fibsbot.server.users import User

SERVER_LAWS: Final = evolve(LAWS_CHOUETTE, cube_limit=CUBE_LIMIT)


class ChouetteMatch(ServerMatch):
    """The game of a chouette: seat A is the man in the box, seat B is the captain."""

    def __init__(self, table: ChouetteTable, state: Chouette, colours: tuple[Colour, Colour]) -> None:
        """Put box and captain of a state at the table's board."""
        self.table = table
        table.state = state
        super().__init__((state.box, state.captain), state.game, colours, table.number)

    @property
    def chouette(self) -> Chouette:
        """The state of the chouette."""
        if self.table.state is None:
            raise AssertionError("a table with a match has a state")
        return self.table.state

    @property
    def state(self) -> GameState:
        """The state of the game; one that is set is followed by the chouette, whose laws no toggle changes."""
        return self.chouette.game

    @state.setter
    def state(self, game: GameState) -> None:
        chouette = self.chouette
        self.table.state = follow(chouette, evolve(game, laws=chouette.game.laws))

    @property
    def key(self) -> str:
        """The game's name for seeded dice."""
        return f"chouette:{self.table.number}:{self.table.games}"

    def save(self, database: Database, now: float) -> None:
        """Save the whole table."""
        database.save_chouette(self.table.number, self.table.to_json(), now)


@define(eq=False)
class ChouetteTable:
    """A table, from `chouette open` until fewer than three players want to go on."""

    host: str
    """The user who has opened it, whose name `chouette join` takes, or who followed."""
    seats: list[str]
    """The names of all players, in the order in which they came; they may be away, or wait for the next game."""
    number: int
    """The table's number in the database."""
    games: int = 0
    """The number of games begun."""
    state: Chouette | None = None
    """The game that is being played, or the last one; None before the first."""
    match: ChouetteMatch | None = None
    users: dict[str, User] = field(factory=dict)
    """The players who are logged in, by name."""
    joined: set[str] = field(factory=set)
    """The players who have joined the next game."""
    deadline: float | None = None
    """When the next decision is overdue, or the table abandoned, by `World.elapsed`; None if it is not known yet."""
    timed: Chouette | None = None
    """The state for which the deadline was set."""
    settled: bool = False
    """Whether the result of the last game has been announced."""

    @property
    def playing(self) -> bool:
        """Whether a game is being played."""
        return self.state is not None and not self.state.over

    def is_in_game(self, name: str) -> bool:
        """Return whether a player has points at stake in the game that is being played."""
        return self.state is not None and self.playing and name in {self.state.box, *self.state.in_game}

    def spectators(self) -> list[str]:
        """Return the players who only see the board: all but box and captain."""
        return [name for name in self.seats if self.state is None or name not in {self.state.box, self.state.captain}]

    def to_json(self) -> str:
        """Return everything except the users as JSON; host and seats before the first game."""
        if self.state is None or self.match is None:
            return json.dumps({"host": self.host, "seats": self.seats})
        match = self.match
        return json.dumps(
            {
                "host": self.host,
                "seats": self.seats,
                "games": self.games,
                "state": SAVED_GAMES.unstructure(self.state),
                "settled": self.settled,
                "colours": match.colours,
                "rolls": match.rolls,
                "moves": match.moves,
                "can_move": match.can_move,
            }
        )


def saved_tables(rows: Iterable[tuple[int, str]]) -> list[ChouetteTable]:
    """Return the tables of some rows of the database, without users; corrupt rows are left out."""
    return [table for number, text in rows if (table := _table_from(number, text)) is not None]


def _table_from(number: int, text: str) -> ChouetteTable | None:
    try:
        values: dict[str, Any] = json.loads(text)
        seats = list(map(str, values["seats"]))
        if "state" not in values:
            return _table_not_begun(number, str(values["host"]), seats)
        state = SAVED_GAMES.structure(values["state"], Chouette)
        table = ChouetteTable(str(values["host"]), seats, number, int(values["games"]), settled=bool(values["settled"]))
        own, other = values["colours"]
        match = ChouetteMatch(table, state, (Colour(own), Colour(other)))
        match.rolls = int(values["rolls"])
        match.moves = list(map(str, values["moves"]))
        box_can, captain_can = values["can_move"]
        match.can_move = (int(box_can), int(captain_can))
        flaw = match.shown(TEAM, state.captain, state.box).state.flaw()
        sound = set(state.order) <= set(state.ledger) and sum(state.ledger.values()) == 0
    except Exception:  # noqa: BLE001 - nothing in a row of the database is trusted
        return None
    if flaw or not sound:
        return None
    table.match = match
    return table


def _table_not_begun(number: int, host: str, seats: list[str]) -> ChouetteTable | None:
    sound = host in seats and len(set(seats)) == len(seats) <= MOST_PLAYERS
    return ChouetteTable(host, seats, number) if sound else None


def seat_of(state: Chouette, name: str) -> Seat | None:
    """Return the seat whose checkers a player moves; None for the other players."""
    return next((seat for seat in Seat if state.player_of(seat) == name), None)
