"""Declare settings as attrs fields, describe them, and name what is wrong with their values."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_origin

import attrs
from attrs import Attribute, evolve, field, fields, frozen, resolve_types

from fibsbot.policy import Lengths, NamePattern


@frozen
class ConfigProblem:
    """One thing that is wrong with a configuration."""

    path: str
    """`section.setting`, `account[2].policy.lengths`, or the file when it cannot be read at all."""
    expected: str
    got: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.path}: expected {self.expected}, got {self.got}"

    def below(self, path: str) -> ConfigProblem:
        """Return the same problem as it is seen from further up."""
        if not self.path:
            return evolve(self, path=path)
        return evolve(self, path=f"{path}{'' if self.path.startswith('[') else '.'}{self.path}")


class ConfigProblemsError(ValueError):
    """A configuration cannot be used; the text has a line for each problem."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def format_problems(path: Path, problems: Iterable[ConfigProblem]) -> str:
    """Return a line for each problem of a file, all of which begin with the file."""
    return "\n".join(str(it) if it.path == str(path) else f"{path}: {it}" for it in problems)


def format_value(value: Any) -> str:
    """Return a value of a file as a message shows it: whole if it is short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


SettingsClass: TypeAlias = type[attrs.AttrsInstance]
"""A class whose attributes are settings."""


# -- declaring ------------------------------------------------------------------------------------------------------


@frozen
class SettingInfo:
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
    return field(default=default, metadata={"about": SettingInfo(about, **more)})


def setting_of(owner: SettingsClass, name: str, about: str, **more: Any) -> Any:
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
    table: SettingsClass
    apart: bool
    """Whether an account may have its own."""
    many: bool
    """Whether there may be several."""


def section_field(table: SettingsClass, *, apart: bool = False) -> Any:
    """Declare a section; `apart`: an account may have a table of this name, which goes before this one."""
    return field(factory=table, metadata={"table": table, "apart": apart})


def sections_field(name: str, table: SettingsClass) -> Any:
    """Declare a section of which there may be several."""
    return field(factory=tuple, metadata={"table": table, "name": name})


Made = TypeVar("Made", bound=attrs.AttrsInstance)


def build_from(owner: type[Made], table: attrs.AttrsInstance, **more: Any) -> Made:
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
    about: SettingInfo

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
    NamePattern: "a name, perhaps with * and ? for anything, perhaps with :from or :to at its end",
}


def sections_of(config: SettingsClass) -> Iterator[Section]:
    """Yield the sections of a configuration in their order."""
    for it in fields(config):
        about = it.metadata
        yield Section(
            about.get("name", it.name), it.name, about["table"], apart=about.get("apart", False), many="name" in about
        )


def settings_of(table: SettingsClass) -> Iterator[Setting]:
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
    about: SettingInfo = attribute.metadata["about"]
    return Setting(attribute.name, attribute.default, kinds[0], many, optional, about)
