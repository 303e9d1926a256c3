"""The agent: a function from events to actions. It does no I/O and reads no clock; docs/agent.md explains it.

The same agent runs live and in tests; only what delivers the events and carries out the actions differs. A replay uses
its tracking of the match.
"""

from __future__ import annotations

import enum
from typing import Final

from attrs import evolve

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.session import IN_MATCH, LOGGED_IN, Session, State
from fibs_protocol.words import YOU
from fibsbot.bot.board_comparison import is_older_board
from fibsbot.bot.chat import Chat
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext, AgentMemory, Counters, Feature, Timer, on, registered_handlers
from fibsbot.bot.current_match import BotStatus, Matches, bot_status
from fibsbot.bot.decision_flow import DecisionFlow
from fibsbot.bot.events_and_actions import (
    Action,
    Connected,
    ConnectionLost,
    DecisionKey,
    End,
    Event,
    FinishRequested,
    InvitationKey,
    MessageReceived,
    PauseRequested,
    QuitRequested,
    SettingsChanged,
    StrategyAnswered,
    TableKey,
    Woken,
)
from fibsbot.bot.invitations import ReceivedInvitations, SentInvitations
from fibsbot.bot.lobby import Lobby
from fibsbot.bot.login import LoginSequence, Logout
from fibsbot.bot.match_search import MatchSearch
from fibsbot.bot.match_tracker import apply_message, is_late_start
from fibsbot.bot.players import Players
from fibsbot.bot.recovery import Recovery
from fibsbot.bot.saved_matches import SavedMatches
from fibsbot.bot.seated_part import SeatedPart
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.timeouts import Awaited, Timeouts
from fibsbot.bot.tracked_match import Difference, PlayerSide, TrackedMatch, without_match
from fibsbot.extensions import extension

LOGIN_WAITS: Final = frozenset({Awaited.PROMPT, Awaited.TOGGLES, Awaited.LOGIN_DONE})
DOUBT_FACTOR: Final = 10
"""Times `patience` in which a server may take once for another login what was our own."""
SAME_LOGIN_AFTER: Final = 2.0
"""Seconds after which another login cannot have the same time as ours, which servers state in whole seconds."""
REPLACED: Final = "another login of the same name has taken our place"


class DifferenceError(Exception):
    """The server contradicted our own state, and the settings are strict."""

    def __init__(self, differences: tuple[Difference, ...]) -> None:
        super().__init__("; ".join(f"{d.what}: ours {d.ours}, the server's {d.theirs}" for d in differences))
        self.differences = differences


class Agent:
    """The player of one account. Everything goes through `handle`; all other state is private."""

    def __init__(self, settings: AgentSettings, memory: AgentMemory | None = None) -> None:
        """Create an agent; `memory` is what is known of other players and the server from earlier runs."""
        context = self._context = AgentContext(settings, memory=memory or AgentMemory())
        queue = self._queue = CommandQueue(context)
        timeouts = self._timeouts = Timeouts(context)
        self._login = LoginSequence(context, queue, timeouts)
        self._players = players = Players(context, queue)
        sent = self._sent_invitations = SentInvitations(context, queue)
        self._saved_matches = SavedMatches(context, queue, players, sent)
        self._invitations = ReceivedInvitations(context, queue, players)
        self._lobby = Lobby(context, queue, players, sent, self._invitations, self._saved_matches)
        self._matches = Matches(context, queue, self._lobby)
        self._seated: SeatedPart = extension("bot")(context, queue, timeouts, self._lobby)
        self._match_search = MatchSearch(context, queue, timeouts, self._matches)
        self._recovery = Recovery(context, queue, timeouts, self._matches, self._match_search)
        self._decisions = DecisionFlow(context, queue, self._matches, self._recovery)
        self._logout = Logout(context, queue, self._matches)
        self._chat = Chat(
            *(context, queue, players, self._matches),
            decisions=self._decisions,
            status=lambda: self.status,
            carry_out=self._on_operator,
        )
        self._handlers = registered_handlers(
            (
                *(self, self._login, self._matches, players, self._saved_matches, sent),
                *(self._decisions, self._match_search, self._recovery, self._lobby, self._logout, self._chat),
            )
        )
        self._seated_handlers = registered_handlers(
            (self, self._login, players, self._saved_matches, self._logout, self._chat, self._seated)
        )
        """The same while we have a seat at a table, whose games are not followed as a match of ours."""
        self._replaced = False
        self._closed_by_server = False
        self._login_time: int | None = None
        """When we last logged in, by the server's clock, if it has said so."""
        self._was_replaced_unless: int | None = None
        """The server has closed our connection, and says that we are logged in: by somebody else, unless the last login
        was at this time, our own. Then the server has not noticed the end of that connection."""
        self._connected_at = 0.0
        self._doubted: float | None = None
        """When that was so last."""
        self._recorded_flaws: set[str] = set()
        """Kinds of contradictions on boards that were recorded on this connection; some servers make them often."""

    # -- public state ------------------------------------------------------------------------------------------

    @property
    def settings(self) -> AgentSettings:
        """The settings, with all changes since the start."""
        return self._context.settings

    @property
    def counters(self) -> Counters:
        """Counts of what has happened in this run."""
        return self._context.counters

    @property
    def tracked(self) -> TrackedMatch:
        """The match as the agent sees it."""
        return self._context.tracked

    @property
    def state(self) -> State:
        """The state of the connection."""
        return self._context.session.state

    @property
    def status(self) -> BotStatus:
        """A summary for operators."""
        return bot_status(
            self._context,
            self._matches,
            self._saved_matches,
            self._invitations,
            self._sent_invitations,
            chouette=self._seated.inviter,
        )

    # -- the function -------------------------------------------------------------------------------------------

    def handle(self, event: Event) -> list[Action]:
        """Return the actions that an event leads to, in the order in which they are to be done.

        Raises DifferenceError when the settings are strict, and nothing else.
        """
        context = self._context
        context.now = event.at
        if isinstance(event, MessageReceived):
            self._on_message(event.message)
        else:
            self._on_event(event)
        for timer in context.pop_due_timers():
            self._on_time(timer)
        deciding = self._seated if context.session.state is State.SEATED else self._decisions
        deciding.step()
        ending = context.ending
        in_lobby = context.session.state is State.LOBBY and self._login.done
        if in_lobby:
            self._seated.on_lobby()
        if in_lobby and not ending and not self._match_search.is_on:
            self._lobby.step()
        if sent := self._queue.flush():
            deciding.on_sent(sent)
        if ending:  # only now: commands that make no sense any more have been dropped
            self._logout.step()
            self._queue.flush()
        return context.pop_actions()

    def _on_event(self, event: Event) -> None:
        match event:
            case StrategyAnswered(key=DecisionKey() | TableKey() as key):
                taken = self._decisions.on_answer(key, event.answer, event.fallback)
                if not taken and not self._seated.on_answer(key, event.answer, event.fallback):
                    self._decisions.on_late_answer(key)
            case StrategyAnswered(key=InvitationKey() as key):
                self._invitations.on_answer(key, event.answer)
            case Connected():
                self._on_connected(event)
            case ConnectionLost():
                self._on_lost(event)
            case Woken():
                self._context.on_woken()
            case FinishRequested() | QuitRequested() | PauseRequested() | SettingsChanged():
                self._on_operator(event)

    def _on_operator(self, event: FinishRequested | QuitRequested | PauseRequested | SettingsChanged) -> None:
        context = self._context
        match event:
            case FinishRequested():
                self._logout.finish()
            case QuitRequested():
                self._logout.quit()
            case PauseRequested(paused=paused):
                context.paused = paused
                context.record("paused", paused=paused)
            case SettingsChanged(settings=settings):
                before = context.settings
                context.settings = evolve(settings, name=context.settings.name, password=context.settings.password)
                self._login.on_settings_changed(before)

    def _on_connected(self, event: Connected) -> None:
        self._context.session = Session()
        self._context.disconnecting = False
        self._context.counters.connections += 1
        self._replaced = False
        self._connected_at = event.at
        self._recorded_flaws.clear()
        self._context.set_timer(Timer.KEEP_ALIVE, self._context.settings.timings.keep_alive)
        self._dispatch(event)

    def _on_lost(self, event: ConnectionLost) -> None:
        self._context.record("connection_lost", reason=event.reason, state=self.state.value)
        if self.state in LOGGED_IN:
            self._closed_by_server = event.by_server
            if event.at < self._connected_at + SAME_LOGIN_AFTER:
                self._login_time = None
        self._context.session = Session()
        self._context.timers.clear()
        self._queue.clear()
        self._seated.on_connection_lost()
        self._dispatch(event)
        self._context.tracked = without_match(self._context.tracked)
        if self._replaced:
            self._context.disconnect(REPLACED, End.REPLACED)

    def _dispatch(self, item: Message | Event) -> None:
        for handler in self._handlers.get(type(item), ()):
            handler(item)

    def _on_message(self, message: Message) -> None:
        context, queue = self._context, self._queue
        handlers = self._seated_handlers if self._follow(message) else self._handlers
        outcome = queue.match_reply(message)
        if isinstance(message, Refusal):
            context.counters.refusals += 1
            command = outcome.queued.command.kind() if outcome else None
            context.record("refused", text=write(message), command=command)
        if self._saved_matches.listing is not None:
            self._saved_matches.follow_list(self._saved_matches.listing, message)
        for handler in handlers.get(type(message), ()):
            handler(message)
        self._timeouts.stop(Awaited.ANY_LINE)
        if context.session.state is State.WATCHING:
            queue.send(c.Unwatch())  # we never watch anybody
        if self._matches.current is not self._chat.match:
            self._chat.on_match_changed(message)
        if outcome:
            self._on_answered(outcome)

    def _follow(self, message: Message) -> bool:
        """Count a message, follow the connection and the match; return whether it belongs to our seat at a table.

        A board in the lobby is only a sign of a match: it may be a copy of the last one after its end. While we log in
        a board does lead into a match (pitfall 5), and so does one that we have asked for.
        """
        context, session = self._context, self._context.session
        context.counters.messages += 1
        if isinstance(message, m.Board):
            if message.repaired is not None:
                self._note_repaired(message.repaired)
            in_lobby = message.state.player == YOU and session.state is State.LOBBY
            stray = in_lobby and self._login.done and not self._match_search.board_requested
            if stray:
                self._match_search.start()
        else:
            stray = isinstance(message, m.GameStarts) and is_late_start(context.tracked, message)
        context.counters.boards += isinstance(message, m.Board | m.TableBoard)
        was_seated = session.state is State.SEATED
        if not stray:
            session.server_says(message)
        if was_seated or session.state is State.SEATED:
            return True
        if not stray:
            context.tracked = apply_message(context.tracked, message)
            if isinstance(message, m.Board) and is_older_board(context.tracked, message.state):
                session.state = State.MY_ROLL if context.tracked.turn is PlayerSide.PLAYER else State.THEIR_TURN
        if context.tracked.differences:
            self._on_differences(context.tracked.differences)
        return False

    def _on_answered(self, outcome: CommandOutcome) -> None:
        self._login.on_answered(outcome)
        self._follow_up(outcome)
        if outcome.refused:
            self._lobby.on_refusal(outcome)
        elif outcome.unsupported:
            self._lobby.on_unusual(outcome)

    def _follow_up(self, outcome: CommandOutcome) -> None:
        """Report the outcome of a command to the parts that play."""
        if self._context.session.state is State.SEATED:
            self._seated.on_answered(outcome)
        else:
            self._decisions.on_answered(outcome)
            self._recovery.on_answered(outcome)

    def _note_repaired(self, flaw: str) -> None:
        """Count a board that contradicted itself; each kind of contradiction is recorded once."""
        self._context.counters.corrected += 1
        kind = flaw.partition(":")[0]
        if kind not in self._recorded_flaws:
            self._recorded_flaws.add(kind)
            self._context.record("board_corrected", flaw=flaw)

    @on(m.Unknown, m.RefusedBoard)
    def _on_unknown(self, _: m.Unknown | m.RefusedBoard) -> None:
        """Count a line that the grammar should know; those before the first answer are for everybody, such as news."""
        self._context.counters.unknown += self._login.server_has_answered

    @on(m.LoggedIn, m.LoggedOut)
    def _on_other_login(self, message: m.LoggedIn | m.LoggedOut) -> None:
        """Notice that somebody else logs in under our name (pitfall 4)."""
        self._replaced = self._replaced or (message.name == self._context.settings.name and self._login.done)

    @on(m.AlreadyLoggedIn)
    def _on_already_logged_in(self, _: m.AlreadyLoggedIn) -> None:
        """Notice an unannounced login: the server closed our connection, and now says that we are logged in already."""
        if not self._closed_by_server:
            return
        if self._login_time is None:
            self._context.disconnect(REPLACED, End.REPLACED)
        self._was_replaced_unless = self._login_time

    @on(m.Welcome)
    def _on_welcome(self, message: m.Welcome) -> None:
        own, self._was_replaced_unless, self._login_time = self._was_replaced_unless, None, None
        if own is None:
            return
        now, again = self._context.now, DOUBT_FACTOR * self._context.settings.timings.patience
        if message.last_login != own or (self._doubted is not None and now < self._doubted + again):
            self._context.disconnect(REPLACED, End.REPLACED)
        self._doubted = now

    @on(m.WhoInfo)
    def _on_who(self, info: m.WhoInfo) -> None:
        if info.name == self._context.settings.name and self._login_time is None:
            self._login_time = info.login

    def _on_differences(self, differences: tuple[Difference, ...]) -> None:
        self._context.counters.differences += len(differences)
        for difference in differences:
            self._context.record("difference", what=difference.what, ours=difference.ours, theirs=difference.theirs)
        if self._context.settings.strict:
            raise DifferenceError(differences)

    # -- time ---------------------------------------------------------------------------------------------------

    def _on_time(self, timer: enum.Enum) -> None:
        match timer:
            case Awaited.CHOUETTE:
                self._seated.on_time()
            case Awaited.STRATEGY:
                self._timeouts.on_time(Awaited.STRATEGY)
                self._context.counters.timeouts += 1
                self._context.record("no_step", expected=timer.name.lower())
                (self._seated if self.state is State.SEATED else self._decisions).on_strategy_lost()
            case Awaited():
                (self._login if timer in LOGIN_WAITS else self._recovery).on_time(timer)
            case Timer.REPLY:
                if overdue := self._queue.pop_overdue():
                    (self._on_overdue if overdue.message is None else self._on_answered)(overdue)
            case Timer.FINISH | Timer.RESTART:
                self._logout.on_time()
            case Timer.INVITATION:
                self._invitations.on_complete()
            case Timer.KEEP_ALIVE:
                self._context.set_timer(Timer.KEEP_ALIVE, self._context.settings.timings.keep_alive)
                self._queue.send(c.ShowBoard() if self.state in IN_MATCH else self._keep_alive())

    def _keep_alive(self) -> Command:
        """Return a harmless command that the server answers, so that silence means a dead connection."""
        if not self._context.lacks(Feature.TIME):
            return c.Time()
        return c.ToggleCommand() if self._context.lacks(Feature.RAWWHO) else c.Rawwho(self._context.settings.name)

    def _on_overdue(self, overdue: CommandOutcome) -> None:
        command = overdue.queued.command
        self._context.counters.timeouts += 1
        self._context.record("no_answer", command=command.kind())
        for part in (self._recovery, self._login, self._lobby, self._logout):
            part.on_overdue(overdue)
        self._follow_up(overdue)
