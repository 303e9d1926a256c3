"""`fibsbot replay`: show logged and captured games, check them, or compare them with a strategy's decisions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from fibsbot.cli.options import FiniteRange, worker_options
from fibsbot.replay.places import Place, PlaceError


class _SpeedType(click.ParamType[float]):
    """A number from 0, or `max`."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the value of an option."""
        if value == "max":
            return 0.0
        try:
            speed = float(str(value))
        except ValueError:
            speed = math.nan
        if not (math.isfinite(speed) and speed >= 0):
            self.fail(f"expected a number from 0, or max, got {value!r}", param, ctx)
        return speed


class _PlaceType(click.ParamType[Place]):
    """A place: MATCH/GAME/TURN."""

    name = "place"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Place:
        """Parse the value of an option."""
        try:
            return value if isinstance(value, Place) else Place.parse(str(value))
        except PlaceError as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--step", is_flag=True, help="Wait for a key after each step.")
@click.option(
    "--speed",
    metavar="X",
    type=_SpeedType(),
    help="Playback speed factor; 0 or max: no pauses.  [default: 1]",
)
@click.option("--start", metavar="PLACE", type=_PlaceType(), help="Start at MATCH, MATCH/GAME or MATCH/GAME/TURN.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each decision and event.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the summary.")
@click.option("--strict", is_flag=True, help="Fail at the first difference between our state and a board line.")
@click.option("--strategy", metavar="NAME", help="Compare the decisions with those of a strategy.")
@click.option("--player", metavar="NAME", help="With --strategy: examine the decisions of this player.")
@click.option("--both", is_flag=True, help="Examine both players (default: the log's owner).")
@click.option("--evaluator", metavar="NAME", help="With --strategy: what evaluates the differences.  [default: engine]")
@click.option("--seed", type=int, help="Random seed for strategies that use one.")
@click.option(
    "--fail-above", metavar="X", type=FiniteRange(0), help="With --strategy: fail if the mean difference is more."
)
@worker_options
def replay(paths: tuple[Path, ...], **options: Any) -> None:
    """Show logged and captured games.

    FILE is a session log, a capture of any client, or a match as .mat, SGF, .xg, .bgf, FIBS oldmoves or our JSON; a
    folder means all files below it, `-` standard input. One file in a terminal is shown on a live board; anything else
    is printed as a list of moves. See docs/how-to/replay.md.
    """
    from fibsbot.cli.replay_output import replay_files  # noqa: PLC0415 - the protocol, which no help text needs

    replay_files(paths, **options)
