"""The usual shapes of a command's arguments, and the checks that all arguments share."""

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
"""Characters of a word that are kept: more than any name has, fewer than any field holds."""
LONGEST_ARGUMENT: Final = 255
"""Characters of a longer argument that are kept."""

Reader: TypeAlias = Callable[[str], c.Command]
Writer: TypeAlias = Callable[[Any], str]
_Speech: TypeAlias = type[c.Shout] | type[c.Kibitz] | type[c.Say] | type[c.Whisper] | type[c.Away]
_WithText: TypeAlias = type[c.Who] | type[c.Rawwho] | type[c.Ratings] | type[c.Time] | type[c.Help]
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
    """From the text behind the name, blanks removed at both ends; raises BadArgumentError."""
    write: Writer
    """The text behind the name; empty if there is none."""


def bare_command(name: str, command: type[c.Command]) -> CommandForm:
    """Build a command without arguments; servers ignore those that are given."""
    return CommandForm(name, command, lambda _: command(), lambda _: "")


def name_command(name: str, kind: _WithName) -> CommandForm:
    """Build a command with a name or none; servers look at the first word only."""

    def write(thing: Any) -> str:
        return check_optional_word(thing.name)

    return CommandForm(name, kind, lambda text: kind(first_word(text)), write)


def optional_text_command(name: str, kind: _WithText, attribute: str) -> CommandForm:
    """Build a command with anything or nothing behind it."""

    def write(thing: Any) -> str:
        value = getattr(thing, attribute)
        return "" if value is None else check_text(value)

    return CommandForm(name, kind, lambda text: kind(text[:LONGEST_ARGUMENT].rstrip() or None), write)


def text_command(name: str, kind: _Speech) -> CommandForm:
    """Build a command with the text that is said."""

    def write(thing: Any) -> str:
        return check_line(thing.text)

    return CommandForm(name, kind, kind, write)


def tell_command(name: str, kind: type[c.Tell | c.Tellx | c.AlertCommand]) -> CommandForm:
    """Build a command with a name and the text that is said."""

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
    """Cut a user's word so that any refusal can name it: shorter, and without quotes and full stops at its ends."""
    return text[:LONGEST_WORD].strip("'.") or "?"


def check_word(value: str) -> str:
    """Return a printable word; raise LocalProtocolError for others, without showing them: they may be passwords."""
    if not _WORD.fullmatch(value):
        raise LocalProtocolError("expected one word of printable ASCII as a command's argument")
    return value


def check_optional_word(value: str | None) -> str:
    """Return a printable word, or nothing for None."""
    return "" if value is None else check_word(value)


def check_line(text: str) -> str:
    """Return a text that one line can carry; raise LocalProtocolError for others."""
    if not _LINE.fullmatch(text) or text != text.strip():
        raise LocalProtocolError("expected printable ASCII without blanks at the ends")
    return text


def check_text(text: str) -> str:
    """Return such a text unless it is empty."""
    if not text:
        raise LocalProtocolError("expected a text; None says that there is none")
    return check_line(text)
