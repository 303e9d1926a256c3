"""`fibsbot archive`: an archive of matches as Parquet files: add, study, query."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fibsbot.archive.dataset import ArchiveError, MissingDuckDBError
from fibsbot.archive.reader import DEFAULT_FOLDER, Archive, QueryError, open_archive
from fibsbot.cli import ConfigError, UserError
from fibsbot.cli.options import WorkerOptions, configured_store, store_errors, worker_options
from fibsbot.cli.output import progress_bar
from fibsbot.draw.markup import clean
from fibsbot.text import plural

MAX_PROBLEMS: Final = 20
"""Files that could not be read that are listed; the table `sources` has all."""
MAX_ROWS: Final = 1000
"""Rows that are shown as a table for people."""

archive_option: Final = click.option(
    "--archive",
    "folder",
    metavar="DIR",
    default=DEFAULT_FOLDER,
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the archive.",
)


@click.group()
def archive() -> None:
    """Keep an archive of matches, and ask it questions.

    An archive is a folder of Parquet files, which notebooks and other programs read as well. It needs the extra
    `archive` (DuckDB).
    """


@contextlib.contextmanager
def archive_errors() -> Iterator[None]:
    """Turn the errors of an archive into those of the command line."""
    try:
        yield
    except MissingDuckDBError as error:
        raise ConfigError(str(error)) from None
    except (ArchiveError, QueryError) as error:
        raise UserError(str(error)) from None


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Archive]:
    """Open an archive for reading."""
    with archive_errors(), open_archive(folder) as found:
        yield found


@archive.command()
@click.argument("paths", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--store", metavar="PLACE", is_flag=False, flag_value="", help="Add the matches of this store, a file or a URL."
)
@click.option(
    "--config", metavar="FILE", type=click.Path(path_type=Path), help="Configuration file that names the store."
)
@archive_option
@worker_options
def add(paths: tuple[Path, ...], store: str | None, config: Path | None, folder: Path, workers: WorkerOptions) -> None:
    """Add matches to an archive, which is made if there is none.

    FILE is whatever shows matches, or a folder, tar or zip file of such files: session logs, captures of any client,
    .mat, SGF, oldmoves, our own JSON, each also compressed by gzip. A match that the archive has, whatever file it came
    from, is not added again. Files that cannot be read are listed. An interrupted run goes on when it is started again.
    """
    if not paths and store is None and config is None:
        raise UserError("expected FILE, or a store with --store or --config")
    for path in paths:
        if not path.exists():
            raise UserError(f"cannot read {path}: No such file or directory")
    place = store or configured_store(config) if store is not None or config is not None else None
    with archive_errors(), store_errors():
        _add(paths, place, folder, workers)


def _add(paths: tuple[Path, ...], place: str | None, folder: Path, workers: WorkerOptions) -> None:
    from fibsbot.archive.dataset import Dataset, connect  # noqa: PLC0415

    connect().close()  # the extra is missing: say so before the readers are imported
    from fibsbot.archive.adding import Adding, store_sources  # noqa: PLC0415 - slow to import: all readers
    from fibsbot.archive.sources import sources_of  # noqa: PLC0415

    total = sum(_size(path) for path in paths)
    problems: list[str] = []
    done = 0
    with Dataset.open(folder) as dataset, workers.open() as pool, progress_bar("bytes") as show:

        def tick(size: int) -> None:
            nonlocal done
            done += size
            show(done, total or None)

        run = Adding(dataset, tick, lambda name, problem: problems.append(f"{name}: {problem}"))
        try:
            run.run(sources_of(paths, folder), pool)
            if place is not None:
                run.run(store_sources(place), pool)
        finally:
            for line in problems[:MAX_PROBLEMS]:
                click.echo(clean(line, 300), err=True)
            if len(problems) > MAX_PROBLEMS:
                more = len(problems) - MAX_PROBLEMS
                click.echo(f"... and {more:,} more; the table `sources` has all", err=True)
            result = run.result
            again = f", {result.skipped:,} read before" if result.skipped else ""
            click.echo(
                f"{folder}: {plural(result.new, 'match')} added ({plural(result.decisions, 'decision')}), "
                f"{result.matches - result.new:,} known; {plural(result.files, 'file')}{again}, "
                f"{result.problems:,} with problems"
            )


def _size(path: Path) -> int:
    """Return the bytes of a file or of all files below a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(it.stat().st_size for it in path.rglob("*") if it.is_file())


@archive.command()
@click.argument("sql")
@archive_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row, each on a line.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a line of column names.")
def query(sql: str, folder: Path, *, as_json: bool, as_csv: bool) -> None:
    """Answer a question in SQL.

    The views are matches, games, decisions, players, sources and judgements; the dialect is that of DuckDB. Only one
    SELECT is allowed, and nothing but the archive can be read.
    """
    if as_json and as_csv:
        raise UserError("expected --json or --csv, got both")
    with opened(folder) as found:
        columns, rows = found.stream(sql)
        print_rows(columns, rows, as_json=as_json, as_csv=as_csv)


def print_rows(
    columns: list[str], rows: Iterator[tuple[Any, ...]], *, as_json: bool = False, as_csv: bool = False
) -> None:
    """Print rows as a table for people, as JSON lines or as CSV."""
    if as_json:
        for row in rows:
            click.echo(json.dumps(dict(zip(columns, row, strict=True)), default=str))
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(escape(clean(column, 60)), overflow="fold")
    count = 0
    for count, row in enumerate(rows, 1):
        if count > MAX_ROWS:
            break
        table.add_row(*(escape(_text(value)) for value in row))
    Console(highlight=False, soft_wrap=not sys.stdout.isatty()).print(table)
    if count > MAX_ROWS:
        click.echo(f"more than {MAX_ROWS:,} rows: --json or --csv prints all, LIMIT fewer", err=True)


def _text(value: Any) -> str:
    """Return a value for people."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return clean(str(value), 200)
