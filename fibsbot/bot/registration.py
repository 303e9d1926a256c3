"""Makes an account by a guest login (specification: "Guest Log In"). Like the agent a function without I/O or clock."""

from __future__ import annotations

from typing import Final

from fibsbot.bot.actions import Action, Disconnect, End, Send, SendLine, SendSecret, WakeAt
from fibsbot.bot.events import Connected, ConnectionLost, Event, MessageReceived, Woken
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message

GUEST: Final = "guest"
MOST_WAITS: Final = 4
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
                self._until = event.at + MOST_WAITS * self._wait
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
