"""Logging in and out, registration, the account and its settings (specification: "Logging In", "Settings Commands")."""

from __future__ import annotations

import datetime as dt

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message
from fibs_protocol.words import Setting, Toggle

# -- log in, registration, log out ------------------------------------------------------------------------------------


@frozen
class ProseLine(Message):
    """A line of the banner, the instructions for guests or the farewell text, recognised only by its context."""

    text: str


@frozen
class LoginPrompt(Message):
    """`login: `, without a newline. A second one means that the login failed."""


@frozen
class PasswordPrompt(Message):
    """`password: `, without a newline."""


@frozen
class CommandPrompt(Message):
    """`> `, without a newline: the prompt of a telnet user."""


@frozen
class NewPasswordPrompt(Message):
    """`Please give your password: `, without a newline (registration)."""


@frozen
class RetypePasswordPrompt(Message):
    """`Please retype your password: `, without a newline (registration)."""


@frozen
class PasswordsDifferPrompt(Message):
    """`** The two passwords were not identical. Please give them again. Password: `, without a newline."""


@frozen
class ServerTime(Message):
    """`Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )`: in the banner, and the answer to `time`."""

    local: str
    """The first half, in the user's time zone, as written."""
    utc: dt.datetime


@frozen
class AlreadyLoggedIn(Message):
    """`** Warning: You are already logged in.`"""


@frozen
class LastLogin(Message):
    """`** Last login: ...`: when and from where the user logged in before, in a form of the server's own."""

    text: str


@frozen
class LoginIncorrect(Message):
    """`Login incorrect`: some servers say it before they ask for the name again."""


@frozen
class GuestWelcome(Message):
    """`Welcome to FIBS. You just logged in as guest.`"""


@frozen
class NameChosen(Message):
    """`Your name will be X`"""

    name: str


@frozen
class NoPasswordHint(Message):
    """`Type in no password and hit Enter/Return if you want to change it now.`"""


@frozen
class PasswordTooShort(Message):
    """`Minimal password length is 4 characters.`"""


@frozen
class Registered(Message):
    """`You are registered.`"""


@frozen
class BeginnerHint(Message):
    """`Type 'help beginner' to get started.`"""


@frozen
class Goodbye(Message):
    """`Goodbye.`: the first line after `bye`."""


@frozen
class ConnectionTimedOut(Message):
    """`Connection timed out.`: the server closes an idle connection."""


@frozen
class RestartNotice(Message):
    """`*** ATTENTION ! FIBS will restart in 60 seconds` (with a BEL), or `... will shut down in ...`."""

    restart: bool
    """Whether the server restarts."""
    delay: str
    """The rest of the line, such as `60 seconds`."""


@frozen
class Shutdown(Message):
    """`** System administrator causes shutdown. FIBS is terminating.`"""


@frozen
class GamesWillBeSaved(Message):
    """`** All running games will be saved.`"""


# -- toggles, settings and the account --------------------------------------------------------------------------------


@frozen
class ToggleSet(Message):
    """`** You're now ready to invite or join someone.` and the other 33 answers to `toggle`."""

    toggle: Toggle
    value: bool


@frozen
class TogglesStart(Message):
    """`The current settings are:`"""


@frozen
class ToggleValue(Message):
    """`allowpip        YES`"""

    toggle: Toggle
    value: bool


@frozen
class SettingsStart(Message):
    """`Settings of variables:`"""


@frozen
class SettingListed(Message):
    """`boardstyle: 3`"""

    setting: Setting
    value: str


@frozen
class SettingIs(Message):
    """`Value of 'boardstyle' is 3`"""

    setting: Setting
    value: str


@frozen
class SettingChanged(Message):
    """`Value of 'boardstyle' set to 3.`"""

    setting: Setting
    value: str


@frozen
class SettingsSaved(Message):
    """`Settings saved.`"""


@frozen
class AddressSet(Message):
    """`Your email address is 'a@b'.`"""

    address: str


@frozen
class PasswordChanged(Message):
    """`Password changed.`"""
