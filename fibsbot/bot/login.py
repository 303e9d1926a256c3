"""From the connection to a lobby in which everything is set as we want it (docs/protocol.md, pitfalls 1, 3, 6, 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fibsbot.bot.actions import End
from fibsbot.bot.desk import Desk
from fibsbot.bot.features import Feature, feature_of
from fibsbot.bot.outbox import Answered, Outbox
from fibsbot.bot.waits import QUESTIONS, Awaited, Waits, awaited_of
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message
from protocol.session import LOGGED_IN, State
from protocol.words import Setting, Toggle

WANTED: Final[Mapping[Toggle, bool]] = {
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
MOST_TRIES: Final = 3
"""A switch is thrown so often; from then on only now and then."""


class Login:
    """Logs in and settles the switches."""

    def __init__(self, desk: Desk, outbox: Outbox, waits: Waits) -> None:
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
                self._settle({toggle: bool(getattr(message, toggle.value)) for toggle in WANTED})
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
        for toggle, wanted in WANTED.items():
            tries, last = self._tries.get(toggle, (0, 0.0))
            again = tries < MOST_TRIES or self._desk.now >= last + self._desk.settings.timings.patience
            if values.get(toggle, wanted) is not wanted and again:
                self._tries[toggle] = tries + 1, self._desk.now
                self._outbox.say(c.ToggleCommand(toggle))

    def on_answered(self, answered: Answered) -> None:
        """Take note that the server goes on with the login."""
        command, feature = answered.errand.command, feature_of(answered.errand.command)
        if feature is not None and not isinstance(command, c.Leave):
            (self._desk.note_lack if answered.lacking else self._desk.note_feature)(feature)
            self._unanswered.discard(feature)
        if self._desk.session.state in LOGGED_IN:
            self._answers += 1
            if self._waits.waits_for(Awaited.SETTLED):
                self._waits.expect(Awaited.SETTLED, self._answers)

    def on_overdue(self, answered: Answered) -> None:
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
                self._outbox.drop(*QUESTIONS)
