"""`fibsbot duel`: two strategies against each other, without a server."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fibsbot.arena.duel.plan import DEADLINE, DuelError, Plan
from fibsbot.arena.duel.record import Record
from fibsbot.arena.duel.tally import Tally
from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.duel_sheet import running, told
from fibsbot.cli.numbers import FiniteRange
from fibsbot.cli.progress import told_to_stop
from fibsbot.processes import cores
from fibsbot.strategies.judge import Judge
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.strategies.names import DEFAULT, quick_judge

SHOWN_EVERY: Final = 0.5
"""Seconds between two looks at the running result."""


@click.command()
@click.argument("strategy_a", metavar="A")
@click.argument("strategy_b", metavar="B")
@click.option(
    "--games", default=200, show_default=True, type=click.IntRange(2), help="Games, or matches; an even number."
)
@click.option("--match", "length", metavar="L", type=click.IntRange(1, 99), help="Play matches to L points.")
@click.option("--seed", default=1, show_default=True, type=int, help="Of the dice, so that a run can be repeated.")
@click.option("--cube/--no-cube", default=True, help="With the doubling cube (the default), or without.")
@click.option("--jacoby", is_flag=True, help="Money: gammons count only after a double was taken.")
@click.option("--beavers", is_flag=True, help="Money: who is doubled may redouble at once.")
@click.option(
    "--judge",
    metavar="NAME",
    help=f"Who judges luck and errors.  [default: {quick_judge(DEFAULT)}, if A or B is a judge]",
)
@click.option("--no-luck", is_flag=True, help="Judge neither luck nor errors: quicker.")
@click.option("--jobs", type=click.IntRange(1, 1024), help="Processes.  [default: one a core]")
@click.option(
    "--deadline",
    metavar="SECONDS",
    default=DEADLINE,
    show_default=True,
    type=FiniteRange(0, 86_400, min_open=True),
    help="For a decision; then a fallback decides.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep every pair here, and go on from what it holds.",
)
@click.option(
    "--mat",
    "mats",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every game or match here as .mat.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def duel(  # noqa: PLR0913 - one argument an option
    *,
    strategy_a: str,
    strategy_b: str,
    games: int,
    length: int | None,
    seed: int,
    cube: bool,
    jacoby: bool,
    beavers: bool,
    judge: str | None,
    no_luck: bool,
    jobs: int | None,
    deadline: float,
    out: Path | None,
    mats: Path | None,
    as_json: bool,
) -> None:
    """Let two strategies play each other, and tell which is stronger.

    Without a server, on all cores: money games, or matches with --match. Everything is played twice with the same
    dice and swapped seats, and the luck that is left is taken out as a judge sees it. Ctrl-C ends it and tells what is
    there; with --out FILE, the same command goes on later, even after a kill.
    """
    if games % 2:
        raise click.UsageError(f"expected an even number for --games, since all is played twice, got {games}")
    if (jacoby or beavers) and (length or not cube):
        raise click.UsageError("--jacoby and --beavers belong to money games with a cube")
    if judge and no_luck:
        raise click.UsageError("--judge makes sense only without --no-luck")
    if out and not out.absolute().parent.is_dir():
        raise UserError(f"there is no folder {out.parent} for {out.name}")
    names = strategy_a, strategy_b
    judging = None if no_luck else _judge(names, judge)
    plan = Plan(names, length or 0, seed, cube, jacoby, beavers, judging, deadline)
    tally = Tally(plan)
    began = time.monotonic()
    finished, error = True, None
    try:
        with told_to_stop():
            finished = _play(tally, games // 2, jobs or cores(), out, mats)
    except DuelError as caught:
        error = UserError(str(caught))
    if tally.results or not error:
        report = {**tally.report(games // 2), "seconds": round(time.monotonic() - began, 3)}
        click.echo(json.dumps(report) if as_json else told(report))
    if error:
        raise error
    if not finished:
        sys.exit(EXIT_INTERRUPTED)


def _judge(names: tuple[str, str], wanted: str | None) -> str | None:
    """Return who judges, having seen that all who are named can be made."""
    able: dict[str, bool] = {}
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what a strategy prints is no result
            for name in dict.fromkeys((*names, wanted) if wanted else names):
                strategy = load(name)
                able[name] = isinstance(strategy, Judge)
                with contextlib.suppress(Exception):  # a plug-in may raise anything
                    strategy.close()
    except StrategyError as error:
        raise UserError(str(error)) from None
    if wanted and not able[wanted]:
        raise UserError(f"strategy {wanted!r} is no judge: it cannot say what positions are worth")
    return wanted or (quick_judge(DEFAULT) if any(able[name] for name in names) else None)


def _play(tally: Tally, wanted: int, jobs: int, out: Path | None, mats: Path | None) -> bool:
    """Play what is not there yet; return whether nobody interrupted."""
    from fibsbot.arena.duel.workers import play_pairs  # noqa: PLC0415 - all that plays and studies

    if mats:
        try:
            mats.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DuelError(f"cannot make the folder {mats}: {error.strerror}") from None
    with contextlib.ExitStack() as held:
        record = Record.open(out, tally.plan, lambda it: tally.add(it) if it.number < wanted else None) if out else None
        if record:
            held.callback(record.close)
        if tally.results:
            click.echo(f"going on from {out}: {len(tally.results)} of {wanted} pairs are there", err=True)
        missing = (number for number in range(wanted) if number not in tally.results)
        show = held.enter_context(_progress(tally, wanted))
        playing = held.enter_context(contextlib.closing(play_pairs(tally.plan, missing, jobs, mats)))
        try:
            for pair in playing:
                if record:
                    record.add(pair)
                tally.add(pair)
                show()
        except KeyboardInterrupt:
            return False
    return True


@contextlib.contextmanager
def _progress(tally: Tally, wanted: int) -> Iterator[Callable[[], None]]:
    """Show how far it is and what has come of it so far, while somebody watches; the given function looks again."""
    bar = Progress(
        TextColumn("pairs"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[running]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task("", total=wanted, completed=len(tally.results), running="")
    looked = 0.0

    def show() -> None:
        nonlocal looked
        bar.update(task, completed=len(tally.results))
        if not bar.disable and time.monotonic() - looked > SHOWN_EVERY:
            bar.update(task, running=running(tally))
            looked = time.monotonic()

    with bar:
        yield show
