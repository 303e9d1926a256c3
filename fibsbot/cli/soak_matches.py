"""The matches of `fibsbot soak`, with their progress and their report."""

from __future__ import annotations

import asyncio
import json
import sys

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fibsbot.arena.soak import SoakReport, SoakSettings, run
from fibsbot.cli import UserError
from fibsbot.cli.demo_games import closing_strategies
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, first_fault, load


def play_matches(settings: SoakSettings, strategies: tuple[str, str], *, as_json: bool) -> None:
    """Play all matches with two strategies, print the report, and exit with status 1 if something went wrong."""
    log_dir, games = settings.log_dir, [settings.game] if settings.game else []
    try:
        if log_dir:
            log_dir.mkdir(mode=0o755, parents=True, exist_ok=True)
        for name in dict.fromkeys(strategies):
            # What a game's first decision compiles is compiled now, where nobody waits for an answer.
            tried = load(name)
            with closing_strategies([tried]):
                if fault := first_fault(tried, games):
                    raise UserError(f"strategy {name!r} does not work: {fault}")
    except StrategyError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot create the folder {log_dir}: {error.strerror}") from None

    def make_strategies(_: int) -> tuple[Strategy, Strategy]:
        return load(strategies[0]), load(strategies[1])

    with Progress(
        TextColumn("matches"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=settings.matches)
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
