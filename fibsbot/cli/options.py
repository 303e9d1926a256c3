"""Options that several commands share: numbers, configuration files and the match store.

Imports nothing slow: the settings and SQLAlchemy are imported only where a store is asked for.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from fibsbot.cli import ConfigError, UserError


class FiniteRange(click.FloatRange):
    """A range of floats, of which neither infinity nor what is no number is one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail with what was expected."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"expected a number, got {number:g}", param, ctx)
        return number


def configured_store(path: Path | None) -> str:
    """Return where a file of settings, or the defaults, keep the store."""
    # Only who asks for a store needs the settings: those of a whole bot, and what reads them.
    from fibsbot.config import Config, ConfigProblemsError, load_config  # noqa: PLC0415
    from fibsbot.config.fields import format_problems  # noqa: PLC0415

    try:
        config = load_config(path) if path else Config()
    except ConfigProblemsError as error:
        raise ConfigError(format_problems(path or Path(), error.problems)) from None
    if config.service.store is None:
        raise UserError(f"{path} keeps no store")
    return config.service.store


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Tell in one line why a store cannot be used."""
    try:
        yield
    except Exception as error:
        store = sys.modules.get("fibsbot.records.store")  # SQLAlchemy is slow to import, and files need none
        if store and isinstance(error, store.StoreError):
            raise UserError(str(error)) from None
        raise
