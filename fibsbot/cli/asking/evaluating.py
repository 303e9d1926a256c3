"""`fibsbot eval`: what a position is worth, ply by ply."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fibsbot.cli.asking.options import (
    PLIES,
    before_throw,
    json_option,
    limits_of,
    networks_option,
    opened_engine,
    plies_option,
    position_argument,
    read_position,
)
from fibsbot.cli.positions import ids_of, print_state


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
        readings = [engine.read(state, limits_of(depth, None)) for depth in depths]
    from fibsbot.cli.asking.evaluating_sheet import Sheet  # noqa: PLC0415 - loads the engine

    sheet = Sheet(state, readings)
    if as_json:
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, "note": note, "plies": sheet.rows()}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(sheet.lines()))
    click.echo(f"\nby {engine.name}" + (f"; {note}" if note else ""))
