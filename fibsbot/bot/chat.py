"""What the bot says to people, and what it understands (docs/agent.md)."""

from __future__ import annotations

from fibsbot.bot.desk import Desk
from fibsbot.bot.lobby import Lobby
from fibsbot.bot.matches import Matches
from fibsbot.bot.outbox import Outbox
from protocol.messages import Message


class Chat:
    """Talks to people."""

    def __init__(self, desk: Desk, outbox: Outbox, lobby: Lobby, matches: Matches) -> None:
        """Have said nothing."""
        self._desk = desk
        self._outbox = outbox
        self._lobby = lobby
        self._matches = matches

    def on_message(self, message: Message) -> None:
        """Listen."""
