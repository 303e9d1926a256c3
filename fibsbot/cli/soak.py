"""`fibsbot soak`: many matches, bot against bot, in peace or under faults."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench import chaos
from fibsbot.arena.soak import SoakReport, SoakSettings, run
from fibsbot.cli import UserError
from fibsbot.cli.options import FiniteRange
from fibsbot.cli.output import check_writable
from fibsbot.log import LogLevel, configure_log
from fibsbot.strategies import FALLBACK_STRATEGY
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, load

ONLY_WITHOUT_CHAOS: Final = ("matches", "stall")
"""Options that only make sense without --chaos ..."""
ONLY_WITH_CHAOS: Final = ("minutes", "speed", "rate", "plot")
"""... and only with it."""
CHAOS_DEFAULTS: Final = chaos.ChaosPlan(minutes=10.0, seed=1)
"""What is run with --chaos and nothing else."""
LENGTHS: Final = {False: 1, True: CHAOS_DEFAULTS.length}
"""Points of a match, without and with --chaos."""
PAIRS: Final = {False: 1, True: CHAOS_DEFAULTS.pairs}


@click.command()
@click.option("--matches", default=20, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("--length", type=click.IntRange(1), help="Points of each match: 1, with --chaos 3.")
@click.option(
    "--seed", default=1, show_default=True, type=int, help="Of dice and faults, so that a run can be repeated."
)
@click.option("--pairs", type=click.IntRange(1, 500), help="Pairs playing at once: 1, with --chaos 6.")
@click.option("--strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of one bot of each pair.")
@click.option("--opponent-strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of the other bot.")
@click.option(
    "--stall",
    default=60.0,
    show_default=True,
    type=FiniteRange(0, min_open=True),
    help="Seconds without a play before a pair counts as stuck.",
)
@click.option(
    "--log-dir", type=click.Path(file_okay=False, path_type=Path), help="Write session logs into this folder."
)
@click.option("--chaos", "chaotic", is_flag=True, help="Let faults strike (see docs/chaos.md).")
@click.option(
    "--minutes",
    default=CHAOS_DEFAULTS.minutes,
    show_default=True,
    type=FiniteRange(0, min_open=True),
    help="With --chaos: how long faults strike.",
)
@click.option(
    "--speed",
    default=CHAOS_DEFAULTS.speed,
    show_default=True,
    type=FiniteRange(1, 500),
    help="With --chaos: the bots' waits are so many times shorter.",
)
@click.option(
    "--rate",
    default=CHAOS_DEFAULTS.rate,
    show_default=True,
    type=FiniteRange(1, 1000),
    help="With --chaos: faults a minute.",
)
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), help="With --chaos: draw faults and recoveries, as SVG."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.pass_context
def soak(  # noqa: PLR0913, PLR0917 - one argument an option
    context: click.Context,
    matches: int,
    length: int | None,
    seed: int,
    pairs: int | None,
    strategy: str,
    opponent_strategy: str,
    stall: float,
    log_dir: Path | None,
    *,
    chaotic: bool,
    minutes: float,
    speed: float,
    rate: float,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Play many matches, bot against bot, and report what went wrong.

    Everything happens on an embedded server in this process, over real TCP. With one pair, the same seed gives the same
    matches. The exit status is 1 unless every match was finished, no command was refused, and no agent's state ever
    differed from a board of the server.

    With --chaos, server and bots are processes of their own, and everything that can happen to them does, from the
    seed: lost lines, cut connections, killed processes. The exit status is 1 unless every match was finished in the
    end, and nothing was done twice, lost or illegal.
    """
    _check_options(context, chaotic=chaotic)
    configure_log(level=LogLevel.ERROR)
    strategies = strategy, opponent_strategy
    points, count = length or LENGTHS[chaotic], pairs or PAIRS[chaotic]
    if chaotic and count < chaos.MIN_PAIRS:
        raise click.UsageError(f"expected at least {chaos.MIN_PAIRS} pairs with --chaos, got {count}", context)
    if plot:
        check_writable(plot)
    try:
        if log_dir:
            log_dir.mkdir(parents=True, exist_ok=True)
            if chaotic and any(log_dir.iterdir()):
                raise UserError(f"expected an empty folder for the logs, got {log_dir}")
        for name in strategies:
            load(name)
    except StrategyError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot make the folder {log_dir}: {error.strerror}") from None
    if chaotic:
        clean = _chaos(
            chaos.ChaosPlan(minutes, seed, count, points, speed, rate), strategies, log_dir, plot, as_json=as_json
        )
    else:
        clean = _soak(SoakSettings(matches, points, seed, count, stall, log_dir), strategies, as_json=as_json)
    sys.exit(0 if clean else 1)


def _check_options(context: click.Context, *, chaotic: bool) -> None:
    """Refuse options that would mean nothing."""
    for name in ONLY_WITHOUT_CHAOS if chaotic else ONLY_WITH_CHAOS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} makes sense only {'without' if chaotic else 'with'} --chaos", context)


def _soak(plan: SoakSettings, strategies: tuple[str, str], *, as_json: bool) -> bool:
    def enter(_: int) -> tuple[Strategy, Strategy]:
        return load(strategies[0]), load(strategies[1])

    with Progress(
        TextColumn("matches"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=plan.matches)
        report = asyncio.run(run(plan, enter, lambda: progress.advance(task)))
    click.echo(json.dumps(report.as_dict()) if as_json else _format_report(report))
    return report.clean


def _chaos(
    plan: chaos.ChaosPlan, strategies: tuple[str, str], log_dir: Path | None, plot: Path | None, *, as_json: bool
) -> bool:
    """Run and report; without a folder of the user's, everything is thrown away in the end."""
    with _folder(log_dir) as folder, _chaos_progress(plan) as on_tick:
        try:
            report = asyncio.run(chaos.run_chaos(plan, folder, strategies, on_tick))
        except chaos.ChildError as error:
            raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(report.as_dict()))
    else:
        Console().print(chaos.format_chaos_report(report))
    if plot:
        try:
            plot.write_text(chaos.draw_timeline(report), "utf-8")
        except OSError as error:
            raise UserError(f"cannot write {plot}: {error.strerror}") from None
    return report.clean


def _folder(log_dir: Path | None) -> contextlib.AbstractContextManager[Path]:
    return contextlib.nullcontext(log_dir.resolve()) if log_dir else _temporary()


@contextlib.contextmanager
def _temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fibsbot-chaos-") as name:
        yield Path(name)


@contextlib.contextmanager
def _chaos_progress(plan: chaos.ChaosPlan) -> Iterator[chaos.OnProgress]:
    with Progress(
        TextColumn("{task.description:>14}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=plan.seconds)
        yield lambda seconds, what: progress.update(task, completed=seconds, description=what)


def _format_report(report: SoakReport) -> str:
    """Tell a report in words, one fact a line."""
    facts = {name: value for name, value in report.as_dict().items() if name not in {"examples", "clean"}}
    width = max(map(len, facts))
    lines = [f"{name.replace('_', ' '):{width}}  {value:>10}" for name, value in facts.items()]
    lines += ["", "Nothing went wrong." if report.clean else "Not everything went well:", *report.examples]
    return "\n".join(lines)
