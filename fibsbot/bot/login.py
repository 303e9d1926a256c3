"""Login, registration and logout (docs/reference/protocol.md, pitfalls 1, 3, 6, 7; specification: "Guest Log In")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import LOGGED_IN, State
from fibs_protocol.words import GUEST, Setting, Toggle
from fibsbot.bot import events_and_actions as e
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext, Feature, Timer, feature_of, on
from fibsbot.bot.current_match import Matches
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.timeouts import REPEATED_COMMANDS, Awaited, Timeouts, awaited_of

WANTED_TOGGLES: Final[Mapping[Toggle, bool]] = {
    Toggle.READY: True,
    Toggle.AUTOBOARD: True,
    Toggle.MOREBOARDS: True,
    Toggle.NOTIFY: True,
    Toggle.AUTOMOVE: False,
    Toggle.GREEDY: False,
    Toggle.AUTODOUBLE: False,
    Toggle.BELL: False,
    Toggle.MOVES: False,
    Toggle.CRAWFORD: True,
    Toggle.DOUBLE: True,
}
"""The values that the toggles must have (pitfall 7).

`ready` comes first, so that nobody is refused who invites us while we log in; the invitation waits until all is done.
"""

BOARDSTYLE: Final = "3"
"""The style with `board:` lines; line `2` does not contain it."""
MAX_TRIES: Final = 3
"""Attempts to set a toggle at full pace; from then on only now and then."""


DOUBT_FACTOR: Final = 10
"""Times `patience` in which a server may take once for another login what was our own."""
REPLACED: Final = "another login of the same name has taken our place"


@define
class LoginHistory:
    """What is known of our logins before this one."""

    closed_by_server: bool = False
    """Whether the server closed the last connection on which we were logged in."""
    time: int | None = None
    """When we last logged in, by the server's clock, if it has said so."""
    doubted: float | None = None
    """When the server last took for another login what was our own, or a stranger's of the same second."""


@define
class OtherLogins:
    """Notices that somebody else logs in under our name (pitfall 4)."""

    _context: AgentContext
    _history: LoginHistory
    replaced: bool = False
    """Whether the server has said so on this connection."""
    _replaced_unless: int | None = None
    """The server has closed our last connection, and says that we are logged in: by somebody else, unless the last
    login was at this time, our own. Then the server has not noticed the end of that connection."""

    def on_already_logged_in(self) -> None:
        """Notice an unannounced login: the server closed our connection, and now says that we are logged in already."""
        if not self._history.closed_by_server:
            return
        if self._history.time is None:
            self._context.disconnect(REPLACED, e.End.REPLACED)
        self._replaced_unless = self._history.time

    def on_welcome(self, message: m.Welcome) -> None:
        """See whether the last login was our own, where there is doubt."""
        history, now = self._history, self._context.now
        own, self._replaced_unless, history.time = self._replaced_unless, None, None
        if own is None:
            return
        again = DOUBT_FACTOR * self._context.settings.timings.patience
        if message.last_login != own or (history.doubted is not None and now < history.doubted + again):
            self._context.disconnect(REPLACED, e.End.REPLACED)
        history.doubted = now

    def on_own_line(self, info: m.WhoInfo) -> None:
        """Note when we have logged in."""
        if self._history.time is None:
            self._history.time = info.login

    def on_lost(self, *, by_server: bool) -> None:
        """Note how the connection ended, if we were logged in; the server may know of a login that we did not see."""
        if self._context.session.state in LOGGED_IN:
            self._history.closed_by_server = by_server
        elif self._context.session.state is State.AUTHENTICATING:
            self._history.closed_by_server = False


@define
class LoginSequence:
    """Logs in and sets the toggles."""

    _context: AgentContext
    _queue: CommandQueue
    _timeouts: Timeouts
    others: OtherLogins
    _attempts: dict[Toggle, tuple[int, float]] = field(factory=dict)
    """Number of attempts to set each toggle, and the time of the last."""
    _toggles_known: bool = False
    _answers: int = 0
    """Questions answered since the login."""
    _unanswered: dict[Feature, None] = field(factory=dict)
    """Features that were tried on this connection without an answer in time."""
    _given_up: bool = False
    """Whether we go on without what the server has not answered."""
    _seen_kinds: set[type[Message]] = field(factory=set)
    _wanted: Mapping[Toggle, bool] = field(default=WANTED_TOGGLES)
    """The values that the toggles must have."""

    def start(self) -> None:
        """Wait for the prompt on the connection that is made."""
        self._timeouts.start(Awaited.PROMPT)

    @property
    def done(self) -> bool:
        """Whether the toggles are set as wanted and our saved matches are known, as far as we know."""
        if not self._toggles_known or self._queue.idle or self._given_up:
            return self._toggles_known
        throwing = self._queue.has_kind(c.ToggleCommand, c.SetCommand)
        return not throwing and not self._queue.has_command(c.Show(c.ShowTopic.SAVED))

    @on(m.Welcome)
    def _on_welcome(self, message: m.Welcome) -> None:
        self.others.on_welcome(message)
        self._on_let_in()
        self._timeouts.start(Awaited.TOGGLES)
        if self._is_new(message):
            self._context.record("logged_in", name=message.name)

    @on(m.OwnInfo)
    def _on_own_info(self, message: m.OwnInfo) -> None:
        self._on_let_in()
        self._context.note_rating(message.rating, message.experience)
        self._ask_for_saved_matches()
        self._set_toggles({toggle: bool(getattr(message, toggle.value)) for toggle in self._wanted})

    @on(m.ToggleSet, m.ToggleValue)
    def _on_toggle(self, message: m.ToggleSet | m.ToggleValue) -> None:
        self._toggles_known = self._toggles_known or isinstance(message, m.ToggleValue)
        self._set_toggles({message.toggle: message.value})

    @on(m.WhoInfo)
    def _on_who(self, message: m.WhoInfo) -> None:
        """Set `ready` again: another login, or a line that was no answer, has changed it."""
        if message.name != self._context.settings.name:
            return
        self.others.on_own_line(message)
        if not message.ready and self._toggles_known:
            self._set_toggles({Toggle.READY: False})

    @on(m.LoggedIn, m.LoggedOut)
    def _on_other_login(self, message: m.LoggedIn | m.LoggedOut) -> None:
        self.others.replaced = self.others.replaced or (message.name == self._context.settings.name and self.done)

    @on(m.AlreadyLoggedIn)
    def _on_already_logged_in(self, message: m.AlreadyLoggedIn) -> None:
        self.others.on_already_logged_in()
        if self._is_new(message):
            self._context.record("already_logged_in")

    @on(m.Unknown, m.RefusedBoard)
    def _on_unknown(self, _: m.Unknown | m.RefusedBoard) -> None:
        """Count a line that the grammar should know; those before the first answer are for everybody, such as news."""
        self._context.counters.unknown += self._answers > 0 or self._given_up

    def _on_let_in(self) -> None:
        self._timeouts.stop(Awaited.PROMPT)
        if not self._toggles_known:
            self._timeouts.start(Awaited.LOGIN_DONE, self._answers)

    def _is_new(self, message: Message) -> bool:
        """Whether this is the first of its kind on the connection: what happens once is remembered once."""
        if type(message) in self._seen_kinds:
            return False
        self._seen_kinds.add(type(message))
        return True

    @on(m.LoginPrompt)
    def _on_prompt(self, _: m.LoginPrompt) -> None:
        settings = self._context.settings
        if self._context.session.state is State.REFUSED:
            self._context.disconnect("the server refuses this name and password", e.End.REFUSED)
        elif self._context.session.state is State.LOGIN:
            self._queue.send(c.Login(settings.client, settings.name, settings.password))

    def _ask_for_saved_matches(self) -> None:
        """Request the list before any other command: no line ends it, but the answer to the next command does."""
        self._queue.send(c.Show(c.ShowTopic.SAVED))

    def _set_toggles(self, values: Mapping[Toggle, bool]) -> None:
        first, self._toggles_known = not self._toggles_known, True
        self._timeouts.stop(Awaited.TOGGLES)
        if first:  # before `ready`: who invites to another game sooner is refused
            settings = self._context.settings
            self._ask_for_more(laws=settings.knows_laws, games=settings.knows_games)
        for number, (toggle, wanted) in enumerate(self._wanted.items()):
            attempts, last = self._attempts.get(toggle, (0, 0.0))
            again = attempts < MAX_TRIES or self._context.now >= last + self._context.settings.timings.patience
            if values.get(toggle, wanted) is not wanted and again:
                self._attempts[toggle] = attempts + 1, self._context.now
                self._queue.send(c.ToggleCommand(toggle))
            if first and not number:
                self._queue.send(c.SetCommand(Setting.BOARDSTYLE, BOARDSTYLE))

    def _ask_for_more(self, *, laws: bool, games: bool) -> None:
        """Tell the server that we know other laws than those of FIBS, or other games."""
        if laws:
            self._queue.send(c.ShowLaws(known=True))
        if games:
            self._queue.send(c.SetCommand(Setting.GAMES, "on"))

    def on_settings_changed(self, before: AgentSettings) -> None:
        """Ask for other laws and games if they are played only now."""
        now = self._context.settings
        if self._toggles_known and self._context.session.state in LOGGED_IN:
            self._ask_for_more(
                laws=now.knows_laws and not before.knows_laws, games=now.knows_games and not before.knows_games
            )

    def on_answered(self, outcome: CommandOutcome) -> None:
        """Note an answer to a command of the login."""
        command, feature = outcome.queued.command, feature_of(outcome.queued.command)
        if feature is not None and not isinstance(command, c.Leave):
            (self._context.note_lack if outcome.unsupported else self._context.note_feature)(feature)
            self._unanswered.pop(feature, None)
        if self._context.session.state in LOGGED_IN:
            self._answers += 1
            if self._timeouts.is_waiting_for(Awaited.LOGIN_DONE):
                self._timeouts.start(Awaited.LOGIN_DONE, self._answers)

    def on_overdue(self, outcome: CommandOutcome) -> None:
        """Send a command again. A `toggle` might undo itself, so the list of toggles is requested instead."""
        command, feature = outcome.queued.command, feature_of(outcome.queued.command)
        if awaited_of(command) is not Awaited.QUESTION or (feature and self._context.lacks(feature)):
            return
        if feature is not None:
            self._unanswered[feature] = None
        if self._given_up or self._timeouts.note_missed(Awaited.QUESTION, feature or command.kind()):
            if feature is not None:
                self._context.note_lack(feature)
        else:
            self._queue.send(c.ToggleCommand() if isinstance(command, c.ToggleCommand) else command)
            if isinstance(command, c.Show) and not self._context.lacks(Feature.TIME):
                self._queue.send(c.Time())  # its answer ends the list

    def on_time(self, awaited: Awaited) -> None:
        """Deal with a server that does not go on."""
        last = self._timeouts.on_time(awaited)
        if awaited is Awaited.PROMPT:
            self._context.disconnect("no login prompt or no answer to the login")
        elif awaited is Awaited.TOGGLES and not last:
            self._ask_for_saved_matches()
            self._queue.send(c.SetCommand(Setting.BOARDSTYLE, BOARDSTYLE))
            self._queue.send(c.ToggleCommand())
        elif awaited is Awaited.LOGIN_DONE and not self.done:
            if self._queue.in_flight is None and not self._queue.idle:
                self._timeouts.start(awaited, self._answers)  # our own pace holds it up
            else:
                self._toggles_known = self._given_up = True
                for feature in self._unanswered:
                    self._context.note_lack(feature)
                self._queue.drop(*REPEATED_COMMANDS)


MAX_WAITS: Final = 4
"""The whole registration takes this many waits at most, whatever the server sends."""


class Registration:
    """Registers one account; `outcome` is how that ended."""

    def __init__(self, name: str, password: str, wait: float) -> None:
        """Register `name`; give up when the server says nothing for `wait` seconds, or does not get on."""
        self._name = name
        self._password = password
        self._wait = wait
        self._asked = False
        self._until = 0.0
        self._outcomes: dict[type[Message], str] = {
            m.Registered: "",
            m.NameTaken: f"the name {name!r} is taken",
            m.NameInvalid: f"the server refuses the name {name!r}",
            m.PasswordTooShort: "the server wants a longer password",
            m.NoPasswordGiven: "the server wants a password",
            m.PasswordsDifferPrompt: "the server did not get the same password twice",
        }
        self.outcome: str | None = None
        """None while it is not over, an empty string after success, else a sentence that says what went wrong."""
        self.exists = False
        """Whether the name was taken: perhaps by ourselves, some time ago."""

    def handle(self, event: e.Event) -> list[e.Action]:
        """Return the actions that an event leads to."""
        match event:
            case e.Connected():
                self._until = event.at + MAX_WAITS * self._wait
                return [e.WakeAt(event.at + self._wait)]
            case e.MessageReceived():
                actions = self._answer(event.message)
                return [*actions, e.WakeAt(min(event.at + self._wait, self._until))]
            case e.Woken():
                return self._end("the server does not go on with the registration")
            case e.ConnectionLost():
                return self._end("the connection was lost during the registration")
            case e.FinishRequested() | e.QuitRequested():
                return self._end("the end was requested during the registration")
        return []

    def _answer(self, message: Message) -> list[e.Action]:
        match message:
            case m.LoginPrompt() if not self._asked:
                self._asked = True
                return [e.SendLine(GUEST)]
            case m.LoginPrompt() | m.PasswordPrompt():
                return self._end("the server takes no guests")
            case m.GuestWelcome():
                return [e.Send(c.Name(self._name))]
            case m.NewPasswordPrompt() | m.RetypePasswordPrompt():
                return [e.SendSecret(self._password)]
        outcome = self._outcomes.get(type(message))
        if outcome is None:
            return []
        self.exists = isinstance(message, m.NameTaken)
        return [e.Send(c.Bye()), *self._end(outcome)]

    def _end(self, outcome: str) -> list[e.Action]:
        if self.outcome is not None:
            return []
        self.outcome = outcome
        return [e.Disconnect(outcome or "registered", e.End.FINISHED)]


DEFAULT_RESTART_DELAY: Final = 60.0
"""Seconds until a server restarts that does not say when."""
DELAY_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
RESTART_MARGIN: Final = 3
"""We log out of a match this many watchdogs before the server restarts."""


@define
class Logout:
    """Logs out, for the operator or before the server restarts."""

    _context: AgentContext
    _queue: CommandQueue
    _matches: Matches

    # -- the operator -------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Log out once the match is over; one that does not end is left to the server to save it."""
        self._context.finishing = True
        if Timer.FINISH not in self._context.timers:
            self._context.set_timer(Timer.FINISH, self._context.settings.timings.finish)

    def quit(self) -> None:
        """Log out now, whatever is on; without a connection there is nothing to log out from."""
        self._context.finishing = True
        if self._context.session.state in LOGGED_IN:
            self._queue.send_now(c.Bye())
        self._context.disconnect("told to quit", e.End.FINISHED)

    # -- the server ---------------------------------------------------------------------------------------------

    @on(m.RestartNotice)
    def _on_restart_notice(self, message: m.RestartNotice) -> None:
        if not self._context.going_down:
            self._context.going_down = True
            margin = RESTART_MARGIN * self._context.settings.timings.watchdog
            self._context.set_timer(Timer.RESTART, max(_restart_delay(message.delay) - margin, 0.0))

    @on(m.Shutdown)
    def _on_shutdown(self, _: m.Shutdown) -> None:
        self._context.going_down = True
        self._disconnect("the server shuts down")

    @on(m.Goodbye)
    def _on_goodbye(self, _: m.Goodbye) -> None:
        self._disconnect("logged out before the server restarts" if self._context.going_down else "logged out")

    @on(m.ConnectionTimedOut)
    def _on_timed_out(self, _: m.ConnectionTimedOut) -> None:
        self._disconnect("put out as idle")

    def on_overdue(self, outcome: CommandOutcome) -> None:
        """Disconnect although `bye` was not answered."""
        if isinstance(outcome.queued.command, c.Bye):
            self._disconnect("logged out without an answer")

    def _disconnect(self, reason: str) -> None:
        end = e.End.FINISHED if self._context.finishing else None
        self._context.disconnect(reason, end, restarting=self._context.going_down)

    # -- going --------------------------------------------------------------------------------------------------

    def on_time(self) -> None:
        """Log out in the middle of a match, which the server saves."""
        self._queue.send(c.Bye())

    def step(self) -> None:
        """Log out, as is requested, if there is no match."""
        if self._context.ended or self._matches.current is not None:
            return
        state = self._context.session.state
        if state in (State.LOBBY, State.WATCHING) and self._queue.empty:
            self._queue.send(c.Bye())
        elif state in (State.CONNECTING, State.LOGIN) and self._context.finishing:
            self._context.disconnect("finished while not logged in", e.End.FINISHED)


def _restart_delay(delay: str) -> float:
    """Parse the seconds until the server restarts from its notice: `60 seconds`, `5 minutes`."""
    found = re.match(r"(\d{1,6})\s*([smh])", delay, re.IGNORECASE)
    return float(found[1]) * DELAY_UNITS[found[2].lower()] if found else DEFAULT_RESTART_DELAY
