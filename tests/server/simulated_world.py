"""A simulated world without connections: users send lines, and the test sees what everybody receives."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve

from fibs_protocol.messages import Message
from fibs_protocol.words import Colour, Departure, Dice
from fibsbot.rules.state import GameState, Seat
from fibsbot.server import dispatch, sessions
from fibsbot.server.accounts import Account
from fibsbot.server.audience import render
from fibsbot.server.database import Database
from fibsbot.server.dice import DiceSource, SeededDice
from fibsbot.server.users import ClientMode, ServerMatch, User
from fibsbot.server.world import Quirks, World

PASSWORD_HASH = "2$c2FsdA==$a2V5"
NOON = 1_795_176_000
"""Friday, November 20 2026, 12:00 UTC."""


class ListedDice:
    """Dice from a list, in this order, followed by 3 and 1 for ever."""

    def __init__(self, *dice: Dice, coin: bool = False) -> None:
        """Use these dice, and this toss: False makes the inviter X."""
        self.listed = list(dice)
        self._coin = coin

    def dice(self, match: str, roll: int) -> Dice:  # noqa: ARG002 - the list is the same for all matches
        """Return the next two dice."""
        return self.listed.pop(0) if self.listed else (3, 1)

    def coin(self, match: str) -> bool:  # noqa: ARG002 - as above
        """Return the toss."""
        return self._coin


class Simulation:
    """A world in memory with a clock that does not advance."""

    opened: ClassVar[list[Simulation]] = []
    """Simulations whose databases are closed at the end of a test, in its own thread."""

    def __init__(self, dice: DiceSource | None = None, *, db: Path | None = None, quirks: Quirks | None = None) -> None:
        """Set up an empty world."""
        self.time = float(NOON)
        self.jump = 0.0
        """Seconds by which the machine's clock has been set since the start."""
        self.store = Database(db, self.time)
        self.opened.append(self)
        clock, timer = lambda: self.time + self.jump, lambda: self.time
        self.world = World(self.store, dice or SeededDice(1), clock, timer=timer, quirks=quirks)
        self._received: dict[User, list[Message]] = {}

    def log_in(
        self, name: str, mode: ClientMode = ClientMode.CLIP, *, client: str | None = "test", **known: Any
    ) -> User:
        """Log in a user who reads raw boards and gets no news of other users."""
        account = self.store.account(name)
        if account is None:
            account = evolve(Account(name, PASSWORD_HASH), **known)
            account.settings.boardstyle = 3
            self.store.save_accounts(account)
        user = sessions.log_in(self.world, account, mode, "127.0.0.1", client)
        self.collect()
        return user

    def log_out(self, user: User, how: Departure = Departure.LOGGED_OUT) -> None:
        """Log a user out."""
        sessions.log_out(self.world, user, how)
        self.collect()

    def say(self, user: User, line: str) -> list[str]:
        """Send a line as a user; return the lines that the user receives."""
        dispatch.handle(self.world, user, line)
        self.collect()
        return self.received(user)

    def collect(self) -> None:
        """Collect the messages caused by the last line."""
        self._received.clear()
        for user, message in self.world.outbox:
            self._received.setdefault(user, []).append(message)
        self.world.outbox.clear()
        self.world.disconnecting.clear()

    def received(self, user: User, *, status: bool = False) -> list[str]:
        """Return the lines that a user received because of the last line, `5` and `6` only if `status`."""
        lines = [line for message in self._received.get(user, ()) for line in render(user, message)]
        return lines if status else [line for line in lines if line != "6" and not line.startswith("5 ")]

    def messages(self, user: User) -> list[Message]:
        """Return these lines as messages."""
        return self._received.get(user, [])

    def start(self, inviter: User, joiner: User, length: int | str = 3) -> ServerMatch:
        """Start a match."""
        self.say(joiner, "toggle ready") if not joiner.ready else None
        self.say(inviter, f"invite {joiner.name} {length}")
        self.say(joiner, f"join {inviter.name}")
        assert inviter.match is not None, self.received(joiner)
        assert inviter.match.game is None
        return inviter.match


def two_players(*dice: Dice, length: int | str = 3, quirks: Quirks | None = None) -> tuple[Simulation, User, User]:
    """Return a simulation of a match of alice (X), who invited, and bob (O); the first dice are the opening roll."""
    simulation = Simulation(ListedDice(*dice), quirks=quirks)
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob")
    simulation.start(alice, bob, length)
    return simulation, alice, bob


def set_state(match: ServerMatch, **changes: Any) -> GameState:
    """Change the state of a game by hand."""
    match.state = evolve(match.state, **changes)
    return match.state


def boards(lines: Iterable[str]) -> list[str]:
    """Return the boards among some lines."""
    return [line for line in lines if line.startswith("board:")]


def no_boards(lines: Iterable[str]) -> list[str]:
    """Return the lines that are not boards."""
    return [line for line in lines if not line.startswith("board:")]


__all__ = ["Colour", "ListedDice", "Seat", "Simulation", "boards", "no_boards", "set_state", "two_players"]
