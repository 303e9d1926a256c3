"""Boards and progress on a terminal, checks of output files, and standard input as a file.

What needs rich is imported only for a terminal.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from fibsbot.cli import ProgressDisplay, Stream, UserError
from fibsbot.drawing.markup import clean
from fibsbot.files import check_can_create, os_errors_as

NAME: Final = "fibsbot"
_COLOUR_VARIABLES: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Environment variables by which rich takes any output for a terminal."""


def print_board(lines: Sequence[str]) -> None:
    """Print a drawn board, in a terminal with colours."""
    if not sys.stdout.isatty() and not any(variable in os.environ for variable in _COLOUR_VARIABLES):
        click.echo("\n".join(lines))
        return
    from fibsbot.cli import terminal  # noqa: PLC0415 - only a terminal needs rich

    terminal.print_board(lines)


def typed_name() -> str:
    """Return what to type for this program: `fibsbot` where the shell finds it, else its path as it was typed."""
    run = sys.argv[0]
    if Path(run).name != NAME:
        return NAME  # from Python
    found = shutil.which(NAME)
    return NAME if found and Path(found).resolve() == Path(run).resolve() else shlex.quote(run)


@contextlib.contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[ProgressDisplay]:
    """Yield a progress bar, which appears after a moment, on a terminal only."""
    if not (shown and sys.stderr.isatty()):
        yield ProgressDisplay()
        return
    from fibsbot.cli import terminal  # noqa: PLC0415 - only a terminal needs rich

    with terminal.progress_bar(what) as display:
        yield display


@contextlib.contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show a spinner after a moment, on a terminal only, for work of unknown duration."""
    if not sys.stderr.isatty():
        yield
        return
    from fibsbot.cli import terminal  # noqa: PLC0415 - only a terminal needs rich

    with terminal.spinner(what):
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
    import shutil  # noqa: PLC0415 - see `tempfile`
    import tempfile  # noqa: PLC0415 - slow to import, and most commands read no standard input

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
