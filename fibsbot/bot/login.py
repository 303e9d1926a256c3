"""Login, registration and logout (docs/protocol.md, pitfalls 1, 3, 6, 7; specification: "Guest Log In")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import LOGGED_IN, State
from fibs_protocol.words import Setting, Toggle

from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext, Feature, feature_of
from fibsbot.bot.current_match import Matches
from fibsbot.bot.interface import (
    Action,
    Connected,
    ConnectionLost,
    Disconnect,
    End,
    Event,
    MessageReceived,
    Send,
    SendLine,
    SendSecret,
    WakeAt,
    Woken,
)
from fibsbot.bot.timeouts import REPEATED_COMMANDS, Awaited, Timeouts, awaited_of

WANTED_TOGGLES: Final[Mapping[Toggle, bool]] = {
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
    Toggle.READY: True,
}
"""How the switches have to stand (pitfall 7). `ready` comes last, when everything else is settled."""

BOARDSTYLE: Final = "3"
"""The style of the `board:` lines, which line `2` does not tell."""
MAX_TRIES: Final = 3
"""A switch is thrown so often; from then on only now and then."""


class LoginSequence:
    """Logs in and settles the switches."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue, waits: Timeouts) -> None:
        """Wait for a connection."""
        self._desk = desk
        self._outbox = outbox
        self._waits = waits
        self._tries: dict[Toggle, tuple[int, float]] = {}
        """How often each switch was thrown, and when last."""
        self._told = False
        self._answers = 0
        """Questions answered since the login."""
        self._unanswered: set[Feature] = set()
        """What was asked for on this connection and got no answer in time."""
        self._given_up = False
        """Whether we go on without what the server has not answered."""
        self._said: set[type[Message]] = set()

    def connected(self) -> None:
        """Begin with a new connection."""
        self._tries = {}
        self._told = False
        self._answers = 0
        self._unanswered.clear()
        self._given_up = False
        self._said.clear()
        self._waits.expect(Awaited.PROMPT)

    @property
    def settled(self) -> bool:
        """Whether the switches stand as wanted and our saved matches are known, as far as we know."""
        if not self._told or self._outbox.idle or self._given_up:
            return self._told
        throwing = self._outbox.has(c.ToggleCommand, c.SetCommand)
        return not throwing and not self._outbox.holds(c.Show(c.ShowWhat.SAVED))

    def on_message(self, message: Message) -> None:
        """Follow the login."""
        match message:
            case m.LoginPrompt():
                self._on_prompt()
            case m.Welcome():
                self._on_let_in()
                self._waits.expect(Awaited.SWITCHES)
                if self._is_new(message):
                    self._desk.record("logged_in", name=message.name)
            case m.OwnInfo():
                self._on_let_in()
                self._desk.rated(message.rating, message.experience)
                self._ask_for_saved_matches()
                self._settle({toggle: bool(getattr(message, toggle.value)) for toggle in WANTED_TOGGLES})
            case m.ToggleSet():
                self._settle({message.toggle: message.value})
            case m.ToggleValue():
                self._told = True
                self._settle({message.toggle: message.value})
            case m.WhoInfo(ready=False) if message.name == self._desk.settings.name and self._told:
                self._settle({Toggle.READY: False})  # somebody, or a line that was no answer, has thrown the switch
            case m.AlreadyLoggedIn() if self._is_new(message):
                self._desk.record("already_logged_in")

    @property
    def greeted(self) -> bool:
        """Whether the server has answered anything since the login: until then it says what it says to everybody."""
        return self._answers > 0 or self._given_up

    def _on_let_in(self) -> None:
        self._waits.met(Awaited.PROMPT)
        if not self._told:
            self._waits.expect(Awaited.SETTLED, self._answers)

    def _is_new(self, message: Message) -> bool:
        """Whether this is the first of its kind on the connection: what happens once is remembered once."""
        if type(message) in self._said:
            return False
        self._said.add(type(message))
        return True

    def _on_prompt(self) -> None:
        settings = self._desk.settings
        if self._desk.session.state is State.REFUSED:
            self._desk.disconnect("the server refuses this name and password", End.REFUSED)
        elif self._desk.session.state is State.LOGIN:
            self._outbox.say(c.Login(settings.client, settings.name, settings.password))

    def _ask_for_saved_matches(self) -> None:
        """Ask before anything else is said: no line ends their list, but the answer to the next command does."""
        self._outbox.say(c.Show(c.ShowWhat.SAVED))

    def _settle(self, values: Mapping[Toggle, bool]) -> None:
        if not self._told:
            self._outbox.say(c.SetCommand(Setting.BOARDSTYLE, BOARDSTYLE))
        self._told = True
        self._waits.met(Awaited.SWITCHES)
        for toggle, wanted in WANTED_TOGGLES.items():
            tries, last = self._tries.get(toggle, (0, 0.0))
            again = tries < MAX_TRIES or self._desk.now >= last + self._desk.settings.timings.patience
            if values.get(toggle, wanted) is not wanted and again:
                self._tries[toggle] = tries + 1, self._desk.now
                self._outbox.say(c.ToggleCommand(toggle))

    def on_answered(self, answered: CommandOutcome) -> None:
        """Take note that the server goes on with the login."""
        command, feature = answered.errand.command, feature_of(answered.errand.command)
        if feature is not None and not isinstance(command, c.Leave):
            (self._desk.note_lack if answered.lacking else self._desk.note_feature)(feature)
            self._unanswered.discard(feature)
        if self._desk.session.state in LOGGED_IN:
            self._answers += 1
            if self._waits.waits_for(Awaited.SETTLED):
                self._waits.expect(Awaited.SETTLED, self._answers)

    def on_overdue(self, answered: CommandOutcome) -> None:
        """Ask again. A `toggle` might undo itself: we find out how the switches stand."""
        command, feature = answered.errand.command, feature_of(answered.errand.command)
        if awaited_of(command) is not Awaited.QUESTION or (feature and self._desk.lacks(feature)):
            return
        if feature is not None:
            self._unanswered.add(feature)
        if self._given_up or self._waits.missed(Awaited.QUESTION, feature or command.kind()):
            if feature is not None:
                self._desk.note_lack(feature)
        else:
            self._outbox.say(c.ToggleCommand() if isinstance(command, c.ToggleCommand) else command)
            if isinstance(command, c.Show) and not self._desk.lacks(Feature.TIME):
                self._outbox.say(c.Time())  # its answer ends the list

    def on_time(self, awaited: Awaited) -> None:
        """Deal with a server that does not go on."""
        last = self._waits.on_time(awaited)
        if awaited is Awaited.PROMPT:
            self._desk.disconnect("no login prompt or no answer to the login")
        elif awaited is Awaited.SWITCHES and not last:
            self._ask_for_saved_matches()
            self._outbox.say(c.SetCommand(Setting.BOARDSTYLE, BOARDSTYLE))
            self._outbox.say(c.ToggleCommand())
        elif awaited is Awaited.SETTLED and not self.settled:
            if self._outbox.in_flight is None and not self._outbox.idle:
                self._waits.expect(awaited, self._answers)  # our own pace holds it up
            else:
                self._told = self._given_up = True
                for feature in self._unanswered:
                    self._desk.note_lack(feature)
                self._outbox.drop(*REPEATED_COMMANDS)


GUEST: Final = "guest"
MAX_WAITS: Final = 4
"""The whole registration takes so many waits at most, whatever the server says in the meantime."""


class Registration:
    """Registers one account. `outcome` tells how it ended."""

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

    def handle(self, event: Event) -> list[Action]:
        """Take an event, return what is to be done about it."""
        match event:
            case Connected():
                self._until = event.at + MAX_WAITS * self._wait
                return [WakeAt(event.at + self._wait)]
            case MessageReceived():
                actions = self._answer(event.message)
                return [*actions, WakeAt(min(event.at + self._wait, self._until))]
            case Woken():
                return self._end("the server does not go on with the registration")
            case ConnectionLost():
                return self._end("the connection was lost during the registration")
        return []

    def _answer(self, message: Message) -> list[Action]:
        match message:
            case m.LoginPrompt() if not self._asked:
                self._asked = True
                return [SendLine(GUEST)]
            case m.LoginPrompt() | m.PasswordPrompt():
                return self._end("the server takes no guests")
            case m.GuestWelcome():
                return [Send(c.Name(self._name))]
            case m.NewPasswordPrompt() | m.RetypePasswordPrompt():
                return [SendSecret(self._password)]
        outcome = self._outcomes.get(type(message))
        if outcome is None:
            return []
        self.exists = isinstance(message, m.NameTaken)
        return [Send(c.Bye()), *self._end(outcome)]

    def _end(self, outcome: str) -> list[Action]:
        if self.outcome is not None:
            return []
        self.outcome = outcome
        return [Disconnect(outcome or "registered", End.FINISHED)]


DEFAULT_RESTART_DELAY: Final = 60.0
"""Seconds until a server restarts that does not say when."""
DELAY_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
RESTART_MARGIN: Final = 3
"""A match is left to a server that restarts so many watchdogs before it does."""


class Logout:
    """Logs out."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue, matches: Matches) -> None:
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
                    margin = RESTART_MARGIN * self._desk.settings.timings.watchdog
                    self._desk.wake("restart", max(_restart_delay(message.delay) - margin, 0.0))
            case m.Shutdown():
                self._going_down = True
                self._disconnect("the server shuts down")
            case m.Goodbye():
                self._disconnect("logged out before the server restarts" if self._going_down else "logged out")
            case m.ConnectionTimedOut():
                self._disconnect("put out as idle")

    def on_overdue(self, answered: CommandOutcome) -> None:
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


def _restart_delay(delay: str) -> float:
    """Read how long it takes until the server goes, as its notice says it: `60 seconds`, `5 minutes`."""
    found = re.match(r"(\d{1,6})\s*([smh])", delay, re.IGNORECASE)
    return float(found[1]) * DELAY_UNITS[found[2].lower()] if found else DEFAULT_RESTART_DELAY
