"""`legal`, `show` and `perft`: what the rules core and the notation know, from the command line."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click
from attrs import evolve
from cattrs import unstructure

from fibsbot.cli import UserError
from fibsbot.cli.options import WorkerOptions, worker_options
from fibsbot.cli.output import progress_bar
from fibsbot.cli.positions import ids_of, print_state, read_dice, read_state
from fibsbot.draw.svg import SvgBoard, Theme, ViewOptions
from fibsbot.files import os_errors_as
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_play
from fibsbot.notation.play_notation import parse_play
from fibsbot.notation.position_ids import position_id
from fibsbot.position import Play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.plays import PERFT_START, Cells, PerftCount, PositionCounts, legal_plays, perft_count, perft_level
from fibsbot.workers.pool import Piece, WorkerPool

MAX_DEPTH: Final = 3
"""At depth 4 there would be some 65 thousand million positions to count."""
CHUNK: Final = 250
"""Positions that a worker counts at a time."""


_position: Final = click.argument("position", metavar="XGID|TABLE", required=False)
_game_option: Final = click.option(
    "--game",
    metavar="GAME[:OPTION]",
    help='A tables game, see `fibsbot rules`. TABLE has two rows, as in "24:12 23 / 24:15"; default: the set-up.',
)


@click.command()
@_position
@click.option("--dice", metavar="31", help="The roll, if the XGID has none or another one.")
@click.option("--play", metavar="MOVES", help='Check this play, as in "24/18 13/11", and name the law that forbids it.')
@_game_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def legal(position: str | None, dice: str | None, play: str | None, game: str | None, *, as_json: bool) -> None:
    """List the legal plays of a position.

    XGID is eXtreme Gammon's ID or GNU Backgammon's PositionID:MatchID. With --game each line has the table after the
    play, too: the rows of the player and of the opponent. Where a turn has several parts, such as 3-3 in Gioul, each
    part in --play ends with a semicolon: "24/21(4);" lists the plays of the second part. "name 5;" names a double.
    """
    if game:
        from fibsbot.cli import games  # noqa: PLC0415 - backgammon does not need it

        games.print_legal(games.read_game(game, position, dice), play, as_json=as_json)
        return
    state = read_state(_given(position))
    roll = read_dice(dice) if dice else state.dice
    if roll is None:
        raise UserError("expected a position with dice, or --dice as in --dice 31, got neither")
    plays = [_play(play, evolve(state, phase=Phase.MOVE, dice=roll))] if play else legal_plays(state.position, roll)
    texts = [format_play(play, state.position) for play in plays]
    if as_json:
        rows = [
            {
                "play": text,
                "moves": [[move.source, move.target] for move in play.moves],
                "position_id": position_id(state.position.play(play)),
            }
            for text, play in zip(texts, plays, strict=True)
        ]
        click.echo(json.dumps({"dice": roll, "plays": rows}))
    else:
        click.echo("\n".join(texts) or ("the game is over" if state.position.over else "cannot move"))


def _given(position: str | None) -> str:
    """Return an ID of backgammon; raise UsageError if there is none."""
    if position is None:
        raise click.UsageError("Missing argument 'XGID|TABLE'.")
    return position


_PICTURE_OPTIONS: Final = (
    click.option("--svg", is_flag=True, help="Draw a picture instead."),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="File for the picture, in place of stdout.",
    ),
    click.option("--play", metavar="MOVES", help='Show a play by arrows, as in "24/18 13/11".'),
    click.option("--names", metavar="NAME NAME", nargs=2, help="Names of the player and the opponent."),
    click.option("--light", "theme", flag_value=Theme.LIGHT.value, help="Light colours, whatever the viewer prefers."),
    click.option("--dark", "theme", flag_value=Theme.DARK.value, help="Dark colours, whatever the viewer prefers."),
    click.option("--left", is_flag=True, help="Bear off on the left."),
    click.option("--white", is_flag=True, help="Give the player the light checkers."),
    click.option("--bare", is_flag=True, help="Leave out names, scores and pip counts."),
    click.option("--width", metavar="PIXELS", type=click.IntRange(50, 10_000), help="Width of the picture."),
)
"""Options of `show` that concern the picture."""


def _picture_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_PICTURE_OPTIONS):
        command = option(command)
    return command


@click.command()
@_position
@_game_option
@click.option("--dice", metavar="31", help="The roll, with --game.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_picture_options
def show(position: str | None, game: str | None, dice: str | None, *, as_json: bool, **picture: Any) -> None:
    """Draw a position.

    XGID is eXtreme Gammon's ID or GNU Backgammon's PositionID:MatchID. The board is seen by the player who has to
    decide, who is O in the drawing and X in the XGID below it. As a picture it is dark or light as the viewer prefers.
    """
    svg = picture.pop("svg")
    if svg and as_json:
        raise UserError("expected --svg or --json, got both")
    if not svg:
        _check_text_options(**picture)
    output = picture.pop("output")
    if game:
        from fibsbot.cli import games  # noqa: PLC0415 - backgammon does not need it

        table = games.read_game(game, position, dice)
        if svg:
            _write(games.picture(table, _view(**picture), picture["names"], picture["play"]), output)
        else:
            games.print_game(table, as_json=as_json)
        return
    if dice:
        raise UserError("expected --dice with --game, got it without")
    state = read_state(_given(position))
    if svg:
        _write(_picture(state, **picture), output)
        return
    if as_json:
        pips = [state.position.pips, state.position.opponent_pips]
        click.echo(json.dumps(unstructure(state) | {"pips": pips} | ids_of(state)))
        return
    print_state(state)


def _check_text_options(**picture: Any) -> None:
    """Raise UserError for options of a picture if none is drawn."""
    given = [f"--{value if name == 'theme' else name}" for name, value in picture.items() if value]
    if given:
        raise UserError(f"expected --svg with {' and '.join(given)}, which concern the picture")


def _picture(state: MatchState, *, play: str | None, names: tuple[str, str] | None, **picture: Any) -> str:
    return SvgBoard(state, play=_play(play, state) if play else None, names=names, view=_view(**picture)).svg()


def _view(*, theme: str | None, left: bool, white: bool, bare: bool, width: int | None, **_others: Any) -> ViewOptions:
    return ViewOptions(Theme(theme or "auto"), dark=not white, left=left, board_only=bare, width=width)


def _play(text: str, state: MatchState) -> Play:
    if state.dice is None:
        raise UserError("expected a position with dice for --play, got one without")
    try:
        return parse_play(text, state.position, state.dice)
    except PlayError as error:
        raise UserError(f"--play: {error}") from error


def _write(text: str, output: Path | None) -> None:
    """Write to a file; to stdout without one, or where it is called `-`."""
    if output is None or str(output) == "-":
        click.echo(text, nl=False)
        return
    with os_errors_as(UserError, f"cannot write {output}"):
        if not output.parent.exists():
            output.parent.mkdir(parents=True)
        output.write_text(text, encoding="utf-8")


@click.command()
@click.argument("table", metavar="[TABLE]", required=False)
@_game_option
@click.option("--depth", type=click.IntRange(1, MAX_DEPTH), default=2, show_default=True, help="Rolls to look ahead.")
@worker_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def perft(table: str | None, game: str | None, depth: int, workers: WorkerOptions, *, as_json: bool) -> None:
    """Count the positions that the rules can reach.

    From the opening position, over all 21 rolls and their plays. Equal positions count as often as they are reached,
    and a roll that leaves no play counts one. Depth 3 keeps all cores, or a cluster, busy for a minute or two.

    With --game from TABLE, or the set-up of the game, in one process; of a turn in parts only the first is played.
    """
    if game:
        from fibsbot.cli import games  # noqa: PLC0415 - backgammon does not need it

        if workers.jobs:
            raise UserError("expected --jobs without --game, got both")
        games.print_perft(games.read_game(game, table, None), depth, as_json=as_json)
        return
    if table is not None:
        raise UserError(f"expected --game with a table, got {table!r} without")
    if not as_json:
        click.echo("depth      positions  without a play  seconds")
    reached = PERFT_START
    for level in range(1, depth + 1):
        start = time.monotonic()
        if level == MAX_DEPTH:
            with workers.open() as pool:
                count = count_with(pool, reached)
        else:
            count = perft_count(reached.items())
            if level < depth:
                reached = perft_level(reached)
        seconds = time.monotonic() - start
        if as_json:
            row = {"depth": level, "positions": count.positions, "without_play": count.without_play}
            click.echo(json.dumps(row | {"seconds": round(seconds, 3)}))
        else:
            click.echo(f"{level:5} {count.positions:14,} {count.without_play:15,} {seconds:8.1f}")


def count_with(pool: WorkerPool, reached: PositionCounts) -> PerftCount:
    """Have workers count what one more roll leads to, with a progress bar on a terminal."""
    left = iter(reached.items())
    chunks = list(iter(lambda: list(islice(left, CHUNK)), []))
    pieces = (Piece(f"positions from {CHUNK * number + 1}", chunk) for number, chunk in enumerate(chunks))
    count = PerftCount(0, 0)
    with (
        progress_bar("counting") as show,
        contextlib.closing(pool.run(count_chunk, pieces, ordered=False, on_progress=show.follow)) as counted,
    ):
        for done, (_, part) in enumerate(counted, 1):
            count += part
            show(done, len(chunks))
    return count


def count_chunk(_: None, chunk: Iterable[tuple[Cells, int]]) -> PerftCount:
    """Count in a worker."""
    return perft_count(chunk)
