"""`fibsbot show`: a position of any game, as text, JSON or a picture."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click
from attrs import asdict

from fibsbot.cli import UserError
from fibsbot.cli.options import game_option, given_id, optional_position
from fibsbot.cli.positions import ids_of, print_state, read_state
from fibsbot.drawing.themes import Theme
from fibsbot.match import MatchState

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
@optional_position
@game_option
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
    if dice and not game:
        raise UserError("expected --dice with --game, got it without")
    if svg:
        _write_picture(position, game, dice, picture)
    elif game:
        from fibsbot.cli import games  # noqa: PLC0415 - backgammon does not need it

        games.print_game(games.read_game(game, position, dice), as_json=as_json)
    else:
        _print(read_state(given_id(position)), as_json=as_json)


def _write_picture(position: str | None, game: str | None, dice: str | None, options: Mapping[str, Any]) -> None:
    from fibsbot.cli import games, pictures  # noqa: PLC0415 - most positions are drawn as text

    if game:
        pictures.write_game_picture(games.read_game(game, position, dice), pictures.PictureOptions(**options))
    else:
        pictures.write_state_picture(read_state(given_id(position)), pictures.PictureOptions(**options))


def _print(state: MatchState, *, as_json: bool) -> None:
    """Print the board and what the drawing does not show, or one JSON object."""
    if not as_json:
        print_state(state)
        return
    pips = [state.position.pips, state.position.opponent_pips]
    fields = asdict(state, value_serializer=_json_value, filter=lambda field, _: field.name not in _OF_OTHER_GAMES)
    click.echo(json.dumps({"position": fields.pop("board")} | fields | {"pips": pips} | ids_of(state)))


_OF_OTHER_GAMES: Final = frozenset({
    *("rules", "todo", "throws", "passed", "naming", "names", "on_turn", "gammon", "resignation_points"),
})  # fmt: skip
"""Fields of a decision that are always the same in a position of backgammon."""


def _json_value(_: object, __: object, value: object) -> object:
    """Return a field's value for JSON."""
    return value.value if isinstance(value, enum.Enum) else value


def _check_text_options(**picture: Any) -> None:
    """Raise UserError for options of a picture if none is drawn."""
    given = [f"--{value if name == 'theme' else name}" for name, value in picture.items() if value]
    if given:
        raise UserError(f"expected --svg with {' and '.join(given)}, which concern the picture")
