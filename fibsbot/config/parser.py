"""Parse a configuration file strictly: nothing is converted silently, and all problems are reported at once."""

from __future__ import annotations

import difflib
import enum
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import evolve
from cattrs import ClassValidationError, Converter
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from fibsbot import files
from fibsbot.config.settings import (
    DEFAULT_VARIABLE,
    AccountConfig,
    Config,
    ConfigProblem,
    ConfigProblemsError,
    Section,
    SettingField,
    format_value,
    sections_of,
    settings_of,
)
from fibsbot.policy import Lengths, NamePattern
from fibsbot.setting import SettingsClass
from fibsbot.text import one_line


def parse_value(setting: SettingField, value: Any) -> Any:
    """Return the value of a setting. Raises ConfigProblemsError with paths relative to the setting."""
    if setting.optional and value is False:
        return None
    if setting.is_list or setting.type is Lengths:
        return _parse_list(setting, value)
    parsed = _parse_one(setting, value)
    if parsed is None:
        got = "something else" if setting.info.secret else format_value(value)
        raise ConfigProblemsError([ConfigProblem("", setting.expected, got)])
    return parsed


def _parse_one(setting: SettingField, value: Any) -> Any:
    """Return the value, or None if it has the wrong type or is out of bounds."""
    if issubclass(setting.type, enum.Enum):
        return next((item for item in setting.type if item.value == value and setting.info.allows(item)), None)
    parsed = _parse_text(value) if setting.info.blanks else _PARSERS[setting.type](value)
    return parsed if parsed is not None and setting.info.allows(parsed) else None


def _parse_list(setting: SettingField, values: Any) -> Any:
    if not isinstance(values, list):
        raise ConfigProblemsError([ConfigProblem("", setting.expected, format_value(values))])
    parsed: list[Any] = [
        _parse_length(value) if setting.type is Lengths else _parse_one(setting, value) for value in values
    ]
    wrong = [number for number, length in enumerate(parsed) if length is None]
    if wrong:
        raise ConfigProblemsError(
            ConfigProblem(f"[{n + 1}]", setting.expected_item, format_value(values[n])) for n in wrong
        )
    return Lengths.parse(parsed) if setting.type is Lengths else tuple(parsed)


def _parse_length(value: Any) -> str | None:
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    try:
        Lengths.parse([word])
    except (TypeError, ValueError):
        return None
    return str(word)


def _parse_name(value: Any) -> NamePattern | None:
    try:
        return NamePattern.parse(value)
    except (TypeError, ValueError):
        return None


def _parse_bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _parse_int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _parse_float(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None


def _parse_word(value: Any) -> str | None:
    return value if isinstance(value, str) and value.isprintable() and value.split() == [value] else None


def _parse_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() and value.isprintable() else None


def _parse_path(value: Any) -> Path | None:
    if not isinstance(value, str) or not value or not value.isprintable():
        return None
    try:
        return Path(value).expanduser()
    except RuntimeError:  # `~somebody` without a home
        return None


_PARSERS: Final[dict[type, Callable[[Any], Any]]] = {
    bool: _parse_bool,
    int: _parse_int,
    float: _parse_float,
    str: _parse_word,
    Path: _parse_path,
    NamePattern: _parse_name,
}


T = TypeVar("T")
ACCOUNT_SECTIONS: Final = {section.name: section.cls for section in sections_of(Config) if section.per_account}
"""The sections that an account may have of its own."""
ACCOUNT: Final = "account"
PASSWORD: Final = "password"  # noqa: S105 - the word
PASSWORD_HELP: Final = (
    f"{', '.join(entry.name for entry in settings_of(AccountConfig) if entry.name.startswith('password_'))}"
    f" to say where it is, or the variable {DEFAULT_VARIABLE}"
)
"""Said where a file contains a password."""


def load_config(path: Path) -> Config:
    """Read a file. Raises ConfigProblemsError with everything that is wrong."""
    return config_from_tables(read_toml(path))


def config_from_tables(tables: dict[str, Any]) -> Config:
    """Make a configuration of what a file says. Raises ConfigProblemsError with everything that is wrong."""
    return _structured(_converter(), tables, Config)


def read_toml(path: Path) -> dict[str, Any]:
    """Read the tables of a file. Raises ConfigProblemsError."""
    try:
        return files.read_toml(path.read_bytes())
    except files.DocumentError as error:
        problem = ConfigProblem(str(path), "a TOML file", one_line(error))
    except UnicodeDecodeError:
        problem = ConfigProblem(str(path), "text in UTF-8", "other bytes")
    except OSError as error:
        problem = ConfigProblem(str(path), "a file that can be read", error.strerror or str(error))
    raise ConfigProblemsError((problem,))


@functools.cache
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    for section in sections_of(Config):
        hooks: dict[str, Any] = {
            setting.name: override(struct_hook=_hook(parse_value, setting)) for setting in settings_of(section.cls)
        }
        if section.name == ACCOUNT:
            hooks["overrides"] = override(omit=True)
        converter.register_structure_hook(section.cls, make_dict_structure_fn(section.cls, converter, **hooks))
    hooks = {
        section.attribute: override(rename=section.name, struct_hook=_section_hook(converter, section))
        for section in sections_of(Config)
    }
    converter.register_structure_hook(Config, make_dict_structure_fn(Config, converter, **hooks))
    return converter


def _hook(function: Callable[..., Any], *arguments: Any) -> Callable[[Any, Any], Any]:
    """Return a hook that calls the function with these arguments and the value."""
    return lambda value, _: function(*arguments, value)


def _section_hook(converter: Converter, section: Section) -> Callable[[Any, Any], Any]:
    """Return the hook that parses a section of a file."""
    if section.name == ACCOUNT:
        return _hook(_accounts, converter)
    return _hook(_several if section.repeatable else _table, converter, section.cls)


def _several(converter: Converter, table: SettingsClass, value: Any) -> tuple[Any, ...]:
    """Parse a table that a file may have several times."""
    if isinstance(value, dict):
        return (_table(converter, table, value),)
    found, problems = [], []
    for number, one in enumerate(_checked_tables(value), 1):
        try:
            found.append(_table(converter, table, one))
        except ConfigProblemsError as error:
            problems += [problem.prefixed(f"[{number}]") for problem in error.problems]
    if problems:
        raise ConfigProblemsError(problems)
    return tuple(found)


def _checked_tables(value: Any) -> list[dict[str, Any]]:
    """Return the tables of a section that a file may have several times."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ConfigProblemsError([ConfigProblem("", "a table of settings, or several", format_value(value))])
    return value


def _table(converter: Converter, table: SettingsClass, value: Any) -> Any:
    if not isinstance(value, dict):
        raise ConfigProblemsError([ConfigProblem("", "a table of settings", format_value(value))])
    return _structured(converter, value, table)


def _structured(converter: Converter, value: dict[str, Any], table: type[T]) -> T:
    try:
        return converter.structure(value, table)
    except ClassValidationError as error:
        raise ConfigProblemsError(_problems(error)) from None


# -- accounts -------------------------------------------------------------------------------------------------------


def _accounts(converter: Converter, value: Any) -> tuple[AccountConfig, ...]:
    """Parse `[account]`, or each of several `[[account]]`."""
    if isinstance(value, dict):
        return (_account(converter, value),)
    tables = _checked_tables(value)
    problems = list(_duplicate_names(tables))
    accounts = []
    for number, table in enumerate(tables, 1):
        try:
            accounts.append(_account(converter, table))
        except ConfigProblemsError as error:
            problems += [problem.prefixed(f"[{number}]") for problem in error.problems]
    if problems:
        raise ConfigProblemsError(problems)
    return tuple(accounts)


def _account(converter: Converter, table: dict[str, Any]) -> AccountConfig:
    """Parse an account: its settings, and the sections that override others for it."""
    problems: list[ConfigProblem] = []
    account, overrides = AccountConfig(), {}
    sections = {name: value for name, value in table.items() if name in ACCOUNT_SECTIONS}
    try:
        account = _structured(
            converter, {key: value for key, value in table.items() if key not in sections}, AccountConfig
        )
    except ConfigProblemsError as error:
        problems += error.problems
    for name, section in sections.items():
        try:
            settings = _table(converter, ACCOUNT_SECTIONS[name], section)
        except ConfigProblemsError as error:
            problems += [problem.prefixed(name) for problem in error.problems]
        else:
            overrides[name] = {key: getattr(settings, key) for key in section}
    if problems:
        raise ConfigProblemsError(problems)
    return evolve(account, overrides=overrides)


def _duplicate_names(tables: Sequence[dict[str, Any]]) -> Iterator[ConfigProblem]:
    """Yield the problems with the names of several accounts: each needs a name of its own."""
    seen: dict[str, int] = {}
    for number, table in enumerate(tables, 1):
        name = table.get("name")
        if name is None and len(tables) > 1:
            yield ConfigProblem(f"[{number}].name", "a name, because there are several accounts", "none")
        elif isinstance(name, str):
            if name in seen:
                yield ConfigProblem(
                    f"[{number}].name", f"another name than that of account[{seen[name]}]", format_value(name)
                )
            seen.setdefault(name, number)


# -- problems -------------------------------------------------------------------------------------------------------


def _problems(error: ClassValidationError) -> Iterator[ConfigProblem]:
    """Yield the problems in the errors that cattrs raises."""
    noted, others = error.group_exceptions()
    names = {section.attribute: section.name for section in sections_of(Config)}
    for inner, note in noted:
        if not isinstance(inner, ConfigProblemsError):
            raise inner
        for problem in inner.problems:
            yield problem.prefixed(names.get(note.name, note.name))
    for other in others:
        if not isinstance(other, ForbiddenExtraKeysError):
            raise other
        known = _known_keys(other.cl)
        for key in sorted(other.extra_fields):
            near = difflib.get_close_matches(key, known, n=1)
            if key == PASSWORD:
                expected = f"no password in this file, but {PASSWORD_HELP}"
            else:
                expected = f"{near[0]}, perhaps" if near else f"one of {', '.join(known)}"
            # The value is not shown: beside a misspelt `password_file` there may be a password.
            yield ConfigProblem(key, expected, "an unknown setting")


def _known_keys(table: type[Any]) -> list[str]:
    """Return the keys that a table may have."""
    if table is Config:
        return [section.name for section in sections_of(Config)]
    return [setting.name for setting in settings_of(table)] + (list(ACCOUNT_SECTIONS) if table is AccountConfig else [])
