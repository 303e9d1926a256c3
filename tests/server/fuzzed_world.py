"""Users who send anything to a simulated server, and a check of all that they receive."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from fibsbot.server import dispatch
from fibsbot.server.audience import render
from fibsbot.server.dice import SeededDice
from fibsbot.server.users import ClientMode, User
from tests.server.simulated_world import Simulation


class FuzzedWorld(RuleBasedStateMachine):
    """A server whose users log in where they are needed; the one called `person` uses Telnet."""

    SEED: ClassVar[int]
    """Of the dice."""

    def __init__(self) -> None:
        super().__init__()
        self.simulation = Simulation(SeededDice(self.SEED))

    def log_in(self, name: str) -> User:
        """Log a user in."""
        return self.simulation.log_in(name, ClientMode.TELNET if name == "person" else ClientMode.CLIP)

    def user(self, name: str) -> User:
        """Return a user, who logs in if that is needed."""
        return self.simulation.world.users.get(name) or self.log_in(name)

    def say(self, name: str, line: str) -> None:
        """Send a line as a user; check everything that the users receive."""
        dispatch.handle(self.simulation.world, self.user(name), line)
        for user, message in self.simulation.world.outbox:
            lines = list(render(user, message))
            for text in lines:
                assert text.isascii()
                assert "\n" not in text
                assert "\r" not in text
            self.check(user, message, lines)
        self.simulation.collect()

    def check(self, user: User, message: Any, lines: list[str]) -> None:
        """Check a message that a user receives, and its lines."""
