"""The interface of what reads games at a table with more than two seats, which are no match of two players."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.game_messages import Time


class SeatedGames(Protocol):
    """What the transcriber asks of it; each game is emitted as a match of its own."""

    seated: bool
    """Whether the user has a seat."""

    def __init__(self, emit: Callable[[MatchEvent], None], next_number: Callable[[], int]) -> None:
        """Start without games; `next_number` counts the matches of all games."""

    def receive(self, message: Message, at: Time, offset: int, user: str, site: str) -> bool:
        """Process a message; return whether it belongs to such a game."""

    def send(self, command: Command, at: Time) -> None:
        """Process a command of the user's."""

    def log_decision(self, fields: Mapping[str, Any]) -> None:
        """Process a decision in a session log."""

    def interrupt(self) -> None:
        """Note that the connection has ended; the server may keep the seat."""

    def close(self) -> None:
        """Finish the game, as nothing more will come of it."""
