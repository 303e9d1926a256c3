"""Values of a file as values of settings: nothing is converted silently."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from fibsbot.config.declaring import Setting
from fibsbot.config.problems import ConfigProblem, ConfigProblemsError, shown
from fibsbot.policy import Lengths, NameRule


def take(setting: Setting, value: Any) -> Any:
    """Return the value of a setting. Raises ConfigProblemsError, with paths that begin at the setting."""
    if setting.optional and value is False:
        return None
    if setting.many or setting.kind is Lengths:
        return _take_list(setting, value)
    taken = _take(setting, value)
    if taken is None:
        got = "something else" if setting.about.hidden else shown(value)
        raise ConfigProblemsError([ConfigProblem("", setting.expected, got)])
    return taken


def _take(setting: Setting, value: Any) -> Any:
    """Return the value, None if the file's is of another kind or out of bounds."""
    if issubclass(setting.kind, enum.Enum):
        return next((choice for choice in setting.kind if choice.value == value), None)
    taken = _take_text(value) if setting.about.blanks else _TAKERS[setting.kind](value)
    return taken if taken is not None and setting.allows(taken) else None


def _take_list(setting: Setting, values: Any) -> Any:
    if not isinstance(values, list):
        raise ConfigProblemsError([ConfigProblem("", setting.expected, shown(values))])
    taken: list[Any] = [_take_length(it) if setting.kind is Lengths else _take(setting, it) for it in values]
    wrong = [number for number, it in enumerate(taken) if it is None]
    if wrong:
        raise ConfigProblemsError(ConfigProblem(f"[{n + 1}]", setting.expected_of_one, shown(values[n])) for n in wrong)
    return Lengths.parse(taken) if setting.kind is Lengths else tuple(taken)


def _take_length(value: Any) -> str | None:
    try:
        Lengths.parse([value])
    except (TypeError, ValueError):
        return None
    return str(value)


def _take_name(value: Any) -> NameRule | None:
    try:
        return NameRule.parse(value)
    except (TypeError, ValueError):
        return None


def _take_bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _take_whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _take_number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None


def _take_word(value: Any) -> str | None:
    return value if isinstance(value, str) and value.isprintable() and value.split() == [value] else None


def _take_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() and value.isprintable() else None


def _take_path(value: Any) -> Path | None:
    if not isinstance(value, str) or not value or not value.isprintable():
        return None
    try:
        return Path(value).expanduser()
    except RuntimeError:  # `~somebody` without a home
        return None


_TAKERS: Final[dict[type, Callable[[Any], Any]]] = {
    bool: _take_bool,
    int: _take_whole,
    float: _take_number,
    str: _take_word,
    Path: _take_path,
    NameRule: _take_name,
}
