"""A world without connections: users say lines, and the test sees what everybody is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve
from fibs_protocol.messages import Message
from fibs_protocol.words import Colour, Departure, Dice

from fibsbot.rules.game import GameState, Seat
from fibsbot.server import dispatch, sessions
from fibsbot.server.accounts import Account
from fibsbot.server.audience import render
from fibsbot.server.database import Database
from fibsbot.server.dice import DiceSource, SeededDice
from fibsbot.server.server_match import ServerMatch
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import Dependencies, Quirks, World

PASSWORD_HASH = "2$c2FsdA==$a2V5"
NOON = 1_795_176_000
"""Friday, November 20 2026, 12:00 UTC."""


class ListedDice:
    """Dice from a list, in this order; then 3 and 1 for ever."""

    def __init__(self, *dice: Dice, coin: bool = False) -> None:
        """Take the dice, and the toss: False makes the inviter X."""
        self.listed = list(dice)
        self._coin = coin

    def dice(self, match: str, throw: int) -> Dice:  # noqa: ARG002 - a list does not ask for what it is
        """Return the next two."""
        return self.listed.pop(0) if self.listed else (3, 1)

    def coin(self, match: str) -> bool:  # noqa: ARG002 - as above
        """Return the toss."""
        return self._coin


class Room:
    """A world in memory with a clock that stands still."""

    opened: ClassVar[list[Room]] = []
    """Rooms whose databases are to be closed at the end of a test, in its own thread."""

    def __init__(self, dice: DiceSource | None = None, *, db: Path | None = None, quirks: Quirks | None = None) -> None:
        """Set up an empty world."""
        self.time = float(NOON)
        self.store = Database(db, self.time)
        self.opened.append(self)
        fixtures = Dependencies(self.store, dice or SeededDice(1), lambda: self.time, quirks or Quirks())
        self.world = World(fixtures)
        self._told: dict[User, list[Message]] = {}

    def enter(
        self, name: str, mode: ClientMode = ClientMode.CLIP, *, client: str | None = "test", **known: Any
    ) -> User:
        """Log a user in who reads raw boards, hears nothing of others' coming and going and makes all moves alone."""
        account = self.store.account(name)
        if account is None:
            account = evolve(Account(name, PASSWORD_HASH), **known)
            account.settings.boardstyle = 3
            self.store.save_accounts(account)
        user = sessions.log_in(self.world, account, mode, "127.0.0.1", client)
        self.collect()
        return user

    def leave(self, user: User, how: Departure = Departure.LOGGED_OUT) -> None:
        """Log a user out."""
        sessions.log_out(self.world, user, how)
        self.collect()

    def say(self, user: User, line: str) -> list[str]:
        """Let a user say a line; return the lines that the user is told."""
        dispatch.handle(self.world, user, line)
        self.collect()
        return self.told(user)

    def collect(self) -> None:
        """Take what everybody has been told by the last line."""
        self._told.clear()
        for user, message in self.world.outbox:
            self._told.setdefault(user, []).append(message)
        self.world.outbox.clear()
        self.world.leaving.clear()

    def told(self, user: User, *, status: bool = False) -> list[str]:
        """Return the lines that a user was told by the last line, without `5` and `6` unless asked for."""
        lines = [line for message in self._told.get(user, ()) for line in render(user, message)]
        return lines if status else [line for line in lines if line != "6" and not line.startswith("5 ")]

    def messages(self, user: User) -> list[Message]:
        """Return the messages behind those lines."""
        return self._told.get(user, [])

    def start(self, inviter: User, joiner: User, length: int | str = 3) -> ServerMatch:
        """Begin a match."""
        self.say(joiner, "toggle ready") if not joiner.ready else None
        self.say(inviter, f"invite {joiner.name} {length}")
        self.say(joiner, f"join {inviter.name}")
        assert inviter.table is not None, self.told(joiner)
        return inviter.table


def two_players(*dice: Dice, length: int | str = 3, quirks: Quirks | None = None) -> tuple[Room, User, User]:
    """Return a room where alice, who is X, has begun a match with bob, who is O; the first dice are the opening's."""
    room = Room(ListedDice(*dice), quirks=quirks)
    alice, bob = room.enter("alice"), room.enter("bob")
    for user in (alice, bob):
        room.say(user, "toggle automove")
    room.start(alice, bob, length)
    return room, alice, bob


def set_state(table: ServerMatch, **changes: Any) -> GameState:
    """Change the state of a game by hand."""
    table.state = evolve(table.state, **changes)
    return table.state


def boards(lines: Iterable[str]) -> list[str]:
    """Return the boards among some lines."""
    return [line for line in lines if line.startswith("board:")]


def no_boards(lines: Iterable[str]) -> list[str]:
    """Return the lines that are no boards."""
    return [line for line in lines if not line.startswith("board:")]


__all__ = ["Colour", "ListedDice", "Room", "Seat", "boards", "no_boards", "set_state", "two_players"]
