"""`fibsbot legal`: the legal plays of a position of any game."""

from __future__ import annotations

import json

import click
from attrs import evolve

from fibsbot.cli import UserError
from fibsbot.cli.options import game_option, given_id, optional_position
from fibsbot.cli.positions import read_dice, read_play, read_state
from fibsbot.match import Phase
from fibsbot.notation import format_play
from fibsbot.notation.position_ids import position_id
from fibsbot.rules.plays import legal_plays


@click.command()
@optional_position
@click.option("--dice", metavar="31", help="The roll, if the XGID has none or another one.")
@click.option("--play", metavar="MOVES", help='Check this play, as in "24/18 13/11", and name the law that forbids it.')
@game_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def legal(position: str | None, dice: str | None, play: str | None, game: str | None, *, as_json: bool) -> None:
    """List the legal plays of a position.

    XGID is eXtreme Gammon's ID or GNU Backgammon's PositionID:MatchID. With --game each line has the position after the
    play, too: the rows of the player and of the opponent. Where a turn has several parts, such as 3-3 in Gioul, each
    part in --play ends with a semicolon: "24/21(4);" lists the plays of the second part. "name 5;" names a double.
    """
    if game:
        from fibsbot.cli import games  # noqa: PLC0415 - backgammon does not need it

        games.print_legal(games.read_game(game, position, dice), play, as_json=as_json)
        return
    state = read_state(given_id(position))
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
