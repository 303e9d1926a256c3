"""`fibsbot soak`: many matches, bot against bot."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fibsbot.arena.soak import Report, Soak, run
from fibsbot.cli import UserError
from fibsbot.log import LogLevel, configure
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, load


@click.command()
@click.option("--matches", default=20, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("--length", default=1, show_default=True, type=click.IntRange(1), help="Points of each match.")
@click.option("--seed", default=1, show_default=True, type=int, help="Of the dice, so that a run can be repeated.")
@click.option("--pairs", default=1, show_default=True, type=click.IntRange(1, 500), help="Pairs playing at once.")
@click.option("--strategy", default="handmade", show_default=True, help="Who decides for the one bot ...")
@click.option("--opponent", default="handmade", show_default=True, help="... and who for the other.")
@click.option("--stall", default=60.0, show_default=True, type=float, help="Seconds before a pair counts as stuck.")
@click.option(
    "--log-dir", type=click.Path(file_okay=False, path_type=Path), help="Write session logs into this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def soak(  # noqa: PLR0913, PLR0917 - one argument an option
    matches: int,
    length: int,
    seed: int,
    pairs: int,
    strategy: str,
    opponent: str,
    stall: float,
    log_dir: Path | None,
    *,
    as_json: bool,
) -> None:
    """Play many matches, bot against bot, and report what went wrong.

    Everything happens on an embedded server in this process, over real TCP. With one pair, the same seed gives the same
    matches. The exit status is 1 unless every match was finished, no command was refused, and no agent's state ever
    differed from a board of the server.
    """
    configure(level=LogLevel.ERROR)

    def enter(_: int) -> tuple[Strategy, Strategy]:
        return load(strategy), load(opponent)

    try:
        enter(0)
        if log_dir:
            log_dir.mkdir(parents=True, exist_ok=True)
    except StrategyError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot make the folder {log_dir}: {error.strerror}") from None
    plan = Soak(matches, length, seed, pairs, stall, log_dir)
    with Progress(
        TextColumn("matches"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=matches)
        report = asyncio.run(run(plan, enter, lambda: progress.advance(task)))
    click.echo(json.dumps(report.as_dict()) if as_json else _told(report))
    sys.exit(0 if report.clean else 1)


def _told(report: Report) -> str:
    """Tell a report in words, one fact a line."""
    facts = {name: value for name, value in report.as_dict().items() if name not in {"examples", "clean"}}
    width = max(map(len, facts))
    lines = [f"{name.replace('_', ' '):{width}}  {value:>10}" for name, value in facts.items()]
    lines += ["", "Nothing went wrong." if report.clean else "Not everything went well:", *report.examples]
    return "\n".join(lines)
