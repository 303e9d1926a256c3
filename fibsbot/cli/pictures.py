"""The pictures of `fibsbot show --svg`."""

from __future__ import annotations

from pathlib import Path

import click
from attrs import frozen

from fibsbot.cli import UserError, games
from fibsbot.cli.positions import read_play
from fibsbot.drawing.svg import Theme, ViewOptions, board_svg, game_svg
from fibsbot.files import os_errors_as
from fibsbot.match import MatchState
from fibsbot.rules.state import GameState, Seat


@frozen
class PictureOptions:
    """The options of a picture; `output` is the file, None or `-` for stdout."""

    output: Path | None
    play: str | None
    names: tuple[str, str] | None
    theme: str | None
    left: bool
    white: bool
    bare: bool
    width: int | None

    @property
    def view(self) -> ViewOptions:
        """Side, direction and colours."""
        theme = Theme(self.theme or "auto")
        return ViewOptions(theme, dark=not self.white, left=self.left, board_only=self.bare, width=self.width)


def write_state_picture(state: MatchState, options: PictureOptions) -> None:
    """Write a picture of a decision of backgammon."""
    play = read_play(options.play, state) if options.play else None
    _write(board_svg(state, play=play, names=options.names, view=options.view), options.output)


def write_game_picture(game: GameState, options: PictureOptions) -> None:
    """Write a picture of a game of any ruleset."""
    play = games.read_play(options.play, game) if options.play else None
    names = options.names or games.NAMES
    _write(game_svg(game, Seat.A, view=options.view, names=names, play=play), options.output)


def _write(drawn: str, output: Path | None) -> None:
    if output is None or str(output) == "-":
        click.echo(drawn, nl=False)
        return
    with os_errors_as(UserError, f"cannot write {output}"):
        if not output.parent.exists():
            output.parent.mkdir(parents=True)
        output.write_text(drawn, encoding="utf-8")
