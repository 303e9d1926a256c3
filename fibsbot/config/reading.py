"""Read a configuration: nothing is converted silently, and everything that is wrong is told at once."""

from __future__ import annotations

import difflib
import enum
import math
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import fields, frozen
from cattrs import ClassValidationError, Converter
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from fibsbot.config.declaring import Section, Setting, sections_of, settings_of
from fibsbot.config.settings import Config


@frozen
class ConfigProblem:
    """One thing that is wrong with a configuration."""

    path: str
    """`section.setting`, or the file when it cannot be read at all."""
    expected: str
    got: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.path}: expected {self.expected}, got {self.got}"


class ConfigProblemsError(ValueError):
    """A configuration cannot be used; the text has a line for each problem."""

    def __init__(self, problems: tuple[ConfigProblem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def load_config(path: Path) -> Config:
    """Read a file. Raises ConfigProblemsError with everything that is wrong."""
    try:
        return parse_config(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        problem = ConfigProblem(str(path), "a TOML file", " ".join(str(error).split()))
    except UnicodeDecodeError:
        problem = ConfigProblem(str(path), "text in UTF-8", "other bytes")
    except OSError as error:
        problem = ConfigProblem(str(path), "a file that can be read", error.strerror or str(error))
    raise ConfigProblemsError((problem,))


def parse_config(text: str) -> Config:
    """Read the text of a file. Raises TOMLDecodeError when it is no TOML, else ConfigProblemsError."""
    try:
        return _converter().structure(tomllib.loads(text), Config)
    except ClassValidationError as error:
        raise ConfigProblemsError(tuple(_problems(error))) from None


class _WrongValueError(ValueError):
    """One value cannot be used."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    for _, section in sections_of(Config):
        converter.register_structure_hook(section, _section_reader(converter, section))
    return converter


def _section_reader(converter: Converter, section: Section) -> Callable[[Any, Any], Any]:
    hooks: dict[str, Any] = {it.name: override(struct_hook=_setting_reader(it)) for it in settings_of(section)}
    read = make_dict_structure_fn(section, converter, **hooks)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise _WrongValueError("a table of settings", _shown(value))
        return read(value, section)

    return hook


def _setting_reader(setting: Setting) -> Callable[[Any, Any], Any]:
    def hook(value: Any, _: Any) -> Any:
        taken = _take(setting.kind, value)
        if taken is None or not setting.allows(taken):
            raise _WrongValueError(setting.expected, "something else" if setting.about.hidden else _shown(value))
        return taken

    return hook


def _take(kind: type, value: Any) -> Any:
    """Return the value of a setting of this kind, None when the file's value is of another."""
    if issubclass(kind, enum.Enum):
        return next((choice for choice in kind if choice.value == value), None)
    return _TAKERS[kind](value)


def _take_bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _take_whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _take_number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None


def _take_word(value: Any) -> str | None:
    return value if isinstance(value, str) and value.isprintable() and value.split() == [value] else None


def _take_path(value: Any) -> Path | None:
    return Path(value) if isinstance(value, str) and value and value.isprintable() else None


_TAKERS: Final[dict[type, Callable[[Any], Any]]] = {
    bool: _take_bool,
    int: _take_whole,
    float: _take_number,
    str: _take_word,
    Path: _take_path,
}


def _problems(error: ClassValidationError, path: str = "") -> Iterator[ConfigProblem]:
    """Yield what is wrong, and where, from the tree of errors that cattrs raises."""
    noted, others = error.group_exceptions()
    for inner, note in noted:
        where = f"{path}{note.name}"
        if isinstance(inner, ClassValidationError):
            yield from _problems(inner, f"{where}.")
        elif isinstance(inner, _WrongValueError):
            yield ConfigProblem(where, inner.expected, inner.got)
        else:
            raise inner
    for other in others:
        if not isinstance(other, ForbiddenExtraKeysError):
            raise other
        known = [attribute.name for attribute in fields(other.cl)]
        for key in sorted(other.extra_fields):
            near = difflib.get_close_matches(key, known, n=1)
            expected = f"{near[0]}, perhaps" if near else f"one of {', '.join(known)}"
            # The value stays unsaid: whoever has misspelt `password_file` may have written a password beside it.
            yield ConfigProblem(f"{path}{key}", expected, "an unknown setting")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
