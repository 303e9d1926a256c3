"""Settings: attrs fields that carry their help and bounds.

A class that takes settings declares each of them once. Its validators, the reader of configuration files, the sample
file and the documentation all follow from that declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import attrs
from attrs import Attribute, frozen

DAY: Final = 86_400
"""Seconds."""
MONTH: Final = 30 * DAY

SettingsClass: TypeAlias = type[attrs.AttrsInstance]
"""A class that has settings among its attributes."""


@frozen
class SettingInfo:
    """The help and the bounds of a setting."""

    help: str
    """Sentences for the sample file and the documentation."""
    unit: str = ""
    example: Any = None
    """Shown if there is no default, or an empty one."""
    minimum: float | None = None
    above: float | None = None
    """The value must be greater than this."""
    maximum: float | None = None
    max_length: int | None = None
    """Characters of a text."""
    blanks: bool = False
    """Whether a text may contain blanks."""
    expected: str = ""
    """What is accepted, in words; by default these follow from the type and the bounds."""
    check: Callable[[Any], object] | None = None
    """Returns something true for a valid value."""
    normal: Callable[[Any], Any] | None = None
    """Returns the form of a value in which it is kept, if others mean the same; an invalid value as it is."""
    secret: bool = False
    """Whether messages must not show the value, because somebody may have put a password there."""
    needs_restart: bool = False
    """Whether a change takes effect only at the next start."""

    @property
    def bounds(self) -> str:
        """The bounds in words: ` from 1 to 99`, ` of at most 20 characters`, or nothing."""
        words = ""
        if self.above is not None:
            words += f" above {self.above:.10g}"
        if self.minimum is not None:
            words += f" from {self.minimum:.10g}"
        if self.maximum is not None:
            words += f" {'to' if self.minimum is not None else 'and at most'} {self.maximum:.10g}"
        if self.max_length is not None:
            words += f" of at most {self.max_length} characters"
        return words

    def allows(self, value: Any) -> bool:
        """Return whether a value of the right type is within the bounds."""
        return (
            (self.minimum is None or value >= self.minimum)
            and (self.above is None or value > self.above)
            and (self.maximum is None or value <= self.maximum)
            and (self.max_length is None or len(value) <= self.max_length)
            and (self.check is None or bool(self.check(value)))
        )

    def convert(self, value: Any) -> Any:
        """Return the form in which a value, or each one in a tuple, is kept."""
        if self.normal is None or value is None:
            return value
        return tuple(map(self.normal, value)) if isinstance(value, tuple) else self.normal(value)

    def validate(self, _: object, attribute: Attribute[Any], value: Any) -> None:
        """Raise ValueError if a value, or one in a tuple, is out of bounds; None always passes."""
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None and not self.allows(one):
                expected = self.expected or f"a value{self.bounds}"
                raise ValueError(
                    f"{attribute.name}: expected {expected}, got {'something else' if self.secret else repr(one)}"
                )


def setting(default: Any, help: str, **info: Any) -> Any:  # noqa: A002 - the field's name
    """Declare a setting; `info` are further fields of SettingInfo."""
    about = SettingInfo(help, **info)
    return attrs.field(
        default=default,
        converter=about.convert,
        validator=about.validate,
        repr=not about.secret,
        metadata={SettingInfo: about},
    )


def seconds(default: float | None, help: str, **info: Any) -> Any:  # noqa: A002 - as above
    """Declare a setting in seconds, by default a day at most."""
    return setting(default, help, **{"unit": "seconds", "maximum": DAY, **info})


def setting_fields(cls: SettingsClass) -> Iterator[tuple[Attribute[Any], SettingInfo]]:
    """Yield the attributes of a class that are settings, in their order, with their types resolved."""
    attrs.resolve_types(cls)
    for attribute in attrs.fields(cls):
        if info := attribute.metadata.get(SettingInfo):
            yield attribute, info
