"""What `fibsbot duel` does with --game: a duel in a tables game."""

from __future__ import annotations

import json
from typing import Any, Final

import click
from click.core import ParameterSource

from fibsbot.arena.duel.plan import DuelError
from fibsbot.arena.duel.table_games import TableDuelPlan, TableDuelSummary, play_table_duel
from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.options import WorkerOptions
from fibsbot.cli.output import counting_bar, sigterm_as_interrupt
from fibsbot.engine.network import NetworkError
from fibsbot.strategies import base_name
from fibsbot.strategies.table_games import TABLE_STRATEGIES, UnknownTableStrategyError, load_table_strategy
from fibsbot.text import plural
from fibsbot.workers.pool import PoolProgress

_OF_WORKERS: Final = {"scheduler", "jobs", "tls_ca_file", "tls_cert", "tls_key"}
_WITH_GAME: Final = {"strategy_a", "strategy_b", "game", "games", "seed", "as_json"} | _OF_WORKERS
"""The parameters that apply to tables games."""


def check_table_duel(context: click.Context, *names: str) -> None:
    """Raise UsageError or UserError unless these strategies and options go with --game."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in _WITH_GAME and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{parameter.opts[0]} does not belong to --game")
    for name in names:
        if base_name(name) not in TABLE_STRATEGIES:
            raise UserError(f"expected one of {', '.join(TABLE_STRATEGIES)} with --game, got {name!r}")
        try:
            load_table_strategy(name)
        except UnknownTableStrategyError as error:
            raise UserError(str(error)) from None


def table_duel(plan: TableDuelPlan, workers: WorkerOptions, *, as_json: bool) -> int:
    """Play a duel in a tables game and print its result; return the exit status."""
    tally = TableDuelSummary(plan)
    try:
        with sigterm_as_interrupt(), counting_bar() as progress, workers.open_if_chosen() as pool:
            task = progress.add_task(" - ".join(plan.strategies), total=2 * plan.pairs, running="")

            def show(now: PoolProgress) -> None:
                progress.update(task, completed=len(tally.points), running=plural(now.workers, "worker"))

            for points in play_table_duel(plan, pool=pool, on_progress=show):
                tally.points += points
    except KeyboardInterrupt:
        pass
    except (NetworkError, OSError, DuelError) as error:
        raise UserError(str(error)) from None
    report = tally.report()
    click.echo(json.dumps(report) if as_json else format_table_report(report))
    return 0 if report["finished"] else EXIT_INTERRUPTED


def format_table_report(report: dict[str, Any]) -> str:
    """Return the result of a duel in a tables game as text."""
    a, b = report["strategies"]
    lines = [f"{report['game']}: {a} against {b}, {report['games']:,} games, seed {report['seed']}"]
    share, points = report["share"], report["points"]
    if share:
        drawn = f", {report['draws']:,} drawn, which count a half" if report["draws"] else ""
        low, high = 100 * share["low"], 100 * share["high"]
        lines += [
            f"{a} wins {100 * share['mean']:.1f} % (95 % interval {low:.1f} to {high:.1f}){drawn}",
            f"{points['mean']:+.3f} points per game (95 % interval {points['low']:+.3f} to {points['high']:+.3f})",
        ]
    return "\n".join(lines)
