"""What `legal`, `show` and `perft` do with `--game`: positions of other games than backgammon, read and printed."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import click

from fibsbot.cli import UserError
from fibsbot.cli.output import print_board
from fibsbot.drawing.board_text import draw_game
from fibsbot.drawing.sentences import describe_game, describe_turn
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.games.sides_text import SidesTextError, format_sides, parse_sides
from fibsbot.games.state_json import state_to_json
from fibsbot.notation.play_notation import format_play, parse_play
from fibsbot.position import Play
from fibsbot.rules import game as games
from fibsbot.rules.errors import PlayError, RuleError
from fibsbot.rules.general_plays import check_play, legal_plays, perft
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.state import GameState, Seat, Stage

NAMES = ("player", "opponent")


def read_ruleset(name: str) -> Ruleset:
    """Return a game by its name with options; raise UserError if there is none."""
    try:
        return load_ruleset(name)
    except UnknownGameError as error:
        raise UserError(str(error)) from error


def read_game(name: str, position: str | None, dice: str | None) -> GameState:
    """Return a game in which the player has to roll in a position, or to play these dice; raise UserError.

    Without a position it is the set-up.
    """
    ruleset = read_ruleset(name)
    try:
        sides = parse_sides(position, ruleset) if position else ruleset.start()
        return games.start_at(ruleset, sides, _dice(dice, ruleset))
    except SidesTextError as error:
        raise UserError(str(error)) from error


def _dice(text: str | None, ruleset: Ruleset) -> tuple[int, ...] | None:
    if text is None:
        return None
    if len(text) != ruleset.dice or not set(text) <= set("123456"):
        raise UserError(
            f"expected --dice with {ruleset.dice} digits from 1 to 6, as in {'654'[: ruleset.dice]}, got {text!r}"
        )
    return tuple(map(int, text))


def read_play(text: str, game: GameState) -> Play:
    """Parse a play of the player on turn; raise UserError with the law that forbids it."""
    _part(game)  # an error if there are no dice
    try:
        return parse_play(text, game)
    except PlayError as error:
        raise UserError(f"--play: {error}") from error


def _part(game: GameState) -> Part:
    if game.dice is None:
        raise UserError(f"expected --dice as in --dice {'654'[: game.rules.dice]}, got none")
    return game.part


def _after(game: GameState, steps: list[str]) -> GameState:
    """Return the game after the first parts of a turn: plays, or `name 5`. Raises UserError for what is illegal."""
    for count, step in enumerate(steps, 1):
        try:
            game = _step(game, step)
        except RuleError as error:
            raise UserError(f"--play: {error}") from error
        if game.stage not in {Stage.MOVE, Stage.NAME}:
            raise UserError(f"--play: nothing is left to play after {'; '.join(steps[:count])}")
    if game.stage is Stage.NAME:
        raise _expected_name(game, "nothing")
    return game


def _step(game: GameState, step: str) -> GameState:
    """Return the game after one part of a turn. Raises UserError or RuleError."""
    if game.namer is None:
        return games.play(game, game.turn, read_play(step, game))
    number = re.fullmatch(r"name ([0-9]{1,4})", step)
    if number is None:
        raise _expected_name(game, repr(step))
    return games.name(game, game.namer, int(number[1]))


def _expected_name(game: GameState, got: str) -> UserError:
    return UserError(f"--play: expected 'name N' for {game.naming and game.naming.value}, then ;, got {got}")


def print_legal(game: GameState, play: str | None, *, as_json: bool) -> None:
    """Print the legal plays of a position, or the given one, each with the position after it, seen by the player.

    Before a semicolon in `play` come the plays of the turn's first parts.
    """
    if play is not None and ";" in play:
        *steps, last = map(str.strip, play.split(";"))
        game, play = _after(game, steps), last or None
    part = _part(game)
    plays = legal_plays(game.rules, game.sides, part) if play is None else [read_play(play, game)]
    rows = [
        {
            "play": format_play(legal_play, game),
            "moves": [[move.source, move.target] for move in legal_play.moves],
            "position": format_sides(check_play(game.rules, game.sides, part, legal_play)[1]),
        }
        for legal_play in plays
    ]
    if as_json:
        click.echo(
            json.dumps({"game": game.rules.full_name, "dice": game.dice, "numbers": part.numbers, "plays": rows})
        )
        return
    if len(game.turn_left) > 1:
        click.echo(
            f"The turn has several parts: {describe_turn(game)}. These are the plays of the first one; "
            'with a play and a semicolon, as in --play "24/20;", those of the part that follows are listed.',
            err=True,
        )
    width = max((len(str(row["play"])) for row in rows), default=0)
    click.echo("\n".join(f"{row['play']:{width}}   {row['position']}" for row in rows) or "cannot move")


def print_game(game: GameState, *, as_json: bool) -> None:
    """Print the board and what the drawing does not show, or one JSON object."""
    if as_json:
        facts = {
            "game": game.rules.full_name,
            "pips": [game.sides.own.pips, game.sides.opponent.pips],
        }
        click.echo(json.dumps(facts | state_to_json(game)))
        return
    print_board(draw_game(game, Seat.A, NAMES))
    for name, value in [*describe_game(game, NAMES), ("position", format_sides(game.sides))]:
        click.echo(f"   {name:9} {value}")


def print_perft(game: GameState, depth: int, *, as_json: bool) -> None:
    """Count the positions that can be reached in each number of rolls."""
    if not as_json:
        click.echo("depth      positions  seconds")
    for level in range(1, depth + 1):
        start = time.monotonic()
        positions = perft(game.rules, level, game.sides)
        seconds = time.monotonic() - start
        if as_json:
            row: dict[str, Any] = {"game": game.rules.full_name, "depth": level, "positions": positions}
            click.echo(json.dumps(row | {"seconds": round(seconds, 3)}))
        else:
            click.echo(f"{level:5} {positions:14,} {seconds:8.1f}")
