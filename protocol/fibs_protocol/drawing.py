"""Draw the board as the server does for people: board styles 1 and 2 (help text "boardstyle").

Style 1 agrees with captures of FIBS. Style 2 needs two more lines, as the point numbers are outside the frame. No
source shows how FIBS draws an unlimited match or a board without a player on turn; that is our own choice.
"""

from __future__ import annotations

from typing import Final

from fibs_protocol.board import BoardState
from fibs_protocol.words import UNLIMITED, Colour

ROWS: Final = 5
"""Number of rows of each half. The innermost row shows the number of checkers on a point if there are more."""

_BAR: Final = 0
"""Stands for the bar in a row of points."""


def draw(board: BoardState, *, style: int = 1, own_name: str | None = None) -> list[str]:
    """Draw a board from the player's point of view, with the player's home at the bottom.

    Args:
        board: the board to draw.
        style: 1, or 2 with the point numbers outside the frame.
        own_name: the name to draw for the player; in the board itself it may be YOU.
    """
    if style not in {1, 2}:
        raise ValueError(f"expected board style 1 or 2, got {style}")
    down = board.direction < 0
    upper = [*range(13, 19), _BAR, *range(19, 25)] if down else [*range(1, 7), _BAR, *range(7, 13)]
    lower = [*range(12, 6, -1), _BAR, *range(6, 0, -1)] if down else [*range(24, 18, -1), _BAR, *range(18, 12, -1)]
    own, other = board.colour, Colour(-board.colour)
    match = "unlimited match" if board.length == UNLIMITED else f"{board.length}-point match"
    return [
        *_edge(upper, f"{other.name}: {board.opponent} - score: {board.opponent_score}", style),
        *(_row(board, upper, other, depth) for depth in range(ROWS)),
        f"  {'v' if down else ' '}|{'':18}|BAR|{'':19}|{'' if down else 'v'}    {match}",
        *(_row(board, lower, own, depth) for depth in reversed(range(ROWS))),
        *reversed(_edge(lower, f"{own.name}: {own_name or board.player} - score: {board.score}", style)),
        _summary(board),
    ]


def _edge(places: list[int], label: str, style: int) -> list[str]:
    """Draw the frame's upper edge, its numbers outside first; the lower edge is the same in reverse."""
    left, right = ((f"{point:>2}" for point in half) for half in (places[:6], places[7:]))
    if style == 1:
        numbers = f"{'-'.join(left)}-------{'-'.join(right)}-".replace(" ", "-")
        return [f"   +{numbers}+ {label}"]
    return [f"    {' '.join(left)}       {' '.join(right)}", f"   +{'-' * 42}+ {label}"]


def _row(board: BoardState, places: list[int], bar: Colour, depth: int) -> str:
    """Draw the row `depth` places from the edge; `bar` is the colour of the checkers on the bar in this half."""
    cells = [_cell(_on_bar(board, bar) if place == _BAR else board.points[place], depth) for place in places]
    return f"   |{' '.join(cells[:6])} |{cells[6]} | {' '.join(cells[7:])} |"


def _on_bar(board: BoardState, colour: Colour) -> int:
    return board.points[25] if colour is Colour.O else board.points[0]


def _cell(checkers: int, depth: int) -> str:
    """Draw two characters of a column; the sign of `checkers` is that of their colour."""
    count = abs(checkers)
    if count <= depth:
        return "  "
    if depth == ROWS - 1 and count > ROWS:
        return f"{count:>2}"
    return " O" if checkers > 0 else " X"


def _summary(board: BoardState) -> str:
    own = (board.off, board.on_bar)
    other = (board.opponent_off, board.opponent_on_bar)
    (o_off, o_bar), (x_off, x_bar) = (own, other) if board.colour is Colour.O else (other, own)
    owner = ""
    if board.cube > 1 and board.may_double != board.opponent_may_double:
        owner = f" (owned by {board.player if board.may_double else board.opponent})"
    return (
        f"   BAR: O-{o_bar} X-{x_bar}   OFF: O-{o_off} X-{x_off}   Cube: {board.cube}{owner}  {_turn(board)}".rstrip()
    )


def _turn(board: BoardState) -> str:
    for name, dice in ((board.player, board.dice), (board.opponent, board.opponent_dice)):
        if dice != (0, 0):
            return f"{name} rolled {dice[0]} {dice[1]}."
    if board.turn is None:
        return ""
    return f"turn: {board.player if board.turn == board.colour else board.opponent}"
