"""Run bots under faults and report what they made of it: `python -m bench.chaos --minutes 10 --seed 1`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bench.chaos.faults import FaultInjector
from bench.chaos.proxy import wait_until
from bench.chaos.report import ChaosReport, draw_timeline, format_chaos_report, make_report
from bench.chaos.schedule import MIN_PAIRS, ChaosPlan, make_schedule
from bench.chaos.testbed import BotPair, ChildError, Testbed, build_testbed
from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.options import FILE, FOLDER, FiniteRange
from fibsbot.cli.output import check_writable
from fibsbot.log import LogLevel, configure_log
from fibsbot.strategies import FALLBACK_STRATEGY
from fibsbot.strategies.loader import StrategyError, load

DEFAULTS: Final = ChaosPlan(minutes=10.0, seed=1)
WARM_UP: Final = 60.0
"""Seconds that the bots have to begin their first match before the faults begin."""
FINISH_TIME: Final = 180.0
"""Seconds that each pair has to finish its last match after the faults."""
START_TIME: Final = 60.0
"""Seconds that a bot that was started again has to be in its match; then it gets its signal all the same."""
MIN_SAMPLES: Final = 200
"""Minimum number of memory samples while faults are injected ..."""
SAMPLE_INTERVAL: Final = 0.5
"""... and the maximum number of seconds between two samples."""

OnProgress: TypeAlias = Callable[[float, str], None]
"""Called with the seconds since the faults began and a description of what is happening."""


def _plan_option(
    name: str, kind: click.ParamType[Any], text: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return an option for a number of the plan, with the plan's default."""
    return click.option(f"--{name}", default=getattr(DEFAULTS, name), show_default=True, type=kind, help=text)


@click.command()
@_plan_option("minutes", FiniteRange(0, min_open=True), "How long faults are injected.")
@_plan_option("seed", click.INT, "Random seed for the dice and the faults.")
@_plan_option("pairs", click.IntRange(MIN_PAIRS, 500), "Number of bots, each with an opponent of its own.")
@_plan_option("length", click.IntRange(1), "Match length in points.")
@_plan_option("speed", FiniteRange(1, 500), "Factor by which the bots' timeouts and pauses are shortened.")
@_plan_option("rate", FiniteRange(1, 1000), "Faults per minute, all pairs together.")
@click.option("--strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of the bots.")
@click.option("--opponent", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of their opponents.")
@click.option("--log-dir", type=FOLDER, help="Keep logs, stores and the server's database in this empty folder.")
@click.option("--plot", type=FILE, help="Draw faults and recoveries on a timeline, as SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def chaos(  # noqa: PLR0913 - one argument per option
    *,
    minutes: float,
    seed: int,
    pairs: int,
    length: int,
    speed: float,
    rate: float,
    strategy: str,
    opponent: str,
    log_dir: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Play matches, bot against bot, while network, server and bots fail, and report what went wrong.

    The server and each bot are processes of their own. The seed decides which lines are lost, which connections
    are cut and which processes are killed. The exit status is 1 unless every match was finished in the end, and nothing
    was done twice, lost or illegal.
    """
    configure_log(level=LogLevel.ERROR)
    if plot:
        check_writable(plot)
    try:
        for name in (strategy, opponent):
            load(name)
    except StrategyError as error:
        raise UserError(str(error)) from None
    plan = ChaosPlan(minutes, seed, pairs, length, speed, rate)
    with _folder(log_dir) as folder, _progress_bar(plan) as on_progress:
        try:
            report = asyncio.run(run_chaos(plan, folder, (strategy, opponent), on_progress))
        except ChildError as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)
    if as_json:
        click.echo(json.dumps(report.as_dict()))
    else:
        Console().print(format_chaos_report(report))
    if plot:
        try:
            plot.write_text(draw_timeline(report), "utf-8")
        except OSError as error:
            raise UserError(f"cannot write {plot}: {error.strerror}") from None
    sys.exit(0 if report.clean else 1)


@contextlib.contextmanager
def _folder(log_dir: Path | None) -> Iterator[Path]:
    """Make the user's folder, or a temporary one."""
    if log_dir is None:
        with tempfile.TemporaryDirectory(prefix="fibsbot-chaos-") as name:
            yield Path(name)
        return
    try:
        log_dir.mkdir(parents=True, exist_ok=True)
        if any(log_dir.iterdir()):
            raise UserError(f"expected an empty folder for the logs, got {log_dir}")
    except OSError as error:
        raise UserError(f"cannot make the folder {log_dir}: {error.strerror}") from None
    yield log_dir.resolve()


@contextlib.contextmanager
def _progress_bar(plan: ChaosPlan) -> Iterator[OnProgress]:
    with Progress(
        TextColumn("{task.description:>14}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=plan.seconds)
        yield lambda seconds, what: progress.update(task, completed=seconds, description=what)


async def run_chaos(
    plan: ChaosPlan, folder: Path, strategies: tuple[str, str], on_progress: OnProgress = lambda *_: None
) -> ChaosReport:
    """Run a plan in an empty folder, where logs, stores and the database are left; return the report.

    Raises ChildError when a process cannot be started, and OSError from files and ports.
    """
    testbed = await build_testbed(plan, folder, strategies)
    memory: dict[str, list[tuple[int, float, int]]] = {}
    started = time.monotonic()
    try:
        await testbed.open()
        await wait_until(lambda: all(pair.bot.playing for pair in testbed.pairs), WARM_UP)
        async with asyncio.TaskGroup() as group:
            sampling = group.create_task(_sample_memory(testbed, memory, on_progress))
            await _inject_faults(testbed)
            on_progress(plan.seconds, "the last matches are finished")
            await asyncio.gather(*(_finish(pair) for pair in testbed.pairs))
            sampling.cancel()
    finally:
        await testbed.close()
    return make_report(testbed, memory, time.monotonic() - started)


async def _inject_faults(testbed: Testbed) -> None:
    """Inject all faults, and cancel those left when their time is over."""
    injector = FaultInjector(testbed)
    testbed.recoveries.begin()
    tasks = [asyncio.create_task(injector.inject(fault)) for fault in make_schedule(testbed.plan)]
    await asyncio.wait(tasks, timeout=testbed.plan.seconds)
    async with testbed.server_busy:  # a server that is being restarted must be running again
        for task in tasks:
            task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            raise result


async def _finish(pair: BotPair) -> None:
    """Let a bot finish its match and end."""
    end = time.monotonic() + FINISH_TIME
    logins = -1
    while time.monotonic() < end:
        if not pair.child.running:
            if not pair.bot.matches or pair.bot.matches[-1].score:
                return
            logins = pair.bot.logins  # the connection of the process before may still count as playing: half-open
            await pair.child.start()

        def ready(before: int = logins) -> bool:
            return (pair.bot.logins > before and pair.bot.playing) or not pair.child.running

        await wait_until(ready, max(min(START_TIME, end - time.monotonic()), 1.0))
        pair.child.signal(signal.SIGTERM)
        await wait_until(lambda: not pair.child.running, max(end - time.monotonic(), 1.0))


async def _sample_memory(
    testbed: Testbed, memory: dict[str, list[tuple[int, float, int]]], on_progress: OnProgress
) -> None:
    """Sample the bots' memory, by account: number of the start, time, bytes."""
    while True:
        now = testbed.recoveries.now
        for pair in testbed.pairs:
            if (size := pair.child.memory) is not None:
                memory.setdefault(pair.child.name, []).append((pair.child.starts, now, size))
        struck = sum(incident.struck is not None for incident in testbed.recoveries.incidents)
        on_progress(min(now, testbed.plan.seconds), f"{struck} faults")
        await asyncio.sleep(min(SAMPLE_INTERVAL, testbed.plan.seconds / MIN_SAMPLES))


if __name__ == "__main__":
    chaos(prog_name="python -m bench.chaos")
