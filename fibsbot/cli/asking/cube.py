"""`fibsbot cube`: what to do with the cube, and what everything else costs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fibsbot.cli.asking.options import (
    before_throw,
    check_may_double,
    limits_of,
    opened_engine,
    position_argument,
    read_position,
    with_search_options,
)
from fibsbot.cli.positions import ids_of, print_state
from fibsbot.match import Phase


@click.command()
@position_argument
@with_search_options
def cube(position: str, *, plies: int | None, seconds: float | None, networks: Path | None, as_json: bool) -> None:
    """Tell what to do with the cube.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Before a throw that is
    whether to double and what the opponent should answer; where a double is pending (D in an XGID), whether to take.
    What is worth less than the best is listed with what it loses, in points at the cube as it is before the double.
    """
    state = read_position(position)
    rolling, note = before_throw(state)
    doubled = state.phase is Phase.DOUBLED
    if doubled:
        check_may_double(rolling, "a double by a player who may turn the cube and can use it")
    with opened_engine(networks, warm=seconds is not None) as engine:
        reading = engine.read(rolling, limits_of(plies, seconds))
    from fibsbot.cli.asking.cube_sheet import answer, effort_row, offer  # noqa: PLC0415 - loads the engine

    found = answer(state, reading) if doubled else offer(rolling, reading)
    shown = state if doubled else rolling
    note = None if doubled else note
    if as_json:
        row = {**ids_of(shown), "evaluator": engine.name, "note": note, "decision": "take" if doubled else "double"}
        click.echo(json.dumps({**row, **found.row(), **effort_row(reading)}))
        return
    print_state(shown)
    click.echo("")
    click.echo("\n".join(found.lines(reading.effort.plies)))
    effort = f"{reading.effort.evaluations:,} evaluations in {reading.effort.seconds:.3g} s"
    click.echo(f"\nby {engine.name}, {effort}" + (f"; {note}" if note else ""))
