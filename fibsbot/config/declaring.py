"""How a setting is declared, and what can be asked about it."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Final, TypeAlias, get_args

import attrs
from attrs import Attribute, field, fields, frozen, resolve_types

Section: TypeAlias = type[attrs.AttrsInstance]
"""A class whose attributes are settings."""


@frozen
class About:
    """What is known of a setting besides its type and default."""

    help: str
    """Sentences for the sample and the documentation."""
    unit: str = ""
    example: Any = None
    """Shown where there is no default."""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    longest: int | None = None
    """Characters of a text."""
    player: bool = False
    """Whether a text is the name of a player."""
    hidden: bool = False
    """Whether no message may show the value: somebody may have put a password there."""


def setting(default: Any, about: str, **more: Any) -> Any:
    """Declare a setting: its default, what it is about, and more fields of About."""
    return field(default=default, metadata={"about": About(about, **more)})


def passed_on(owner: Section, name: str, about: str, **more: Any) -> Any:
    """Declare a setting that is passed on to another room, whose default it takes."""
    return setting(getattr(fields(owner), name).default, about, **more)


@frozen
class Setting:
    """A setting, for whoever reads or writes one."""

    name: str
    default: Any
    kind: type
    """Of its value; where the default is None, the setting may be missing."""
    about: About

    @property
    def expected(self) -> str:
        """What it takes, in words: `a whole number from 1 to 65535`."""
        if issubclass(self.kind, enum.Enum):
            return " or ".join(f'"{choice.value}"' for choice in self.kind)
        about = self.about
        if about.player:
            return "a name of letters and underscores, at most 20"
        words = [_NAMES[self.kind]]
        if about.above is not None:
            words.append(f"above {about.above:g}")
        if about.least is not None:
            words.append(f"from {about.least:g}")
        if about.most is not None:
            words.append(f"to {about.most:g}" if about.least is not None else f"and at most {about.most:g}")
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
            and (not about.player or _PLAYER.fullmatch(value) is not None)
        )


_PLAYER: Final = re.compile(r"[A-Za-z_]{1,20}")
_NAMES: Final = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word without blanks",
    Path: "a path",
}


def sections_of(config: Section) -> Iterator[tuple[str, Section]]:
    """Yield name and class of each section."""
    resolve_types(config)
    for attribute in fields(config):
        yield attribute.name, attribute.type


def settings_of(section: Section) -> Iterator[Setting]:
    """Yield the settings of a section in their order."""
    resolve_types(section)
    for attribute in fields(section):
        yield Setting(attribute.name, attribute.default, _kind(attribute), attribute.metadata["about"])


def _kind(attribute: Attribute[Any]) -> type:
    kind: Any = attribute.type
    if isinstance(kind, UnionType):
        (kind,) = (part for part in get_args(kind) if part is not type(None))
    if not isinstance(kind, type):
        raise TypeError(f"expected a class as the type of {attribute.name}, got {kind!r}")
    return kind
