"""The oracle: what the server really sent to each account and received from it, before and after all faults.

It is independent of the bot's own bookkeeping on purpose, so that it does not share its errors.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from attrs import define, evolve, field, frozen

from bench.chaos.proxy import ProxyConnection
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import parse_command, write, write_command
from fibs_protocol.lines import LineSplitter
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.session import TriggerCase, trigger_of
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import YOU
from fibsbot.bot.command_queue import REPLIES
from fibsbot.bot.decisions import xgid_of
from fibsbot.bot.match_tracker import apply_message
from fibsbot.bot.tracked_match import TrackedMatch, without_match
from fibsbot.fibs_numbering import play_from_fibs
from fibsbot.match import Phase
from fibsbot.notation import format_play

GAME_COMMANDS: Final = (c.Roll, c.Move, c.Double, c.Accept, c.Reject, c.Redouble, c.Resign, c.Off)
"""Commands that answer a decision; they must not be refused."""
READ_TIME: Final = 0.25
"""Seconds that a bot has to read a line; a command sent earlier was sent without knowing it."""
KEPT_NEWS: Final = 200
"""Lines of a connection that are kept, to find those that a bot could not know when it sent a command."""

_ANSWERS: Final[dict[type[Command], tuple[type[Message], ...]]] = {
    c.Roll: (m.Rolls,),
    c.Move: (m.Board, m.GameWon, m.MatchWon),
    c.Double: (m.YouDouble,),
    c.Redouble: (m.YouRedouble,),
    c.Accept: (m.DoubleAccepted, m.RedoubleAccepted, m.ResignAccepted, m.GameWon),
    c.Reject: (m.GaveUp, m.ResignRejected),
    c.Resign: (m.ResignOffer,),
}
_OPENING: Final = (
    *(m.RollOrDouble, m.MovePrompt, m.OpponentDoubles, m.OpponentRedoubles, m.AnswerResign, m.ResignRejected),
    *(m.GameStarts, m.OpponentJoined, m.YouJoined, m.OpponentResumed, m.YouResumed),
)
_OPENING_CASES: Final = {
    m.Board: (TriggerCase.YOUR_ROLL, TriggerCase.YOUR_MOVE, TriggerCase.DOUBLED),
    m.FirstMove: (TriggerCase.YOU,),
    m.Rolls: (TriggerCase.YOU,),
    m.CannotMove: (TriggerCase.OTHER,),
    m.Moves: (TriggerCase.OTHER,),
    m.DoubleAccepted: (TriggerCase.OTHER, TriggerCase.YOU),
    m.ResignOffer: (TriggerCase.OTHER,),
}
_NO_NEWS: Final = (m.WhoInfo, m.WhoEnd, m.MotdLine, m.MotdStart, m.MotdEnd, m.LoggedIn, m.Says, m.Unknown)
"""Messages that say nothing about a match."""


def shows_decision(message: Message) -> bool:
    """Whether a message shows the player a decision that is or may be open."""
    if isinstance(message, _OPENING):
        return True
    cases = _OPENING_CASES.get(type(message))
    return cases is not None and trigger_of(message).case in cases


@frozen
class AcceptedCommand:
    """A game command that the server accepted: the decision as an XGID, and the answer as the bot's records have it."""

    xgid: str | None
    shown: str
    line: str


@frozen
class RefusedCommand:
    """A command that the server refused."""

    account: str
    command: str
    text: str
    unseen: tuple[str, ...]
    """Lines that the server had sent, and the bot could not know; the latest last."""
    game: bool
    """Whether it was a game command."""

    @property
    def illegal(self) -> bool:
        """Whether the bot should have known better."""
        return self.game and not self.unseen

    def __str__(self) -> str:
        known = f"; not yet known: {' | '.join(self.unseen[-3:])}" if self.unseen else ""
        return f"{self.account}: {self.command!r} was refused: {self.text}{known}"


@define
class PlayedMatch:
    """A match, as the server played it."""

    opponent: str
    score: tuple[int, int] | None = None
    """Of the end, the account's own points first; None: not yet over."""
    games: list[tuple[bool, int]] = field(factory=list)
    """Each game that has ended: whether it was won, and the points."""


@define
class _Pending:
    """A command that has reached the server, and has no answer yet."""

    command: Command
    said: float
    passed: int
    """How much the client had got of what the server said."""
    answer: AcceptedCommand | None


@define
class _ClientLine:
    """Something that the client said and that may be on its way."""

    line: str
    at: float
    passed: int


@define
class _ServerLine:
    """Something about the match that the server said."""

    end: int
    """Bytes of the stream before its line's end, at least."""
    text: str
    known: float | None = None
    """Since when the client had it; for ever too late if it got lost."""

    def was_known(self, pending: _Pending) -> bool:
        """Whether the client knew of it when it gave a command."""
        return self.end <= pending.passed and self.known is not None and self.known <= pending.said - READ_TIME


@define
class _Conversation:
    """One connection, as both sides were heard on it."""

    from_server: MessageReader = field(factory=MessageReader)
    from_client: LineSplitter = field(factory=lambda: LineSplitter(prompts=False))
    to_server: LineSplitter = field(factory=lambda: LineSplitter(prompts=False))
    said: deque[_ClientLine] = field(factory=deque)
    pending: deque[_Pending] = field(factory=deque)
    news: deque[_ServerLine] = field(factory=lambda: deque(maxlen=KEPT_NEWS))


@define
class Oracle:
    """One account's book; the proxy's observer."""

    account: str
    on_progress: Callable[[str], None] = field(default=lambda _: None)
    """Called with the account's name whenever it got on: a game command was taken, or a login came to the lobby."""
    logins: int = 0
    matches: list[PlayedMatch] = field(factory=list)
    answers: list[AcceptedCommand] = field(factory=list)
    """Game commands that the server took, in their order."""
    commands: int = 0
    """All commands that reached the server."""
    refusals: list[RefusedCommand] = field(factory=list)
    answered_twice: list[str] = field(factory=list)
    """Game commands without a decision that the server had shown since the last one."""
    _track: TrackedMatch = field(init=False)
    _playing: bool = False
    _shown: bool = False
    _last: str = ""
    _connection: ProxyConnection | None = None
    _talks: dict[ProxyConnection, _Conversation] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._track = TrackedMatch(self.account)

    @property
    def playing(self) -> bool:
        """Whether a match is on, and the connection is there on which it is."""
        return self._playing and self._connection is not None and not self._connection.over

    # -- the observer ------------------------------------------------------------------------------------------------

    def _talk(self, connection: ProxyConnection) -> _Conversation:
        talk = self._talks.get(connection)
        if talk is None:
            self._talks = {old: kept for old, kept in self._talks.items() if not old.over}
            talk = self._talks[connection] = _Conversation()
        return talk

    def client_said(self, connection: ProxyConnection, data: bytes) -> None:
        """Remember when the client said what, and what it knew."""
        talk, now = self._talk(connection), time.monotonic()
        talk.from_client.receive_data(data)
        while line := talk.from_client.next_line():
            talk.said.append(_ClientLine(line.text, now, connection.from_server.passed))

    def client_heard(self, connection: ProxyConnection) -> None:
        """Note what the client now knows."""
        now, passed = time.monotonic(), connection.from_server.passed
        for news in self._talk(connection).news:
            if news.known is None and news.end <= passed:
                news.known = now

    def lost(self, connection: ProxyConnection, data: bytes, *, to_server: bool) -> None:
        """Remember what never arrived."""
        if not to_server:
            text = data.decode("ascii", "replace")
            for news in self._talk(connection).news:
                if news.known is None and news.text in text:
                    news.known = math.inf

    def server_heard(self, connection: ProxyConnection, data: bytes) -> None:
        """Follow the account's commands."""
        talk = self._talk(connection)
        talk.to_server.receive_data(data)
        while line := talk.to_server.next_line():
            self._on_line(connection, talk, line.text)

    def server_said(self, connection: ProxyConnection, data: bytes) -> None:
        """Follow the server."""
        talk = self._talk(connection)
        talk.from_server.receive_data(data)
        while received := talk.from_server.next_message():
            message = received.message
            if not isinstance(message, _NO_NEWS):
                talk.news.append(_ServerLine(received.offset + len(received.text), received.text[:80]))
            self._on_message(connection, talk, message)

    # -- commands ---------------------------------------------------------------------------------------------------

    def _on_line(self, connection: ProxyConnection, talk: _Conversation, text: str) -> None:
        said = _ClientLine(text, time.monotonic(), connection.from_server.passed)
        while talk.said:
            first = talk.said.popleft()
            if first.line == text:
                said = first
                break
        if connection is not self._connection:
            return  # the login, or what was held up on a connection that another has replaced
        try:
            command = parse_command(text)
        except CommandError:
            return  # nothing that a server knows
        self.commands += 1
        answer = None
        if isinstance(command, GAME_COMMANDS):
            if not self._shown:
                self.answered_twice.append(
                    f"{self.account}: {text!r} after {self._last!r}, and nothing was shown between"
                )
            self._shown, self._last = False, text
            answer = self._answer(command, text)
        talk.pending.append(_Pending(command, said.at, said.passed, answer))

    def _answer(self, command: Command, text: str) -> AcceptedCommand:
        """Return what the bot's records should know of a game command."""
        track = self._track
        if track.state is None:
            return AcceptedCommand(None, text, text)
        if isinstance(command, c.Move):
            if track.dice is None:
                return AcceptedCommand(None, text, text)
            play = play_from_fibs(command.moves, track.direction or -1)
            self._track = evolve(track, own_play=play)
            return AcceptedCommand(
                xgid_of(track.decision_state(Phase.MOVE)), format_play(play, track.state.position), text
            )
        phase, shown = Phase.ROLL, text
        if isinstance(command, (c.Accept, c.Reject)):
            resigned = track.resigned_by is not None
            phase = Phase.RESIGNED if resigned else Phase.DOUBLED
            accepted = isinstance(command, c.Accept)
            shown = ("accept" if accepted else "reject") if resigned else ("take" if accepted else "pass")
        elif isinstance(command, c.Resign):
            shown = f"resign {command.level.multiplier}"
        elif isinstance(command, c.Redouble):
            phase, shown = Phase.DOUBLED, "beaver"
        return AcceptedCommand(xgid_of(track.decision_state(phase)), shown, text)

    # -- messages ---------------------------------------------------------------------------------------------------

    def _on_message(self, connection: ProxyConnection, talk: _Conversation, message: Message) -> None:
        if isinstance(message, m.Welcome):
            self._connection, connection.logged_in = connection, False
            self.logins += 1
            self._playing = False
        if connection is not self._connection:
            return
        self._settle(talk, message)
        self._track = apply_message(self._track, message)
        self._shown = self._shown or shows_decision(message)
        match message:
            case m.SavedStart() | m.SavedMatch() | m.NoSavedGames() if not connection.logged_in:
                connection.logged_in = True
                self.on_progress(self.account)
            case m.OpponentJoined(name=name) | m.YouJoined(name=name):
                self.matches.append(PlayedMatch(name))
                self._playing = True
            case m.OpponentResumed() | m.YouResumed():
                self._playing = True
            case m.GameWon() | m.GaveUp() | m.ResignAccepted():
                self._match.games.append((message.winner == YOU, message.points))
            case m.MatchWon():
                self._on_match_won(message)
            case m.OpponentGone() | m.YourGameSaved() | m.YouLeft():
                self._playing = False
                self._track = without_match(self._track)

    def _on_match_won(self, message: m.MatchWon) -> None:
        self._playing = False
        points = message.winner_points, message.loser_points
        self._match.score = points if message.winner == YOU else points[::-1]

    @property
    def _match(self) -> PlayedMatch:
        """The match that is on. If there is none, its beginning was lost with a server that was killed."""
        if not self.matches or self.matches[-1].score is not None:
            self.matches.append(PlayedMatch("?"))
        return self.matches[-1]

    def _settle(self, talk: _Conversation, message: Message) -> None:
        """Find the command that a message answers; the ones before it had nothing to say."""
        if isinstance(message, Refusal):
            if talk.pending:
                self._on_refusal(talk, talk.pending.popleft(), message)
            return
        for number, pending in enumerate(talk.pending, 1):
            kind = type(pending.command)
            if isinstance(message, _ANSWERS.get(kind) or REPLIES.get(kind, ())):
                for _ in range(number):
                    self._on_taken(talk.pending.popleft())
                return

    def _on_taken(self, pending: _Pending) -> None:
        if pending.answer is not None:
            self.answers.append(pending.answer)
            self.on_progress(self.account)

    def _on_refusal(self, talk: _Conversation, pending: _Pending, message: Refusal) -> None:
        unseen: list[str] = []
        for news in list(talk.news)[:-1]:  # the last one is the refusal itself
            if not news.was_known(pending):
                unseen.append(news.text)
            elif news.text.startswith("board:You:"):
                unseen.clear()  # a board tells again what was missed before it
        refused = RefusedCommand(
            self.account,
            write_command(pending.command),
            write(message),
            tuple(unseen),
            game=pending.answer is not None,
        )
        if pending.answer is not None:
            self._track = evolve(self._track, own_play=None)
            self._shown = True  # the decision is still open
        self.refusals.append(refused)
