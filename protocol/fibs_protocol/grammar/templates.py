"""Templates: each is compiled into one wording of a message, which both parses it and writes it.

A template is the line as the server writes it, with fields in braces:

    {name}           a field, in the form that its type suggests (see `_FORMS`)
    {length:match}   a field in a form of its own, by its name in `fields`
    {:phrase}        a field that is matched and ignored
    {name:name<16}   a field padded with blanks on the right to 16 columns (or, with `>`, on the left)

Parsing is a little more lenient than writing: any number of blanks matches a blank, a full stop at the end, with or
without blanks before it, is optional, and an apostrophe within a word may be doubled or missing, as in
`You can''t move.` (servers that mishandle their own templates). Only free text at the end of a line is taken exactly as
it is.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import get_annotations
from typing import Any, Final, Generic, TypeVar

import attrs

from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.grammar.fields import FIELD_TYPES, FieldType

T = TypeVar("T")

KEY_WORDS: Final = 4
"""Number of words at the beginning of a line that select the patterns to try."""

Key = tuple[str | None, str | None, str | None, str | None]
"""The fixed words among a line's first four; None for a field."""

_FORMS: Final = {
    "str": "name",
    "str | None": "dash",
    "int": "number",
    "int | None": "number",
    "bool": "flag",
    "float": "rating",
    "Dice": "dice",
    "tuple[FibsMove, ...]": "moves",
    "tuple[int, ...]": "offs",
    "tuple[str, ...]": "names",
    "Toggle": "toggle",
    "Setting": "setting",
    "Colour": "colour",
    "dt.datetime": "utc",
    "BoardState": "board",
    "TableState": "table",
}
"""The form of a field without an explicit form, by its annotation in the message class."""

_FREE: Final = frozenset(("text", "sentence", "phrase", "quoted"))
"""The forms of text chosen by a user."""

_SPEC: Final = re.compile(r"([a-z_]*)(?:([<>])([0-9]+))?")
_READ: Final = """
def read(line):
 try:
  {take}
  message = new(cls)
  assign(message, '__dict__', {{{values}}})
  return message
 except (ValueError, KeyError):
  return None
"""
_TAIL: Final = r"[ .]*"
_APOSTROPHE: Final = re.compile("(?<=[A-Za-z])'(?=[a-z])")
"""Within a word, as in `can't`; those around a word are quotes."""
_ESCAPED_BLANKS: Final = re.compile(r"(?:\\ )+")


@attrs.frozen
class Slot:
    """A field in a template."""

    name: str
    form: FieldType
    align: str = ""
    width: int = 0

    def write(self, value: Any, owner: str) -> str:
        """Write a value, after checking that it can be parsed again.

        Raises:
            LocalProtocolError: if no line can carry the value; the value is not quoted, as it may be a secret.
        """
        try:
            text = self.form.write(value)
            sound = self.form.regex.fullmatch(text) and (isinstance(value, float) or self.form.read(text) == value)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise LocalProtocolError(f"{owner}.{self.name}: no line can carry this value ({self.form.name})") from error
        if not sound:
            raise LocalProtocolError(f"{owner}.{self.name}: no line can carry this value ({self.form.name})")
        return f"{text:{self.align or '<'}{self.width}}" if self.width else text


class Wording(Generic[T]):
    """One wording of the messages of a class."""

    def __init__(self, cls: type[T], template: str, fixed: dict[str, Any], *, spoken: bool, server: str = "") -> None:
        """Compile a template.

        Args:
            cls: the attrs class.
            template: the template, see the module's docstring.
            fixed: fields that have one value in this wording and are not written in the line.
            spoken: whether the wording is used for writing; others are only parsed.
            server: the server that alone is known to write so; else FIBS does, or it is not known who.
        """
        self.cls = cls
        self.template = template
        self.fixed = fixed
        self.spoken = spoken
        self.server = server

    @cached_property
    def parts(self) -> tuple[str | Slot, ...]:
        """The fixed texts and the fields, in their order."""
        return tuple(_parse(self.cls, self.template))

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """The fields that a line holds, by their names."""
        return {part.name: part for part in self.parts if isinstance(part, Slot) and part.name}

    @cached_property
    def free(self) -> bool:
        """Whether the line contains text chosen by a user."""
        return any(isinstance(part, Slot) and part.form.name in _FREE for part in self.parts)

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern of its lines; compiled when it is first needed, because a process meets few of the wordings."""
        pieces: list[str] = []
        groups: dict[str, int] = {}
        for index, part in enumerate(self.parts, 1):
            if isinstance(part, str):
                text = part.lstrip(" ") if index == 1 else part
                text = text.rstrip(" .") if index == len(self.parts) else text
                pieces.append(_APOSTROPHE.sub("'{0,2}", _ESCAPED_BLANKS.sub(" +", re.escape(text))))
            elif not part.name:
                pieces.append(f"(?:{part.form.pattern})")
            elif part.name in groups:
                pieces.append(rf"\{groups[part.name]}")
            elif part.form.rest:
                groups[part.name] = len(groups) + 1
                if pieces and pieces[-1].endswith(" +"):
                    pieces[-1] = pieces[-1].removesuffix(" +")
                    pieces.append(f"(?: ({part.form.pattern}))?")
                else:
                    pieces.append(f"({part.form.pattern})")
            else:
                groups[part.name] = len(groups) + 1
                before = " *" if part.align == ">" else ""
                after = " *" if part.align == "<" else ""
                pieces.append(f"{before}({part.form.pattern}){after}")
        last = self.parts[-1] if self.parts else ""
        tail = "" if isinstance(last, Slot) and last.form.rest else _TAIL
        return re.compile("".join(pieces) + tail, re.ASCII)

    def __repr__(self) -> str:
        return f"<Wording {self.cls.__name__}: {self.template!r}>"

    @cached_property
    def read(self) -> Callable[[str], T | None]:
        """The function that parses a line; it returns None for a line that does not have this wording.

        It is written as Python when it is first needed, as attrs writes a constructor: twice as fast as going through
        the fields of each line. The classes have neither converters nor validators, so that it sets the fields itself.
        """
        known: dict[str, Any] = {"cls": self.cls, "new": object.__new__, "assign": object.__setattr__}
        values = []
        fields = attrs.fields(self.cls)  # type: ignore[arg-type] # all our classes are attrs'
        for attribute in fields:
            name, slot = attribute.name, self.slots.get(attribute.name)
            if slot is None:
                known[f"fixed_{name}"] = value = self.fixed.get(name, attribute.default)
                if value is attrs.NOTHING:
                    raise TypeError(f"{self!r} does not say everything")
                values.append(f"{name!r}: fixed_{name}")
            else:
                known[f"read_{name}"] = slot.form.read
                values.append(f"{name!r}: {slot.form.source.format(read=f'read_{name}', text=f'text_{name}')}")
        unknown = {*self.slots, *self.fixed} - {attribute.name for attribute in fields}
        if unknown:
            raise TypeError(f"{self!r} has unknown fields {sorted(unknown)}")
        texts = "".join(f"text_{name}, " for name in self.slots)
        number = self._number_of_columns()
        if number is None:
            known["fullmatch"] = self.regex.fullmatch
            take = f"match = fullmatch(line)\n  if match is None: return None\n  {texts or '()'} = match.groups('')"
        else:
            take = f"number, {texts} = line.split()\n  if number != {number!r}: return None"
        exec(_READ.format(take=take, values=", ".join(values)), known)  # noqa: S102 - only names of our own are in it
        function: Callable[[str], T | None] = known["read"]
        return function

    def fits(self, thing: T) -> bool:
        """Return whether this wording can express a message, that is, whether all fixed fields agree."""
        return all(getattr(thing, name) == value for name, value in self.fixed.items())

    def write(self, thing: T) -> str:
        """Write a line.

        Raises:
            LocalProtocolError: if the line cannot carry a field.
        """
        owner = self.cls.__name__
        return "".join(
            part if isinstance(part, str) else part.write(getattr(thing, part.name), owner) for part in self.parts
        )

    def key(self) -> Key:
        """Return the fixed words among the first words of this wording's lines, without apostrophes."""
        shape = "".join(
            part
            if isinstance(part, str)
            else "\0"
            if part.form.word or part.form.name in {"stars", "star"}
            else "\0 \1"
            for part in self.parts
        )
        words: list[str | None] = []
        for word in shape.strip(" ").rstrip(" .").split():
            if "\1" in word:
                break
            words.append(None if "\0" in word else word.replace("'", ""))
        words += [None] * KEY_WORDS
        return words[0], words[1], words[2], words[3]

    def _number_of_columns(self) -> str | None:
        """Return the number of a CLIP line whose fields are single words; such a line is split, not matched."""
        slots = [part for part in self.parts if isinstance(part, Slot)]
        single = all(slot.form.word and not slot.width for slot in slots) and len(slots) == len(self.slots)
        if not single or self.fixed or not self.template[:1].isdigit():
            return None
        return self.template.split()[0]


def says(cls: type[T], template: str, **fixed: Any) -> Wording[T]:
    """Build a wording that is both parsed and written."""
    return Wording(cls, template, fixed, spoken=True)


def hears(cls: type[T], template: str, *, server: str = "", **fixed: Any) -> Wording[T]:
    """Build a wording of other servers or versions, which is parsed but never written; `server` says whose it is."""
    return Wording(cls, template, fixed, spoken=False, server=server)


def _parse(cls: type[Any], template: str) -> Iterator[str | Slot]:
    for literal, name, spec, _ in string.Formatter().parse(template):
        if literal:
            yield literal
        if name is not None:
            match = _SPEC.fullmatch(spec or "")
            form = match and (match[1] or _FORMS.get(_annotation(cls, name)))
            if match is None or form not in FIELD_TYPES:
                raise TypeError(f"{cls.__name__}: cannot understand {{{name}:{spec}}}")
            yield Slot(name, FIELD_TYPES[form], match[2] or "", int(match[3] or 0))


def _annotation(cls: type[Any], name: str) -> str:
    """Return the type of a field as it is written; asking attrs would complete a class that may not be needed."""
    return next((found[name] for base in cls.__mro__ if name in (found := get_annotations(base))), "")
