"""`fibsbot rollout`: play a position, plays or a cube decision out many times.

The engine is imported inside functions, once the position has been read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import click
from attrs import field, frozen

from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.engine import with_roll
from fibsbot.cli.evaluations import (
    before_roll,
    check_may_double,
    evaluated_by,
    json_option,
    networks_option,
    open_engine,
    read_position,
)
from fibsbot.cli.options import FiniteRange, WorkerOptions, worker_options
from fibsbot.cli.output import sigterm_as_interrupt
from fibsbot.cli.positions import ids_of, print_state
from fibsbot.cli.rolling import PlayChoice, Rolling, RollingProgress
from fibsbot.cli.rollout_output import OPENING_WITHIN, OpeningRollouts, RolloutOutput
from fibsbot.engine import MAX_TRIALS
from fibsbot.match import MatchState, Phase
from fibsbot.position import Position

DEFAULT_PLAYS: Final = 3
"""Plays that are rolled out by default."""


@click.command()
@click.argument("where", metavar="POSITION", required=False)
@click.option("--dice", metavar="31", help="The roll, if the position has none or another one.")
@click.option(
    "--plays", metavar="N", type=click.IntRange(1), help=f"Number of plays to roll out.  [default: {DEFAULT_PLAYS}]"
)
@click.option(
    "--within",
    metavar="E",
    type=FiniteRange(0),
    help="Roll out every play that loses at most E by evaluation.  [default for --openings: 0.1]",
)
@click.option("--openings", is_flag=True, help="Roll out the plays of all 15 opening rolls.")
@click.option("--cube-decision", is_flag=True, help="Roll out a cube decision: double and no double.")
@click.option(
    "--trials",
    metavar="N",
    default=1296,
    show_default=True,
    type=click.IntRange(1, MAX_TRIALS),
    help="Number of games, rounded up to a multiple of 36.",
)
@click.option(
    "--truncate",
    metavar="N",
    type=click.IntRange(1, 500),
    help="Evaluate the position after N turns instead of playing on.",
)
@click.option("--cubeless", is_flag=True, help="Play without the doubling cube.")
@click.option(
    "--max-error", metavar="E", type=FiniteRange(0, min_open=True), help="Stop once all standard errors are at most E."
)
@click.option(
    "--jsd",
    metavar="K",
    type=FiniteRange(0, min_open=True),
    help="Stop once the best candidate leads by K joint standard deviations.",
)
@click.option(
    "--seed", default=1, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Random seed for the dice."
)
@worker_options
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Save every game in this file (--openings: folder), and continue from it.",
)
@networks_option
@json_option
def rollout(  # noqa: PLR0913 - one argument per option
    *,
    where: str | None,
    dice: str | None,
    plays: int | None,
    within: float | None,
    openings: bool,
    cube_decision: bool,
    trials: int,
    truncate: int | None,
    cubeless: bool,
    max_error: float | None,
    jsd: float | None,
    seed: int,
    workers: WorkerOptions,
    output: Path | None,
    networks: Path | None,
    as_json: bool,
) -> None:
    """Play a position out many times and estimate its equity.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. With dice, the best plays
    are rolled out against each other; with --cube-decision, or where a double is pending, no double and double,
    take; else the position before the roll. With --openings, the plays of all opening rolls are rolled out, for money
    or at the score of POSITION. All cores play, or a cluster, with the same dice for all candidates, and the result is
    adjusted for luck. Ctrl-C stops and prints the result so far; with -o FILE, the same command continues later, even
    after a kill.
    """
    if openings and (dice or cube_decision):
        raise click.UsageError("expected --openings, or one position with --dice or --cube-decision, got both")
    if where is None and not openings:
        raise click.UsageError("expected a POSITION, or --openings")
    if output and output.is_dir() != openings and output.exists():
        raise UserError(f"expected a {'folder' if openings else 'file'} for --output, got {output}")
    asked = None
    if not openings:
        assert where is not None  # noqa: S101 - see above
        asked = _read_question(where, dice=dice, plays=plays, within=within, cube=cube_decision)
        if asked.cube and cubeless:
            raise click.UsageError("expected a cube decision or --cubeless, got both")
    from fibsbot.engine.rollout import RolloutPlan  # noqa: PLC0415 - loads the engine

    plan = RolloutPlan(
        trials=trials,
        truncated=truncate,
        cubeful=not cubeless,
        seed=seed,
        stop_at_error=max_error,
        stop_at_deviations=jsd,
    )
    with sigterm_as_interrupt(), workers.open() as pool, open_engine(networks) as engine:
        if asked:
            rolling = Rolling(plan, pool, engine, networks, asked.choice)
            found = rolling.run(asked.state, output, cube=asked.cube)
            _print_result(asked, found, engine.name, as_json=as_json)
            return
        choice = PlayChoice(plays, OPENING_WITHIN if within is None else within)
        state = read_position(where) if where else MatchState(Position.start())
        OpeningRollouts(state, Rolling(plan, pool, engine, networks, choice), output, as_json).run()


@frozen
class _Question:
    """A position to roll out, and what to compare."""

    state: MatchState
    """Seen by the player whose equity is estimated."""
    choice: PlayChoice = field(factory=PlayChoice)
    """Of the plays, if there is a roll."""
    cube: bool = False
    note: str | None = None


def _read_question(where: str, *, dice: str | None, plays: int | None, within: float | None, cube: bool) -> _Question:
    state = read_position(where)
    if cube or (state.phase is Phase.DOUBLED and not dice):
        if dice or plays or within is not None:
            raise click.UsageError(
                "expected --cube-decision, or --dice, --plays and --within, which concern a roll, got both"
            )
        rolling, note = before_roll(state)
        check_may_double(rolling, "a cube that the player may turn and can use")
        return _Question(rolling, cube=True, note=note)
    if dice or state.phase is Phase.MOVE:
        return _Question(
            with_roll(state, dice), PlayChoice(plays or (DEFAULT_PLAYS if within is None else None), within)
        )
    if plays or within is not None:
        raise click.UsageError("expected a position with dice, or --dice, for --plays and --within")
    return _Question(state)


def _print_result(asked: _Question, found: RollingProgress, name: str, *, as_json: bool) -> None:
    if found.result is None:
        click.echo("fibsbot rollout: interrupted before the first 36 games were played", err=True)
        sys.exit(EXIT_INTERRUPTED)

    output = RolloutOutput(asked.state, found.result, cube=asked.cube, finished=found.finished)
    if as_json:
        click.echo(json.dumps({**ids_of(asked.state), "evaluator": name, "note": asked.note, **output.row()}))
    else:
        print_state(asked.state)
        click.echo("")
        click.echo("\n".join(output.lines()))
        click.echo(evaluated_by(name) + (f"; {asked.note}" if asked.note else ""))
    if not found.finished:
        sys.exit(EXIT_INTERRUPTED)
