"""The questions of `fibsbot archive`, such as `blunders`: their options, and the answers as text, JSON or a page."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from fibsbot.cli import UserError
from fibsbot.cli.archive_output import archive_option, opened, print_table, print_text
from fibsbot.cli.options import FILE, Day, decision_options
from fibsbot.cli.output import check_free, check_writable
from fibsbot.engine import MAX_PLIES, short_details
from fibsbot.files import os_errors_as, replacing
from fibsbot.games import UnknownGameError, load_ruleset

if TYPE_CHECKING:
    from fibsbot.analysis.selection import DecisionSelection
    from fibsbot.archive.answers import Answer
    from fibsbot.archive.questions import Questions


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
            help="Write an HTML page with boards or charts.",
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
            print_text(section.note)
        if section.columns:
            shown = [column not in section.not_in_text for column in section.columns]
            rows = [tuple(compress(map(format_value, section.columns, row), shown)) for row in section.rows]
            print_table(list(compress(section.columns, shown)), rows, list(compress(text_columns(section), shown)))


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
@click.option(
    "--since",
    metavar="DATE",
    type=Day(),
    help="Compare the matches from this day on (UTC) with those before.  [default: the later half of the matches]",
)
@_question
def profile(name: str, folder: Path, *, since: dt.datetime | None, **options: Any) -> None:
    """Show how well a player plays, and whether that changes.

    By month and by kind of decision, class of position, score and stage of the game, each beside all players; earlier
    matches against later ones; the luck and the results of matches without it; and the worst errors.
    """
    _ask(lambda questions: questions.profile(name, since), folder, options)


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
@decision_options(0.0, "all")
@_question
def blunders(count: int, folder: Path, *, decisions: DecisionSelection, **options: Any) -> None:
    """Show the largest errors."""
    _ask(lambda questions: questions.blunders(count, decisions), folder, options)


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
