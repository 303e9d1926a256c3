"""`fibsbot archive`: an archive of matches as Parquet files: add, study, query, and built-in questions."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import itertools
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fibsbot.archive.dataset import ArchiveError, MissingDuckDBError
from fibsbot.archive.reader import DEFAULT_FOLDER, Archive, QueryError, open_archive
from fibsbot.cli import ConfigError, UserError
from fibsbot.cli.options import (
    FILE,
    FOLDER,
    Day,
    FiniteRange,
    PositionClass,
    WorkerOptions,
    configured_store,
    store_errors,
    worker_options,
)
from fibsbot.cli.output import check_free, check_writable, progress_bar
from fibsbot.drawing.markup import clean
from fibsbot.engine import MAX_PLIES, short_details
from fibsbot.files import os_errors_as, replacing
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.text import errors_as, plural

if TYPE_CHECKING:
    from fibsbot.archive.questions import Answer, Questions
    from fibsbot.records.store import Store


# -- what the commands share -------------------------------------------------------------------------------------------


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
    """Print texts as a table; `left` says which columns are not numbers, by default all."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, is_text in zip(columns, left or [True] * len(columns), strict=True):
        table.add_column(
            escape(clean(column, 60)),
            overflow="fold",
            justify="left" if is_text else "right",
            no_wrap=column in UNBROKEN,
        )
    for row in rows:
        table.add_row(*map(escape, row))
    is_terminal = sys.stdout.isatty()
    width = None if is_terminal or "COLUMNS" in os.environ else FILE_WIDTH
    Console(highlight=False, soft_wrap=not is_terminal, width=width).print(table)


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


# -- built-in questions ------------------------------------------------------------------------------------------------


KINDS: Final = ("play", "double", "take", "resign", "accept", "name")
"""Kinds of decisions, as in the column `kind`."""
COUNT: Final = 20
"""Positions that are shown where nothing else is asked for."""


_count_option: Final = click.option(
    "-n",
    "--count",
    metavar="N",
    default=COUNT,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Number of positions to show.",
)


def _question(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that all questions have."""
    options = (
        archive_option,
        click.option(
            "--plies",
            metavar="N",
            type=click.IntRange(0, MAX_PLIES),
            help="Use the judgements at N plies.  [default: those of the judge with the most judgements]",
        ),
        click.option("--game", metavar="NAME", help="Ask only about matches of this game, such as plakoto."),
        click.option(
            "-o",
            "--output",
            "target",
            metavar="PAGE",
            type=FILE,
            help="Write an HTML page with boards.",
        ),
        click.option("--force", is_flag=True, help="Replace an existing page."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row, each on a line."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _ask(ask: Callable[[Questions], Answer], folder: Path, options: dict[str, Any]) -> None:
    """Ask a question, and print the answer or write it as a page."""
    target, as_json = options["target"], options["as_json"]
    ruleset = None if options["game"] is None else _ruleset(options["game"])
    if target is not None:
        if as_json:
            raise UserError("expected --json or -o, got both")
        check_free(target, force=options["force"])
        check_writable(target)
    with opened(folder) as found:
        from fibsbot.archive.patterns import PatternError  # noqa: PLC0415 - slow to import: numpy
        from fibsbot.archive.questions import Questions  # noqa: PLC0415

        try:
            answer = ask(Questions.of(found, options["plies"], ruleset, pictures=target is not None))
        except PatternError as error:
            raise UserError(str(error)) from None
    if target is not None:
        from fibsbot.archive.pages import answer_page  # noqa: PLC0415 - reports of matches

        with os_errors_as(UserError, f"cannot write {target}"), replacing(target) as part:
            part.write_text(answer_page(answer), "utf-8")
        click.echo(f"{target}: {target.stat().st_size // 1000} kB")
    elif as_json:
        _print_json(answer)
    else:
        _print(answer)


def _ruleset(name: str) -> str:
    """Return a game's full name. Raises UserError for an unknown one."""
    try:
        return load_ruleset(name).full_name
    except UnknownGameError as error:
        raise UserError(str(error)) from None


def _print_json(answer: Answer) -> None:
    for section in answer.sections:
        for row in section.rows:
            click.echo(json.dumps({"section": section.heading, **dict(zip(section.columns, row, strict=True))}))


def _print(answer: Answer) -> None:
    from fibsbot.archive.pages import format_value, text_columns  # noqa: PLC0415

    click.echo(answer.title)
    if answer.judge:
        click.echo(f"Judged by {short_details(answer.judge)}")
    for section in answer.sections:
        click.echo(f"\n{section.heading}")
        if section.note:
            click.echo(section.note)
        if section.columns:
            rows = [tuple(map(format_value, section.columns, row)) for row in section.rows]
            print_table(list(section.columns), rows, text_columns(section))


@click.command()
@_question
def openings(folder: Path, **options: Any) -> None:
    """Show what people play with each opening roll and in reply.

    For each of the 15 opening rolls: the plays, how often each was made, and what it cost against the engine's choice;
    and the replies to the most frequent play with each of the 21 rolls.
    """
    _ask(lambda questions: questions.openings(), folder, options)


@click.command()
@click.argument("name")
@_question
def profile(name: str, folder: Path, **options: Any) -> None:
    """Show how well a player plays each kind of position."""
    _ask(lambda questions: questions.profile(name), folder, options)


@click.command()
@_question
def takes(folder: Path, **options: Any) -> None:
    """Compare the take points that people use with the right ones."""
    _ask(lambda questions: questions.takes(), folder, options)


@click.command()
@_question
def luck(folder: Path, **options: Any) -> None:
    """Compare luck, performance and rating."""
    _ask(lambda questions: questions.luck(), folder, options)


@click.command()
@_count_option
@click.option("--player", metavar="NAME", help="Show only errors of this player.")
@click.option("--since", metavar="DATE", type=Day(), help="Show only errors of matches from this day on (UTC).")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Show only this kind of decision; repeatable."
)
@click.option(
    "--class",
    "classes",
    metavar="CLASS",
    multiple=True,
    type=PositionClass(),
    help='Show only positions of this class, such as "back game" or race; repeatable.',
)
@click.option(
    "--worse-than",
    "least_loss",
    metavar="LOSS",
    default=0.0,
    type=FiniteRange(0.0),
    help="Show only errors that lost this much equity or more.  [default: all]",
)
@_question
def blunders(  # noqa: PLR0913 - one argument per option
    count: int,
    folder: Path,
    *,
    player: str | None,
    since: dt.datetime | None,
    kinds: tuple[str, ...],
    classes: tuple[str, ...],
    least_loss: float,
    **options: Any,
) -> None:
    """Show the largest errors."""

    def ask(questions: Questions) -> Answer:
        from fibsbot.archive.questions import ErrorFilter  # noqa: PLC0415 - slow to import

        return questions.blunders(count, ErrorFilter(player, since, kinds, classes, least_loss))

    _ask(ask, folder, options)


@click.command()
@click.argument("position", metavar="ID|PATTERN")
@_count_option
@_question
def similar(position: str, count: int, folder: Path, **options: Any) -> None:
    """Find positions that are similar to one, or that fit a pattern.

    ID is a Position ID of GNU Backgammon. A pattern is a list of terms with commas between them, such as `4 behind,
    5-point held, opponent 1 on bar`; docs/how-to/archive.md has all terms.
    """
    _ask(lambda questions: questions.similar(position, count), folder, options)


QUESTIONS: Final = (openings, profile, takes, luck, blunders, similar)


# -- the commands ------------------------------------------------------------------------------------------------------


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
    SGF, .xg, oldmoves, our own JSON, each also compressed by gzip. A match that the archive has, whatever file it came
    from, is not added again. Files that cannot be read are listed. To continue an interrupted run, start it again.
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
