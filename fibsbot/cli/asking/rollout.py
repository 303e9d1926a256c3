"""`fibsbot rollout`: a position, plays or a cube decision, played out many times over."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from attrs import define, frozen
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.asking.best import thrown
from fibsbot.cli.asking.options import (
    PLIES,
    before_throw,
    check_may_double,
    json_option,
    limits_of,
    networks_option,
    opened_engine,
    read_position,
)
from fibsbot.cli.numbers import FiniteRange
from fibsbot.cli.positions import ids_of, print_state
from fibsbot.cli.progress import told_to_stop
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_play

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine
    from fibsbot.engine.rollout import Candidate, Plan, RolloutResult

PLAYS: Final = 3
"""Plays that are rolled out where nobody says otherwise."""
MOST_TRIALS: Final = 1_000_000


@click.command()
@click.argument("where", metavar="POSITION")
@click.option("--dice", metavar="31", help="The roll, if the position has none or another one.")
@click.option("--plays", metavar="N", type=click.IntRange(1), help=f"Plays that are rolled out.  [default: {PLAYS}]")
@click.option("--cube", "cube_decision", is_flag=True, help="Roll out what doubling is worth, and what rolling is.")
@click.option(
    "--trials", metavar="N", default=1296, show_default=True, type=click.IntRange(1, MOST_TRIALS), help="Games, in 36s."
)
@click.option(
    "--truncate", metavar="N", type=click.IntRange(1, 500), help="Turns after which the network says what is left."
)
@click.option("--no-cube", is_flag=True, help="Without the doubling cube.")
@click.option(
    "--error", metavar="E", type=FiniteRange(0, min_open=True), help="Stop when all standard errors are so small."
)
@click.option(
    "--apart",
    metavar="K",
    type=FiniteRange(0, min_open=True),
    help="Stop when the best is ahead by K standard deviations.",
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Of the dice.")
@click.option("--jobs", metavar="J", type=click.IntRange(1, 1024), help="Processes.  [default: one a core]")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep every game here, and go on from what it holds.",
)
@networks_option
@json_option
def rollout(  # noqa: PLR0913 - one argument an option
    *,
    where: str,
    dice: str | None,
    plays: int | None,
    cube_decision: bool,
    trials: int,
    truncate: int | None,
    no_cube: bool,
    error: float | None,
    apart: float | None,
    seed: int,
    jobs: int | None,
    out: Path | None,
    networks: Path | None,
    as_json: bool,
) -> None:
    """Play a position out many times over, and tell what comes of it.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. With dice, the best plays
    are rolled out against each other; with --cube, or where a double is pending, no double and double, take; else the
    position before the throw. All cores play, with the same dice for all candidates and the luck taken out. Ctrl-C
    ends it and tells what is there; with --out FILE, the same command goes on later, even after a kill.
    """
    asked = _asked(where, dice=dice, plays=plays, cube=cube_decision)
    if asked.cube and no_cube:
        raise click.UsageError("expected a cube to decide on, or --no-cube, got both")
    from fibsbot.engine.engine import Engine  # noqa: PLC0415 - loads the engine
    from fibsbot.engine.rollout import Plan, RolloutError  # noqa: PLC0415 - loads the engine
    from fibsbot.engine.rollout import rollout as roll_out  # noqa: PLC0415 - loads the engine

    plan = Plan(trials=trials, truncated=truncate, cubeful=not no_cube, seed=seed, error=error, apart=apart)
    with opened_engine(networks) as engine:
        candidates = _candidates(engine, asked)
        name = engine.name
    make = functools.partial(Engine.load, networks) if networks else Engine.load
    found = _Found()
    try:
        with _progress(plan) as show, told_to_stop():
            found.take(
                roll_out(make, candidates, plan, jobs=jobs, file=out, engine=name, show=lambda it: show(found.take(it)))
            )
    except KeyboardInterrupt:
        found.finished = False
    except RolloutError as caught:
        raise UserError(str(caught)) from None
    _tell(asked, found, name, as_json=as_json)


@frozen
class _Asked:
    """What is to be rolled out."""

    state: MatchState
    """Seen by whose worth is asked for."""
    plays: int = 0
    """Of a throw, how many plays; 0 for a position before the throw."""
    cube: bool = False
    note: str | None = None


def _asked(where: str, *, dice: str | None, plays: int | None, cube: bool) -> _Asked:
    state = read_position(where)
    if cube or (state.phase is Phase.DOUBLED and not dice):
        if dice or plays:
            raise click.UsageError("expected --cube, or --dice and --plays, which concern a throw, got both")
        rolling, note = before_throw(state)
        check_may_double(rolling, "a cube that the player may turn and can use")
        return _Asked(rolling, cube=True, note=note)
    if dice or state.phase is Phase.MOVE:
        return _Asked(thrown(state, dice), plays or PLAYS)
    if plays:
        raise click.UsageError("expected a position with dice, or --dice, for --plays")
    return _Asked(state)


def _candidates(engine: Engine, asked: _Asked) -> Sequence[Candidate]:
    """Return what is rolled out; of the plays, those that look best two rolls ahead."""
    from fibsbot.engine.rollout import cube_actions, plays_of, position  # noqa: PLC0415 - loads the engine

    if asked.cube:
        return cube_actions(asked.state)
    if not asked.plays:
        return position(asked.state)
    chosen = [it.play for it in engine.rank(asked.state, limits=limits_of(PLIES, None)).plays[: asked.plays]]
    return plays_of(asked.state, chosen, [format_play(it, asked.state.position) for it in chosen])


@define
class _Found:
    """What is known so far."""

    result: RolloutResult | None = None
    finished: bool = True

    def take(self, result: RolloutResult) -> RolloutResult:
        """Remember a result."""
        self.result = result
        return result


@contextlib.contextmanager
def _progress(plan: Plan) -> Iterator[Callable[[RolloutResult], None]]:
    """Show how far it is and what has come of it so far, while somebody watches."""
    from fibsbot.cli.asking.rollout_sheet import running  # noqa: PLC0415 - loads the engine

    bar = Progress(
        TextColumn("games"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[running]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task("", total=plan.trials, running="")

    def show(result: RolloutResult) -> None:
        bar.update(task, completed=result.rolled[0].count, running=running(result))

    with bar:
        yield show


def _tell(asked: _Asked, found: _Found, name: str, *, as_json: bool) -> None:
    if found.result is None:
        click.echo("fibsbot rollout: interrupted before the first 36 games were played", err=True)
        sys.exit(EXIT_INTERRUPTED)
    from fibsbot.cli.asking.rollout_sheet import Sheet  # noqa: PLC0415 - loads the engine

    sheet = Sheet(asked.state, found.result, cube=asked.cube, finished=found.finished)
    if as_json:
        click.echo(json.dumps({**ids_of(asked.state), "evaluator": name, "note": asked.note, **sheet.row()}))
    else:
        print_state(asked.state)
        click.echo("")
        click.echo("\n".join(sheet.lines()))
        click.echo(f"\nby {name}" + (f"; {asked.note}" if asked.note else ""))
    if not found.finished:
        sys.exit(EXIT_INTERRUPTED)
