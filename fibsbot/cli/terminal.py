"""What commands show on a terminal alone, by rich: boards in colours, progress bars and spinners."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Final

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

from fibsbot.cli import ProgressDisplay
from fibsbot.drawing.coloured_board import styled_board
from fibsbot.text import plural
from fibsbot.workers.pool import PoolProgress

PROGRESS_DELAY: Final = 2.0
"""Seconds before a progress bar is shown."""


def print_board(lines: Sequence[str]) -> None:
    """Print a drawn board, with colours if this is a terminal for rich."""
    console = Console(highlight=False)
    board = styled_board(list(lines)) if console.is_terminal else "\n".join(lines)
    console.print(board, markup=False, soft_wrap=True)


@frozen
class _BarDisplay(ProgressDisplay):
    """A progress bar."""

    bar: Progress
    task: TaskID

    def __call__(self, done: float, of: float | None) -> None:
        """Show how much is done."""
        self.bar.update(self.task, completed=done, total=of)

    def follow(self, progress: PoolProgress) -> None:
        """Show how many workers there are if there are several or none."""
        self.bar.update(self.task, note="" if progress.workers == 1 else plural(progress.workers, "worker"))


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[ProgressDisplay]:
    """Yield a progress bar on stderr, which appears after PROGRESS_DELAY."""
    bar = Progress(
        TextColumn(what),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None, note="")
    with _start_later(bar):
        yield _BarDisplay(bar, task)


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
    """Show a spinner on stderr after PROGRESS_DELAY."""
    console = Console(stderr=True)
    waiting = Progress(SpinnerColumn(), TextColumn(what), TimeElapsedColumn(), console=console, transient=True)
    waiting.add_task(what, total=None)
    with _start_later(waiting):
        yield
