"""`fibsbot duel`: play two strategies against each other without a server."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
from attrs import define, evolve
from rich.progress import Progress, TaskID

from fibsbot.analysis.results import Z_95
from fibsbot.arena.duel.games import DEFAULT_DEADLINE, DuelError, DuelPlan
from fibsbot.arena.duel.results import DuelSummary, ResultsFile
from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.options import (
    FILE,
    FOLDER,
    LAWS_PARAMETERS,
    FiniteRange,
    GameName,
    WorkerOptions,
    check_options_with_game,
    laws_from,
    laws_options,
    worker_options,
)
from fibsbot.cli.output import sigterm_as_interrupt
from fibsbot.cli.terminal import counting_bar
from fibsbot.files import os_errors_as
from fibsbot.rules.law_words import law_words
from fibsbot.rules.laws import FIBS, Laws
from fibsbot.rules.ruleset import Ruleset
from fibsbot.strategies import DEFAULT_STRATEGY, luck_evaluator
from fibsbot.strategies.base import Evaluator, close_in_time, plays_game
from fibsbot.strategies.loader import NOT_AN_EVALUATOR, StrategyError, load
from fibsbot.text import plural
from fibsbot.workers.pool import PoolProgress

DOES_NOT_PLAY: Final = "expected a strategy that plays {}, such as engine, pips, blots or random, got {!r}"
REFRESH_INTERVAL: Final = 0.5
"""Seconds between two looks at the running result."""


@click.command()
@click.argument("strategy_a", metavar="A")
@click.argument("strategy_b", metavar="B")
@click.option("--game", type=GameName(), help="Game to play instead of backgammon, with options after colons.")
@click.option(
    "-n",
    "--games",
    default=200,
    show_default=True,
    type=click.IntRange(2),
    help="Number of games or matches; must be even.",
)
@click.option("--length", metavar="L", type=click.IntRange(1, 99), help="Play matches to L points.")
@click.option("--seed", default=1, show_default=True, type=int, help="Random seed for the dice.")
@laws_options
@click.option("--jacoby", is_flag=True, help="Money: gammons count only after a double was taken.")
@click.option("--beavers", is_flag=True, help="Money: a player who is doubled may redouble at once.")
@click.option(
    "--evaluator",
    metavar="NAME",
    help=f"Strategy that evaluates luck and errors.  [default: {luck_evaluator(DEFAULT_STRATEGY)}, if A or B can]",
)
@click.option(
    "--luck/--no-luck",
    default=None,
    help="Analyse luck and errors, which takes longer.  [default: luck, unless compiled games can be played]",
)
@worker_options
@click.option(
    "--deadline",
    metavar="SECONDS",
    default=DEFAULT_DEADLINE,
    show_default=True,
    type=FiniteRange(0, 86_400, min_open=True),
    help="Time limit for a decision; then a fallback decides.",
)
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Save every pair in this file, and continue from it.")
@click.option("--mat", "mats", metavar="DIR", type=FOLDER, help="Write every game or match to this folder as .mat.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def duel(  # noqa: PLR0913 - one argument per option
    *,
    strategy_a: str,
    strategy_b: str,
    game: str | None,
    games: int,
    length: int | None,
    seed: int,
    cube: bool,
    jacoby: bool,
    beavers: bool,
    evaluator: str | None,
    luck: bool | None,
    workers: WorkerOptions,
    deadline: float,
    output: Path | None,
    mats: Path | None,
    as_json: bool,
    **named: Any,
) -> None:
    """Play two strategies against each other and estimate which is stronger.

    Without a server, on all cores or a cluster: money games, or matches with --length. Everything is played twice with
    the same dice and swapped seats, and the result is adjusted for the luck that is left. Ctrl-C stops and prints the
    result so far; with -o FILE, the same command continues later, even after a kill.

    With --game, A and B play another game, by its own laws. Single games without a cube between random, pips (a pip
    counter), blots (a blot minimiser) and engine are compiled, and thousands of them take seconds, unless --luck asks
    for more.
    """
    if games % 2:
        raise click.UsageError(f"expected an even number for --games, since all is played twice, got {games}")
    laws = _other_laws(laws_from(cube=cube, **named) or FIBS)
    names = strategy_a, strategy_b
    plan = DuelPlan(
        names, length or 0, seed, cube, jacoby, beavers, deadline=deadline, other_laws=laws, game=game or ""
    )
    if game is not None:
        _check_with_game(plan.rules)
        plan = evolve(plan, cube=plan.laws.cube)
    if (jacoby or beavers) and (length or not plan.cube):
        raise click.UsageError("--jacoby and --beavers belong to money games with a cube")
    if output and not output.absolute().parent.is_dir():
        raise UserError(f"there is no folder {output.parent} for {output.name}")
    plan = evolve(plan, evaluator=_evaluator_of(plan, evaluator, luck=luck))
    tally = DuelSummary(plan)
    began = time.monotonic()
    finished, error = True, None
    try:
        with sigterm_as_interrupt():
            finished = _play(tally, games // 2, workers, output, mats)
    except DuelError as caught:
        error = UserError(str(caught))
    if tally.results or not error:
        report = {**tally.report(games // 2), "seconds": round(time.monotonic() - began, 3)}
        click.echo(json.dumps(report) if as_json else format_report(report))
    if error:
        raise error
    if not finished:
        sys.exit(EXIT_INTERRUPTED)


def _check_with_game(rules: Ruleset) -> None:
    """Raise UsageError for options that have no effect in a game."""
    from fibsbot.rules.backgammon import is_another_set_up  # noqa: PLC0415 - needed for --game only

    context = click.get_current_context()
    without_effect = {"mats"} if is_another_set_up(rules) else {"mats", *LAWS_PARAMETERS - {"cube"}}
    check_options_with_game(context, frozenset(context.params) - without_effect)


def _other_laws(laws: Laws) -> str:
    """Return the words of the laws, empty for those of FIBS; whether there is a cube is said apart."""
    laws = evolve(laws, cube=True)
    return "" if laws == FIBS else law_words(laws)


def _evaluator_of(plan: DuelPlan, wanted: str | None, *, luck: bool | None) -> str | None:
    """Return the name of the evaluator, None for no luck and errors."""
    if luck is None:
        luck = bool(wanted) or not plan.is_compiled
    luck = luck and not plan.laws.point_game
    if wanted and not luck:
        raise click.UsageError("--evaluator makes sense only without --no-luck, and not in the Point Game")
    if not luck and not plan.game:
        return None
    evaluators = _evaluators_among((*plan.strategies, *([wanted] if wanted else [])), plan.rules)
    if wanted and wanted not in evaluators:
        raise UserError(NOT_AN_EVALUATOR.format(wanted))
    return (wanted or luck_evaluator(DEFAULT_STRATEGY)) if luck and evaluators else None


def _evaluators_among(names: Sequence[str], rules: Ruleset) -> set[str]:
    """Return those of some strategies that are evaluators, having seen that all can be made and play the game."""
    evaluators = set()
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what a strategy prints is no result
            for name in dict.fromkeys(names):
                strategy = load(name)
                if isinstance(strategy, Evaluator):
                    evaluators.add(name)
                close_in_time(strategy)
                if not plays_game(strategy, rules):
                    raise UserError(DOES_NOT_PLAY.format(rules.name, name))
    except StrategyError as error:
        raise UserError(str(error)) from None
    return evaluators


def _play(tally: DuelSummary, wanted: int, workers: WorkerOptions, out: Path | None, mats: Path | None) -> bool:
    """Play what is not there yet; return whether nobody interrupted."""
    from fibsbot.arena.duel.pairs import play_pairs  # noqa: PLC0415 - all that plays and studies

    if mats:
        with os_errors_as(DuelError, f"cannot make the folder {mats}"):
            mats.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        record = (
            ResultsFile.open(out, tally.plan, lambda stored: tally.add(stored) if stored.number < wanted else None)
            if out
            else None
        )
        if record:
            held.callback(record.close)
        if tally.results:
            click.echo(f"going on from {out}: {len(tally.results)} of {wanted} pairs are there", err=True)
        missing = (number for number in range(wanted) if number not in tally.results)
        show = held.enter_context(_progress(tally, wanted))
        pool = held.enter_context(workers.open())
        playing = held.enter_context(contextlib.closing(play_pairs(tally.plan, missing, pool, mats, show.follow)))
        try:
            for pair in playing:
                if record:
                    record.add(pair)
                tally.add(pair)
                show()
        except KeyboardInterrupt:
            return False
    return True


@define
class _ProgressDisplay:
    """A progress bar with the result so far."""

    tally: DuelSummary
    bar: Progress
    task: TaskID
    _shown: float = 0.0

    def __call__(self) -> None:
        """Show the pairs that have been played."""
        self.bar.update(self.task, completed=len(self.tally.results))

    def follow(self, progress: PoolProgress) -> None:
        """Show the workers and, now and then, the result."""
        if self.bar.disable or time.monotonic() < self._shown + REFRESH_INTERVAL:
            return
        self._shown = time.monotonic()
        workers = f"{plural(progress.workers, 'worker')}, {progress.rate:.2g} pairs/s"
        self.bar.update(self.task, running=f"{workers}  {running_result(self.tally)}")


@contextlib.contextmanager
def _progress(tally: DuelSummary, wanted: int) -> Iterator[_ProgressDisplay]:
    """Show how much has been played and the result so far, on a terminal."""
    bar = counting_bar()
    task = bar.add_task("pairs", total=wanted, completed=len(tally.results), running="")
    with bar:
        yield _ProgressDisplay(tally, bar, task)


def running_result(tally: DuelSummary) -> str:
    """Return in a few words what A has got so far, with or without luck, whichever is surer."""
    known = [value for value in (tally.adjusted, tally.result) if value]
    if not known:
        return ""
    estimate = min(known, key=lambda value: value.error)
    half = Z_95 * estimate.error
    if tally.plan.length:
        return f"{tally.plan.labels[0]} {100 * estimate.mean:.1f} % ± {100 * half:.1f}"
    return f"{tally.plan.labels[0]} {estimate.mean:+.3f} ± {half:.3f}"


def format_report(report: dict[str, Any]) -> str:
    """Return a report in words; it is the one that `DuelSummary.report` makes."""
    return "\n".join(_lines(report))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    first, second = (stats["name"] for stats in report["performances"])
    yield f"{first} against {second}: {_conditions(report)}, the same dice twice, seed {report['seed']}"
    if not report["finished"]:
        yield f"Interrupted after {report['pairs']} of {report['wanted']} pairs."
    yield ""
    if report["result"] is None:
        yield "Fewer than two pairs: too few for a result."
    else:
        yield f"{first} {_format_estimate(report, report['result'])}"
    if report.get("share"):
        yield f"{first} wins {_format_share(report['share'])}{_drawn(report['draws'])}"
    if report["adjusted"]:
        yield f"without luck: {_format_estimate(report, report['adjusted'])}"
    if report["gain"]:
        yield _variance_reduction(report["gain"])
    if report["unjudged"]:
        yield f"In {report['unjudged']} pairs the evaluator failed; their results could not be adjusted for luck."
    if any(stats[kind]["count"] for stats in report["performances"] for kind in ("plays", "others")):
        yield ""
        yield from _table(_rows(report))
    if report["evaluator"]:
        yield f"PR as evaluated by {report['evaluator']}, from {_decisions(report)} decisions that count."
    if report["examples"]:
        yield from ("", "Not everything went well:", *report["examples"])


def _variance_reduction(gain: float) -> str:
    text = f"Adjusting for luck is worth {gain:.2g} times as many pairs"
    return f"{text}." if gain >= 1 else f"{text}: it makes the result less sure here."


def _conditions(report: dict[str, Any]) -> str:
    laws = [report["game"]] if report.get("game") else []
    laws += [f"laws {report['other_laws']}"] if report.get("other_laws") else []
    if report["length"]:
        cube = "" if report["cube"] else " without a cube"
        return f"{2 * report['pairs']} matches to {report['length']} ({report['games']} games){cube}{_listed(laws)}"
    options = [name for name in ("jacoby", "beavers") if report[name]] + laws
    return f"{report['games']} money games with{'' if report['cube'] else 'out'} a cube{_listed(options)}"


def _listed(options: Sequence[str]) -> str:
    return f" ({', '.join(options)})" if options else ""


def _format_estimate(report: dict[str, Any], estimate: dict[str, Any]) -> str:
    mean, low, high = (estimate[name] for name in ("mean", "low", "high"))
    if not report["length"]:
        return f"{mean:+.4f} points a game, standard error {estimate['error']:.4f}, 95 %: {low:+.4f} to {high:+.4f}"
    text = f"{100 * mean:.2f} % of matches, standard error {100 * estimate['error']:.2f}, "
    text += f"95 %: {100 * low:.2f} to {100 * high:.2f} %"
    if estimate["rating_mean"] is None:
        return text
    ends = [_points(estimate[f"rating_{name}"]) for name in ("low", "high")]
    return f"{text}; {estimate['rating_mean']:+.0f} FIBS rating points ({ends[0]} to {ends[1]})"


def _format_share(share: dict[str, float]) -> str:
    mean, error, low, high = (100 * share[name] for name in ("mean", "error", "low", "high"))
    return f"{mean:.2f} % of games, standard error {error:.2f}, 95 %: {low:.2f} to {high:.2f} %"


def _drawn(draws: int) -> str:
    return f"; {draws:,} drawn, which count a half" if draws else ""


def _points(difference: float | None) -> str:
    return "no limit" if difference is None else f"{difference:+.0f}"


def _rows(report: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    yield "", "plays", "median", "p99", "others", "median", "p99", "faults", "PR"
    for stats in report["performances"]:
        pr = "-" if stats["pr"] is None else f"{stats['pr']:.2f}"
        yield stats["name"], *_times(stats["plays"]), *_times(stats["others"]), f"{stats['faults']:,}", pr


def _times(times: dict[str, Any]) -> tuple[str, ...]:
    return f"{times['count']:,}", _time(times["median"]), _time(times["p99"])


def _table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for name, *figures in cells:
        texts = [f"{text:>{width}}" for text, width in zip(figures, widths[1:], strict=True)]
        yield "  ".join((f"{name:{widths[0]}}", *texts))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.0f} us"


def _decisions(report: dict[str, Any]) -> str:
    return f"{sum(stats['judged'] for stats in report['performances']):,}"
