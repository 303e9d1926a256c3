"""Option types and options that several commands share: numbers, player names, configuration files, the match store.

Imports nothing slow: settings and SQLAlchemy are imported only if a command needs them.
"""

from __future__ import annotations

import contextlib
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fibsbot.cli import ConfigError, UserError

if TYPE_CHECKING:
    from fibsbot.config import Config


class FiniteRange(click.FloatRange):
    """A range of finite floats."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail with what was expected."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"expected a number, got {number:g}", param, ctx)
        return number


class PlayerName(click.ParamType[str]):
    """A player name of FIBS."""

    name = "name"
    _PATTERN = re.compile(r"[A-Za-z_]{1,20}")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with what was expected."""
        if not self._PATTERN.fullmatch(str(value)):
            self.fail(f"expected letters and underscores, at most 20, got {value!r}", param, ctx)
        return str(value)


class GameName(click.ParamType[str]):
    """A game other than backgammon by its name, with options after colons."""

    name = "game"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name in lower case, or fail with what was expected."""
        from fibsbot.games import UnknownGameError, load_ruleset  # noqa: PLC0415 - most commands need no game

        try:
            return load_ruleset(str(value)).full_name
        except UnknownGameError as error:
            self.fail(str(error), param, ctx)


def load_config_file(path: Path | None) -> Config:
    """Return the settings of a configuration file, or the defaults without one; raise ConfigError."""
    from fibsbot.config import Config, ConfigProblemsError, load_config  # noqa: PLC0415 - the settings of a whole bot
    from fibsbot.config.fields import format_problems  # noqa: PLC0415

    try:
        return load_config(path) if path else Config()
    except ConfigProblemsError as error:
        raise ConfigError(format_problems(path or Path(), error.problems)) from None


def configured_store(path: Path | None) -> str:
    """Return the location of the store by a configuration file, or by the defaults without one."""
    store = load_config_file(path).service.store
    if store is None:
        raise UserError(f"{path} keeps no store")
    return store


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Turn a StoreError into a UserError."""
    try:
        yield
    except Exception as error:
        store = sys.modules.get("fibsbot.records.store")  # SQLAlchemy is slow to import, and files need none
        if store and isinstance(error, store.StoreError):
            raise UserError(str(error)) from None
        raise
