"""How a program comes by its tables: kept from before, computed now, or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from fibsbot.engine.bearoff.keeping import Kept, UnusableError, keep, load, path_for
from fibsbot.engine.bearoff.tables import Tables

USUAL: Final = 6
"""Checkers a side in the two-sided table, unless somebody asks for more."""
LARGEST: Final = 8
"""The most that may be asked for: each checker more takes three times the memory."""


def to_stderr(text: str) -> None:
    """Say something in a line on stderr."""
    sys.stderr.write(f"{text}\n")


def load_tables(
    *,
    compute: bool,
    checkers: int | None = None,
    folder: Path | None = None,
    tell: Callable[[str], None] = to_stderr,
) -> Tables | None:
    """Return the bear-off tables.

    Args:
        compute: Whether to compute and keep them where there are none that can be used. That takes a few seconds, with
            a progress bar if stderr is a terminal. A program with several processes lets one of them do so before it
            starts the others.
        checkers: For how many checkers of each side the two-sided table is to be; None takes the largest that is kept,
            and computes it for 6.
        folder: Where they are kept, if not where `keeping.cache_folder` says.
        tell: Gets one line where a file that is there cannot be used, or tables cannot be kept.

    Returns:
        The tables; None where there are none and they are not to be computed. An engine works without them: it
        passes `lookup.NO_COLUMNS` to what is compiled, asks its networks instead, and should say so.
    """
    for count in range(LARGEST, USUAL - 1, -1) if checkers is None else (checkers,):
        path = path_for(count, folder)
        try:
            return load(path, count)[0]
        except FileNotFoundError:
            continue
        except UnusableError as error:
            then = "; they are computed again" if compute and count == (checkers or USUAL) else ""
            tell(f"cannot use the bear-off tables {path}: {error}{then}")
    if not compute:
        return None
    tables, _ = build(checkers or USUAL, folder, tell)
    return tables


def build(checkers: int, folder: Path | None, tell: Callable[[str], None]) -> tuple[Tables, Kept | None]:
    """Compute the tables and keep them; where that is impossible it is told, and None stands for the file."""
    from fibsbot.engine.bearoff.computing import compute  # noqa: PLC0415 - loads the engine

    with _progress() as show:
        tables = compute(checkers, show)
    path = path_for(checkers, folder)
    try:
        return tables, keep(tables, path)
    except OSError as error:
        tell(f"cannot keep the bear-off tables as {path}: {error.strerror or error}; they last as long as this program")
    return tables, None


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """Show how far it is, if somebody watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - only who computes needs it
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

    with Progress(
        TextColumn("bear-off tables"),
        BarColumn(),
        TaskProgressColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda part: bar.update(task, completed=part, total=1)
