"""Wording: one wording of a message, compiled from a template that is used both to parse it and to write it.

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
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
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

_SPEC: Final = re.compile(r"([a-z_]*)(?:([<>])([0-9]+))?")
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

    def __init__(self, cls: type[T], template: str, fixed: dict[str, Any], *, spoken: bool) -> None:
        """Compile a template.

        Args:
            cls: the attrs class.
            template: the template, see the module's docstring.
            fixed: fields that have one value in this wording and are not written in the line.
            spoken: whether the wording is used for writing; others are only parsed.
        """
        self.cls = cls
        self.template = template
        self.fixed = fixed
        self.spoken = spoken
        self.parts: tuple[str | Slot, ...] = tuple(_parse(cls, template))
        self.slots = {part.name: part for part in self.parts if isinstance(part, Slot) and part.name}
        last = self.parts[-1] if self.parts else ""
        self.free = any(
            isinstance(part, Slot) and part.form.name in {"text", "sentence", "phrase", "quoted"} for part in self.parts
        )
        """Whether the line contains text chosen by a user."""
        self.rest = isinstance(last, Slot) and last.form.rest
        self._words = self._column_words()
        self._constants: tuple[Any, ...] = ()
        self._plan = self._make_plan()

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
        return re.compile("".join(pieces) + ("" if self.rest else _TAIL), re.ASCII)

    def __repr__(self) -> str:
        return f"<Wording {self.cls.__name__}: {self.template!r}>"

    def read(self, line: str) -> T | None:
        """Parse a line; return None if it does not have this wording."""
        values: Sequence[Any]
        if self._words is None:
            match = self.regex.fullmatch(line)
            if match is None:
                return None
            values = match.groups("") + self._constants
        else:
            values = line.split()
            if len(values) != len(self._words) or values[0] != self._words[0]:
                return None
        try:
            return self.cls(*[values[place] if read is None else read(values[place]) for read, place in self._plan])
        except (ValueError, KeyError):
            return None

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

    # -- compiling --------------------------------------------------------------------------------------------------

    def _column_words(self) -> list[str | None] | None:
        """Return the words of a CLIP line of single words, None for a field; such a line is split, not matched."""
        if not self.template[:1].isdigit() or self.fixed:
            return None
        slots = [part for part in self.parts if isinstance(part, Slot)]
        if len(slots) != len(self.slots) or not all(slot.form.word and not slot.width for slot in slots):
            return None
        words = "".join(part if isinstance(part, str) else "\0" for part in self.parts).split()
        return [None if word == "\0" else word for word in words]

    def _make_plan(self) -> tuple[tuple[Callable[[str], Any] | None, int], ...]:
        """Return the converter (None: unchanged) and the index of the value for each field, in order."""
        if self._words is None:
            places = {name: index for index, name in enumerate(self.slots)}
        else:
            fields = [index for index, word in enumerate(self._words) if word is None]
            places = dict(zip(self.slots, fields, strict=True))
        plan: list[tuple[Callable[[str], Any] | None, int]] = []
        for attribute in attrs.fields(self.cls):  # type: ignore[arg-type] # all our classes are attrs'
            if attribute.name in places:
                form = self.slots[attribute.name].form
                plan.append((None if form.is_text else form.read, places[attribute.name]))
            else:
                plan.append((None, len(places) + len(self._constants)))
                self._constants += (self.fixed.get(attribute.name, attribute.default),)
        if attrs.NOTHING in self._constants:
            raise TypeError(f"{self!r} does not say everything")
        unknown = (set(self.slots) | set(self.fixed)) - {attribute.name for attribute in attrs.fields(self.cls)}  # type: ignore[arg-type] # as above
        if unknown:
            raise TypeError(f"{self!r} has unknown fields {sorted(unknown)}")
        return tuple(plan)


def says(cls: type[T], template: str, **fixed: Any) -> Wording[T]:
    """Build a wording that is both parsed and written."""
    return Wording(cls, template, fixed, spoken=True)


def hears(cls: type[T], template: str, **fixed: Any) -> Wording[T]:
    """Build a wording of other servers or versions, which is parsed but never written."""
    return Wording(cls, template, fixed, spoken=False)


def _parse(cls: type[Any], template: str) -> Iterator[str | Slot]:
    annotations = {attribute.name: attribute.type for attribute in attrs.fields(cls)}
    for literal, name, spec, _ in string.Formatter().parse(template):
        if literal:
            yield literal
        if name is not None:
            match = _SPEC.fullmatch(spec or "")
            if match is None or name not in {*annotations, ""}:
                raise TypeError(f"{cls.__name__}: cannot understand {{{name}:{spec}}}")
            form = match[1] or _FORMS[str(annotations[name])]
            yield Slot(name, FIELD_TYPES[form], match[2] or "", int(match[3] or 0))
