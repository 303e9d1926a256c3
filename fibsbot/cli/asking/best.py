"""`fibsbot best`: the plays of a throw, the best first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from attrs import evolve

from fibsbot.cli import UserError
from fibsbot.cli.asking.options import limits_of, opened_engine, position_argument, read_position, with_search_options
from fibsbot.cli.positions import ids_of, print_state, read_dice
from fibsbot.match import MatchState, Phase

if TYPE_CHECKING:
    from fibsbot.engine.search import Compared

SHOWN: Final = 10
"""Plays that are listed at most where nobody says otherwise."""
LEAST: Final = 3
"""Plays that are listed at least, however far they are behind."""


@click.command()
@position_argument
@click.option("--dice", metavar="31", help="The roll, if the position has none or another one.")
@click.option(
    "--count",
    metavar="N",
    type=click.IntRange(1),
    help=f"Plays to list.  [default: the close ones, {LEAST} to {SHOWN}]",
)
@with_search_options
def best(  # noqa: PLR0913 - one argument an option
    position: str,
    *,
    dice: str | None,
    count: int | None,
    plies: int | None,
    seconds: float | None,
    networks: Path | None,
    as_json: bool,
) -> None:
    """Rank the plays of a throw.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Each play is listed with
    how deep it was looked at, its equity with the cube, what it loses against the best one, and the chances that it
    leaves to who makes it. All plays that are listed are looked at equally deep.
    """
    state = thrown(read_position(position), dice)
    with opened_engine(networks, warm=seconds is not None) as engine:
        ranking = engine.rank(state, limits=limits_of(plies, seconds), compared=_compared(count))
    from fibsbot.cli.asking.best_sheet import Sheet  # noqa: PLC0415 - loads the engine

    sheet = Sheet(state, ranking, count or SHOWN)
    if as_json:
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, **sheet.row()}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(sheet.lines()))
    click.echo(f"\nby {engine.name}, {ranking.effort.evaluations:,} evaluations in {ranking.effort.seconds:.3g} s")


def _compared(count: int | None) -> Compared:
    """Return which plays are looked at equally deep: so many, or those that come close to the best."""
    from fibsbot.engine.search import Compared  # noqa: PLC0415 - loads the engine

    return Compared(SHOWN, LEAST) if count is None else Compared(count, count)


def thrown(state: MatchState, dice: str | None) -> MatchState:
    """Return the state with the throw that is asked for; raise UserError where there is none to be played."""
    if state.phase is Phase.DOUBLED:
        raise UserError("expected a throw to play, got a double to answer; `fibsbot cube` tells what to answer")
    if dice:
        return evolve(state, phase=Phase.MOVE, dice=read_dice(dice))
    if state.dice is None:
        raise UserError("expected a position with dice, or --dice as in --dice 31, got neither")
    return state
