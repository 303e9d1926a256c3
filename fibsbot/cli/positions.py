"""What the commands have in common that take a position: reading it, and showing it to people."""

from __future__ import annotations

import click
from rich.console import Console

from fibsbot.cli import UserError
from fibsbot.draw.text import describe, draw_state, styled
from fibsbot.match import Dice, MatchState, Phase
from fibsbot.notation import NotationError, Xgid, format_gnubg_id, parse_state
from fibsbot.rules.plays import check_dice


def read_state(text: str) -> MatchState:
    """Read an XGID or a GNUbg ID; else raise UserError."""
    try:
        return parse_state(text)
    except NotationError as error:
        raise UserError(str(error)) from error


def read_dice(text: str) -> Dice:
    """Read a throw; else raise UserError."""
    try:
        return check_dice((int(text[:1]), int(text[1:])))
    except ValueError as error:
        raise UserError(f"expected --dice with two digits from 1 to 6, as in 31, got {text!r}") from error


def ids_of(state: MatchState) -> dict[str, str]:
    """Return the state as other programs read it, as far as they can say it."""
    ids = {"gnubg_id": format_gnubg_id(state)}
    if state.phase is not Phase.RESIGNED:
        ids = {"xgid": str(Xgid.of(state)), **ids}
    return ids


def print_state(state: MatchState) -> None:
    """Draw the board, and say below it what the drawing leaves out."""
    lines = draw_state(state)
    console = Console(highlight=False)
    console.print(styled(lines) if console.is_terminal else "\n".join(lines), markup=False, soft_wrap=True)
    for name, value in [*describe(state), *ids_of(state).items()]:
        click.echo(f"   {name.replace('_', ' '):9} {value}")
