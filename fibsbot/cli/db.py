"""`fibsbot db`: the store of matches, looked after."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from fibsbot.cli import ConfigError, UserError
from fibsbot.config import Config, ConfigProblemsError, load_config
from fibsbot.config.problems import told
from fibsbot.records.store import Store, StoreError
from fibsbot.records.store.checking import Report
from fibsbot.records.store.checking import check as check_store
from fibsbot.records.store.copying import backup as backup_store
from fibsbot.records.store.copying import export as export_store
from fibsbot.records.store.copying import write_jsonl
from fibsbot.records.store.database import locate, shown
from fibsbot.records.store.migrations import upgrade as upgrade_store

PATIENCE: Final = 2.0
"""Seconds before a progress bar is shown."""


def _store_of_config(ctx: click.Context, _param: click.Parameter, path: Path | None) -> None:
    """Make the store that a file of settings names the default of `--store`."""
    try:
        config = load_config(path) if path else Config()
    except ConfigProblemsError as error:
        raise ConfigError(told(path or Path(), error.problems)) from None
    if config.service.store is None:
        raise UserError(f"{path} keeps no store")
    ctx.default_map = {"store": config.service.store}


def _which_store(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say which store."""
    config = click.option(
        "--config",
        is_eager=True,
        expose_value=False,
        metavar="FILE",
        callback=_store_of_config,
        type=click.Path(path_type=Path),
        help="File of settings that names the store.",
    )
    store = click.option(
        "--store", metavar="PLACE", help=f"The store: a file or a URL.  [default: {Config().service.store}]"
    )
    return config(store(command))


@click.group()
def db() -> None:
    """Look after the store of matches.

    The store is what the settings call `service.store`: an SQLite file, or the URL of a PostgreSQL database. All of
    these may be used while bots write into it.
    """


@db.command()
@_which_store
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(store: str, *, as_json: bool) -> None:
    """Look for damage and contradictions.

    Checks the file, the references between tables, and what has to be true of matches, games and decisions. Each
    problem is told in a line, and the exit status is 1 if there is any.
    """
    with _errors(), Store.open(store) as opened, _progress("checking") as progress:
        report = check_store(opened, progress)
        place = shown(opened.url)
    if as_json:
        row = {"store": place, "version": report.version, "counts": report.counts, "problems": report.problems}
        click.echo(json.dumps(row))
    else:
        _print(place, report)
    sys.exit(1 if report.problems else 0)


def _print(place: str, report: Report) -> None:
    width = max(map(len, report.counts))
    click.echo(f"{place}, schema version {report.version}")
    for name, count in report.counts.items():
        click.echo(f"  {name.replace('_', ' '):{width}} {count:>10}")
    for problem in report.problems:
        click.echo(f"problem: {problem}")
    click.echo(f"Problems: {len(report.problems)}" if report.problems else "Nothing is wrong.")


@db.command()
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path))
@_which_store
@click.option("--force", is_flag=True, help="Replace OUT if it is there.")
def backup(store: str, target: Path, *, force: bool) -> None:
    """Copy the store into a file, and check the copy.

    The copy shows the store as it is at one moment, whatever bots write meanwhile, and can be used in its place. It
    appears under its name only once it is whole. For a store on PostgreSQL, use pg_dump.
    """
    _check_free(target, force=force)
    with _errors(), _progress("copying") as progress:
        backup_store(store, target, progress)
    click.echo(f"{target}: {target.stat().st_size} bytes, checked")


@db.command()
@_which_store
@click.option(
    "--format", "kind", default="jsonl", show_default=True, type=click.Choice(["jsonl", "csv"]), help="How to write."
)
@click.option(
    "-o", "--output", "target", metavar="OUT", type=click.Path(path_type=Path), help="Where to; else standard output."
)
@click.option("--force", is_flag=True, help="Replace the file OUT if it is there.")
def export(store: str, kind: str, target: Path | None, *, force: bool) -> None:
    """Write all rows as text.

    jsonl is one JSON object a row, with its table's name as `table`; csv is a folder OUT with a file a table. The order
    is always the same: tables after those that they refer to, rows by their keys. Times are UTC.
    """
    as_csv = kind == "csv"
    if as_csv and target is None:
        raise UserError("expected -o OUT, the folder to make, with --format csv")
    with _errors(), Store.open(store) as opened, _progress("writing") as progress:
        if target is None:
            write_jsonl(opened, sys.stdout, progress)
        else:
            _check_free(target, force=force and not as_csv)
            export_store(opened, target, as_csv=as_csv, progress=progress)


@db.command()
@_which_store
def upgrade(store: str) -> None:
    """Bring the tables up to what this version of the program uses.

    A bot that writes into the store does the same when it starts. There is no way back, so make a backup before.
    """
    with _errors():
        before, after = upgrade_store(store)
    place = shown(locate(store))
    click.echo(f"{place}: schema version {after}" + (f", was {before}" if before != after else " already"))


def _check_free(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise UserError(f"{target} is there already")


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Tell in one line why a store cannot be used."""
    try:
        yield
    except StoreError as error:
        raise UserError(str(error)) from None


@contextlib.contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give what shows how far it is, once it has taken PATIENCE and if somebody is watching."""
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

    def show(done: int, of: int) -> None:
        if time.monotonic() - begun > PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=of)

    try:
        yield show
    finally:
        bar.stop()
