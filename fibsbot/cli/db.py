"""`fibsbot db`: maintenance of the match store."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fibsbot.cli import UserError
from fibsbot.cli.options import FILE, configured_store, store_errors
from fibsbot.cli.output import check_free, progress_bar
from fibsbot.config import Config

if TYPE_CHECKING:
    from fibsbot.records.store.maintenance import IntegrityReport

# Functions that touch a store import it themselves: SQLAlchemy takes longer to import than all the rest.


def _store_of_config(ctx: click.Context, _param: click.Parameter, path: Path | None) -> None:
    """Make the store of a configuration file the default of `--store`."""
    ctx.default_map = {"store": configured_store(path)}


def _store_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name the store."""
    config = click.option(
        "--config",
        is_eager=True,
        expose_value=False,
        metavar="FILE",
        callback=_store_of_config,
        type=click.Path(path_type=Path),
        help="Configuration file that names the store.",
    )
    store = click.option(
        "--store", metavar="PLACE", help=f"Match store: a file or a URL.  [default: {Config().service.store}]"
    )
    return config(store(command))


@click.group()
def db() -> None:
    """Maintain the match store.

    The store is what the settings call `service.store`: an SQLite file, or the URL of a PostgreSQL database. All of
    these may be used while bots write into it.
    """


@db.command()
@_store_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(store: str, *, as_json: bool) -> None:
    """Look for damage and contradictions.

    Checks the file, the references between tables, and what has to be true of matches, games and decisions. Each
    problem is printed in a line, and the exit status is 1 if there is any. Results that contradict each other because
    a server reported them so are listed, too, but are no problems.
    """
    from fibsbot.records.store import Store  # noqa: PLC0415
    from fibsbot.records.store.database import public_url  # noqa: PLC0415
    from fibsbot.records.store.maintenance import check_integrity as check_store  # noqa: PLC0415

    with store_errors(), Store.open(store) as opened, progress_bar("checking") as progress:
        report = check_store(opened, progress)
        place = public_url(opened.url)
    if as_json:
        row = {"store": place, "version": report.version, "counts": report.counts, "problems": report.problems}
        row["contradictions"] = report.contradictions
        click.echo(json.dumps(row))
    else:
        _print(place, report)
    sys.exit(1 if report.problems else 0)


def _print(place: str, report: IntegrityReport) -> None:
    width = max(map(len, report.counts))
    click.echo(f"{place}, schema version {report.version}")
    for name, count in report.counts.items():
        click.echo(f"  {name.replace('_', ' '):{width}} {count:>10}")
    for problem in report.problems:
        click.echo(f"problem: {problem}")
    for contradiction in report.contradictions:
        click.echo(f"as the server reported it: {contradiction}")
    click.echo(f"Problems: {len(report.problems)}" if report.problems else "Nothing is wrong.")


@db.command()
@click.argument("target", metavar="OUT", type=FILE)
@_store_options
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def backup(store: str, target: Path, *, force: bool) -> None:
    """Copy the store into a file, and check the copy.

    The copy shows the store as it is at one moment, whatever bots write meanwhile, and can be used in its place. It
    appears under its name only once it is whole. For a store on PostgreSQL, use pg_dump.
    """
    from fibsbot.records.store.maintenance import backup_store  # noqa: PLC0415

    check_free(target, force=force)
    with store_errors(), progress_bar("copying") as progress:
        backup_store(store, target, progress)
    click.echo(f"{target}: {target.stat().st_size} bytes, checked")


@db.command()
@click.argument("target", metavar="PLACE")
@_store_options
def copy(store: str, target: str) -> None:
    """Copy all rows into an empty store, also from SQLite to PostgreSQL or back.

    PLACE is a file, which is created if it does not exist, or the URL of a PostgreSQL database. The rows are those of
    one moment; what bots write later is not copied, so stop them before you move a store.
    """
    from fibsbot.records.store import Store  # noqa: PLC0415
    from fibsbot.records.store.database import database_url, public_url  # noqa: PLC0415
    from fibsbot.records.store.maintenance import copy_rows  # noqa: PLC0415
    from fibsbot.text import plural  # noqa: PLC0415

    with store_errors(), Store.open(store) as opened, progress_bar("copying") as progress:
        rows = copy_rows(opened, target, progress)
        place = public_url(database_url(target))
    click.echo(f"{place}: {plural(rows, 'row')}")


@db.command()
@_store_options
@click.option(
    "--format", "kind", default="jsonl", show_default=True, type=click.Choice(["jsonl", "csv"]), help="Output format."
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="File or folder.  [default: stdout]",
)
@click.option("--force", is_flag=True, help="Replace the file OUT if it exists.")
def export(store: str, kind: str, target: Path | None, *, force: bool) -> None:
    """Write all rows as text.

    jsonl is one JSON object per row, with its table's name as `table`; csv is a folder OUT with one file per table. The
    order is always the same: tables after those that they refer to, rows by their keys. Times are UTC. A store of a
    version that is not read otherwise is written as it is.
    """
    from fibsbot.records.store import Store  # noqa: PLC0415
    from fibsbot.records.store.maintenance import export_store, write_jsonl  # noqa: PLC0415

    as_csv = kind == "csv"
    if as_csv and target is None:
        raise UserError("expected -o OUT, the folder to make, with --format csv")
    with store_errors(), Store.open(store, any_version=True) as opened, progress_bar("writing") as progress:
        if target is None:
            write_jsonl(opened, sys.stdout, progress)
        else:
            if as_csv and target.exists():
                raise UserError(f"{target} already exists")
            check_free(target, force=force)
            export_store(opened, target, as_csv=as_csv, progress=progress)
