"""The interface of the part that plays at a table with more than two seats, where no match of ours is tracked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, QueuedCommand
from fibsbot.bot.context import AgentContext
from fibsbot.bot.events_and_actions import DecisionKey
from fibsbot.bot.lobby import Lobby
from fibsbot.bot.timeouts import Timeouts
from fibsbot.strategies.questions import StrategyAnswer


class SeatedPart(Protocol):
    """What the agent asks of that part; its methods for messages are registered by `@on` as in all parts."""

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of the agent that it needs
        self,
        context: AgentContext,
        queue: CommandQueue,
        timeouts: Timeouts,
        lobby: Lobby,
        numbers: Iterator[int],
        kept: Any,
    ) -> None:
        """Begin without a seat.

        `numbers` are some that no decision of the run has had yet; `kept` is the `kept_seat` of the connection before.
        """

    @property
    def kept_seat(self) -> Any:
        """What it knows of the seat that the server keeps when the connection is lost; None if there is none."""

    @property
    def inviter(self) -> str | None:
        """The player whose invitation we have taken, while we have a seat."""

    def step(self) -> None:
        """Take the next step; called after every event while we have a seat."""

    def on_sent(self, queued: QueuedCommand) -> None:
        """Note that a command was sent."""

    def on_answered(self, outcome: CommandOutcome) -> None:
        """React to the answer to a command, or to its absence."""

    def on_answer(self, key: DecisionKey, answer: StrategyAnswer | None, fallback: str | None) -> bool:
        """Take the strategy's answer; return whether it is one to an open question of this part."""

    def on_strategy_lost(self) -> None:
        """Decide without the strategy, whose answer never came."""

    def on_time(self) -> None:
        """React to a silence of the server."""

    def on_lobby(self) -> None:
        """Note that we have no seat after the login."""
