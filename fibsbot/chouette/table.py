"""ChouetteTable: three to six users who play a chouette, and ChouetteMatch: the game at its board.

Box and captain are the two users of an ordinary ServerMatch, so that every command of a game works at a table, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.messages import Refusal
from fibs_protocol.words import Colour
from fibsbot.chouette import MOST_PLAYERS
from fibsbot.chouette.rules import LAWS_CHOUETTE, TEAM, Chouette, follow
from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules.state import GameState
from fibsbot.server.database import Database
from fibsbot.server.saved_games import SAVED_GAMES
from fibsbot.server.saved_match import CUBE_LIMIT, NEW_COLOURS
from fibsbot.server.users import ServerMatch, User
from fibsbot.server.world import World

SERVER_LAWS: Final = fast_evolve(LAWS_CHOUETTE, cube_limit=CUBE_LIMIT)


class ChouetteMatch(ServerMatch):
    """The game of a chouette: seat A is the man in the box, seat B is the captain."""

    def __init__(self, table: ChouetteTable, state: Chouette, colours: tuple[Colour, Colour] = NEW_COLOURS) -> None:
        """Put box and captain of a state at the table's board."""
        self.table = table
        self.chouette = state
        """The state of the chouette."""
        super().__init__((state.box, state.captain), state.game, colours, table.number)

    @property
    def state(self) -> GameState:
        """The state of the game; one that is set is followed by the chouette, whose laws no toggle changes."""
        return self.chouette.game

    @state.setter
    def state(self, game: GameState) -> None:
        self.chouette = follow(self.chouette, fast_evolve(game, laws=self.chouette.game.laws))

    @property
    def key(self) -> str:
        """The game's name for seeded dice."""
        return self.table.key

    def save(self, database: Database, now: float) -> None:
        """Save the whole table."""
        database.save_table(self.table.number, self.table.to_json(), now)


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
    match: ChouetteMatch | None = None
    """The game that is being played, or the last one; None before the first."""
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
    def state(self) -> Chouette | None:
        """The state of the game that is being played, or of the last one; None before the first."""
        return None if self.match is None else self.match.chouette

    @property
    def key(self) -> str:
        """The name of the present game for seeded dice."""
        return f"chouette:{self.number}:{self.games}"

    @property
    def playing(self) -> bool:
        """Whether a game is being played."""
        return self.state is not None and not self.state.over

    @property
    def not_acting(self) -> Refusal:
        """The refusal of a command that only box and captain may give."""
        if self.match is None:
            return m.NotPlaying()
        return m.ChouetteRefused(f"{self.match.names[TEAM]} is the captain and acts for the team")

    @property
    def full(self) -> bool:
        """Whether every seat is taken."""
        return len(self.seats) >= MOST_PLAYERS

    def is_in_game(self, name: str) -> bool:
        """Return whether a player has points at stake in the game that is being played."""
        return self.state is not None and self.playing and name in {self.state.box, *self.state.in_game}

    def spectators(self) -> list[User]:
        """Return the users who only see the board: all but box and captain."""
        acting = () if self.state is None else (self.state.box, self.state.captain)
        return [self.users[name] for name in self.seats if name in self.users and name not in acting]

    def to_json(self) -> str:
        """Return everything except the users as JSON; host and seats before the first game."""
        values: dict[str, Any] = {"host": self.host, "seats": self.seats}
        if self.match is not None:
            state = SAVED_GAMES.unstructure(self.match.chouette)
            values |= {"games": self.games, "state": state, "settled": self.settled, **self.match.board_values()}
        return json.dumps(values)


def sides_of_state(user: User) -> ChouetteTable | None:
    """Return the table at which a user has a seat."""
    return user.table if isinstance(user.table, ChouetteTable) else None


def all_tables(world: World) -> list[ChouetteTable]:
    """Return all tables."""
    return [table for table in world.tables if isinstance(table, ChouetteTable)]


def saved_tables(rows: Iterable[tuple[int, str]]) -> list[ChouetteTable]:
    """Return the tables of some rows of the database, without users; corrupt rows are left out."""
    return [table for number, text in rows if (table := _table_from(number, text)) is not None]


def _table_from(number: int, text: str) -> ChouetteTable | None:
    try:
        values: dict[str, Any] = json.loads(text)
        table = ChouetteTable(str(values["host"]), list(map(str, values["seats"])), number)
        if "state" not in values:
            return table if _is_sound(table) else None
        state = SAVED_GAMES.structure(values["state"], Chouette)
        table.games, table.settled = int(values["games"]), bool(values["settled"])
        table.match = ChouetteMatch(table, state)
        table.match.set_board_values(values)
        flaw = table.match.shown(TEAM, state.captain, state.box).state.flaw()
        sound = set(state.order) <= set(state.ledger) and sum(state.ledger.values()) == 0
    except Exception:  # noqa: BLE001 - nothing in a row of the database is trusted
        return None
    return table if sound and not flaw else None


def _is_sound(table: ChouetteTable) -> bool:
    """Return whether host and seats of a table before its first game fit together."""
    return table.host in table.seats and len(set(table.seats)) == len(table.seats) <= MOST_PLAYERS
