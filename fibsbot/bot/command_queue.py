"""The queue of commands: one in flight at a time, a pause between two, and none before the last was answered.

Over all connections there are never more commands in a minute than the settings allow. Chat comes last: it waits
until no decision of ours is due, and a decision does not wait for the server's echo of it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import frozen
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.grammar import write_command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.session import State

from fibsbot.bot.context import AgentContext, feature_of
from fibsbot.bot.interface import DecisionKey, Send
from fibsbot.bot.timeouts import TIMEOUT_RULES, awaited_of
from fibsbot.match import Phase

ChatCommand: TypeAlias = c.Tell | c.Kibitz
"""What is said to people."""
MINUTE: Final = 60.0
"""Seconds."""
MAX_WAITING: Final = 100
"""Commands that wait at most; no server makes a bot say so many that is not up to something."""
MAX_CHAT: Final = 8
"""Lines for people that wait at most."""
CHAT_STATES: Final = frozenset(
    {State.LOBBY, State.WATCHING, State.BETWEEN_GAMES, State.THEIR_TURN, State.I_DOUBLED, State.I_RESIGNED}
)
"""States in which there is time to talk: no decision of ours is due."""
CHAT_REFUSALS: Final = (m.NoSuchUser, m.WontListen, m.YouDontListen, m.NotWatchingOrPlaying)
"""Refusals of what was said; no decision is refused so."""

REPLIES: Final[Mapping[type[Command], tuple[type[Message], ...]]] = {
    c.Login: (m.Welcome, m.LoginPrompt),
    c.SetCommand: (m.SettingChanged,),
    c.ToggleCommand: (m.ToggleSet, m.TogglesStart),
    c.Show: (m.SavedStart, m.SavedMatch, m.NoSavedGames, m.SavedCount),
    c.Rawwho: (m.WhoEnd,),
    c.Invite: (m.YouInvited, m.YouInvitedToResume, m.OpponentJoined, m.OpponentResumed),
    c.Join: (m.YouJoined, m.YouResumed, m.GameStarts, m.WaitForJoin),
    c.ShowBoard: (m.Board,),
    c.Move: (m.Board,),  # that carries out no decision: without moves, as none is possible
    c.Leave: (m.YouLeft,),
    c.Unwatch: (m.YouStopWatching,),
    c.Tell: (m.YouSay,),
    c.Kibitz: (m.YouKibitz, m.Heard),
    c.Time: (m.ServerTime,),
    c.Bye: (m.Goodbye,),
}
"""What answers each command, besides a refusal. What answers a decision is that the decision is no longer open."""


LACKING_DIVISOR: Final = 4
"""What a server is known to lack, or answers in a form that is not known, is waited for so many times less."""
_CLOCK: Final = re.compile(r"\b\d{1,2}:\d\d\b")
"""What is in every answer to `time`, whatever its form."""


@frozen
class QueuedCommand:
    """A command, and the decision that it carries out, if it does."""

    command: Command
    key: DecisionKey | None = None


@frozen
class CommandOutcome:
    """A command that was in flight, and what became of it."""

    errand: QueuedCommand
    message: Message | None
    """The answer; None when none came in time. An unknown line is one when no other came."""

    @property
    def refused(self) -> bool:
        """Whether the server refused the command."""
        return self.message is not None and _refuses(self.errand.command, self.message)

    @property
    def lacking(self) -> bool:
        """Whether the server has no such command, or answers it in a form that is not known."""
        return isinstance(self.message, m.UnknownCommand | m.CommandNotImplemented | m.Unknown) and not _tells_time(
            self.errand.command, self.message
        )


class CommandQueue:
    """Commands to be sent, and the one in flight."""

    def __init__(self, desk: AgentContext) -> None:
        """Have nothing to send."""
        self._desk = desk
        self._waiting: deque[QueuedCommand] = deque()
        self._talk: deque[tuple[ChatCommand, float]] = deque()
        self._sent: deque[float] = deque()
        """When commands were sent, the last one and all within a minute."""
        self.in_flight: QueuedCommand | None = None
        self._unusual: m.Unknown | None = None
        """A line that is not known, and came while the command was in flight."""

    def clear(self) -> None:
        """Forget everything but when we sent what: the connection is gone."""
        self._waiting.clear()
        self._talk.clear()
        self.in_flight = None

    def say(self, command: Command, key: DecisionKey | None = None) -> None:
        """Have a command sent as soon as may be; one that is on its way already is not sent twice."""
        errand = QueuedCommand(command, key)
        if errand == self.in_flight or errand in self._waiting:
            return
        if key is not None:
            self._waiting.appendleft(errand)
        elif len(self._waiting) < MAX_WAITING:
            self._waiting.append(errand)

    def say_at_once(self, command: Command) -> None:
        """Send a last word before everything else, without the pause; if a command may be sent at all now."""
        if self._desk.now >= self._free_at(pause=0.0):
            self._send(QueuedCommand(command))

    def talk(self, line: ChatCommand, *, fresh: float) -> bool:
        """Have something said when there is time, within so many seconds or never; False when too much waits."""
        self._forget_stale()
        if len(self._talk) >= MAX_CHAT:
            return False
        self._talk.append((line, self._desk.now + fresh))
        return True

    def hush(self, name: str | None = None) -> None:
        """Take back what waits to be told to this player; without a name, to those at the board."""
        self._talk = deque(
            (line, until) for line, until in self._talk if (line.name if isinstance(line, c.Tell) else None) != name
        )

    def _forget_stale(self) -> None:
        if self._talk:
            self._talk = deque((line, until) for line, until in self._talk if until >= self._desk.now)

    def withdraw(self, but: DecisionKey | None) -> None:
        """Take back what carries out a decision that is no longer open; `but` is the one that is."""
        if self._waiting:
            self._waiting = deque(errand for errand in self._waiting if errand.key in (None, but))

    def drop(self, *kinds: type[Command]) -> None:
        """Take back the waiting commands of these kinds."""
        self._waiting = deque(errand for errand in self._waiting if not isinstance(errand.command, kinds))

    def has(self, *kinds: type[Command]) -> bool:
        """Whether a command of one of these kinds is waiting or in flight."""
        errands = [*self._waiting, *([self.in_flight] if self.in_flight else [])]
        return any(isinstance(errand.command, kinds) for errand in errands)

    def holds(self, command: Command) -> bool:
        """Whether this very command is waiting or in flight."""
        return any(errand.command == command for errand in (*self._waiting, self.in_flight) if errand)

    @property
    def idle(self) -> bool:
        """Whether nothing but talk is waiting, and nothing in flight."""
        return self.in_flight is None and not self._waiting

    @property
    def silent(self) -> bool:
        """Whether it is idle, and nothing waits to be said either."""
        self._forget_stale()
        return self.idle and not self._talk

    def take_answer(self, message: Message) -> CommandOutcome | None:
        """Return the command that a message answers; the next one may go."""
        if self.in_flight is None or (self.in_flight.key is not None and isinstance(message, CHAT_REFUSALS)):
            return None
        command = self.in_flight.command
        replies = self.in_flight.key is None and _replies(command, message)
        if replies or _refuses(command, message):
            return self._finish(message)
        if isinstance(message, m.Unknown) and self.in_flight.key is None and feature_of(command):
            self._unusual = message
            self._desk.hasten("reply", self._desk.settings.timings.watchdog / LACKING_DIVISOR)
        return None

    def decision_closed(self, still_open: DecisionKey | None) -> None:
        """Take note which decision is open now: the one in flight is answered when it is not open any more.

        An opponent's offer to resign answers nothing: the server refuses, in another line, what comes after it.
        """
        key = self.in_flight.key if self.in_flight else None
        covered = still_open is not None and still_open.phase is Phase.RESIGNED
        if key not in (None, still_open) and not covered:
            self._finish(None)

    def take_overdue(self) -> CommandOutcome | None:
        """Return the command that got no answer in time, or none in a form that is known."""
        return self._finish(self._unusual) if self.in_flight else None

    def _finish(self, message: Message | None) -> CommandOutcome:
        if self.in_flight is None:
            raise ValueError("expected a command in flight")
        answered = CommandOutcome(self.in_flight, message)
        self.in_flight = None
        self._desk.cancel("reply")
        return answered

    def flush(self) -> QueuedCommand | None:
        """Send the next command if its time has come; return it if it was sent."""
        desk = self._desk
        if not self._may_send():
            return None
        free_at = self._free_at(desk.settings.timings.pause)
        if desk.now < free_at:
            desk.wake("pause", free_at - desk.now)
            return None
        errand = self._waiting.popleft() if self._waiting else QueuedCommand(self._talk.popleft()[0])
        if not desk.session.may_say(errand.command):
            desk.record("held_back", command=errand.command.kind(), state=desk.session.state.value)
            return self.flush()
        self._send(errand)
        return errand

    def _send(self, errand: QueuedCommand) -> None:
        desk, timings = self._desk, self._desk.settings.timings
        desk.session.client_says(errand.command)
        desk.act(Send(errand.command))
        desk.counters.commands += 1
        self._unusual = None
        feature = feature_of(errand.command)
        hurry = LACKING_DIVISOR if feature is not None and desk.lacks(feature) else 1
        desk.wake("reply", TIMEOUT_RULES[awaited_of(errand.command)].seconds(timings) / hurry)
        desk.wake("keep_alive", timings.keep_alive)
        while self._sent and self._sent[0] <= desk.now - MINUTE:
            self._sent.popleft()
        self._sent.append(desk.now)
        self.in_flight = errand

    def _free_at(self, pause: float) -> float:
        """Return when the next command may be sent at the earliest."""
        limit, sent = self._desk.settings.timings.commands_a_minute, self._sent
        free_at = sent[-1] + pause if sent else self._desk.now
        if limit is not None and len(sent) >= limit:
            free_at = max(free_at, sent[-limit] + MINUTE)
        return free_at

    def _may_send(self) -> bool:
        """Whether something waits whose turn it is; a decision does not wait for the echo of what was said."""
        if self._desk.hung_up:
            return False
        if self.in_flight is not None:
            overtakes = bool(self._waiting) and self._waiting[0].key is not None
            return overtakes and isinstance(self.in_flight.command, ChatCommand)
        self._forget_stale()
        return bool(self._waiting or (self._talk and self._desk.session.state in CHAT_STATES))


def _refuses(command: Command, message: Message) -> bool:
    """Whether a message refuses a command: every refusal does, and every unknown line of that kind which names it."""
    if isinstance(message, m.Unknown) and (message.text.startswith("**") or "not yet implemented" in message.text):
        word = re.escape(write_command(command).split()[0])
        return re.search(rf"['`\"]{word}\b", message.text) is not None
    return isinstance(message, Refusal)


def _tells_time(command: Command, message: Message) -> bool:
    return isinstance(command, c.Time) and isinstance(message, m.Unknown) and bool(_CLOCK.search(message.text))


def _replies(command: Command, message: Message) -> bool:
    """Whether a message answers a command that carries out no decision, and does not refuse it.

    Somebody else may accept an earlier invitation of ours while the command is on its way, which is still to be refused
    then: who took it for answered would take the refusal for one of our first play.
    """
    if not isinstance(message, REPLIES.get(type(command), ())):
        return _tells_time(command, message)
    asked = command.name if isinstance(command, c.Invite | c.Join) else None
    match message:
        case m.OpponentJoined(name=met) | m.OpponentResumed(name=met) | m.GameStarts(opponent=met):
            return asked is None or met in (asked, "")  # some servers leave the name out
    return True
