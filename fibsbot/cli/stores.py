"""What commands that read a store share: where it is, why it cannot be read, and how far they are."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from fibsbot.cli import ConfigError, UserError
from fibsbot.config import Config, ConfigProblemsError, load_config
from fibsbot.config.problems import told
from fibsbot.records.store import StoreError

PATIENCE: Final = 2.0
"""Seconds before a progress bar is shown."""


def place_by_config(path: Path | None) -> str:
    """Return where a file of settings, or the defaults, keep the store."""
    try:
        config = load_config(path) if path else Config()
    except ConfigProblemsError as error:
        raise ConfigError(told(path or Path(), error.problems)) from None
    if config.service.store is None:
        raise UserError(f"{path} keeps no store")
    return config.service.store


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Tell in one line why a store cannot be used."""
    try:
        yield
    except StoreError as error:
        raise UserError(str(error)) from None


@contextlib.contextmanager
def shown_progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Give what shows how far it is, of how much if that is known, once it has taken PATIENCE and somebody watches."""
    bar = Progress(
        TextColumn(what),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task(what, total=None)
    begun = time.monotonic()

    def show(done: int, of: int | None) -> None:
        if time.monotonic() - begun > PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=of)

    try:
        yield show
    finally:
        bar.stop()
