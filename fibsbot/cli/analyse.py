"""`fibsbot analyse`: errors, luck and performance of both players in matches."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from fibsbot.cli import UserError
from fibsbot.cli.analyse_sheet import Sums, match_lines, match_row, sums_table
from fibsbot.cli.matches import Asked, Work, checked_matches, named_judge, plies_option, with_match_options
from fibsbot.cli.progress import shown_progress
from fibsbot.cli.stores import store_errors
from fibsbot.strategies.loader import StrategyError
from fibsbot.strategies.names import DEFAULT

ERRORS: Final = 10
"""Errors of a match that are listed where nobody says otherwise."""
PEEKED: Final = 5
"""Matches that are read before the first is studied: if there are fewer, it is known how much there is to do."""
WIDEST: Final = 80
"""Columns that are used, however wide the terminal is."""


@click.command()
@with_match_options
@click.option(
    "--strategy",
    metavar="NAME",
    default=DEFAULT,
    show_default=True,
    help="Who judges; `fibsbot strategies` lists them.",
)
@plies_option
@click.option("--luck/--no-luck", default=True, help="Whether the luck of each throw is worked out.")
@click.option(
    "--errors", metavar="N", default=ERRORS, show_default=True, type=click.IntRange(0), help="Errors that are listed."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a match, each in a line.")
def analyse(  # noqa: PLR0913, PLR0917 - one argument an option
    files: tuple[Path, ...],
    number: int | None,
    db: str | None,
    config: Path | None,
    last: int | None,
    opponent: str | None,
    *,
    strategy: str,
    plies: int | None,
    luck: bool,
    errors: int,
    as_json: bool,
) -> None:
    """Tell how well and how luckily both players played.

    FILE is whatever shows a match: a session log, a capture of any client, .mat, SGF, oldmoves text, our own JSON. Each
    match gets a table of both players' errors, luck and performance rating (PR) and a list of what cost most, with the
    position, what was done and what would have been best. The exit status is 1 if a match had to be left out.
    """
    asked = Asked.of(files, number, db, config, last, opponent)
    judge = named_judge(strategy, plies)
    sums = Sums()
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, WIDEST)
    with _told(), shown_progress("decisions") as tick:
        work = Work(judge, luck, tick)
        found = checked_matches(asked, judge)
        first = list(itertools.islice(found, PEEKED))
        every = first if len(first) < PEEKED else itertools.chain(first, found)
        for it, study in work.studies(every):
            if as_json:
                click.echo(json.dumps(match_row(it.name, it.number, study, luck=luck)))
                continue
            if sums.matches:
                console.print()
            sums.add(study)
            for part in match_lines(it.name, study, luck=luck, most=errors):
                console.print(part)
    if not as_json and sums.matches > 1:
        console.print()
        console.print(sums_table(sums, luck=luck))
    if not (sums.matches or as_json or work.failed):
        raise UserError("expected a match at least, found none that can be studied")
    sys.exit(1 if work.failed else 0)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Tell in one line why nothing can be studied."""
    try:
        with store_errors():
            yield
    except StrategyError as error:
        raise UserError(str(error)) from None
