"""How a connection is left: when the operator wants the end, and when the server goes away."""

from __future__ import annotations

import re
from typing import Final

from fibsbot.bot.actions import End
from fibsbot.bot.desk import Desk
from fibsbot.bot.matches import Matches
from fibsbot.bot.outbox import Answered, Outbox
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message
from protocol.session import LOGGED_IN, State

NOTICE: Final = 60.0
"""Seconds until a server restarts that does not say when."""
UNITS: Final = {"s": 1, "m": 60, "h": 3600}
MARGIN: Final = 3
"""A match is left to a server that restarts so many watchdogs before it does."""


class Leaving:
    """Logs out."""

    def __init__(self, desk: Desk, outbox: Outbox, matches: Matches) -> None:
        """Want to stay."""
        self._desk = desk
        self._outbox = outbox
        self._matches = matches
        self._going_down = False

    def connected(self) -> None:
        """Begin with a new connection."""
        self._going_down = False

    @property
    def leaving(self) -> bool:
        """Whether no new match is begun any more on this connection."""
        return self._desk.finishing or self._going_down

    # -- the operator -------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Log out once the match is over; one that does not end is left to the server to save it."""
        self._desk.finishing = True
        if not self._desk.is_set("finish"):
            self._desk.wake("finish", self._desk.settings.timings.finish)

    def quit(self) -> None:
        """Log out now, whatever is on; without a connection there is nothing to log out from."""
        self._desk.finishing = True
        if self._desk.session.state in LOGGED_IN:
            self._outbox.say_at_once(c.Bye())
        self._desk.disconnect("told to quit", End.FINISHED)

    # -- the server ---------------------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Notice that the server goes away, or has let us go."""
        match message:
            case m.RestartNotice():
                if not self._going_down:
                    self._going_down = True
                    margin = MARGIN * self._desk.settings.timings.watchdog
                    self._desk.wake("restart", max(_seconds(message.delay) - margin, 0.0))
            case m.Shutdown():
                self._going_down = True
                self._disconnect("the server shuts down")
            case m.Goodbye():
                self._disconnect("logged out before the server restarts" if self._going_down else "logged out")
            case m.ConnectionTimedOut():
                self._disconnect("put out as idle")

    def on_overdue(self, answered: Answered) -> None:
        """Go without a goodbye."""
        if isinstance(answered.errand.command, c.Bye):
            self._disconnect("logged out without an answer")

    def _disconnect(self, reason: str) -> None:
        end = End.FINISHED if self._desk.finishing else None
        self._desk.disconnect(reason, end, restarting=self._going_down)

    # -- going --------------------------------------------------------------------------------------------------

    def on_time(self) -> None:
        """Leave the match to the server, which saves it."""
        self._outbox.say(c.Bye())

    def step(self) -> None:
        """Log out when that is wanted and no match is on."""
        if not self.leaving or self._desk.ended or self._matches.current is not None:
            return
        state = self._desk.session.state
        if state in (State.LOBBY, State.WATCHING) and self._outbox.silent:
            self._outbox.say(c.Bye())
        elif state in (State.CONNECTING, State.LOGIN) and self._desk.finishing:
            self._desk.disconnect("finished while not logged in", End.FINISHED)


def _seconds(delay: str) -> float:
    """Read how long it takes until the server goes, as its notice says it: `60 seconds`, `5 minutes`."""
    found = re.match(r"(\d{1,6})\s*([smh])", delay, re.IGNORECASE)
    return float(found[1]) * UNITS[found[2].lower()] if found else NOTICE
