"""`legal` and `show`: what the rules core and the notation know, from the command line."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click
from attrs import asdict, evolve

from fibsbot.cli import UserError
from fibsbot.cli.positions import ids_of, print_state, read_dice, read_play, read_state
from fibsbot.draw.themes import Theme
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_play
from fibsbot.notation.position_ids import position_id
from fibsbot.rules.plays import legal_plays

_position: Final = click.argument("position", metavar="XGID|TABLE", required=False)
game_option: Final = click.option(
    "--game",
    metavar="GAME[:OPTION]",
    help='A tables game, see `fibsbot rules`. TABLE has two rows, as in "24:12 23 / 24:15"; default: the set-up.',
)


@click.command()
@_position
@click.option("--dice", metavar="31", help="The roll, if the XGID has none or another one.")
@click.option("--play", metavar="MOVES", help='Check this play, as in "24/18 13/11", and name the law that forbids it.')
@game_option
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
    plays = [read_play(play, evolve(state, phase=Phase.MOVE, dice=roll))] if play else legal_plays(state.position, roll)
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
        _print(read_state(_given(position)), as_json=as_json)


def _write_picture(position: str | None, game: str | None, dice: str | None, options: Mapping[str, Any]) -> None:
    from fibsbot.cli import games, pictures  # noqa: PLC0415 - most positions are drawn as text

    if game:
        pictures.write_game_picture(games.read_game(game, position, dice), pictures.PictureOptions(**options))
    else:
        pictures.write_state_picture(read_state(_given(position)), pictures.PictureOptions(**options))


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
