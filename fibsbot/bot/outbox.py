"""Commands on their way: one at a time, with a pause between two, and no next one before the last was answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from fibsbot.bot.actions import Send
from fibsbot.bot.desk import Desk
from fibsbot.bot.questions import Key
from fibsbot.match import Phase
from protocol import commands as c
from protocol import messages as m
from protocol.commands import Command
from protocol.messages import Message, Refusal

REPLIES: Final[Mapping[type[Command], tuple[type[Message], ...]]] = {
    c.Login: (m.Welcome, m.LoginPrompt),
    c.SetCommand: (m.SettingChanged,),
    c.ToggleCommand: (m.ToggleSet, m.TogglesStart),
    c.Show: (m.SavedStart, m.SavedMatch, m.NoSavedGames),
    c.Rawwho: (m.WhoEnd,),
    c.Invite: (m.YouInvited, m.YouInvitedToResume, m.OpponentJoined, m.OpponentResumed),
    c.Join: (m.YouJoined, m.YouResumed, m.GameStarts, m.WaitForJoin),
    c.ShowBoard: (m.Board,),
    c.Leave: (m.YouLeft,),
    c.Tell: (m.YouSay,),
    c.Time: (m.ServerTime,),
    c.Bye: (m.Goodbye,),
}
"""What answers each command, besides a refusal. What answers a decision is that the decision is no longer open."""


@frozen
class Errand:
    """A command, and the decision that it carries out, if it does."""

    command: Command
    key: Key | None = None


@frozen
class Answered:
    """A command that was in flight, and what became of it."""

    errand: Errand
    message: Message | None
    """The answer; None when none came in time."""

    @property
    def refused(self) -> bool:
        """Whether the server refused the command."""
        return isinstance(self.message, Refusal)


class Outbox:
    """Commands to be sent, and the one in flight."""

    def __init__(self, desk: Desk) -> None:
        """Have nothing to send."""
        self._desk = desk
        self._waiting: deque[Errand] = deque()
        self._last_sent: float | None = None
        self.in_flight: Errand | None = None

    def clear(self) -> None:
        """Forget everything: the connection is gone."""
        self._waiting.clear()
        self._last_sent = None
        self.in_flight = None

    def say(self, command: Command, key: Key | None = None) -> None:
        """Have a command sent as soon as may be; one that is on its way already is not sent twice."""
        errand = Errand(command, key)
        if errand == self.in_flight or errand in self._waiting:
            return
        if key is not None:
            self._waiting.appendleft(errand)
        else:
            self._waiting.append(errand)

    def withdraw(self, but: Key | None) -> None:
        """Take back what carries out a decision that is no longer open; `but` is the one that is."""
        self._waiting = deque(errand for errand in self._waiting if errand.key in (None, but))

    def drop(self, *kinds: type[Command]) -> None:
        """Take back the waiting commands of these kinds."""
        self._waiting = deque(errand for errand in self._waiting if not isinstance(errand.command, kinds))

    def has(self, *kinds: type[Command]) -> bool:
        """Whether a command of one of these kinds is waiting or in flight."""
        errands = [*self._waiting, *([self.in_flight] if self.in_flight else [])]
        return any(isinstance(errand.command, kinds) for errand in errands)

    @property
    def idle(self) -> bool:
        """Whether nothing is waiting or in flight."""
        return self.in_flight is None and not self._waiting

    def take_answer(self, message: Message) -> Answered | None:
        """Return the command that a message answers; the next one may go."""
        if self.in_flight is None:
            return None
        replies = REPLIES.get(type(self.in_flight.command), ()) if self.in_flight.key is None else ()
        if isinstance(message, (Refusal, *replies)):
            return self._finish(message)
        return None

    def decision_closed(self, still_open: Key | None) -> None:
        """Take note which decision is open now: the one in flight is answered when it is not open any more.

        An opponent's offer to resign answers nothing: the server refuses, in another line, what comes after it.
        """
        key = self.in_flight.key if self.in_flight else None
        covered = still_open is not None and still_open.phase is Phase.RESIGNED
        if key not in (None, still_open) and not covered:
            self._finish(None)

    def take_overdue(self) -> Answered | None:
        """Return the command that got no answer in time."""
        return self._finish(None) if self.in_flight else None

    def _finish(self, message: Message | None) -> Answered:
        if self.in_flight is None:
            raise ValueError("expected a command in flight")
        answered = Answered(self.in_flight, message)
        self.in_flight = None
        self._desk.cancel("reply")
        return answered

    def flush(self) -> Errand | None:
        """Send the next command if its time has come; return it if it was sent."""
        desk, timings = self._desk, self._desk.settings.timings
        if self.in_flight is not None or not self._waiting:
            return None
        if self._last_sent is not None and desk.now < self._last_sent + timings.pause:
            desk.wake("pause", self._last_sent + timings.pause - desk.now)
            return None
        errand = self._waiting.popleft()
        if not desk.session.may_say(errand.command):
            desk.record("held_back", command=errand.command.kind(), state=desk.session.state.value)
            return self.flush()
        desk.session.client_says(errand.command)
        desk.act(Send(errand.command))
        desk.counters.commands += 1
        desk.wake("reply", timings.watchdog)
        desk.wake("keep_alive", timings.keep_alive)
        self._last_sent = desk.now
        self.in_flight = errand
        return errand
