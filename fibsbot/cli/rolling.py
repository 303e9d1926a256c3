"""Rolls candidates out for `fibsbot rollout`, with a progress bar.

The engine is imported inside functions, once the position has been read.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import define, frozen
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from fibsbot.cli import UserError
from fibsbot.cli.evaluations import DEFAULT_PLIES, format_equity, search_limits
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_play
from fibsbot.text import plural
from fibsbot.workers.pool import PoolProgress, WorkerPool

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine
    from fibsbot.engine.rollout import Candidate, RolloutPlan, RolloutResult
    from fibsbot.engine.search.searcher import RankedPlay

NAME_WIDTH: Final = 26
"""Width of a candidate's name; a longer one moves the columns after it to the right."""
BLOCK: Final = 36
"""Games that are played together."""


@frozen
class PlayChoice:
    """Which plays are rolled out."""

    most: int | None = None
    within: float | None = None
    """What a play may lose by evaluation."""

    def of(self, ranked: Sequence[RankedPlay]) -> Sequence[RankedPlay]:
        """Return those of the ranked plays, the best first."""
        if self.within is not None:
            ranked = [play for play in ranked if play.equity >= ranked[0].equity - self.within]
        return ranked[: self.most]


@frozen(eq=False)
class Rolling:
    """How candidates are rolled out."""

    plan: RolloutPlan
    pool: WorkerPool
    engine: Engine
    """Chooses the plays."""
    networks: Path | None
    choice: PlayChoice

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self.engine.name

    def run(self, state: MatchState, file: Path | None, title: str = "", *, cube: bool = False) -> RollingProgress:
        """Roll out a position, its plays or its cube decision, with a progress bar; return what was found.

        Ctrl-C ends it. Raises UserError if it fails.
        """
        from fibsbot.engine.engine import Engine, load_networks  # noqa: PLC0415 - loads the engine
        from fibsbot.engine.rollout import RolloutError  # noqa: PLC0415 - loads the engine
        from fibsbot.engine.rollout import rollout as roll_out  # noqa: PLC0415 - loads the engine

        make = functools.partial(Engine.of, load_networks(self.networks)) if self.networks else Engine.load
        found = RollingProgress()
        try:
            with _progress(self.plan, title) as show:
                found.take(
                    roll_out(
                        make,
                        _candidates(self.engine, state, self.choice, cube=cube),
                        self.plan,
                        pool=self.pool,
                        file=file,
                        engine=self.name,
                        on_progress=lambda results: show.result(found.take(results)),
                        on_work=show.follow,
                    )
                )
        except KeyboardInterrupt:
            found.finished = False
        except RolloutError as caught:
            raise UserError(str(caught)) from None
        return found


def _candidates(engine: Engine, state: MatchState, choice: PlayChoice, *, cube: bool) -> Sequence[Candidate]:
    """Return the candidates to roll out; of the plays, those that are best at the default plies."""
    from fibsbot.engine.rollout import cube_candidates, play_candidates, position_candidate  # noqa: PLC0415 - loads the engine

    if cube:
        return cube_candidates(state)
    if state.phase is not Phase.MOVE:
        return position_candidate(state)
    chosen = [ranked.play for ranked in choice.of(engine.rank(state, limits=search_limits(DEFAULT_PLIES, None)).plays)]
    return play_candidates(state, chosen, [format_play(play, state.position) for play in chosen])


def running_result(result: RolloutResult) -> str:
    """Return the best candidate so far as text."""
    best = result.best
    return f"{best.candidate.name[:NAME_WIDTH]} {format_equity(best.equity)} ± {best.error:.4f}"


@define
class RollingProgress:
    """The result so far."""

    result: RolloutResult | None = None
    finished: bool = True

    def take(self, result: RolloutResult) -> RolloutResult:
        """Store a result, and return it."""
        self.result = result
        return result


@frozen
class _ProgressDisplay:
    """A progress bar with the result so far."""

    bar: Progress
    task: TaskID

    def result(self, result: RolloutResult) -> None:
        """Show the games that were played, and the best candidate."""
        self.bar.update(self.task, completed=result.results[0].count, running=running_result(result))

    def follow(self, progress: PoolProgress) -> None:
        """Show the workers."""
        rate = f", {BLOCK * progress.rate:.0f} games/s" if progress.done else ""
        self.bar.update(self.task, workers=plural(progress.workers, "worker") + rate)


@contextlib.contextmanager
def _progress(plan: RolloutPlan, title: str) -> Iterator[_ProgressDisplay]:
    """Show a progress bar with the result so far, on a terminal."""
    bar = Progress(
        TextColumn(f"{title or 'games'}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[workers]}"),
        TextColumn("{task.fields[running]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task("", total=plan.trials, running="", workers="")
    with bar:
        yield _ProgressDisplay(bar, task)
