"""`fibsbot soak`: play many matches, bot against bot, and report failures."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fibsbot.arena.soak import SoakReport, SoakSettings, run
from fibsbot.cli import UserError
from fibsbot.cli.options import FOLDER, GameName
from fibsbot.log import LogLevel, configure_log
from fibsbot.strategies import FALLBACK_STRATEGY
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, check, load


@click.command()
@click.option("--matches", default=20, show_default=True, type=click.IntRange(1), help="Number of matches.")
@click.option("--length", default=1, show_default=True, type=click.IntRange(1), help="Match length in points.")
@click.option("--game", type=GameName(), help="Game to play, with options after colons.  [default: backgammon]")
@click.option("--seed", default=1, show_default=True, type=int, help="Random seed for the dice.")
@click.option("--pairs", default=1, show_default=True, type=click.IntRange(1, 500), help="Pairs that play at once.")
@click.option("--strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of one bot of each pair.")
@click.option("--opponent-strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of the other.")
@click.option("--log-dir", type=FOLDER, help="Write session logs into this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def soak(  # noqa: PLR0913 - one argument per option
    *,
    matches: int,
    length: int,
    game: str | None,
    seed: int,
    pairs: int,
    strategy: str,
    opponent_strategy: str,
    log_dir: Path | None,
    as_json: bool,
) -> None:
    """Play many matches, bot against bot, and report failures.

    Everything happens on an embedded server in this process, over real TCP. With one pair, the same seed gives the same
    matches. The exit status is 1 unless every match was finished, no command was refused, and no agent's state ever
    differed from a board of the server.
    """
    configure_log(level=LogLevel.ERROR)
    try:
        if log_dir:
            log_dir.mkdir(parents=True, exist_ok=True)
        for name in dict.fromkeys((strategy, opponent_strategy)):
            # What a game's first decision compiles is compiled now, where nobody waits for an answer.
            with closing(load(name)) as tried:
                for fault in check(tried, [game] if game else ()):
                    raise UserError(f"strategy {name!r} does not work: {fault}")
    except StrategyError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot create the folder {log_dir}: {error.strerror}") from None

    def make_strategies(_: int) -> tuple[Strategy, Strategy]:
        return load(strategy), load(opponent_strategy)

    with Progress(
        TextColumn("matches"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=matches)
        settings = SoakSettings(matches, length, seed, pairs, log_dir=log_dir, game=game)
        report = asyncio.run(run(settings, make_strategies, lambda: progress.advance(task)))
    click.echo(json.dumps(report.as_dict()) if as_json else _format_report(report))
    sys.exit(0 if report.clean else 1)


def _format_report(report: SoakReport) -> str:
    """Return a report as text, one fact per line."""
    facts = {name: value for name, value in report.as_dict().items() if name not in {"examples", "clean"}}
    width = max(map(len, facts))
    lines = [f"{name.replace('_', ' '):{width}}  {value:>10}" for name, value in facts.items()]
    lines += ["", "Nothing went wrong." if report.clean else "Not everything went well:", *report.examples]
    return "\n".join(lines)
