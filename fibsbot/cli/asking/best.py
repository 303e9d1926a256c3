"""`fibsbot best`: the plays of a throw, the best first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from attrs import evolve

from fibsbot.cli import UserError
from fibsbot.cli.asking.options import limits_of, opened_engine, position_argument, read_position, with_search_options
from fibsbot.cli.asking.wording import chances_row, equity, in_match, rounded, worth_row
from fibsbot.cli.positions import ids_of, print_state, read_dice
from fibsbot.engine.cube import Stakes
from fibsbot.engine.search import RankedPlay, Ranking
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_play

SHOWN: Final = 10
"""Plays that are listed where nobody says otherwise."""
PLAY: Final = 26
"""Columns of a play; a longer one pushes what follows to the right."""


@click.command()
@position_argument
@click.option("--dice", metavar="31", help="The roll, if the position has none or another one.")
@click.option(
    "--count", metavar="N", default=SHOWN, show_default=True, type=click.IntRange(1), help="Plays that are listed."
)
@with_search_options
def best(  # noqa: PLR0913 - one argument an option
    position: str,
    *,
    dice: str | None,
    count: int,
    plies: int | None,
    seconds: float | None,
    networks: Path | None,
    as_json: bool,
) -> None:
    """Rank the plays of a throw.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Each play is listed with
    how deep it was looked at, its equity with the cube, what it loses against the best one, and the chances that it
    leaves to who makes it. Plays that fall behind are not looked at any deeper.
    """
    state = thrown(read_position(position), dice)
    with opened_engine(networks, warm=seconds is not None) as engine:
        ranking = engine.rank(state, limits=limits_of(plies, seconds))
    if as_json:
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, **_row(state, ranking, count)}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(_lines(state, ranking, count)))
    click.echo(f"\nby {engine.name}, {ranking.effort.evaluations:,} evaluations in {ranking.effort.seconds:.3g} s")


def thrown(state: MatchState, dice: str | None) -> MatchState:
    """Return the state with the throw that is asked for; raise UserError where there is none to be played."""
    if state.phase is Phase.DOUBLED:
        raise UserError("expected a throw to play, got a double to answer; `fibsbot cube` tells what to answer")
    if dice:
        return evolve(state, phase=Phase.MOVE, dice=read_dice(dice))
    if state.dice is None:
        raise UserError("expected a position with dice, or --dice as in --dice 31, got neither")
    return state


def _row(state: MatchState, ranking: Ranking, count: int) -> dict[str, Any]:
    stakes = Stakes.of(state)
    return {
        "dice": state.dice,
        "legal": 0 if _dances(ranking) else len(ranking.plays),
        "plies": ranking.effort.plies,
        "evaluations": ranking.effort.evaluations,
        "seconds": round(ranking.effort.seconds, 4),
        "plays": [
            {
                "play": format_play(it.play, state.position),
                "moves": [[move.source, move.target] for move in it.play.moves],
                "plies": it.plies,
                **worth_row(stakes, it.equity),
                "loss": rounded(ranking.loss(it)),
                "cubeless": rounded(it.cubeless),
                "chances": chances_row(it.outcomes),
            }
            for it in ranking.plays[:count]
        ],
    }


def _dances(ranking: Ranking) -> bool:
    return not ranking.best.play.moves


def _lines(state: MatchState, ranking: Ranking, count: int) -> Iterator[str]:
    stakes = Stakes.of(state)
    if _dances(ranking):
        yield "No checker can move."
    elif len(ranking.plays) == 1:
        yield "Forced: there is no other play."
    for place, it in enumerate(ranking.plays[:count], 1):
        loss = "" if it is ranking.best else f"({equity(it.equity - ranking.best.equity)})"
        worth = f"{equity(it.equity)}  {loss:9}  {in_match(stakes, it.equity):>8}"
        yield f"{place:3}.  {it.plies}-ply  {format_play(it.play, state.position):{PLAY}}  {worth}".rstrip()
        yield f"{'':13}{_chances(it)}   cubeless {equity(it.cubeless)}"
    left = len(ranking.plays) - count
    if left > 0:
        yield f"and {left} more; --count shows them"


def _chances(it: RankedPlay) -> str:
    won, lost = it.outcomes[:3].tolist(), it.outcomes[3:].tolist()
    return " - ".join(" ".join(f"{chance:.3f}" for chance in side) for side in (won, lost))
