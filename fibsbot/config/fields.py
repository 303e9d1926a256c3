"""The sections and settings of a configuration file, and the problems that a file can have."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin

from attrs import evolve, field, fields, frozen

from fibsbot.policy import Lengths, NamePattern
from fibsbot.setting import SettingInfo, SettingsClass, setting_fields


@frozen
class ConfigProblem:
    """Something wrong with a configuration."""

    path: str
    """`section.setting`, `account[2].policy.lengths`, or the file's path if it cannot be read."""
    expected: str
    got: str

    def __str__(self) -> str:
        """Return the problem in one line."""
        return f"{self.path}: expected {self.expected}, got {self.got}"

    def prefixed(self, path: str) -> ConfigProblem:
        """Return the same problem with its path below another one."""
        if not self.path:
            return evolve(self, path=path)
        return evolve(self, path=f"{path}{'' if self.path.startswith('[') else '.'}{self.path}")


class ConfigProblemsError(ValueError):
    """A configuration cannot be used; the text has a line for each problem."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def format_problems(path: Path, problems: Iterable[ConfigProblem]) -> str:
    """Return a line for each problem of a file, each of which begins with the file's path."""
    return "\n".join(str(it) if it.path == str(path) else f"{path}: {it}" for it in problems)


def format_value(value: Any) -> str:
    """Return a value of a file for a message, shortened if it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# -- sections and settings ------------------------------------------------------------------------------------------


@frozen
class Section:
    """A table of a configuration file."""

    name: str
    """The name in brackets."""
    attribute: str
    """The attribute of Config that holds it."""
    cls: SettingsClass
    """The class that declares its settings; its docstring describes the section."""
    per_account: bool
    """Whether an account may override its settings."""
    repeatable: bool
    """Whether a file may have several."""


def section(cls: SettingsClass, *, per_account: bool = False) -> Any:
    """Declare a section."""
    return field(factory=cls, metadata={"class": cls, "per_account": per_account})


def repeatable_section(name: str, cls: SettingsClass) -> Any:
    """Declare a section that a file may have several times."""
    return field(factory=tuple, metadata={"class": cls, "name": name})


def sections_of(config: SettingsClass) -> Iterator[Section]:
    """Yield the sections of a configuration in their order."""
    for it in fields(config):
        data = it.metadata
        yield Section(
            data.get("name", it.name),
            it.name,
            data["class"],
            per_account=data.get("per_account", False),
            repeatable="name" in data,
        )


@frozen
class SettingField:
    """A setting of a section."""

    name: str
    default: Any
    type: type
    """The type of its value, or of each value in its list."""
    is_list: bool
    optional: bool
    """Whether it can have no value, which a file expresses as `false`."""
    info: SettingInfo

    @property
    def expected(self) -> str:
        """The accepted values in words: `a whole number from 1 to 65535`."""
        if self.type is Lengths:
            return 'a list such as ["1-9", "11", "unlimited"]'
        if self.is_list:
            return f"a list, in it {self.expected_item}"
        return self.expected_item + (", or false" if self.optional else "")

    @property
    def expected_item(self) -> str:
        """The accepted values, or those in the list, in words."""
        if self.info.expected:
            return self.info.expected
        if issubclass(self.type, enum.Enum):
            return " or ".join(f'"{choice.value}"' for choice in self.type)
        return ("text" if self.info.blanks else _TYPE_NAMES[self.type]) + self.info.bounds


_TYPE_NAMES: Final = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word without blanks",
    Path: "a path",
    Lengths: "a length such as 5, 1-9 or unlimited",
    NamePattern: "a name, perhaps with * and ? as wildcards and with :from or :to at its end",
}


def settings_of(cls: SettingsClass) -> Iterator[SettingField]:
    """Yield the settings of a section in their order."""
    for attribute, info in setting_fields(cls):
        types = [it for it in get_args(attribute.type) or (attribute.type,) if it not in {NoneType, ...}]
        if len(types) != 1 or not isinstance(types[0], type):
            raise TypeError(f"expected one class as the type of {attribute.name}, got {attribute.type!r}")
        is_list = get_origin(attribute.type) is tuple
        optional = NoneType in get_args(attribute.type)
        yield SettingField(attribute.name, attribute.default, types[0], is_list, optional, info)
