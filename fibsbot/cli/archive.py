"""`fibsbot archive`: makes an archive of matches as Parquet files, judges it, and answers questions in SQL."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from fibsbot.cli import UserError
from fibsbot.cli.archive_output import archive_errors, archive_option, opened, print_rows
from fibsbot.cli.archive_questions import QUESTIONS
from fibsbot.cli.options import (
    WorkerOptions,
    configured_store,
    store_errors,
    worker_options,
)
from fibsbot.cli.output import progress_bar
from fibsbot.drawing.markup import clean
from fibsbot.engine import MAX_PLIES, short_details
from fibsbot.text import plural

if TYPE_CHECKING:
    from fibsbot.records.store import Store


MAX_PROBLEMS: Final = 20
"""Files that could not be read that are listed; the table `sources` has all."""
JOURNAL: Final = ".study"
"""Pieces that are judged and not yet written."""


@click.group()
def archive() -> None:
    """Keep an archive of matches, and ask it questions.

    An archive is a folder of Parquet files, which notebooks and other programs read as well. It needs the extra
    `archive` (DuckDB).
    """


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
    """Add matches to an archive, which is created if there is none.

    FILE contains matches, or is a folder, tar or zip file of such files: session logs, captures of any client, .mat,
    SGF, .xg, .bgf, oldmoves, our own JSON, each also compressed by gzip. A match that the archive has, whatever file it
    came from, is not added again. Files that cannot be read are listed. To continue an interrupted run, start it again.
    """
    if not paths and store is None and config is None:
        raise UserError("expected FILE, or a store with --store or --config")
    for path in paths:
        if not path.exists():
            raise UserError(f"cannot read {path}: No such file or directory")
    place = store or configured_store(config) if store is not None or config is not None else None
    with archive_errors(), store_errors(), contextlib.ExitStack() as held:
        source = None if place is None else held.enter_context(_open_store(place))  # before the archive is made
        _add(paths, source, folder, workers)


def _open_store(place: str) -> Store:
    from fibsbot.records.store import Store  # noqa: PLC0415 - SQLAlchemy is slow to import

    return Store.open(place)


def _add(paths: tuple[Path, ...], store: Store | None, folder: Path, workers: WorkerOptions) -> None:
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

        run = Adding(dataset, tick, lambda name, problem: problems.append(f"{name}: {problem}"), show.follow)
        try:
            run.run(sources_of(paths, folder), pool)
            if store is not None:
                run.run(store_sources(store), pool)
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
                f"{result.known:,} known; {plural(result.files, 'file')}{again}, "
                f"{result.problems:,} with problems"
            )


def _size(path: Path) -> int:
    """Return the bytes of a file or of all files below a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


@archive.command()
@archive_option
@click.option(
    "--plies",
    metavar="N",
    default=0,
    show_default=True,
    type=click.IntRange(0, MAX_PLIES),
    help=f"Plies that the engine looks ahead, 0 to {MAX_PLIES}.",
)
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Judge N matches at most.")
@worker_options
def study(folder: Path, plies: int, limit: int | None, workers: WorkerOptions) -> None:
    """Judge the decisions that the engine has not judged yet.

    Judgements hold the loss of each decision, the best one, the luck of each roll, the chances, and the class of the
    position. Those made at other plies, by another version or with other networks are kept as well. To continue an
    interrupted run, start it again.
    """
    with archive_errors():
        _study(folder, plies, limit, workers)


def _study(folder: Path, plies: int, limit: int | None, workers: WorkerOptions) -> None:
    from fibsbot.archive.dataset import Dataset, check_folder, connect  # noqa: PLC0415

    connect().close()
    check_folder(folder)
    from fibsbot.archive.judge import judge_name  # noqa: PLC0415 - slow to import: the engine
    from fibsbot.archive.study import Study  # noqa: PLC0415
    from fibsbot.engine.engine import Engine  # noqa: PLC0415
    from fibsbot.workers.journal import Journal, JournalError  # noqa: PLC0415

    with Dataset.open(folder) as dataset, contextlib.ExitStack() as held:
        run = Study(dataset, judge_name(Engine.load(), plies), plies, limit)
        total = int(run.open_matches().decisions.sum())
        show = held.enter_context(progress_bar("decisions"))
        run.tick = lambda: show(run.result.decisions, total)
        run.on_progress = show.follow
        try:
            run.journal = held.enter_context(Journal(folder / JOURNAL, run.fingerprint))
            pool = held.enter_context(workers.open())
            run.run(pool)
        except JournalError as error:
            raise UserError(str(error)) from None
        finally:
            click.echo(
                f"{folder}: {plural(run.result.matches, 'match')} judged "
                f"({plural(run.result.decisions, 'decision')}) by {short_details(run.judge)}"
            )
        (folder / JOURNAL).unlink()


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


for command in QUESTIONS:
    archive.add_command(command)
