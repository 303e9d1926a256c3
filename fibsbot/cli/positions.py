"""Positions on the command line: read, and printed. Imports no engine, and nothing slow."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

import click

from fibsbot.cli import UserError
from fibsbot.cli.output import print_board
from fibsbot.drawing.board_text import draw_state
from fibsbot.drawing.sentences import describe_state
from fibsbot.files import os_errors_as
from fibsbot.match import Dice, MatchState, Phase
from fibsbot.notation import NotationError, Xgid, bare_id, format_gnubg_id, parse_state
from fibsbot.notation.play_notation import parse_play
from fibsbot.position import Play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.plays import check_dice

LARGEST_POSITION_FILE: Final = 1 << 16
"""Bytes of a file that are searched for a position."""
LARGEST_XG_FILE: Final = 1 << 22
"""Further bytes of a file of eXtreme Gammon that are read."""


def read_state(text: str) -> MatchState:
    """Parse an XGID or a GNUbg ID, or read a file with a position; raise UserError for anything else.

    An ID may be quoted, begin with the mark of a quoted mail, have blanks of any kind, and end in a stop.
    """
    try:
        return parse_state(bare_id(text))
    except NotationError as error:
        if _is_file(text):
            return _state_in(Path(text))
        raise UserError(str(error)) from error


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _state_in(path: Path) -> MatchState:
    """Return the first position in the beginning of a file."""
    from fibsbot.formats import FormatError, decode_text  # noqa: PLC0415 - positions are seldom in files
    from fibsbot.formats.position_lists import find_position  # noqa: PLC0415
    from fibsbot.formats.xg import position_in_xg  # noqa: PLC0415
    from fibsbot.formats.xg_records import MAGIC  # noqa: PLC0415

    try:
        with os_errors_as(UserError, f"cannot read {path}"), path.open("rb") as file:
            content = file.read(LARGEST_POSITION_FILE)
            if content.startswith(MAGIC):
                return position_in_xg(content + file.read(LARGEST_XG_FILE))
        return find_position(decode_text(content))
    except (FormatError, NotationError) as error:
        raise UserError(f"{path}: {error}") from None


def read_dice(text: str) -> Dice:
    """Parse the two dice of a roll; raise UserError for anything else."""
    try:
        return check_dice((int(text[:1]), int(text[1:])))
    except ValueError as error:
        raise UserError(f"expected --dice with two digits from 1 to 6, as in 31, got {text!r}") from error


def read_play(text: str, state: MatchState) -> Play:
    """Parse a play of a position with dice; raise UserError for anything else."""
    if state.dice is None:
        raise UserError("expected a position with dice for --play, got one without")
    try:
        return parse_play(text, state.position, state.dice)
    except PlayError as error:
        raise UserError(f"--play: {error}") from error


def ids_of(state: MatchState) -> dict[str, str]:
    """Return the XGID and the GNUbg ID of a state, as far as they can express it."""
    ids = {} if state.phase is Phase.RESIGNED else {"xgid": str(Xgid.of(state))}
    with contextlib.suppress(NotationError):
        ids["gnubg_id"] = format_gnubg_id(state)
    return ids


def print_state(state: MatchState) -> None:
    """Print the board, and below it what the drawing does not show."""
    print_board(draw_state(state))
    for name, value in [*describe_state(state), *ids_of(state).items()]:
        click.echo(f"   {name.replace('_', ' '):9} {value}")
