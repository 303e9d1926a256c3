"""Progress bars, checks of output files, and standard input as a file."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
from attrs import frozen
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from fibsbot.cli import Stream, UserError
from fibsbot.draw.markup import clean
from fibsbot.files import check_can_create, os_errors_as
from fibsbot.text import plural
from fibsbot.workers.pool import PoolProgress

PROGRESS_DELAY: Final = 2.0
"""Seconds before a progress bar is shown."""


@frozen
class ProgressDisplay:
    """A progress bar; called with the amount done and the total, if known."""

    bar: Progress
    task: TaskID

    def __call__(self, done: float, of: float | None) -> None:
        """Show how much is done."""
        self.bar.update(self.task, completed=done, total=of)

    def follow(self, progress: PoolProgress) -> None:
        """Show the rate, and how many workers there are if there are several or none."""
        workers = "" if progress.workers == 1 else f", {plural(progress.workers, 'worker')}"
        self.bar.update(self.task, note=f"{progress.rate:.1f} pieces/s{workers}")


@contextlib.contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[ProgressDisplay]:
    """Yield a progress bar.

    The bar appears after PROGRESS_DELAY, on a terminal only.
    """
    bar = Progress(
        TextColumn(what),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        transient=True,
        disable=not (shown and sys.stderr.isatty()),
    )
    task = bar.add_task(what, total=None, note="")
    with _start_later(bar):
        yield ProgressDisplay(bar, task)


def counting_bar() -> Progress:
    """Return a bar that counts something, with a text `running` at its end, on a terminal only."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[running]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


@contextlib.contextmanager
def _start_later(bar: Progress) -> Iterator[None]:
    """Start a bar after PROGRESS_DELAY, even if nothing has been done by then."""
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
    """Show a spinner after PROGRESS_DELAY, for work of unknown duration."""
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
    """Handle SIGTERM as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


STDIO: Final = "-"
"""The file name for standard input or output."""


@contextlib.contextmanager
def saved_stdin() -> Iterator[Path]:
    """Yield the path of a temporary file with the contents of standard input."""
    with tempfile.TemporaryDirectory(prefix="fibsbot-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


MAX_LINES: Final = 100
"""Lines of a list, such as what could not be read, that are printed."""


def print_lines(lines: Sequence[str], *, err: bool = False) -> None:
    """Print lines, if there are many only the first of them."""
    for line in lines[:MAX_LINES]:
        click.echo(clean(line, 300), err=err)
    if len(lines) > MAX_LINES:
        click.echo(f"... and {len(lines) - MAX_LINES:,} more", err=err)


def write_bytes(content: bytes) -> None:
    """Write bytes to standard output as they are."""
    if isinstance(out := sys.stdout, Stream):
        out.write_bytes(content)
    else:
        sys.stdout.buffer.write(content)


def check_free(target: Path, *, force: bool) -> None:
    """Raise UserError if a file exists, unless it may be replaced."""
    if target.exists() and not force:
        raise UserError(f"{target} already exists; --force replaces it")


def check_writable(target: Path, *, parents: bool = False) -> None:
    """Raise UserError if a file, or with `parents` a folder in new folders, cannot be created."""
    if not parents and not target.absolute().parent.is_dir():
        raise UserError(f"there is no folder {target.parent} for {target.name}")
    with os_errors_as(UserError, f"cannot write {target}"):
        check_can_create(target if parents else target.parent)
