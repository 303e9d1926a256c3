"""Commands of clients: one frozen attrs class per command (specification: sections from "Chat" to "Game Commands")."""

from __future__ import annotations

import enum
import re

from attrs import field, frozen

from fibs_protocol.words import FibsMove, Setting, Toggle


@frozen
class Command:
    """The base class of commands: one line that a client sends."""

    @classmethod
    def kind(cls) -> str:
        """Return the kind's name as logs and JSON write it: `InviteResume` is `invite_resume`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


class ResignLevel(enum.Enum):
    """The level of a resignation, as an argument of `resign`."""

    NORMAL = "n"
    GAMMON = "g"
    BACKGAMMON = "b"

    @classmethod
    def of(cls, multiplier: int) -> ResignLevel:
        """Return the level that counts as much: 1, 2 or 3 times the cube."""
        return tuple(cls)[multiplier - 1]

    @property
    def multiplier(self) -> int:
        """How often the cube counts: 1, 2 or 3."""
        return tuple(ResignLevel).index(self) + 1


# -- log in ---------------------------------------------------------------------------------------------------------


@frozen
class Login(Command):
    """`login CLIENT 1008 name password`"""

    client: str
    """At most 20 characters, no blanks."""
    name: str
    password: str = field(repr=False)
    version: int = 1008
    """The version of CLIP that the client speaks."""


@frozen
class Name(Command):
    """`name X`: choose a name (guest). `name 4`: name a double or a point, in games that have such a law."""

    name: str


@frozen
class Bye(Command):
    """`bye`: log out; also `adios ciao end exit logout quit tschoe`."""


# -- chat -----------------------------------------------------------------------------------------------------------


@frozen
class Shout(Command):
    """`shout text`"""

    text: str


@frozen
class Kibitz(Command):
    """`kibitz text`"""

    text: str


@frozen
class Say(Command):
    """`say text`"""

    text: str


@frozen
class Whisper(Command):
    """`whisper text`"""

    text: str


@frozen
class Tell(Command):
    """`tell X text`"""

    name: str
    text: str


@frozen
class Tellx(Command):
    """`tellx X text`: `tell` without an echo."""

    name: str
    text: str


@frozen
class AlertCommand(Command):
    """`alert X text`: a message that clients show more conspicuously (CLIP 1009)."""

    name: str
    text: str


@frozen
class Mail(Command):
    """`message X text`; without arguments, list the messages received."""

    name: str | None = None
    text: str = ""


@frozen
class Waitfor(Command):
    """`waitfor X Y`; without names, list the awaited users."""

    names: tuple[str, ...] = ()


@frozen
class Gag(Command):
    """`gag X`; without a name, list the gagged users."""

    name: str | None = None


@frozen
class Blind(Command):
    """`blind X`; without a name, list the blinded users."""

    name: str | None = None


@frozen
class Away(Command):
    """`away text`; without a text, list the users who are away."""

    text: str = ""


@frozen
class Back(Command):
    """`back`"""


@frozen
class Wave(Command):
    """`wave`: the second one logs out."""


# -- matches --------------------------------------------------------------------------------------------------------


@frozen
class Invite(Command):
    """`invite X 5`, `invite X unlimited`, `invite X` (resume the saved match)."""

    name: str
    length: int | None = None
    """Points, UNLIMITED, or None to resume."""


@frozen
class InviteToGame(Invite):
    """`invite X 3 plakoto:exception`: to a match of a game other than backgammon (only this project's server)."""

    game: str = ""
    """Its name, with options after colons."""


@frozen
class InviteByLaws(Invite):
    """`invite X 5 laws 1931 point`: to a match by other laws than those of FIBS (only this project's server)."""

    laws: str = ""
    """The words after `laws`."""


@frozen
class Join(Command):
    """`join X`, or `join` for the next game."""

    name: str | None = None


@frozen
class Leave(Command):
    """`leave`: break the match off; it is saved."""


@frozen
class Chouette(Command):
    """`chouette`, `chouette open`, `chouette join X` and so on: a table for three to six players (ours, not FIBS')."""

    argument: str | None = None


@frozen
class Watch(Command):
    """`watch X`"""

    name: str | None = None


@frozen
class Unwatch(Command):
    """`unwatch`"""


@frozen
class Look(Command):
    """`look X`"""

    name: str | None = None


@frozen
class Oldboard(Command):
    """`oldboard X`"""

    name: str | None = None


@frozen
class Oldmoves(Command):
    """`oldmoves X`"""

    name: str | None = None


@frozen
class Roll(Command):
    """`roll`"""


@frozen
class Move(Command):
    """`move bar-22 13-7`: the whole turn, in the server's numbering.

    In games other than backgammon a part of the turn, in the player's own numbering; the hand is `bar`.
    """

    moves: tuple[FibsMove, ...]


@frozen
class Rethrow(Command):
    """`rethrow`: reject the first roll, which doubles the cube; only where the laws of the match allow it."""


@frozen
class Off(Command):
    """`off`: bear off with every number rolled."""


@frozen
class ShowBoard(Command):
    """`board`: send the board again."""


@frozen
class Pip(Command):
    """`pip`"""


@frozen
class Double(Command):
    """`double`"""


@frozen
class Accept(Command):
    """`accept` a double or a resignation."""


@frozen
class Reject(Command):
    """`reject` a double or a resignation."""


@frozen
class Redouble(Command):
    """`redouble`: accept a double and double at once."""


@frozen
class Beaver(Command):
    """`beaver`: the first redouble."""


@frozen
class Raccoon(Command):
    """`raccoon`: the second redouble."""


@frozen
class Otter(Command):
    """`otter`: the third redouble."""


@frozen
class Resign(Command):
    """`resign n`, `resign g`, `resign b`"""

    level: ResignLevel


@frozen
class Panic(Command):
    """`panic`: save the game for the server's author."""


# -- settings and information ---------------------------------------------------------------------------------------


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


class ShowWhat(enum.Enum):
    """The lists of the `show` command."""

    GAMES = "games"
    SAVED = "saved"
    SAVEDCOUNT = "savedcount"
    WATCHERS = "watchers"
    MAX = "max"


@frozen
class Show(Command):
    """`show saved`, `show savedcount X`, `show watchers`, `show games`, `show max`"""

    what: ShowWhat
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
