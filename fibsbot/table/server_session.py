"""A person's session on a server, over any number of connections: events in, actions out, as the bot's agent.

Login, the tracking of the match, its records and the search for a match that is on are the agent's own parts. What
differs is who decides: nothing is sent that the person has not asked for, but for what the protocol needs.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.session import IN_MATCH, State
from fibs_protocol.words import YOU, Toggle
from fibsbot.bot import events_and_actions as e
from fibsbot.bot.board_comparison import is_older_board
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, chat_line
from fibsbot.bot.context import AgentContext, AgentMemory, Timer, registered_handlers
from fibsbot.bot.current_match import Matches, MatchProgress
from fibsbot.bot.login import REPLACED, LoginHistory, LoginSequence, OtherLogins
from fibsbot.bot.match_search import MatchSearch
from fibsbot.bot.match_tracker import apply_message, is_late_start
from fibsbot.bot.players import Players
from fibsbot.bot.settings import AgentSettings, Timings
from fibsbot.bot.timeouts import Awaited, Timeouts
from fibsbot.bot.tracked_match import PlayerSide
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import play_from_fibs
from fibsbot.policy import Lengths, Policy
from fibsbot.table.model import Preference
from fibsbot.table.own_match import OwnMatch
from fibsbot.table.remote_match import FollowedMatch, RemoteMatch
from fibsbot.table.server_lobby import ServerLobby

TOGGLES: Final[Mapping[Toggle, bool]] = {
    Toggle.AUTOBOARD: True,
    Toggle.MOREBOARDS: True,
    Toggle.NOTIFY: True,
    Toggle.AUTOMOVE: False,
    Toggle.GREEDY: False,
    Toggle.BELL: False,
    Toggle.MOVES: False,
    Toggle.DOUBLE: True,
}
"""What the table needs to show a match. They are not saved, so that other clients of the person find their own."""
CLIENT: Final = "fibs_table"
"""The program's name at the login: without `bot`, by which bots know each other and refuse to play."""
LOGIN_WAITS: Final = frozenset({Awaited.PROMPT, Awaited.TOGGLES, Awaited.LOGIN_DONE})
MAX_GIVEN: Final = 20
"""Commands of the person that wait to be sent at most; faces wait for none."""
BOARD_WAITS: Final = (2.0, 8.0, 30.0)
"""Seconds after which the board is asked for while nothing shows what happens next; after the last it is not."""
_ANY_POLICY: Final = Policy(lengths=Lengths(((1, 9998),), unlimited=True))
_CHAT: Final = (c.Tell, c.Kibitz, c.Whisper, c.Shout, c.Say)


class PersonTimer(enum.Enum):
    """What may become due besides the agent's timers."""

    BOARD = "ask for the board, because nothing shows what happens next"


@frozen
class PersonSettings(AgentSettings):
    """The settings of a person, who decides everything else at the table."""

    def plays_by(self, words: str) -> bool:  # noqa: ARG002 - the agent's interface
        """Return True: a person plays by any laws."""
        return True

    @property
    def knows_laws(self) -> bool:
        """Whether matches by other laws are shown: always."""
        return True

    @property
    def knows_games(self) -> bool:
        """Whether other games than backgammon are shown: always."""
        return True


def person_settings(name: str, password: str, timings: Timings | None = None) -> PersonSettings:
    """Return the settings of a person with an account."""
    waits = timings or Timings(pause=0.0)
    return PersonSettings(name, password, client=CLIENT, policy=_ANY_POLICY, timings=waits)


@frozen
class InputGiven(e.Event):
    """The person has given commands, which wait in the session."""


class _Connection:
    """The parts that last as long as one connection."""

    def __init__(self, context: AgentContext, lobby: ServerLobby, logins: LoginHistory, sent: deque[float]) -> None:
        self.context = context
        self.queue = queue = CommandQueue(context, sent)
        self.timeouts = timeouts = Timeouts(context)
        self.login = LoginSequence(context, queue, timeouts, OtherLogins(context, logins), wanted=TOGGLES)
        self.players = Players(context, queue)
        self.matches = Matches(context, queue, lobby, MatchProgress())
        self.search = MatchSearch(context, queue, timeouts, self.matches)
        lobby.begin_connection(self.players)
        self.handlers = registered_handlers((self.login, lobby, self.matches, self.players, self.search))
        self.greeted = False
        """Whether what follows the login was done."""


class ServerSession:
    """A function from events to actions, with the person's lobby and match."""

    def __init__(self, settings: PersonSettings, *, ready: bool = False) -> None:
        """Log in with the name and the password of `settings`; `ready`: let others invite the person from the start."""
        self.lobby = ServerLobby(settings.name)
        self.match: RemoteMatch | None = None
        """The last match that was played or watched; None before the first."""
        self.preferences: set[Preference] = set()
        self.status = "connecting"
        """What the connection does, in words."""
        self.closed_by_server = False
        """Whether the server has closed the last connection after the login, without having announced a restart."""
        self.parting = ""
        """What the server has said before it closed the connection."""
        self._ready = ready
        self._given: deque[Command] = deque()
        self._asked_boards = 0
        """Boards asked for since something has changed."""
        self._logins = LoginHistory()
        self._sent: deque[float] = deque()
        self._connection = _Connection(AgentContext.of(settings, AgentMemory()), self.lobby, self._logins, self._sent)

    @property
    def state(self) -> State:
        """The state of the connection."""
        return self._connection.context.session.state

    @property
    def logged_in(self) -> bool:
        """Whether the person can do something: the login is done."""
        return self._connection.greeted

    @property
    def playing(self) -> bool:
        """Whether a match of the person's own is on."""
        return self._connection.matches.current is not None

    # -- the person -----------------------------------------------------------------------------------------------

    def give(self, command: Command) -> None:
        """Have a command sent with the next event; faces follow it with `InputGiven`."""
        if len(self._given) < MAX_GIVEN:
            self._given.append(command)

    # -- events ---------------------------------------------------------------------------------------------------

    def handle(self, event: e.Event) -> list[e.Action]:
        """Return the actions that an event leads to, in the order in which they are to be done."""
        self._connection.context.now = event.at
        match event:
            case e.MessageReceived():
                self._on_message(event.message)
            case e.Connected():
                self.status, self.parting = "logging in", ""
                self._connection.context.counters.connections += 1
                self._connection.login.start()
            case e.ConnectionLost():
                self._on_lost(event)
            case e.QuitRequested():
                self._quit()
            case e.Woken():
                self._connection.context.on_woken()
        connection = self._connection
        for timer in connection.context.pop_due_timers():
            self._on_time(timer)
        if connection.login.done and self.state is not State.CLOSED and not connection.greeted:
            self._greet()
        while self._given:
            self._send(self._given.popleft())
        connection.queue.flush()
        return connection.context.pop_actions()

    def _greet(self) -> None:
        """Do what follows the login."""
        connection = self._connection
        connection.greeted = True
        self.status = "logged in"
        if connection.context.counters.connections > 1:
            self.lobby.note("You are connected again.")
        connection.players.request_list(fresh=False)
        opponent = self.lobby.resume_with
        if opponent and self.match is not None:
            self.match.break_off(f"The server has saved the match; it goes on as soon as {opponent} is here and joins.")
        if (self._ready or opponent) and self.lobby.ready is False:
            self.give(c.ToggleCommand(Toggle.READY))

    def _quit(self) -> None:
        context = self._connection.context
        if context.session.state not in {State.CONNECTING, State.AUTHENTICATING, State.CLOSED}:
            self._connection.queue.send_now(c.Bye())
        context.disconnect("the table is closed", e.End.FINISHED)

    def _on_lost(self, event: e.ConnectionLost) -> None:
        """Prepare for the next connection; the server saves the match."""
        context, before = self._connection.context, self._connection
        context.record("connection_lost", reason=event.reason, state=context.session.state.value)
        before.login.others.on_lost(by_server=event.by_server)
        self.closed_by_server = event.by_server and before.greeted and not context.going_down
        current = before.matches.current
        before.matches.break_off("connection lost")
        if current is not None:
            self.lobby.resume_with = current.opponent
        if self.match is not None:
            self.match.break_off("The connection is lost; the server saves the match.")
        if before.login.others.replaced:
            context.disconnect(REPLACED, e.End.REPLACED)
        self._given.clear()
        self.status = f"not connected: {event.reason}"
        if before.greeted:
            self.lobby.note(f"The connection is lost: {event.reason}.")
        self._connection = _Connection(context.renewed(), self.lobby, self._logins, self._sent)

    # -- messages -------------------------------------------------------------------------------------------------

    def _on_message(self, message: Message) -> None:
        connection = self._connection
        context, queue = connection.context, connection.queue
        before, playing = context.session.state, connection.matches.current
        self._follow(message)
        outcome = queue.match_reply(message)
        for handler in connection.handlers.get(type(message), ()):
            handler(message)
        connection.timeouts.stop(Awaited.ANY_LINE)
        self._show(message)
        if outcome:
            connection.login.on_answered(outcome)
            self._on_board_answered(outcome)
        if isinstance(message, Refusal):
            self._on_refusal(message, outcome)
        self._react(message)
        if playing is not None and connection.matches.current is None:
            self._on_match_left(message)
        if context.session.state is not State.LOBBY:
            connection.timeouts.stop(Awaited.MATCH)
        if before is not context.session.state or isinstance(message, m.Rolls | m.Moves):
            self._asked_boards = 0
        self._watch_progress()
        self._resume()

    def _react(self, message: Message) -> None:
        """Ask for a board that does not come by itself; note what ends, or is about to."""
        match message:
            case m.YouWatch():
                self._ask_board()
            case m.YouStopWatching() | m.WatchedGone() if self.match is not None and self.match.watched:
                self.match.break_off(write(message).removeprefix("** "))
            case m.ResignRejected() | m.RollRejected() if self.state in IN_MATCH:
                self._ask_board()
            case m.RestartNotice() | m.Shutdown():
                self._connection.context.going_down = True
            case m.ConnectionTimedOut():
                self.parting = write(message)

    def _follow(self, message: Message) -> None:
        """Follow the connection and the match, as the agent does (fibsbot/bot/agent.py)."""
        connection = self._connection
        context, session = connection.context, connection.context.session
        context.counters.messages += 1
        stray = isinstance(message, m.GameStarts) and is_late_start(context.tracked, message)
        if isinstance(message, m.Board):
            in_lobby = message.state.player == YOU and session.state is State.LOBBY
            stray = in_lobby and connection.login.done and not connection.search.board_requested
            if stray:
                connection.search.start()
        was_seated = session.state is State.SEATED
        if not stray:
            session.server_says(message)
        if stray or was_seated or session.state is State.SEATED:
            return
        context.tracked = apply_message(context.tracked, message)
        last_play = context.tracked.last_play
        if isinstance(message, m.Board) and last_play and is_older_board(context.tracked, last_play, message.state):
            session.state = State.MY_ROLL if context.tracked.turn is PlayerSide.PLAYER else State.THEIR_TURN
        for difference in context.tracked.differences:
            context.record("difference", what=difference.what, ours=difference.ours, theirs=difference.theirs)

    def _show(self, message: Message) -> None:
        """Show the match that is played or watched, or its end."""
        tracked, state = self._connection.context.tracked, self.state
        if state not in IN_MATCH and state is not State.WATCHING and self.match is None:
            return
        if tracked.opponent is not None and (self.match is None or self.match.number != tracked.match):
            user = self.lobby.user
            own = tracked.player == YOU
            self.match = OwnMatch(user, tracked, self.give, lambda: self.state) if own else FollowedMatch(user, tracked)
            self.match.preferences = self.preferences
        if self.match is not None and self.match.number == tracked.match:
            self.match.follow(message, tracked)

    def _on_match_left(self, message: Message) -> None:
        """Say why a match is not played on."""
        if self.match is not None and not self.match.watched and not self.match.match_over:
            self.match.break_off(write(message).removeprefix("** "))

    def _on_refusal(self, message: Refusal, outcome: CommandOutcome | None) -> None:
        """Show a refusal of what the person asked for; in a match the board shows where it stands."""
        self._connection.context.counters.refusals += 1
        command = outcome.queued.command.kind() if outcome else None
        self._connection.context.record("refused", text=write(message), command=command)
        if outcome is None:
            self.lobby.on_refusal(message)
            if self.state in IN_MATCH:
                self._ask_board()

    # -- boards that do not come ----------------------------------------------------------------------------------

    def _ask_board(self) -> None:
        self._connection.queue.send(c.ShowBoard())

    def _on_board_answered(self, outcome: CommandOutcome) -> None:
        """Go by a board that was asked for: what is open on it is still to be decided."""
        context = self._connection.context
        if isinstance(outcome.queued.command, c.ShowBoard) and outcome.message is not None:
            if self.state is State.MY_ROLL and context.tracked.dice is None and not context.tracked.roll_prompted:
                context.tracked = fast_evolve(context.tracked, roll_prompted=True)  # pitfall 11: it does not roll
            if self.match is not None and self.match.number == context.tracked.match:
                self.match.follow(outcome.message, context.tracked)
                if isinstance(self.match, OwnMatch):
                    self.match.reopen()

    def _watch_progress(self) -> None:
        """Ask for the board after some time while nothing shows who has to do what."""
        connection, match = self._connection, self.match
        timers = connection.context.timers
        state = self.state
        unclear = state in {State.UNCLEAR, State.MY_ROLL, State.MY_MOVE, State.THEY_DOUBLED, State.THEY_RESIGNED}
        stuck = unclear and match is not None and match.waiting and not connection.queue.has_command(c.ShowBoard())
        if not stuck or self._asked_boards >= len(BOARD_WAITS):
            timers.pop(PersonTimer.BOARD, None)
        elif PersonTimer.BOARD not in timers:
            connection.context.set_timer(PersonTimer.BOARD, BOARD_WAITS[self._asked_boards])

    # -- resuming -------------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Resume the match that a lost connection has broken off, as soon as its opponent can be invited."""
        name, connection = self.lobby.resume_with, self._connection
        if name is None or not connection.greeted or self.state is not State.LOBBY or connection.search.is_on:
            return
        invitation = self.lobby.invitations.get(name)
        if invitation is not None and invitation.length is None:
            self.lobby.resume_with = None
            self.give(c.Join(name))
        elif connection.players.is_free(name) and self.lobby.invited != name:
            self.lobby.invited = name
            self.lobby.note(f"You are back; {name} is invited to go on with the match.")
            self.give(c.Invite(name))

    # -- sending and time -----------------------------------------------------------------------------------------

    def _send(self, command: Command) -> None:
        """Send a command of the person, if the state of the connection allows it."""
        context = self._connection.context
        if isinstance(command, _CHAT):
            command = fast_evolve(command, text=chat_line(command.text))
        try:
            context.session.client_says(command)
        except LocalProtocolError:
            self.lobby.note("That is not possible now.")
            return
        tracked = context.tracked
        if isinstance(command, c.Move) and not tracked.shown_whole and tracked.direction is not None:
            context.tracked = fast_evolve(tracked, own_play=play_from_fibs(command.moves, tracked.direction))
        context.actions.append(e.Send(command))
        context.counters.commands += 1
        self._asked_boards = 0
        self._watch_progress()

    def _on_time(self, timer: enum.Enum) -> None:
        connection = self._connection
        match timer:
            case PersonTimer.BOARD:
                self._asked_boards += 1
                self._ask_board()
            case Awaited.MATCH:
                connection.search.go_on(last=connection.timeouts.on_time(Awaited.MATCH))
            case Awaited():
                if timer in LOGIN_WAITS:
                    connection.login.on_time(timer)
            case Timer.REPLY:
                if overdue := connection.queue.pop_overdue():
                    self._on_overdue(overdue)
            case Timer.WHO | Timer.LIST:
                connection.players.request_list(fresh=False)

    def _on_overdue(self, overdue: CommandOutcome) -> None:
        """Go on without an answer; where several are missing there is a new connection."""
        connection = self._connection
        if overdue.message is not None:
            connection.login.on_answered(overdue)
            return
        connection.login.on_overdue(overdue)
        if connection.timeouts.note_missed(Awaited.ANY_LINE):
            connection.context.disconnect("the server is silent")
        self._watch_progress()
