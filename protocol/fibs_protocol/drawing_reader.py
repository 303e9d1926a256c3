"""DrawingReader: reads the boards that the server draws for people (drawing.py), line by line."""

from __future__ import annotations

import re
from typing import Final

from fibs_protocol.board import CHECKERS, BoardState
from fibs_protocol.words import UNLIMITED, YOU, Colour, Dice

_EDGE: Final = re.compile(
    r" {3}\+(?:[-0-9]{42})\+ (?P<colour>[XO]): (?P<name>[!-~]{1,64}) - score: (?P<score>[0-9]{1,4})"
)
_NUMBERS: Final = re.compile(r" {4}(?P<first>[ 1-9][0-9])(?: [ 1-9][0-9]){5} {7}[ 1-9][0-9](?: [ 1-9][0-9]){5}")
_ROW: Final = re.compile(r" {3}\|.{18}\|.{3}\|.{19}\|")
_MIDDLE: Final = re.compile(
    r" {2}[ v]\| {18}\|BAR\| {19}\|[ v]? +(?:(?P<length>[0-9]{1,4})-point match|unlimited match)(?!,)"
)
"""After a comma comes the name of another game."""
_SUMMARY: Final = re.compile(
    r" {3}BAR: O-(?P<o_bar>[0-9]{1,2}) X-(?P<x_bar>[0-9]{1,2}) {3}"
    r"OFF: O-(?P<o_off>[0-9]{1,2}) X-(?P<x_off>[0-9]{1,2}) {3}"
    r"Cube: (?P<cube>[0-9]{1,4})(?: \(owned by (?P<owner>[!-~]{1,64})\))?"
    r"(?:  (?:(?P<roller>[!-~]{1,64}) rolled (?P<first>[1-6]) (?P<second>[1-6])\.|turn: (?P<turn>[!-~]{1,64})))?"
)
_LINES: Final = (_EDGE, _NUMBERS, _ROW, _MIDDLE, _SUMMARY)
_HALF: Final = 5
"""Number of rows of a half."""
_COLUMNS: Final = (*range(4, 20, 3), *range(28, 44, 3))
"""The columns of the two characters of each point in a row."""
_DOWN: Final = frozenset({13, 12})
"""The number in the left corners, above or below, of a player who moves from 24 to 1."""


def is_drawn(line: str) -> bool:
    """Return whether a line, without its end, is one of a drawing."""
    return any(pattern.match(line) for pattern in _LINES)


class DrawingReader:
    """Reads a telnet session line by line and recognises the boards drawn in it."""

    def __init__(self) -> None:
        """Start outside of a drawing."""
        self._corner: int | None = None
        self._begin()

    def _begin(self) -> None:
        self._edges: list[re.Match[str]] = []
        self._rows: list[str] = []
        self._middle: re.Match[str] | None = None

    def read(self, line: str, watched: str | None = None) -> BoardState | None:
        """Read a line, without its end; return the board if this is the last line of a drawing.

        `watched` is the player that the user watches; without one the player is YOU. Other lines inside a drawing are
        ignored, and a damaged drawing is not a board.
        """
        if match := _EDGE.match(line):
            self._on_edge(line, match)
        elif match := _NUMBERS.match(line):
            self._corner = int(match["first"])
        elif match := _MIDDLE.match(line):
            self._middle = match
        elif _ROW.match(line):
            if len(self._edges) == 2:  # the drawing before broke off above its lower edge
                self._edges, self._rows, self._middle = self._edges[1:], [], None
            self._rows.append(line)
            del self._rows[2 * _HALF :]
        elif match := _SUMMARY.match(line):
            board = self._board(match, watched)
            self._begin()
            return board
        return None

    def _on_edge(self, line: str, match: re.Match[str]) -> None:
        if len(self._rows) != 2 * _HALF or len(self._edges) != 1:
            self._begin()
        self._edges.append(match)
        if number := re.match(r" {3}\+-?([0-9]{1,2})-", line):
            self._corner = int(number[1])

    def _board(self, summary: re.Match[str], watched: str | None) -> BoardState | None:
        """Build the board of a drawing; None if a part is missing or the number of checkers is wrong."""
        if len(self._edges) != 2 or len(self._rows) != 2 * _HALF or self._middle is None or self._corner is None:
            return None
        above, below = self._edges
        down = self._corner in _DOWN
        points = _points(self._rows, down=down)
        if points is None or above["colour"] == below["colour"]:
            return None
        points[25], points[0] = int(summary["o_bar"]), -int(summary["x_bar"])
        for side in Colour:
            if sum(max(n * side, 0) for n in points) + int(summary[f"{side.name.lower()}_off"]) != CHECKERS:
                return None
        return _state(self._edges, self._middle["length"], summary, points, watched or YOU, down=down)


def _state(  # noqa: PLR0913 - the parts of a drawing
    edges: list[re.Match[str]],
    length: str | None,
    summary: re.Match[str],
    points: list[int],
    player: str,
    *,
    down: bool,
) -> BoardState:
    above, below = edges
    colour, opponent = Colour[below["colour"]], above["name"]
    mine, theirs = below["colour"].lower(), above["colour"].lower()
    on_turn = summary["roller"] or summary["turn"]
    dice: Dice = (int(summary["first"]), int(summary["second"])) if summary["roller"] else (0, 0)
    cube, owner = int(summary["cube"]), summary["owner"]
    return BoardState(
        player=player,
        opponent=opponent,
        length=int(length) if length else UNLIMITED,
        score=int(below["score"]),
        opponent_score=int(above["score"]),
        points=tuple(points),
        turn=None if on_turn is None else Colour(-colour) if on_turn == opponent else colour,
        dice=(0, 0) if on_turn == opponent else dice,
        opponent_dice=dice if on_turn == opponent else (0, 0),
        cube=cube,
        may_double=cube == 1 or owner not in {None, opponent},
        opponent_may_double=cube == 1 or owner == opponent,
        was_doubled=False,
        colour=colour,
        direction=-1 if down else 1,
        home=0 if down else 25,
        bar=25 if down else 0,
        off=int(summary[f"{mine}_off"]),
        opponent_off=int(summary[f"{theirs}_off"]),
        on_bar=int(summary[f"{mine}_bar"]),
        opponent_on_bar=int(summary[f"{theirs}_bar"]),
        can_move=0,
        forced_move=0,
        post_crawford=0,
        redoubles=0,
    )


def _points(rows: list[str], *, down: bool) -> list[int] | None:
    """Return the 26 cells of the points, with empty bars."""
    points = [0] * 26
    upper = [*range(13, 25)] if down else [*range(1, 13)]
    lower = [*range(12, 0, -1)] if down else [*range(24, 12, -1)]
    for places, half in ((upper, rows[:_HALF]), (lower, rows[: -_HALF - 1 : -1])):
        for place, column in zip(places, _COLUMNS, strict=True):
            cells = [row[column : column + 2].strip() for row in half]
            count = int(cells[-1]) if cells[-1].isdecimal() else sum(map(bool, cells))
            shown = [cells[0]] * min(count, _HALF) + [""] * (_HALF - count)
            if count > _HALF:
                shown[-1] = str(count)
            if shown != cells or (count and cells[0] not in Colour.__members__):
                return None
            points[place] = count * Colour[cells[0]] if count else 0
    return points
