"""Commands to log in and to talk (specification: "Login", "Chat")."""

from __future__ import annotations

from attrs import field

from fibs_protocol.commands.base import Command
from fibs_protocol.lazy_attrs import frozen


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
