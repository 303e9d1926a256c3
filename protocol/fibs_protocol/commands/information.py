"""Commands about settings, users and the server."""

from __future__ import annotations

import enum

from attrs import field

from fibs_protocol.commands.base import Command
from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.words import Setting, Toggle


@frozen
class ToggleCommand(Command):
    """`toggle ready`; without an argument, list the settings."""

    toggle: Toggle | None = None


@frozen
class SetCommand(Command):
    """`set boardstyle 3`; without a value, show it; without arguments, list all; `sortwho name` is a short form."""

    setting: Setting | None = None
    value: str | None = None


@frozen
class ShowLaws(Command):
    """`laws`: show the laws of the match; `laws on`, `laws off`: whether the client knows other laws than FIBS'."""

    known: bool | None = None


@frozen
class Save(Command):
    """`save` the settings."""


@frozen
class Address(Command):
    """`address a@b`"""

    address: str


@frozen
class Password(Command):
    """`password old:new:new`"""

    old: str = field(repr=False)
    new: str = field(repr=False)
    repeated: str = field(repr=False)


@frozen
class Who(Command):
    """`who`, `who X`, `who ready` and so on."""

    argument: str | None = None


@frozen
class Rawwho(Command):
    """`rawwho`, `rawwho X` and so on: always ends with a `6`."""

    argument: str | None = None


class ShowTopic(enum.Enum):
    """What the `show` command lists."""

    GAMES = "games"
    SAVED = "saved"
    SAVEDCOUNT = "savedcount"
    WATCHERS = "watchers"
    MAX = "max"


@frozen
class Show(Command):
    """`show saved`, `show savedcount X`, `show watchers`, `show games`, `show max`"""

    what: ShowTopic
    name: str | None = None


@frozen
class Whois(Command):
    """`whois X`"""

    name: str | None = None


@frozen
class Where(Command):
    """`where X`"""

    name: str | None = None


@frozen
class Ratings(Command):
    """`ratings`, `ratings X`, `ratings from 21 to 30`"""

    argument: str | None = None


@frozen
class Last(Command):
    """`last`"""


@frozen
class Time(Command):
    """`time`, also `date`"""

    zone: str | None = None


@frozen
class Help(Command):
    """`help topic`, also `man`"""

    topic: str | None = None


@frozen
class Motd(Command):
    """`motd`"""


@frozen
class About(Command):
    """`about`"""


@frozen
class Average(Command):
    """`average` number of users by time of day."""


@frozen
class Dicetest(Command):
    """`dicetest`"""


@frozen
class Version(Command):
    """`version`"""


@frozen
class Stat(Command):
    """`stat`"""


@frozen
class Port(Command):
    """`port`"""


@frozen
class Clear(Command):
    """`clear` or `cls`"""


@frozen
class Erase(Command):
    """`erase`: for administrators only."""


@frozen
class ShutdownCommand(Command):
    """`shutdown`: for administrators only."""
