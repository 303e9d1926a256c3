"""Progress bars, and checks that an output file can be written."""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from fibsbot.cli import UserError

PROGRESS_DELAY: Final = 2.0
"""Seconds before a progress bar is shown."""


@contextlib.contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[Callable[[float, float | None], None]]:
    """Give what shows how far it is, of how much if that is known.

    The bar appears once it has taken PATIENCE, if somebody watches and nothing else is shown.
    """
    bar = Progress(
        TextColumn(what),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not (shown and sys.stderr.isatty()),
    )
    task = bar.add_task(what, total=None)

    def show(done: float, of: float | None) -> None:
        bar.update(task, completed=done, total=of)

    with _start_later(bar):
        yield show


@contextlib.contextmanager
def _start_later(bar: Progress) -> Iterator[None]:
    """Show a bar once it has taken PATIENCE, even if nothing has been done by then."""
    if bar.disable:
        yield
        return
    timer = threading.Timer(PROGRESS_DELAY, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


@contextlib.contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show that something is going on of which nobody knows how long it takes, once it has taken PATIENCE."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    waiting = Progress(SpinnerColumn(), TextColumn(what), TimeElapsedColumn(), console=console, transient=True)
    waiting.add_task(what, total=None)
    with _start_later(waiting):
        yield


@contextlib.contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Take SIGTERM for Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_writable(target: Path, *, parents: bool = False) -> None:
    """Check that a file, or with `parents` a folder in new folders, can be made in its place. Raises UserError."""
    folder = target.absolute().parent
    while parents and not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise UserError(f"there is no folder {target.parent} for {target.name}")
    try:
        with tempfile.TemporaryFile(dir=target if target.is_dir() else folder):
            pass
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
