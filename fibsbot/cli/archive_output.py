"""What the commands of `fibsbot archive` share: the option of the folder, its errors, rows and tables on stdout."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import itertools
import json
import math
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import click
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fibsbot.archive.dataset import ArchiveError, MissingDuckDBError
from fibsbot.archive.reader import DEFAULT_FOLDER, Archive, QueryError, open_archive
from fibsbot.cli import ConfigError, UserError
from fibsbot.cli.options import (
    FOLDER,
)
from fibsbot.drawing.markup import clean
from fibsbot.text import errors_as

FILE_WIDTH: Final = 1000
"""Columns of a table that is not shown on a terminal, so that each row is one line."""
UNBROKEN: Final = frozenset({"position"})
"""Columns that are copied into other commands, and so stay in one piece on a narrow terminal."""
MAX_ROWS: Final = 1000
"""Rows that are shown as a table for people."""

archive_option: Final = click.option(
    "--archive",
    "folder",
    metavar="DIR",
    default=DEFAULT_FOLDER,
    show_default=True,
    type=FOLDER,
    help="Folder of the archive.",
)


def archive_errors() -> contextlib.AbstractContextManager[None]:
    """Turn the errors of an archive into those of the command line."""
    return errors_as((MissingDuckDBError, ConfigError), (ArchiveError, UserError), (QueryError, UserError))


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Archive]:
    """Open an archive for reading."""
    with archive_errors(), open_archive(folder) as found:
        yield found


def print_rows(
    columns: list[str], rows: Iterator[tuple[Any, ...]], *, as_json: bool = False, as_csv: bool = False
) -> None:
    """Print rows as a table for people, as JSON lines or as CSV."""
    if as_json:
        if twice := [name for name, times in Counter(columns).items() if times > 1]:
            raise UserError(f"expected a different name for each column with --json, got {twice[0]} twice")
        for row in rows:
            click.echo(json.dumps(dict(zip(columns, map(_json_value, row), strict=True)), allow_nan=False))
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return
    shown = list(itertools.islice(rows, MAX_ROWS + 1))
    print_table(columns, [tuple(map(_text, row)) for row in shown[:MAX_ROWS]])
    if len(shown) > MAX_ROWS:
        click.echo(f"more than {MAX_ROWS:,} rows: --json or --csv prints all, LIMIT fewer", err=True)


def print_table(columns: list[str], rows: list[tuple[str, ...]], left: list[bool] | None = None) -> None:
    """Print texts as a table; `left` says which columns are not numbers, by default all.

    If it is too wide for a terminal, headings are broken where their column has shorter texts.
    """
    console = _console()
    headings = [clean(column, 60) for column in columns]
    widths = [max(map(cell_len, texts)) for texts in zip(headings, *rows, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) > console.width:
        contents = zip(*rows, strict=True) if rows else [("",)] * len(columns)
        headings = [
            _broken(heading, max(map(cell_len, texts))) for heading, texts in zip(headings, contents, strict=True)
        ]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, heading, is_text in zip(columns, headings, left or [True] * len(columns), strict=True):
        table.add_column(
            escape(heading),
            overflow="fold",
            justify="left" if is_text else "right",
            no_wrap=column in UNBROKEN,
        )
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


def print_text(text: str) -> None:
    """Print lines of text, broken between words on a terminal."""
    for line in text.splitlines():
        click.echo("\n".join(textwrap.wrap(clean(line, len(line)), _console().width)))


def _console() -> Console:
    is_terminal = sys.stdout.isatty()
    width = None if is_terminal or "COLUMNS" in os.environ else FILE_WIDTH
    return Console(highlight=False, soft_wrap=not is_terminal, width=width)


def _broken(heading: str, width: int) -> str:
    """Return a heading as lines of this width, or as wide as its longest word."""
    return "\n".join(textwrap.wrap(heading, max(width, *map(len, heading.split())))) if heading else ""


def _json_value(value: Any) -> Any:
    """Return a value of the archive as JSON has it: a number that is none as null, bytes as hexadecimal digits."""
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _text(value: Any) -> str:
    """Return a value for people."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return clean(str(value), 200)
