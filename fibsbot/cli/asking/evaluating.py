"""`fibsbot eval`: what a position is worth, ply by ply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from fibsbot.cli.asking.options import (
    PLIES,
    before_throw,
    json_option,
    networks_option,
    opened_engine,
    plies_option,
    position_argument,
    read_position,
)
from fibsbot.cli.asking.wording import chances, chances_row, equity, headings, in_match, rounded, worth_row
from fibsbot.cli.positions import ids_of, print_state
from fibsbot.engine.cube import Stakes
from fibsbot.engine.search import Limits, Reading
from fibsbot.match import MatchState


@click.command("eval")
@position_argument
@plies_option
@networks_option
@json_option
def evaluate(position: str, *, plies: int | None, networks: Path | None, as_json: bool) -> None:
    """Tell what a position is worth before the throw, at each ply.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. All figures are those of
    the player on roll: the chances to win, to win a gammon or more and a backgammon, and the same lost; points per
    game without a cube; and the worth with the cube, which is doubled where that gains.
    """
    state, note = before_throw(read_position(position))
    depths = range((PLIES if plies is None else plies) + 1)
    with opened_engine(networks) as engine:
        readings = [engine.read(state, Limits(depth)) for depth in depths]
    if as_json:
        rows = [_row(state, depth, it) for depth, it in zip(depths, readings, strict=True)]
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, "note": note, "plies": rows}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(_lines(state, readings)))
    click.echo(f"\nby {engine.name}" + (f"; {note}" if note else ""))


def _row(state: MatchState, plies: int, reading: Reading) -> dict[str, Any]:
    return {
        "plies": plies,
        "chances": chances_row(reading.outcomes),
        "cubeless": rounded(reading.cubeless),
        **worth_row(Stakes.of(state), reading.equity),
        "evaluations": reading.effort.evaluations,
        "seconds": round(reading.effort.seconds, 4),
    }


def _lines(state: MatchState, readings: list[Reading]) -> Iterator[str]:
    stakes = Stakes.of(state)
    yield f"{'':6}{headings()}{'cubeless':>10}{'cubeful':>9}" + (f"{'MWC':>10}" if stakes.match else "")
    for plies, it in enumerate(readings):
        worths = f"{equity(it.cubeless):>10}{equity(it.equity):>9}"
        chance = f"{in_match(stakes, it.equity):>10}" if stakes.match else ""
        yield f"{plies}-ply {chances(it.outcomes)}{worths}{chance}"
