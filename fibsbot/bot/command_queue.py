"""The queue of commands: one in flight at a time, a pause between two, and none before the last was answered.

Over all connections there are never more commands in a minute than the settings allow. Chat comes last: it waits
until no decision of ours is due, and a decision does not wait for the server's echo of it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Hashable, Mapping
from typing import Final, TypeAlias

from attrs import evolve, frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.grammar import write_command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.session import State
from fibsbot.bot.context import AgentContext, Timer, feature_of
from fibsbot.bot.events_and_actions import DecisionKey, Send
from fibsbot.bot.timeouts import TIMEOUT_RULES, Awaited, awaited_of
from fibsbot.match import Phase

ChatCommand: TypeAlias = c.Tell | c.Kibitz
"""Commands that send chat."""
MINUTE: Final = 60.0
"""Seconds."""
MAX_WAITING: Final = 100
"""Commands that wait at most: a server that makes a bot queue more is hostile."""
MAX_CHAT: Final = 8
"""Chat lines that wait at most."""
CHAT_MAX_AGE: Final = 60.0
"""Seconds in which an answer is still one; a line that could not be said by then is dropped."""
MAX_TOLD: Final = 2_000
"""Tells that are remembered, so as not to repeat them."""
MAX_CHAT_LENGTH: Final = 240
"""Characters of a chat line at most; servers cut at 255 or later."""
CHAT_STATES: Final = frozenset(
    {
        *(State.LOBBY, State.WATCHING, State.SEATED, State.BETWEEN_GAMES),
        *(State.THEIR_TURN, State.I_DOUBLED, State.I_RESIGNED),
    }
)
"""States in which chat may be sent: no decision of ours is due, except at a chouette, where it does no harm."""
CHAT_REFUSALS: Final = (m.NoSuchUser, m.WontListen, m.YouDontListen, m.NotWatchingOrPlaying)
"""Refusals of chat; a decision is never refused with these."""

REPLIES: Final[Mapping[type[Command], tuple[type[Message], ...]]] = {
    c.Login: (m.Welcome, m.LoginPrompt),
    c.SetCommand: (m.SettingChanged,),
    c.ToggleCommand: (m.ToggleSet, m.TogglesStart),
    c.Show: (m.SavedStart, m.SavedMatch, m.NoSavedGames, m.SavedCount),
    c.Rawwho: (m.WhoEnd,),
    **dict.fromkeys(
        (c.Invite, c.InviteByLaws, c.InviteToGame),
        (
            *(m.YouInvited, m.YouInvitedToResume, m.YouInvitedToGame),
            *(m.OpponentJoined, m.OpponentJoinedGame, m.OpponentResumed),
        ),
    ),
    c.ShowLaws: (m.LawsKnown,),
    c.Join: (m.YouJoined, m.YouJoinedGame, m.YouResumed, m.GameStarts, m.WaitForJoin),
    c.ShowBoard: (m.Board, m.TableBoard),
    c.EmptyMove: (m.Board, m.TableBoard),
    c.Leave: (m.YouLeft,),
    c.Chouette: (m.ChouetteSeat, m.ChouetteNoSeat),
    c.Unwatch: (m.YouStopWatching,),
    c.Tell: (m.YouSay,),
    c.Kibitz: (m.YouKibitz, m.Heard),
    c.Time: (m.ServerTime,),
    c.Bye: (m.Goodbye,),
}
"""The messages that answer each command, besides refusals. A decision is answered when it is no longer open."""


REFUSED_ONLY: Final[Mapping[type[Message], type[Command] | tuple[type[Command], ...]]] = {
    **dict.fromkeys((m.ShowWhat, m.UnknownShow), c.Show),
    m.UnknownToggle: c.ToggleCommand,
    **dict.fromkeys((m.UnknownSetting, m.BadSettingValue), c.SetCommand),
    **dict.fromkeys((m.InviteWho, m.InviteBadLength), (c.Invite, c.InviteByLaws, c.InviteToGame)),
    m.JoinWho: c.Join,
    m.NobodyToLeave: c.Leave,
    m.TellWhom: c.Tell,
    m.ResignHow: c.Resign,
    m.ChouetteRefused: (c.Chouette, c.Join),
    **dict.fromkeys(
        (
            *(m.MoveWords, m.TooFewMoves, m.TooManyMoves, m.CantMoveFrom, m.CantMovePoints, m.CantMoveTo),
            *(m.BarFirst, m.CantBearOff, m.CantMoveHome, m.RollFirst),
        ),
        (c.Move, c.EmptyMove),
    ),
}
"""The commands that a refusal can be one of, where it says so; any other may be one of every command."""


MAX_LATE: Final = 8.0
"""Watchdogs after which the answer to a `time` counts as lost, not late."""
LACKING_DIVISOR: Final = 4
"""The wait for an answer is divided by this where the server is known to lack the feature or to answer it oddly."""
_CLOCK: Final = re.compile(r"\b\d{1,2}:\d\d\b")
"""A part of every answer to `time`, whatever its form."""


@frozen
class QueuedCommand:
    """A command, and the decision that it carries out, if any."""

    command: Command
    key: DecisionKey | None = None


@frozen
class CommandOutcome:
    """The outcome of a command that was in flight."""

    queued: QueuedCommand
    message: Message | None
    """The answer; None when none came in time. An unknown line is one when no other came."""

    @property
    def refused(self) -> bool:
        """Whether the server refused the command."""
        return self.message is not None and _refuses(self.queued.command, self.message)

    @property
    def unsupported(self) -> bool:
        """Whether the server has no such command, or answers it in a form that is not known."""
        return isinstance(self.message, m.UnknownCommand | m.CommandNotImplemented | m.Unknown) and not _tells_time(
            self.queued.command, self.message
        )


class RecentTells:
    """What was told to whom, so that nobody is told the same again and again."""

    def __init__(self) -> None:
        self._told: dict[Hashable, float] = {}
        """When each thing was told last, by a key of player and subject; the oldest first."""

    def __len__(self) -> int:
        """Return how many tells are remembered."""
        return len(self._told)

    def contains(self, key: Hashable, now: float, seconds: float) -> bool:
        """Whether this was told within the last `seconds`."""
        at = self._told.get(key)
        return at is not None and now < at + seconds

    def add(self, key: Hashable, now: float) -> None:
        """Note that this was told; beyond MAX_TOLD the oldest is forgotten."""
        self._told.pop(key, None)
        if len(self._told) >= MAX_TOLD:
            del self._told[next(iter(self._told))]
        self._told[key] = now


class CommandQueue:
    """Commands to be sent, and the one in flight."""

    def __init__(self, context: AgentContext, sent: deque[float]) -> None:
        """Create an empty queue; `sent`: when commands were sent before, which the limit per minute takes in."""
        self._context = context
        self._waiting: deque[QueuedCommand] = deque()
        self._chat: deque[tuple[ChatCommand, float]] = deque()
        self._sent = sent
        """When commands were sent, on any connection: the last one and all within a minute."""
        self.in_flight: QueuedCommand | None = None
        self._unusual: m.Unknown | None = None
        """A line that is not known, and came while the command was in flight."""
        self.sent_count = 0
        """Commands sent on this connection."""
        self._last_join = 0
        """The place of the last `join` among them; 0 when it was answered."""
        self._open_times: deque[tuple[int, float]] = deque()
        """Each `time` without an answer: its place among the commands sent on this connection, and when it was sent."""
        self._reached = 0
        """The place of the last command that the server is known to have dealt with: it has answered a `time` sent
        after it, and answers come in the order of the commands."""

    @property
    def is_join_open(self) -> bool:
        """Whether nothing is known of what the server has done about our last `join`."""
        return self._last_join > 0 and not self.is_dealt_with(self._last_join)

    def is_dealt_with(self, place: int) -> bool:
        """Whether all that the server has said to a command has come; `place` was `sent_count` when it was sent."""
        return self._reached > place

    def send(self, command: Command, key: DecisionKey | None = None) -> None:
        """Queue a command unless it is already pending."""
        queued = QueuedCommand(command, key)
        if queued == self.in_flight or queued in self._waiting:
            return
        if key is not None:
            self._waiting.appendleft(queued)
        elif len(self._waiting) < MAX_WAITING:
            self._waiting.append(queued)

    def send_now(self, command: Command) -> None:
        """Send a final command at once, without the pause, unless the limit of commands per minute is reached."""
        if self._context.now >= self._free_at(pause=0.0):
            self._send_command(QueuedCommand(command))

    def send_chat(self, line: ChatCommand) -> bool:
        """Queue a chat line, to be dropped when it gets too old; return False when too many wait."""
        self._drop_stale_chat()
        if len(self._chat) >= MAX_CHAT:
            return False
        self._chat.append((evolve(line, text=chat_line(line.text)), self._context.now + CHAT_MAX_AGE))
        return True

    def drop_chat(self, name: str | None = None) -> None:
        """Drop waiting tells to this player; without a name, waiting kibitzes."""
        self._chat = deque(
            (line, until) for line, until in self._chat if (line.name if isinstance(line, c.Tell) else None) != name
        )

    def _drop_stale_chat(self) -> None:
        self._chat = deque((line, until) for line, until in self._chat if until >= self._context.now)

    def drop(self, *kinds: type[Command]) -> None:
        """Drop the waiting commands of these types."""
        self._waiting = deque(queued for queued in self._waiting if not isinstance(queued.command, kinds))

    def has_kind(self, *kinds: type[Command]) -> bool:
        """Whether a command of one of these types is waiting or in flight."""
        commands = [*self._waiting, *([self.in_flight] if self.in_flight else [])]
        return any(isinstance(queued.command, kinds) for queued in commands)

    def has_command(self, command: Command) -> bool:
        """Whether this very command is waiting or in flight."""
        return any(queued.command == command for queued in (*self._waiting, self.in_flight) if queued)

    @property
    def idle(self) -> bool:
        """Whether no command is waiting or in flight; chat may be waiting."""
        return self.in_flight is None and not self._waiting

    @property
    def empty(self) -> bool:
        """Whether no command or chat is waiting or in flight."""
        self._drop_stale_chat()
        return self.idle and not self._chat

    def match_reply(self, message: Message) -> CommandOutcome | None:
        """Return the outcome of the command in flight if a message answers it, which frees the way for the next."""
        late = self._open_times and self._note_time(message)
        if late or self.in_flight is None or (self.in_flight.key is not None and isinstance(message, CHAT_REFUSALS)):
            return None
        command = self.in_flight.command
        replies = self.in_flight.key is None and _replies(command, message)
        if replies or _refuses(command, message):
            return self._finish(message)
        if isinstance(message, m.Unknown) and self.in_flight.key is None and feature_of(command):
            self._unusual = message
            self._context.shorten_timer(Timer.REPLY, self._context.settings.timings.watchdog / LACKING_DIVISOR)
        return None

    def _note_time(self, message: Message) -> bool:
        """Note the answer to a `time`; return whether it is that to an older one than the last command."""
        oldest_open = self._context.now - MAX_LATE * self._context.settings.timings.watchdog
        while self._open_times and self._open_times[0][1] < oldest_open:
            self._open_times.popleft()
        if not self._open_times or not _answers_time(message):
            return False
        self._reached = self._open_times.popleft()[0]
        return self._reached < self.sent_count

    def keep_only(self, key: DecisionKey | None) -> None:
        """Drop the commands of all decisions except the open one; one in flight is finished, as it has been answered.

        An opponent's offer to resign answers nothing: the server refuses, in another line, what comes after it.
        """
        if self._waiting:
            self._waiting = deque(queued for queued in self._waiting if queued.key in (None, key))
        covered = key is not None and key.phase is Phase.RESIGNED
        if self.in_flight is not None and self.in_flight.key not in (None, key) and not covered:
            self._finish(None)

    def pop_overdue(self) -> CommandOutcome | None:
        """Return the outcome of the command in flight, whose time is up; an unknown line counts as an answer."""
        return self._finish(self._unusual) if self.in_flight else None

    def _finish(self, message: Message | None) -> CommandOutcome:
        if self.in_flight is None:
            raise ValueError("expected a command in flight")
        outcome = CommandOutcome(self.in_flight, message)
        self.in_flight = None
        if message is not None and isinstance(outcome.queued.command, c.Join):
            self._last_join = 0
        self._context.timers.pop(Timer.REPLY, None)
        return outcome

    def flush(self) -> QueuedCommand | None:
        """Send the next command if its time has come; return it if it was sent.

        A decision does not wait for the answer to chat.
        """
        context, in_flight = self._context, self.in_flight
        if context.disconnecting:
            return None
        if in_flight is not None:
            if not self._waiting or self._waiting[0].key is None or not isinstance(in_flight.command, ChatCommand):
                return None
        elif not self._waiting:
            if self._chat:
                self._drop_stale_chat()
            if not self._chat or context.session.state not in CHAT_STATES:
                return None
        free_at = self._free_at(context.settings.timings.pause)
        if context.now < free_at:
            context.set_timer(Timer.PAUSE, free_at - context.now)
            return None
        queued = self._waiting.popleft() if self._waiting else QueuedCommand(self._chat.popleft()[0])
        try:
            self._send_command(queued)
        except LocalProtocolError:
            context.record("held_back", command=queued.command.kind(), state=context.session.state.value)
            return self.flush()
        return queued

    def _send_command(self, queued: QueuedCommand) -> None:
        """Send a command. Raises LocalProtocolError if the state of the connection does not allow it."""
        context, timings = self._context, self._context.settings.timings
        context.session.client_says(queued.command)
        context.actions.append(Send(queued.command))
        context.counters.commands += 1
        self._unusual = None
        awaited, divisor = Awaited.REPLY, 1
        if queued.key is None:
            awaited, feature = awaited_of(queued.command), feature_of(queued.command)
            divisor = LACKING_DIVISOR if feature is not None and context.lacks(feature) else 1
        context.set_timer(Timer.REPLY, TIMEOUT_RULES[awaited].seconds(timings) / divisor)
        context.set_timer(Timer.KEEP_ALIVE, timings.keep_alive)
        while self._sent and self._sent[0] <= context.now - MINUTE:
            self._sent.popleft()
        self._sent.append(context.now)
        self.in_flight = queued
        self.sent_count += 1
        if isinstance(queued.command, c.Join):
            self._last_join = self.sent_count
        elif isinstance(queued.command, c.Time):
            self._open_times.append((self.sent_count, context.now))

    def _free_at(self, pause: float) -> float:
        """Return when the next command may be sent at the earliest."""
        limit, sent = self._context.settings.timings.commands_a_minute, self._sent
        free_at = sent[-1] + pause if sent else self._context.now
        if limit is not None and len(sent) >= limit:
            free_at = max(free_at, sent[-limit] + MINUTE)
        return free_at


def chat_line(text: str) -> str:
    """Return a text as one line that every server takes: printable ASCII, bounded, without the stars of its errors.

    What is too long ends with its last whole sentence, or with dots if not even the first one has room.
    """
    plain = "".join(character if " " <= character <= "~" else "?" for character in " ".join(text.split()))
    while "**" in plain:
        plain = plain.replace("**", "*")
    if len(plain) <= MAX_CHAT_LENGTH:
        return plain
    end = plain.rfind(". ", 0, MAX_CHAT_LENGTH) + 1
    return plain[:end] or plain[: MAX_CHAT_LENGTH - 3].rstrip() + "..."


def _refuses(command: Command, message: Message) -> bool:
    """Whether a message refuses a command: a refusal that can be one of it, or an unknown error that names it.

    While lines come late, what names another command, or a part of it that only others have, refuses an earlier one.
    """
    if isinstance(message, m.Unknown) and (message.text.startswith("**") or "not yet implemented" in message.text):
        word = re.escape(write_command(command).split()[0])
        return re.search(rf"['`\"]{word}\b", message.text) is not None
    if isinstance(message, m.UnknownCommand | m.CommandNotImplemented):
        return message.command.split()[:1] == write_command(command).split()[:1]
    return isinstance(message, Refusal) and isinstance(command, REFUSED_ONLY.get(type(message), Command))


def _answers_time(message: Message) -> bool:
    """Whether a message answers a `time`, or refuses it."""
    return (
        isinstance(message, m.ServerTime)
        or _tells_time(c.Time(), message)
        or (isinstance(message, m.UnknownCommand | m.CommandNotImplemented) and _refuses(c.Time(), message))
    )


def _tells_time(command: Command, message: Message) -> bool:
    return isinstance(command, c.Time) and isinstance(message, m.Unknown) and bool(_CLOCK.search(message.text))


def _replies(command: Command, message: Message) -> bool:
    """Whether a message answers a command that carries out no decision, and does not refuse it.

    Somebody else may accept an earlier invitation of ours while an `invite` or `join` is on its way. The server will
    still refuse that command; if it counted as answered, the refusal would be taken for that of our first play.
    """
    if not isinstance(message, REPLIES.get(type(command), ())):
        return _tells_time(command, message)
    asked = command.name if isinstance(command, c.Invite | c.Join) else None
    match message:
        case (
            m.OpponentJoined(name=met)
            | m.OpponentJoinedGame(name=met)
            | m.OpponentResumed(name=met)
            | m.GameStarts(opponent=met)
        ):
            return asked is None or met in (asked, "")  # some servers leave the name out
    return True
