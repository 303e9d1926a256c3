"""`fibsbot practice`: a person's own mistakes as exercises in the browser, repeated after days."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from attrs import evolve
from click.core import ParameterSource

from fibsbot.cli import UserError
from fibsbot.cli.matches import MatchSelection, evaluator_option, match_options, plies_option
from fibsbot.cli.options import FILE, WorkerOptions, engine_name, store_errors, worker_options

if TYPE_CHECKING:
    from fibsbot.analysis.selection import DecisionSelection
    from fibsbot.practice.deck import PracticeItem

DEFAULT_PLACE: Final = "fibsbot.db"
"""The store of progress where no other is named."""
LEAST_LOSS: Final = 0.04
"""Loss from which a decision is an exercise: what reports call an error."""


@click.command()
@match_options(least_loss=LEAST_LOSS, required=False)
@click.option(
    "--progress",
    "place",
    metavar="PLACE",
    help=f"Store that keeps your answers, a file or a URL.  [default: that of the matches, or {DEFAULT_PLACE}]",
)
@evaluator_option
@plies_option
@worker_options
@click.option(
    "--journal",
    metavar="FILE",
    type=FILE,
    help="Keep analyses in this file, so that the next start has them.  [default: beside the store of progress]",
)
@click.option("--list", "listed", is_flag=True, help="Only list what is due, in the terminal.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port.  [default: 8375 if it is free]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def practice(  # noqa: PLR0913 - one argument per option
    selection: MatchSelection,
    *,
    place: str | None,
    evaluator: str,
    plies: int | None,
    workers: WorkerOptions,
    journal: Path | None,
    listed: bool,
    port: int,
    no_browser: bool,
) -> None:
    """Practise your own mistakes in a browser, until you know better.

    FILE contains matches: a session log, a capture of any client, .mat, SGF, .xg, .bgf, oldmoves text, our own JSON; a
    folder means all files below it. Your errors in them become exercises: the position, your answer by a click, and
    then the verdict of the engine. The worst come first, and each comes again after days, sooner if your answer was
    wrong. Your answers are kept in a store; without FILE those exercises come that you have answered before.

    `--player` says whose mistakes; without it they are those of the log's owner, or of the person at the table.
    `--since`, `--kind`, `--class` and `--worse-than` select among them, also among those that you have answered before.
    The address works on this machine only, until Ctrl-C.
    """
    place = place or selection.store or DEFAULT_PLACE
    kept = selection.decisions
    if click.get_current_context().get_parameter_source("least_loss") is ParameterSource.DEFAULT:
        kept = evolve(kept, least_loss=0.0)  # what became an exercise once remains one
    if listed:
        if selection.files:
            raise UserError("expected --list without FILE: it lists what is due in the store of progress")
        _list(place, kept)
        return
    from fibsbot.cli.practice_session import PracticeSession, open_session  # noqa: PLC0415 - aiohttp, the engine

    session = PracticeSession(
        selection=selection,
        evaluator=engine_name("evaluator", evaluator, plies, None),
        workers=workers,
        journal=journal or _journal_of(place),
        kept=kept,
    )
    open_session(session, place, port, browse=not no_browser)


def _journal_of(place: str) -> Path:
    """Return the journal of analyses for a store of progress: beside its file, else in the working folder."""
    return Path("fibsbot-practice.journal") if "://" in place else Path(f"{place}.practice")


def _list(place: str, selection: DecisionSelection) -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - slow to import, as the store
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from fibsbot.cli.practice_session import stored_items  # noqa: PLC0415
    from fibsbot.drawing.markup import clean  # noqa: PLC0415
    from fibsbot.practice.deck import Deck, ExerciseFilter, when  # noqa: PLC0415

    with store_errors():
        items = stored_items(place, selection)
    deck = Deck()
    deck.add(items)
    counts, now = deck.counts(ExerciseFilter()), deck.clock()
    due = [item for item in items if item.is_due(now)]
    if due:
        table = Table("due", "lost", "position", "you played", "best", "against", box=SIMPLE_HEAD)
        for item in due:
            exercise = item.exercise
            table.add_row(
                _day(item),
                f"{exercise.loss:.3f}",
                exercise.position_class,
                exercise.choice_name(exercise.made),
                exercise.choice_name(exercise.best.text),
                clean(exercise.opponent, 20),
            )
        Console(highlight=False).print(table)
    later = f"; the next comes {when(counts.next_due, now)}" if counts.next_due else ""
    click.echo(f"{counts.due} due, {counts.later} later{later}")


def _day(item: PracticeItem) -> str:
    return f"{item.schedule.due:%Y-%m-%d}" if item.schedule else "new"
