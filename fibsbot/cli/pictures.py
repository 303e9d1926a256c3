"""The pictures of `fibsbot show --svg`."""

from __future__ import annotations

from pathlib import Path

import click

from fibsbot.cli import UserError
from fibsbot.cli.positions import read_play
from fibsbot.draw.svg import SvgBoard, Theme, ViewOptions, game_svg
from fibsbot.files import os_errors_as
from fibsbot.match import MatchState
from fibsbot.rules.state import GameState, Seat


def write_picture(  # noqa: PLR0913 - one argument per option
    shown: MatchState | GameState,
    *,
    output: Path | None,
    play: str | None,
    names: tuple[str, str] | None,
    theme: str | None,
    left: bool,
    white: bool,
    bare: bool,
    width: int | None,
) -> None:
    """Write a picture of a position, or of a table of another game, into a file; `output` is None or `-` for stdout."""
    view = ViewOptions(Theme(theme or "auto"), dark=not white, left=left, board_only=bare, width=width)
    if isinstance(shown, MatchState):
        drawn = SvgBoard(shown, play=read_play(play, shown) if play else None, names=names, view=view).svg()
    else:
        from fibsbot.cli import games  # noqa: PLC0415 - backgammon does not need them

        made = games.read_play(play, shown) if play else None
        drawn = game_svg(shown, Seat.A, view=view, names=names or games.NAMES, play=made)
    if output is None or str(output) == "-":
        click.echo(drawn, nl=False)
        return
    with os_errors_as(UserError, f"cannot write {output}"):
        if not output.parent.exists():
            output.parent.mkdir(parents=True)
        output.write_text(drawn, encoding="utf-8")
