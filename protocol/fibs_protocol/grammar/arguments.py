"""The common forms of command arguments, and the checks that all of them share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from attrs import frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import BadArgumentError, LocalProtocolError

_WORD: Final = re.compile(r"[!-~]{1,255}")
_LINE: Final = re.compile(r"[ -~]*")
LONGEST_WORD: Final = 64
"""Number of characters that are kept of a word: more than any name has, fewer than any field can hold."""
LONGEST_ARGUMENT: Final = 255
"""Number of characters that are kept of a longer argument."""

Reader: TypeAlias = Callable[[str], c.Command]
Writer: TypeAlias = Callable[[Any], str]
_Speech: TypeAlias = type[c.Shout] | type[c.Kibitz] | type[c.Say] | type[c.Whisper] | type[c.Away]
_WithText: TypeAlias = type[c.Who] | type[c.Rawwho] | type[c.Ratings] | type[c.Time] | type[c.Help] | type[c.Chouette]
_WithName: TypeAlias = (
    type[c.Gag]
    | type[c.Blind]
    | type[c.Join]
    | type[c.Watch]
    | type[c.Look]
    | type[c.Oldboard]
    | type[c.Oldmoves]
    | type[c.Whois]
    | type[c.Where]
)


@frozen
class CommandForm:
    """One command: its name and how its arguments are read and written."""

    name: str
    command: type[c.Command]
    read: Reader
    """Converts the text after the name, without blanks at either end; raises BadArgumentError."""
    write: Writer
    """Returns the text after the name; empty if there is none."""
    shortened: bool = True
    """Whether a prefix of the name will do; not for commands that FIBS does not have: its short forms stay its own."""


def bare_command(name: str, command: type[c.Command]) -> CommandForm:
    """Build a command without arguments; servers ignore those that are given."""
    return CommandForm(name, command, lambda _: command(), lambda _: "")


def name_command(name: str, kind: _WithName) -> CommandForm:
    """Build a command with an optional name; servers read only the first word."""

    def write(thing: Any) -> str:
        return check_optional_word(thing.name)

    return CommandForm(name, kind, lambda text: kind(first_word(text)), write)


def optional_text_command(name: str, kind: _WithText, attribute: str) -> CommandForm:
    """Build a command with an optional text."""

    def write(thing: Any) -> str:
        value = getattr(thing, attribute)
        return "" if value is None else check_text(value)

    return CommandForm(name, kind, lambda text: kind(text[:LONGEST_ARGUMENT].rstrip() or None), write)


def text_command(name: str, kind: _Speech) -> CommandForm:
    """Build a command with a text."""

    def write(thing: Any) -> str:
        return check_line(thing.text)

    return CommandForm(name, kind, kind, write)


def tell_command(name: str, kind: type[c.Tell | c.Tellx | c.AlertCommand]) -> CommandForm:
    """Build a command with a name and a text."""

    def read(text: str) -> c.Command:
        hearer, _, words = text.partition(" ")
        if not hearer:
            raise BadArgumentError(m.TellWhom())
        return kind(shorten(hearer), words.lstrip())

    def write(thing: Any) -> str:
        return f"{check_word(thing.name)} {check_line(thing.text)}".rstrip()

    return CommandForm(name, kind, read, write)


def first_word(text: str) -> str | None:
    """Return the first word, shortened, if there is one."""
    return shorten(text.split(None, 1)[0]) if text else None


def shorten(text: str) -> str:
    """Shorten a user's word and strip quotes and full stops, so that any refusal can quote it."""
    return text[:LONGEST_WORD].strip("'.") or "?"


def check_word(value: str) -> str:
    """Return a printable word; raise LocalProtocolError for others, without quoting them: they may be passwords."""
    if not _WORD.fullmatch(value):
        raise LocalProtocolError("expected one word of printable ASCII as a command's argument")
    return value


def check_optional_word(value: str | None) -> str:
    """Return a printable word, or an empty text for None."""
    return "" if value is None else check_word(value)


def check_line(text: str) -> str:
    """Return a text that one line can carry; raise LocalProtocolError for others."""
    if not _LINE.fullmatch(text) or text != text.strip():
        raise LocalProtocolError("expected printable ASCII without blanks at the ends")
    return text


def check_text(text: str) -> str:
    """Return a text that one line can carry and that is not empty; raise LocalProtocolError for others."""
    if not text:
        raise LocalProtocolError("expected a text; None says that there is none")
    return check_line(text)
