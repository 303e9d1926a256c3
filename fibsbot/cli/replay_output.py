"""What `fibsbot replay` does: a live board, or text with a summary and the problems found."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
from attrs import define, field

from fibsbot.cli import EXIT_USAGE, UserError
from fibsbot.cli.options import WorkerOptions
from fibsbot.cli.output import progress_bar, saved_stdin
from fibsbot.drawing.markup import clean
from fibsbot.replay.batch import ReplayCounts, ReplayTask, SourceResult, process_source, replay_all
from fibsbot.replay.comparison import ComparisonOptions, ComparisonTotals, PlayerSelection
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.keys import KeyReader
from fibsbot.replay.match_files import ReplaySource, find_sources
from fibsbot.replay.places import Place
from fibsbot.replay.writers import (
    WorstDecision,
    json_line,
    most_different,
    totals_row,
    totals_text,
    worst_decisions_text,
)
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.strategies.loader import StrategyError
from fibsbot.text import plural
from fibsbot.workers.errors import WorkerLostError

MAX_NOTES_LISTED: Final = 200
"""Differences and gaps listed at the end, at most."""
EXIT_DIFFERENT: Final = 1


class _ReplayError(UserError):
    """The replay succeeded but found something wrong: one line on stderr, exit status 1."""

    exit_code = EXIT_DIFFERENT


def replay_files(  # noqa: PLR0913 - one argument per option
    paths: tuple[Path, ...],
    *,
    speed: float | None,
    start: Place | None,
    strategy: str | None,
    player: str | None,
    evaluator: str | None,
    seed: int | None,
    fail_above: float | None,
    workers: WorkerOptions,
    step: bool,
    as_json: bool,
    quiet: bool,
    strict: bool,
    both: bool,
) -> None:
    """Replay files with the options of the command."""
    deciding = _deciding(strategy, PlayerSelection(player, both), evaluator, seed, fail_above)
    live = _is_live(paths, step=step, paced=speed is not None, plain=as_json or quiet or deciding is not None)
    with _sources(paths) as sources:
        titled = len(sources) > 1
        task = ReplayTask(as_json, quiet, strict, titled, start, deciding)
        if live:
            _show_board(sources, task, 1.0 if speed is None else speed, stepping=step)
        else:
            _print_text(sources, task, workers, fail_above)


def _deciding(
    strategy: str | None, sides: PlayerSelection, evaluator: str | None, seed: int | None, fail_above: float | None
) -> ComparisonOptions | None:
    """Return the settings of a comparison, or None; raise UserError if the strategy cannot be loaded."""
    if strategy is None:
        given = {"--player": sides.name, "--both": sides.both or None, "--evaluator": evaluator, "--seed": seed}
        for name, value in {**given, "--fail-above": fail_above}.items():
            if value is not None:
                raise UserError(f"{name} needs --strategy")
        return None
    if sides.both and sides.name is not None:
        raise UserError("expected --player or --both, got both of them")
    try:
        comparison = ComparisonOptions(strategy, evaluator or DEFAULT_STRATEGY, sides, seed)
        comparison.check()
    except StrategyError as error:
        raise UserError(str(error)) from None
    return comparison


def _is_live(paths: Sequence[Path], *, step: bool, paced: bool, plain: bool) -> bool:
    """Return whether to show a live board."""
    possible = sys.stdout.isatty() and _shows_boards()
    if step and plain:
        raise UserError("--step shows a live board, and cannot be combined with --json, --quiet or --strategy")
    if step and not (possible and KeyReader.of_stdin().is_listening):
        raise UserError("--step needs a terminal to show the board on and to read keys from")
    return possible and not plain and (step or paced or (len(paths) == 1 and not paths[0].is_dir()))


@contextlib.contextmanager
def _sources(paths: Sequence[Path]) -> Iterator[list[ReplaySource]]:
    """Yield the files to replay; standard input is saved in a temporary file meanwhile."""
    with contextlib.ExitStack() as stack:
        missing = [path for path in paths if not path.exists() and str(path) != "-"]
        if missing:
            raise UserError(f"cannot read {missing[0]}: No such file or directory")
        kept = [stack.enter_context(saved_stdin()) if str(path) == "-" else path for path in paths]
        sources = find_sources(kept)
        if not sources:
            raise UserError(f"no file in {paths[0]}")
        yield sources


# -- a live board ---------------------------------------------------------------------------------------------------


def _shows_boards() -> bool:
    """Return whether the terminal can draw a board in one place."""
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs rich

    console = Console()
    return console.is_terminal and not console.is_dumb_terminal


def _show_board(sources: Sequence[ReplaySource], task: ReplayTask, speed: float, *, stepping: bool) -> None:
    """Show one source after the other on a live board."""
    from rich.console import Console  # noqa: PLC0415 - as above

    from fibsbot.replay.terminal import FrameHistory, TerminalReplay, board_frames  # noqa: PLC0415

    console = Console(highlight=False)
    summary = _Summary(task, alone=len(sources) == 1)
    more = True

    def watch(events: Iterator[MatchEvent]) -> None:
        nonlocal more
        more = TerminalReplay(
            FrameHistory(board_frames(events)), console, KeyReader.of_stdin(), speed, stepping, task.start
        ).run()

    for source in sources:
        summary.note(process_source(source, task, watch, lambda _: None))
        if not more:
            break
    summary.list_notes()
    summary.check(None)


# -- text -----------------------------------------------------------------------------------------------------------


def _print_text(
    sources: Sequence[ReplaySource], task: ReplayTask, workers: WorkerOptions, fail_above: float | None
) -> None:
    """Replay all sources and print the results at the end."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a name may have letters that the terminal cannot show
    began = time.monotonic()
    summary = _Summary(task, alone=len(sources) == 1)
    total, done = sum(source.size for source in sources), 0
    shown = task.quiet or not sys.stdout.isatty()
    with workers.open_if_chosen() as pool, progress_bar("replaying", shown=shown) as show:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            show(done, total or None)

        try:
            for outcome in replay_all(sources, task, sys.stdout.write, advance, pool, show.follow):
                summary.note(outcome)
        except StrategyError as error:
            raise UserError(str(error)) from None
        except WorkerLostError as error:
            raise UserError(f"a process that replayed files {error}; it may have been out of memory") from None
    sys.stdout.flush()
    summary.list_notes()
    summary.print_comparison()
    summary.print_totals(time.monotonic() - began)
    summary.check(fail_above)


@define
class _Summary:
    """Totals and notes over all sources."""

    task: ReplayTask
    alone: bool
    """Whether there is only one source."""
    tally: ReplayCounts = field(factory=ReplayCounts)
    skipped: int = 0
    broken: int = 0
    notes: list[str] = field(factory=list)
    findings: ComparisonTotals = field(factory=ComparisonTotals)
    worst: list[WorstDecision] = field(factory=list)

    def note(self, outcome: SourceResult) -> None:
        """Add the result of a source; raise an error if it ends the replay, or if the only source fails."""
        name = clean(outcome.source.name)
        if outcome.first_difference:
            raise _ReplayError(outcome.first_difference)
        if outcome.error and self.alone and not outcome.counts.matches:
            raise UserError(f"cannot read {name}: {outcome.error}")
        if outcome.error:
            click.echo(f"{name}: {'skipped: ' if outcome.skipped else ''}{outcome.error}", err=True)
        if outcome.skipped:
            self.skipped += 1
            return
        self.broken += bool(outcome.error)
        self.tally.add(outcome.counts)
        self.notes += outcome.notes[: MAX_NOTES_LISTED - len(self.notes)]
        self.findings.add(outcome.totals)
        self.worst = most_different([*self.worst, *outcome.worst])

    def list_notes(self) -> None:
        """Print differences and gaps, unless they were printed as JSON objects."""
        if self.task.as_json and not self.task.quiet and self.task.comparison is None:
            return
        for text in self.notes:
            click.echo(text, err=True)
        more = self.tally.differences + self.tally.gaps - len(self.notes)
        if more > 0:
            click.echo(f"... and {more:,} more; --json has them all", err=True)

    def print_comparison(self) -> None:
        """Print the result of the comparison with a strategy, if there is one."""
        deciding = self.task.comparison
        if deciding is None:
            return
        if not self.findings.matches and self.findings.left_out:
            if deciding.selection.name is not None:
                raise UserError(f"no match has a player called {clean(deciding.selection.name, 40)!r}")
            raise UserError("the log does not say whose it is: expected --player NAME or --both")
        if not (self.findings.matches or self.broken):
            raise UserError(f"expected a match of a game that {deciding.strategy} plays, found none")
        if self.task.as_json:
            click.echo(json_line(totals_row(self.findings, deciding.strategy, deciding.evaluator_name)))
            return
        click.echo()
        for line in totals_text(self.findings, deciding.strategy, deciding.evaluator_name):
            click.echo(line)
        if self.worst:
            click.echo()
            for line in worst_decisions_text(self.worst, deciding.strategy):
                click.echo(line)

    def print_totals(self, seconds: float) -> None:
        """Print how much was replayed."""
        tally = self.tally
        if self.task.as_json:
            click.echo(json_line({"kind": "total", **tally.row(), "skipped": self.skipped, "broken": self.broken}))
        megabytes = tally.bytes / 1e6
        words = [
            plural(tally.files, "file"),
            f"{megabytes:.1f} MB",
            plural(tally.matches, "match"),
            plural(tally.games, "game"),
            plural(tally.decisions, "decision"),
            plural(tally.differences, "difference"),
            plural(tally.gaps, "gap"),
        ]
        words += [f"{self.skipped:,} skipped"] if self.skipped else []
        speed = f", {megabytes / seconds:.1f} MB/s" if seconds > 0 else ""
        click.echo(f"{', '.join(words)}; {seconds:.1f} s{speed}", err=True)

    def check(self, fail_above: float | None) -> None:
        """Exit or raise an error if the options and the results require it."""
        if self.broken:
            sys.exit(EXIT_USAGE)
        if fail_above is None:
            return
        found = self.findings
        if found.failed:
            raise _ReplayError(f"the strategy had no answer to {plural(found.failed, 'decision')}")
        if found.mean > fail_above:
            raise _ReplayError(f"the mean difference of {found.mean:.4f} is above {fail_above:g}")
