"""How a setting is declared, and what can be asked about it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_origin

import attrs
from attrs import Attribute, field, fields, frozen, resolve_types

from fibsbot.policy import Lengths, NameRule

Table: TypeAlias = type[attrs.AttrsInstance]
"""A class whose attributes are settings."""


# -- declaring ------------------------------------------------------------------------------------------------------


@frozen
class About:
    """What is known of a setting besides its type and default."""

    help: str
    """Sentences for the sample and the documentation."""
    unit: str = ""
    example: Any = None
    """Shown where there is no default, or an empty one."""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    longest: int | None = None
    """Characters of a text."""
    blanks: bool = False
    """Whether a text may have blanks in it."""
    takes: str = ""
    """What it takes, in words, where the kind of value does not say it."""
    fits: Callable[[Any], bool] | None = None
    """What else a value has to be."""
    hidden: bool = False
    """Whether no message may show the value: somebody may have put a password there."""
    fixed: bool = False
    """Whether a change takes effect with the next start only."""


def setting(default: Any, about: str, **more: Any) -> Any:
    """Declare a setting: its default, what it is about, and more fields of About."""
    return field(default=default, metadata={"about": About(about, **more)})


def passed_on(owner: Table, name: str, about: str, **more: Any) -> Any:
    """Declare a setting that is passed on to another room, whose default it takes, and whose validator holds for it."""
    attribute = getattr(fields(owner), name)
    make = getattr(attribute.default, "factory", None)

    def fits(value: Any) -> bool:
        if attribute.validator:
            try:
                attribute.validator(None, attribute, value)
            except (TypeError, ValueError):
                return False
        return more.get("fits") is None or bool(more["fits"](value))

    return setting(make() if make else attribute.default, about, **{**more, "fits": fits})


@frozen
class Section:
    """A table of a file."""

    name: str
    """What stands in brackets."""
    attribute: str
    """Where Config keeps it."""
    table: Table
    apart: bool
    """Whether an account may have its own."""
    many: bool
    """Whether there may be several."""


def section(table: Table, *, apart: bool = False) -> Any:
    """Declare a section; `apart`: an account may have a table of this name, which goes before this one."""
    return field(factory=table, metadata={"table": table, "apart": apart})


def sections(name: str, table: Table) -> Any:
    """Declare a section of which there may be several."""
    return field(factory=tuple, metadata={"table": table, "name": name})


Made = TypeVar("Made", bound=attrs.AttrsInstance)


def made(owner: type[Made], table: attrs.AttrsInstance, **more: Any) -> Made:
    """Make what another room wants from the settings that have its names; `more` stands under other names."""
    names = {it.name for it in fields(owner)} & {it.name for it in fields(type(table))}
    return owner(**{name: getattr(table, name) for name in names} | more)


# -- asking ---------------------------------------------------------------------------------------------------------


@frozen
class Setting:
    """A setting, for whoever reads or writes one."""

    name: str
    default: Any
    kind: type
    """Of its value, or of each value in its list."""
    many: bool
    """Whether it is a list."""
    optional: bool
    """Whether it can be left without a value; then a file says `false`."""
    about: About

    @property
    def expected(self) -> str:
        """What it takes, in words: `a whole number from 1 to 65535`."""
        if self.kind is Lengths:
            return 'a list such as ["1-9", "11", "unlimited"]'
        if self.many:
            return f"a list, in it {self.expected_of_one}"
        return self.expected_of_one + (", or false" if self.optional else "")

    @property
    def expected_of_one(self) -> str:
        """What one value in a list takes, or the value where there is no list."""
        about = self.about
        if about.takes:
            return about.takes
        if issubclass(self.kind, enum.Enum):
            return " or ".join(f'"{choice.value}"' for choice in self.kind)
        words = ["text" if about.blanks else _NAMES[self.kind]]
        if about.above is not None:
            words.append(f"above {about.above:.10g}")
        if about.least is not None:
            words.append(f"from {about.least:.10g}")
        if about.most is not None:
            words.append(f"{'to' if about.least is not None else 'and at most'} {about.most:.10g}")
        if about.longest is not None:
            words.append(f"of at most {about.longest} characters")
        return " ".join(words)

    def allows(self, value: Any) -> bool:
        """Return whether a value of the right kind is within the bounds."""
        about = self.about
        return (
            (about.least is None or value >= about.least)
            and (about.above is None or value > about.above)
            and (about.most is None or value <= about.most)
            and (about.longest is None or len(value) <= about.longest)
            and (about.fits is None or about.fits(value))
        )


_NAMES: Final = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word without blanks",
    Path: "a path",
    Lengths: "a length such as 5, 1-9 or unlimited",
    NameRule: "a name, perhaps with * and ? for anything, perhaps with :from or :to at its end",
}


def sections_of(config: Table) -> Iterator[Section]:
    """Yield the sections of a configuration in their order."""
    for it in fields(config):
        about = it.metadata
        yield Section(
            about.get("name", it.name), it.name, about["table"], apart=about.get("apart", False), many="name" in about
        )


def settings_of(table: Table) -> Iterator[Setting]:
    """Yield the settings of a section in their order."""
    resolve_types(table)
    for attribute in fields(table):
        if "about" in attribute.metadata:
            yield _setting(attribute)


def _setting(attribute: Attribute[Any]) -> Setting:
    kinds = [kind for kind in get_args(attribute.type) or (attribute.type,) if kind not in {NoneType, ...}]
    many = get_origin(attribute.type) is tuple
    optional = NoneType in get_args(attribute.type)
    if len(kinds) != 1 or not isinstance(kinds[0], type):
        raise TypeError(f"expected one class as the type of {attribute.name}, got {attribute.type!r}")
    about: About = attribute.metadata["about"]
    return Setting(attribute.name, attribute.default, kinds[0], many, optional, about)
