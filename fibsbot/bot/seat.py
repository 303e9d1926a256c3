"""Notices where we are, when the line got lost that told us: a match that began, somebody whom we seem to watch.

Only a match's own lines lead into it, so that a copy of an old board does not. What else speaks of a match of ours
makes us ask who we play with, and then for the board.
"""

from __future__ import annotations

from typing import Final

from fibsbot.bot.desk import Desk
from fibsbot.bot.outbox import Answered, Outbox
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message
from protocol.session import State
from protocol.words import YOU

PATIENCE: Final = 1 / 4
"""Part of the watchdog's time that the lines have which lead into a match."""


class Seat:
    """Where the server says that we are."""

    def __init__(self, desk: Desk, outbox: Outbox) -> None:
        """Know nothing."""
        self._desk = desk
        self._outbox = outbox
        self._opponent: str | None = None
        """With whom we play, as our own `5` line says."""

    def connected(self) -> None:
        """Begin with a new connection."""
        self._opponent = None

    @property
    def wonders(self) -> bool:
        """Whether we may be in a match: then nobody is invited or joined."""
        return self._desk.is_set("seat") or (self.asks and self._desk.session.state is State.LOBBY)

    @property
    def asks(self) -> bool:
        """Whether a board would be the answer to our question, and not a copy of an old one."""
        in_flight = self._outbox.in_flight
        return in_flight is not None and isinstance(in_flight.command, c.ShowBoard)

    def on_message(self, message: Message) -> None:
        """Look for signs of a match that we do not know of."""
        state = self._desk.session.state
        if state is State.WATCHING:
            self._outbox.say(c.Unwatch())  # we never watch anybody
        match message:
            case m.WhoInfo() if message.name == self._desk.settings.name:
                self._opponent = message.opponent
                if message.opponent and state is State.LOBBY:
                    self._wonder()
            case m.GameStarts() | m.OpeningRoll() | m.FirstMove() if state is State.LOBBY:
                self._wonder()
            case m.Board() if message.state.player == YOU and state is State.LOBBY:
                self._wonder()
            case m.YouArePlaying() | m.TwoGamesAtOnce() if state is State.LOBBY:
                self._outbox.say(c.ShowBoard())

    def on_answered(self, answered: Answered) -> None:
        """Wonder where we are when the answer got lost that tells; watch nobody after we were told to stop."""
        command = answered.errand.command
        if (
            isinstance(command, c.Join | c.ShowBoard)
            and answered.message is None
            and self._desk.session.state is State.LOBBY
        ):
            self._wonder()
        elif isinstance(command, c.Unwatch) and self._desk.session.state is State.WATCHING:
            self._desk.session.state = State.LOBBY

    def _wonder(self) -> None:
        if not self._desk.is_set("seat"):
            self._desk.wake("seat", self._desk.settings.timings.watchdog * PATIENCE)

    def on_time(self) -> None:
        """Ask, if we still seem to be in the lobby."""
        if self._desk.session.state is not State.LOBBY:
            return
        if self._opponent:
            self._outbox.say(c.ShowBoard())
        else:
            self._outbox.say(c.Rawwho(self._desk.settings.name))
