"""The agent: a function from events to actions. It does no I/O and reads no clock; see docs/explanation/agent.md.

The same agent runs live and in tests; only what delivers the events and carries out the actions differs. A replay uses
its tracking of the match. The parts of the agent are made with each connection and dropped when it is lost; what
outlives it is in `AgentContext.renewed` and in `Handover`, and nowhere else.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import count
from typing import Any, Final

from attrs import define, evolve, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.session import IN_MATCH, State
from fibs_protocol.words import YOU
from fibsbot.bot.board_comparison import is_older_board
from fibsbot.bot.chat import Chat, ChatHistory
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, RecentTells
from fibsbot.bot.context import AgentContext, AgentMemory, Counters, Feature, Timer, registered_handlers
from fibsbot.bot.current_match import BotStatus, Matches, MatchProgress
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
    ListsChanged,
    MessageReceived,
    OrderEvent,
    OrderGiven,
    PauseRequested,
    QuitRequested,
    SettingsChanged,
    StrategyAnswered,
    Woken,
)
from fibsbot.bot.invitations import InvitationAttempts, ReceivedInvitations, SentInvitations
from fibsbot.bot.lobby import Lobby, OpponentSearch, SearchHistory
from fibsbot.bot.login import REPLACED, LoginHistory, LoginSequence, Logout, OtherLogins
from fibsbot.bot.match_search import MatchSearch
from fibsbot.bot.match_tracker import apply_message, is_late_start
from fibsbot.bot.players import Players
from fibsbot.bot.recovery import Recovery
from fibsbot.bot.saved_matches import SavedMatches, SavedMatchState
from fibsbot.bot.seated_part import SeatedPart
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.timeouts import Awaited, Timeouts
from fibsbot.bot.tracked_match import Difference, PlayerSide, TrackedMatch
from fibsbot.extensions import extension

LOGIN_WAITS: Final = frozenset({Awaited.PROMPT, Awaited.TOGGLES, Awaited.LOGIN_DONE})


class DifferenceError(Exception):
    """The server contradicted our own state, and the settings are strict."""

    def __init__(self, differences: tuple[Difference, ...]) -> None:
        super().__init__("; ".join(f"{d.what}: ours {d.ours}, the server's {d.theirs}" for d in differences))
        self.differences = differences


class Agent:
    """The player of one account. Everything goes through `handle`; all other state is private."""

    def __init__(self, settings: AgentSettings, memory: AgentMemory | None = None) -> None:
        """Create an agent; `memory` is what is known of other players and the server from earlier runs."""
        self._connection = AgentConnection(AgentContext.of(settings, memory or AgentMemory()), Handover())
        """The connection that is on, or the next one."""

    @property
    def settings(self) -> AgentSettings:
        """The settings, with all changes since the start."""
        return self._connection.context.settings

    @property
    def counters(self) -> Counters:
        """Counts of what has happened in this run."""
        return self._connection.context.counters

    @property
    def tracked(self) -> TrackedMatch:
        """The match as the agent sees it."""
        return self._connection.context.tracked

    @property
    def state(self) -> State:
        """The state of the connection."""
        return self._connection.context.session.state

    @property
    def status(self) -> BotStatus:
        """A summary for operators."""
        return self._connection.status

    def handle(self, event: Event) -> list[Action]:
        """Return the actions that an event leads to, in the order in which they are to be done.

        Raises DifferenceError when the settings are strict, and nothing else.
        """
        self._connection.context.now = event.at
        if isinstance(event, ConnectionLost):
            self._connection = self._connection.end(event)
        return self._connection.handle(event)


@define
class Handover:
    """What the parts of one connection hand over to those of the next.

    They change it in place, but for `saved_matches` and `seat`, which `AgentConnection.end` takes from them.
    """

    sent: deque[float] = field(factory=deque)
    """When commands were sent within the last minute."""
    logins: LoginHistory = field(factory=LoginHistory)
    failed_starts: dict[str, InvitationAttempts] = field(factory=dict)
    """By player, matches in a row that we had to leave at once."""
    invitation_numbers: Iterator[int] = field(factory=lambda: count(1))
    refusals_told: RecentTells = field(factory=RecentTells)
    searches: SearchHistory = field(factory=SearchHistory)
    progress: MatchProgress = field(factory=MatchProgress)
    saved_matches: dict[str, SavedMatchState] = field(factory=dict)
    """Known saved matches, by opponent."""
    invitations_told: RecentTells = field(factory=RecentTells)
    seat: Any = None
    """What the part that plays at a table with more than two seats knows of the seat that the server keeps for us."""
    seated_numbers: Iterator[int] = field(factory=lambda: count(1))
    chat: ChatHistory = field(factory=ChatHistory)


class AgentConnection:
    """The agent on one connection, from before it is made until it is lost."""

    def __init__(self, context: AgentContext, handover: Handover) -> None:
        """Prepare for a connection; `handover` is what the one before has left."""
        self.context = context
        self._handover = handover
        queue = self._queue = CommandQueue(context, handover.sent)
        timeouts = self._timeouts = Timeouts(context)
        self.login = LoginSequence(context, queue, timeouts, OtherLogins(context, handover.logins))
        players = Players(context, queue)
        self.sent_invitations = sent = SentInvitations(context, queue, handover.failed_starts)
        self.saved_matches = SavedMatches(
            context, queue, players, sent, handover.saved_matches, handover.invitations_told
        )
        self.invitations = ReceivedInvitations(
            context, queue, players, handover.invitation_numbers, handover.refusals_told
        )
        search = OpponentSearch(context, players, sent, handover.searches)
        self._lobby = Lobby(context, queue, players, sent, self.invitations, self.saved_matches, search)
        self._matches = matches = Matches(context, queue, self._lobby, handover.progress)
        self._seated: SeatedPart = extension("bot")(
            context, queue, timeouts, self._lobby, handover.seated_numbers, handover.seat
        )
        self._match_search = MatchSearch(context, queue, timeouts, matches)
        self._recovery = Recovery(context, queue, timeouts, matches, self._match_search)
        self._decisions = DecisionFlow(context, queue, matches, self._recovery)
        self._logout = Logout(context, queue, matches)
        self._chat = Chat(
            *(context, queue, players, matches),
            decisions=self._decisions,
            status=lambda: self.status,
            carry_out=self._on_operator,
            history=handover.chat,
        )
        # In this order each of them takes a message: those that know what it means for us come before those that act on
        # it. `matches` knows the match of which decisions are made; what has to be recovered follows from both.
        self._handlers = registered_handlers(
            (
                *(self.login, matches, players, self.saved_matches, sent),
                *(self._decisions, self._match_search, self._recovery, self._lobby, self._logout, self._chat),
            )
        )
        self._recorded_flaws: set[str] = set()
        """Kinds of contradictions on boards that were recorded on this connection; some servers make them often."""

    @cached_property
    def _seated_handlers(self) -> dict[type, list[Callable[[Any], None]]]:
        """The same at a table with more than two seats, whose games are not followed as a match of ours."""
        return registered_handlers(
            (self.login, self._lobby.players, self.saved_matches, self._lobby, self._logout, self._chat, self._seated)
        )

    @property
    def status(self) -> BotStatus:
        """A summary for operators."""
        context, match = self.context, self._matches.current
        shown, saved = context.tracked.state, self.saved_matches.matches
        return BotStatus(
            account=context.settings.name,
            state=context.session.state.name,
            opponent=match.opponent if match else None,
            length=match.length if match else None,
            score=shown.score if match and shown else None,
            game=match.game if match else None,
            chouette=self._seated.inviter,
            paused=context.paused,
            finishing=context.finishing,
            saved=len(saved.keys() - ({match.opponent} if match else set())),
            stuck=sum(context.memory.history_of(name).stuck is not None for name in saved),
            given_up=self.sent_invitations.given_up,
            invitations=self.invitations.waiting,
            ordered=self._lobby.ordered,
            blocked=tuple(sorted(context.memory.blocked)),
            counters=context.counters.as_dict(),
        )

    def end(self, event: ConnectionLost) -> AgentConnection:
        """Deal with the loss of the connection, or of one that could not be made; return the next one."""
        context = self.context
        context.record("connection_lost", reason=event.reason, state=context.session.state.value)
        self.login.others.on_lost(by_server=event.by_server)
        self._matches.break_off("connection lost")  # the server saves the match
        self.sent_invitations.close()
        if self.login.others.replaced:
            context.disconnect(REPLACED, End.REPLACED)
        handover = evolve(self._handover, saved_matches=self.saved_matches.handed_over(), seat=self._seated.kept_seat)
        return AgentConnection(context.renewed(), handover)

    # -- events -------------------------------------------------------------------------------------------------

    def handle(self, event: Event) -> list[Action]:
        """Return the actions that an event leads to, in order. Raises DifferenceError when the settings are strict."""
        context = self.context
        if isinstance(event, MessageReceived):
            self._on_message(event.message)
        else:
            self._on_event(event)
        for timer in context.pop_due_timers():
            self._on_time(timer)
        deciding = self._seated if context.session.state is State.SEATED else self._decisions
        deciding.step()
        ending = context.ending
        in_lobby = context.session.state is State.LOBBY and self.login.done
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
            case StrategyAnswered(key=DecisionKey() as key):
                taken = self._decisions.on_answer(key, event.answer, event.fallback)
                if not taken and not self._seated.on_answer(key, event.answer, event.fallback):
                    self._decisions.on_late_answer(key)
            case StrategyAnswered(key=InvitationKey() as key):
                self.invitations.on_answer(key, event.answer)
            case Connected():
                self.context.counters.connections += 1
                self.context.set_timer(Timer.KEEP_ALIVE, self.context.settings.timings.keep_alive)
                self.login.start()
                self._chat.start()
            case Woken():
                self.context.on_woken()
            case ListsChanged(lists=lists):
                self.context.memory.lists = lists
            case FinishRequested() | QuitRequested() | PauseRequested() | SettingsChanged() | OrderGiven():
                self._on_operator(event)

    def _on_operator(self, event: OrderEvent | SettingsChanged) -> str | None:
        """Carry out an order; return the answer if it has one of its own."""
        context, answer = self.context, None
        match event:
            case FinishRequested():
                self._logout.finish()
            case QuitRequested():
                self._logout.quit()
            case PauseRequested(paused=paused):
                context.paused = paused
                context.record("paused", paused=paused)
            case OrderGiven(given=given):
                answer = self._lobby.obey(given)
                context.record("order_taken", order=given.order.value, name=given.name, answer=answer)
            case SettingsChanged(settings=settings):
                before = context.settings
                context.settings = evolve(settings, name=context.settings.name, password=context.settings.password)
                self.login.on_settings_changed(before)
        return answer

    def _on_message(self, message: Message) -> None:
        context, queue = self.context, self._queue
        handlers = self._seated_handlers if self._follow(message) else self._handlers
        outcome = queue.match_reply(message)
        if isinstance(message, Refusal):
            context.counters.refusals += 1
            command = outcome.queued.command.kind() if outcome else None
            context.record("refused", text=write(message), command=command)
        if self.saved_matches.listing is not None:
            self.saved_matches.follow_list(self.saved_matches.listing, message)
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
        """Count a message, follow the connection and the match; return whether it belongs to our seat at a chouette.

        A board in the lobby is only a sign of a match: it may be a copy of the last one after its end. While we log in
        a board does lead into a match (pitfall 5), and so does one that we have asked for.
        """
        context, session = self.context, self.context.session
        context.counters.messages += 1
        if isinstance(message, m.Board):
            if message.repaired is not None:
                self._note_repaired(message.repaired)
            in_lobby = message.state.player == YOU and session.state is State.LOBBY
            stray = in_lobby and self.login.done and not self._match_search.board_requested
            if stray:
                self._match_search.start()
        else:
            stray = isinstance(message, m.GameStarts) and is_late_start(context.tracked, message)
        if isinstance(message, m.Board | m.TableBoard):
            context.counters.boards += 1
            self._timeouts.stop(Awaited.REQUESTED_BOARD)
        was_seated = session.state is State.SEATED
        if not stray:
            session.server_says(message)
        if was_seated or session.state is State.SEATED:
            return True
        if not stray:
            context.tracked = apply_message(context.tracked, message)
            last_play = context.tracked.last_play
            if isinstance(message, m.Board) and last_play and is_older_board(context.tracked, last_play, message.state):
                session.state = State.MY_ROLL if context.tracked.turn is PlayerSide.PLAYER else State.THEIR_TURN
        if context.tracked.differences:
            self._on_differences(context.tracked.differences)
        return False

    def _on_answered(self, outcome: CommandOutcome) -> None:
        self.login.on_answered(outcome)
        self._follow_up(outcome)
        if outcome.refused:
            self._lobby.on_refusal(outcome)
        elif outcome.unsupported:
            self.invitations.on_unanswered(outcome)

    def _follow_up(self, outcome: CommandOutcome) -> None:
        """Report the outcome of a command to the parts that play."""
        if self.context.session.state is State.SEATED:
            self._seated.on_answered(outcome)
        else:
            self._decisions.on_answered(outcome)
            self._recovery.on_answered(outcome)

    def _note_repaired(self, flaw: str) -> None:
        """Count a board that contradicted itself; each kind of contradiction is recorded once."""
        self.context.counters.corrected += 1
        kind = flaw.partition(":")[0]
        if kind not in self._recorded_flaws:
            self._recorded_flaws.add(kind)
            self.context.record("board_corrected", flaw=flaw)

    def _on_differences(self, differences: tuple[Difference, ...]) -> None:
        self.context.counters.differences += len(differences)
        for difference in differences:
            self.context.record("difference", what=difference.what, ours=difference.ours, theirs=difference.theirs)
        if self.context.settings.strict:
            raise DifferenceError(differences)

    # -- time ---------------------------------------------------------------------------------------------------

    def _on_time(self, timer: enum.Enum) -> None:
        match timer:
            case Awaited.CHOUETTE:
                self._seated.on_time()
            case Awaited.STRATEGY:
                self._timeouts.on_time(Awaited.STRATEGY)
                self.context.counters.timeouts += 1
                self.context.record("no_step", expected=timer.name.lower())
                (self._seated if self.context.session.state is State.SEATED else self._decisions).on_strategy_lost()
            case Awaited():
                (self.login if timer in LOGIN_WAITS else self._recovery).on_time(timer)
            case Timer.REPLY:
                if overdue := self._queue.pop_overdue():
                    (self._on_overdue if overdue.message is None else self._on_answered)(overdue)
            case Timer.FINISH | Timer.RESTART:
                self._logout.on_time()
            case Timer.INVITATION:
                self.invitations.on_complete()
            case Timer.KEEP_ALIVE:
                self.context.set_timer(Timer.KEEP_ALIVE, self.context.settings.timings.keep_alive)
                self._queue.send(c.ShowBoard() if self.context.session.state in IN_MATCH else self._keep_alive())

    def _keep_alive(self) -> Command:
        """Return a harmless command that the server answers, so that silence means a dead connection."""
        if not self.context.lacks(Feature.TIME):
            return c.Time()
        return c.ToggleCommand() if self.context.lacks(Feature.RAWWHO) else c.Rawwho(self.context.settings.name)

    def _on_overdue(self, overdue: CommandOutcome) -> None:
        command = overdue.queued.command
        self.context.counters.timeouts += 1
        self.context.record("no_answer", command=command.kind())
        for part in (self._recovery, self.login, self._lobby, self._logout):
            part.on_overdue(overdue)
        self._follow_up(overdue)
