"""Draw the board as the server does for people: board styles 1 and 2 (help text "boardstyle").

Style 1 agrees with captures of FIBS. Style 2 needs two more lines, as the point numbers are outside the frame. No
source shows how FIBS draws an unlimited match or a board without a player on turn; that is our own choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from attrs import frozen

from fibs_protocol.board import BoardState
from fibs_protocol.words import UNLIMITED, Colour

ROWS: Final = 5
"""Number of rows of each half. The innermost row shows the number of checkers on a point if there are more."""


def draw(board: BoardState, *, style: int = 1, own_name: str | None = None) -> list[str]:
    """Draw a board from the player's point of view, with the player's home at the bottom.

    Args:
        board: the board to draw.
        style: 1, or 2 with the point numbers outside the frame.
        own_name: the name to draw for the player; in the board itself it may be YOU.
    """
    down = board.direction < 0
    own, other = board.colour, Colour(-board.colour)
    match = "unlimited match" if board.length == UNLIMITED else f"{board.length}-point match"
    upper, lower = (
        Half(
            numbers,
            [_stack(board.points[point]) for point in numbers],
            _stack(_on_bar(board, colour)),
            f"{colour.name}: {name} - score: {score}",
        )
        for numbers, colour, name, score in (
            (UPPER if down else LOWER[::-1], other, board.opponent, board.opponent_score),
            (LOWER if down else UPPER[::-1], own, own_name or board.player, board.score),
        )
    )
    return [*draw_frame(upper, lower, match, style, turn_left=down), _summary(board)]


UPPER: Final = tuple(range(13, 25))
"""Points of the upper half from the left, for a player who bears off below on the right."""
LOWER: Final = tuple(range(12, 0, -1))


@frozen
class Half:
    """One half of a drawn board."""

    numbers: Sequence[int]
    """The numbers of its twelve points, from the left."""
    columns: Sequence[Sequence[str]]
    """What is drawn on each point: a cell of two characters for each row, from the edge."""
    bar: Sequence[str]
    label: str


def draw_frame(upper: Half, lower: Half, note: str, style: int, *, turn_left: bool = True) -> list[str]:
    """Draw a board with its frame.

    Args:
        upper: the half above.
        lower: the half below.
        note: a text beside the middle.
        style: as for `draw`.
        turn_left: whether the player comes down from the upper half to the lower on the left.
    """
    if style not in {1, 2}:
        raise ValueError(f"expected board style 1 or 2, got {style}")
    return [
        *_edge(upper, style),
        *(_row(upper, depth) for depth in range(ROWS)),
        f"  {'v' if turn_left else ' '}|{'':18}|BAR|{'':19}|{'' if turn_left else 'v'}    {note}",
        *(_row(lower, depth) for depth in reversed(range(ROWS))),
        *reversed(_edge(lower, style)),
    ]


def _edge(half: Half, style: int) -> list[str]:
    """Draw the frame's upper edge, its numbers outside first; the lower edge is the same in reverse."""
    left, right = ((f"{point:>2}" for point in points) for points in (half.numbers[:6], half.numbers[6:]))
    if style == 1:
        numbers = f"{'-'.join(left)}-------{'-'.join(right)}-".replace(" ", "-")
        return [f"   +{numbers}+ {half.label}"]
    return [f"    {' '.join(left)}       {' '.join(right)}", f"   +{'-' * 42}+ {half.label}"]


def _row(half: Half, depth: int) -> str:
    """Draw the row `depth` places from the edge."""
    cells = [column[depth] for column in half.columns]
    return f"   |{' '.join(cells[:6])} |{half.bar[depth]} | {' '.join(cells[6:])} |"


def _on_bar(board: BoardState, colour: Colour) -> int:
    return board.points[25] if colour is Colour.O else board.points[0]


def _stack(checkers: int) -> Sequence[str]:
    """Draw the checkers of a column; their sign is that of their colour."""
    return draw_stack(("O" if checkers > 0 else "X") * abs(checkers))


@lru_cache
def draw_stack(checkers: str) -> Sequence[str]:
    """Draw a column of checkers, each given by a letter, from the edge: a cell of two characters for each row.

    Of more than there are rows, the innermost shows how many have the last letter.
    """
    cells = [f" {letter}" for letter in checkers[:ROWS].ljust(ROWS)]
    if len(checkers) > ROWS:
        cells[-1] = f"{checkers.count(checkers[-1]):>2}"
    return tuple(cells)


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
