"""The board in a terminal, in any size: where everything is, and how it is drawn.

Home is below on the right, points are numbered as the person counts them. A place is a point, OFF or HAND.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen
from rich.style import Style

from fibsbot.drawing.scene import DrawnSide, Scene, scene_of_game
from fibsbot.match import Owner
from fibsbot.notation.play_notation import IN_HAND
from fibsbot.position import BAR
from fibsbot.rules.laws import Level
from fibsbot.rules.sides import HAND, OFF, START
from fibsbot.rules.state import Stage
from fibsbot.table.model import TableModel
from fibsbot.table.terminal.canvas import Canvas
from fibsbot.table.terminal.colours import Colours

OWN_SIGN: Final = "●"
OPPONENT_SIGN: Final = "○"
OWN_PINNED: Final = "•"
OPPONENT_PINNED: Final = "◦"
"""A checker that lies under one of the other side."""
OWN_BOX: Final = "┏━┓ ┃·┃ ┗━┛"
"""Edges of a large checker, line by line."""
OPPONENT_BOX: Final = "╭─╮ │·│ ╰─╯"
SCALES: Final = (4, 3, 2, 1)
"""Lines of a checker, the largest first."""
FEWEST_ROWS: Final = 5
MOST_ROWS: Final = 8
"""Checkers of a stack that are shown; a number stands for more."""
MIDDLE: Final = 3
"""Lines between the two halves."""
BAR_COLUMN: Final = 6
TRAY_COLUMN: Final = 13
COLUMNS: Final = 14
DIE: Final = 5
"""Columns of a die."""


@frozen
class BoardSize:
    """How large everything is, in lines and columns of the terminal."""

    scale: int
    """Lines of a checker."""
    rows: int
    """Checkers of a stack that are shown."""

    @property
    def cell(self) -> int:
        """Columns of a point."""
        return 2 + 2 * self.scale

    @property
    def half(self) -> int:
        """Lines of a half of the board."""
        return self.scale * self.rows

    @property
    def width(self) -> int:
        """Columns of the board."""
        return COLUMNS * self.cell + 4

    @property
    def height(self) -> int:
        """Lines of the board."""
        return 2 + MIDDLE + 2 * self.half

    def left(self, column: int) -> int:
        """Return the left edge of a column: 0 to 5, the bar, 7 to 12, the tray."""
        frames = 1 + (column >= BAR_COLUMN) + (column > BAR_COLUMN) + (column == TRAY_COLUMN)
        return column * self.cell + frames

    def place_at(self, x: int, y: int) -> int | None:
        """Return the place that is drawn there; None in the middle and on the frame."""
        upper = y <= self.half
        if not (0 <= y < self.height) or (not upper and y < self.half + MIDDLE + 1):
            return None
        column = next((one for one in range(COLUMNS) if 0 <= x - self.left(one) < self.cell), None)
        if column in {None, BAR_COLUMN, TRAY_COLUMN}:
            own = {BAR_COLUMN: HAND, TRAY_COLUMN: OFF}
            return None if column is None or upper else own[column]
        at = column - (column > BAR_COLUMN)
        return 13 + at if upper else 12 - at

    def is_middle(self, x: int, y: int) -> bool:
        """Return whether the dice are drawn there."""
        return self.half < y <= self.half + MIDDLE and 0 <= x < self.left(TRAY_COLUMN)


def column_of(place: int) -> int:
    """Return the column in which a place is drawn."""
    if place in {OFF, HAND}:
        return TRAY_COLUMN if place == OFF else BAR_COLUMN
    at = place - 13 if place > 12 else 12 - place
    return at + (at >= BAR_COLUMN)


def size_for(width: int, height: int, beside: int) -> BoardSize | None:
    """Return the largest size of a board that leaves `beside` columns; None if there is no room for any."""
    for scale in SCALES:
        rows = (height - 2 - MIDDLE) // (2 * scale)
        size = BoardSize(scale, min(rows, MOST_ROWS))
        if rows >= FEWEST_ROWS and size.width + beside <= width:
            return size
    return None


@frozen
class Die:
    """A number to play."""

    number: int
    used: bool


@frozen
class BoardView:
    """What a board shows."""

    scene: Scene
    dice: tuple[Die, ...]
    sources: frozenset[int]
    """The places from which a checker can move."""
    targets: frozenset[int]
    """Where the checker at the cursor can go."""
    cursor: int | None
    came_from: frozenset[int]
    """The places from which the opponent has just moved, as the person counts them."""
    went_to: frozenset[int]


def view_of(model: TableModel, cursor: int | None) -> BoardView:
    """Return what the board shows of a table; the cursor is at the checker that Enter plays."""
    moves = model.moves
    scene = scene_of_game(model.shown, model.seat, model.names)
    came_from, went_to = _last_moves(model)
    return BoardView(
        scene,
        dice_of(model),
        frozenset(made.move.source for made in moves),
        frozenset(made.move.target for made in moves if made.move.source == cursor),
        cursor,
        came_from,
        went_to,
    )


def dice_of(model: TableModel) -> tuple[Die, ...]:
    """Return the numbers to play, in the person's order, and which of them are played."""
    state = model.shown
    if state.stage is not Stage.MOVE:
        return tuple(Die(number, used=False) for number in state.dice or ())
    numbers = list(state.part.numbers)
    dice = [number for number in state.dice or () if number in numbers]
    if len(dice) == len(numbers):
        numbers = dice
    left = list(numbers if model.play is None else model.play.left)
    found = []
    for number in numbers:
        used = number not in left
        if not used:
            left.remove(number)
        found.append(Die(number, used))
    return tuple(found)


def _last_moves(model: TableModel) -> tuple[frozenset[int], frozenset[int]]:
    """Return from where and to where the opponent has moved in the last play, as the person counts."""
    if model.last_play is None or model.last_play[0].turn is model.seat:
        return frozenset(), frozenset()
    before, play = model.last_play
    facing = before.rules.course.facing
    sources, targets = ({getattr(move, end) for move in play.moves} for end in ("source", "target"))
    points = [frozenset(facing(place) for place in places if OFF < place < HAND) for places in (sources, targets)]
    return points[0] - points[1], points[1]


# -- drawing --------------------------------------------------------------------------------------------------------


def draw_board(view: BoardView, size: BoardSize, colours: Colours) -> Canvas:
    """Draw a board."""
    canvas = Canvas(size.width, size.height, colours.field)
    _draw_frame(canvas, size, colours)
    for point in range(1, START + 1):
        _draw_point(canvas, view, size, colours, point)
    for place in range(OFF, HAND + 1):
        _draw_number(canvas, view, size, colours, place)
    for column, label in ((BAR_COLUMN, _entry(view)), (TRAY_COLUMN, "off")):
        canvas.write(size.left(column), 0, label.center(size.cell), colours.frame)
    _draw_bar(canvas, view, size, colours)
    _draw_dice(canvas, view, size, colours)
    return canvas


def _entry(view: BoardView) -> str:
    """Return the name of the place where checkers enter."""
    return "hand" if view.scene.rules.setup.get(HAND) else "bar"


def _draw_frame(canvas: Canvas, size: BoardSize, colours: Colours) -> None:
    for y in (0, size.height - 1):
        canvas.fill(0, y, size.width, 1, colours.frame)
    bar = size.left(BAR_COLUMN)
    canvas.fill(bar - 1, 0, size.cell + 2, size.height, colours.frame)
    canvas.fill(size.left(TRAY_COLUMN) - 1, 0, size.cell + 1, size.height, colours.frame)
    canvas.fill(0, 0, 1, size.height, colours.frame)
    for x in (bar - 1, bar + size.cell, size.left(TRAY_COLUMN) - 1):
        for y in range(size.height):
            canvas.write(x, y, "│", colours.frame)


def _draw_number(canvas: Canvas, view: BoardView, size: BoardSize, colours: Colours, place: int) -> None:
    """Draw the number of a place: in brackets if a checker can move from there, in arrows if one can go there."""
    text = {OFF: "off", HAND: _entry(view)}.get(place, str(place))
    style = colours.frame
    if place in view.targets:
        text, style = f">{place}<", style + colours.target
    elif place == view.cursor:
        text, style = f"{{{place}}}", style + colours.cursor
    elif place in view.sources:
        text, style = f"[{place}]", style + colours.source
    y = 0 if 12 < place < HAND else size.height - 1
    width = max(len(text), 4) if style != colours.frame else size.cell
    x = size.left(column_of(place)) + (size.cell - width + 1) // 2
    canvas.write(x, y, text.center(width), style)


def _draw_point(canvas: Canvas, view: BoardView, size: BoardSize, colours: Colours, point: int) -> None:
    scene, x, upper = view.scene, size.left(column_of(point)), point > 12
    top = 1 if upper else size.half + MIDDLE + 1
    canvas.fill(x, top, size.cell, size.half, colours.point if point % 2 else colours.other_point)
    facing = scene.course.facing(point)
    own, opponent = scene.below.row[point], scene.above.row[facing]
    stack = [(OWN_SIGN, colours.own)] * own + [(OPPONENT_SIGN, colours.opponent)] * opponent
    if point in scene.below.pinned:
        stack[0] = (OWN_PINNED, colours.own)
    elif facing in scene.above.pinned:
        stack = [(OPPONENT_PINNED, colours.opponent), *stack[:own]]
    shown = stack[: size.rows]
    for index, (sign, style) in enumerate(shown):
        y = top + (index if upper else size.rows - 1 - index) * size.scale
        last = index == len(shown) - 1
        marked = last and point in view.went_to and stack[-1][0] == OPPONENT_SIGN
        number = len(stack) if last and len(stack) > size.rows else 0
        _draw_checker(canvas, size, x, y, sign, style + (colours.last if marked else Style()), number=number)
        if marked:
            _mark_last(canvas, size, x, y, colours.last)
    if point in view.came_from and len(stack) < size.rows:
        y = top + (len(stack) if upper else size.rows - 1 - len(stack)) * size.scale
        _mark_last(canvas, size, x, y, colours.last)


def _mark_last(canvas: Canvas, size: BoardSize, x: int, y: int, style: Style) -> None:
    """Mark a cell from which, or to which, the opponent has moved."""
    middle = y + (size.scale - 1) // 2
    left = x + (size.cell - 4) // 2 if size.scale == 1 else x
    canvas.write(left, middle, "<", style)
    canvas.write(left + (2 if size.scale == 1 else size.cell - 1), middle, ">", style)


def _draw_checker(  # noqa: PLR0913, PLR0917 - where and how, by name
    canvas: Canvas, size: BoardSize, x: int, y: int, sign: str, style: Style, *, number: int = 0
) -> None:
    """Draw a checker in a cell: a sign, or in larger cells a box, filled for the person and empty for the opponent."""
    if size.scale == 1:
        text = f"{number:>2}" if number else f" {sign}"
        canvas.write(x, y, text.ljust(3), style + Style(reverse=bool(number)) if number else style)
        return
    own, inner = sign in {OWN_SIGN, OWN_PINNED}, size.cell - 4
    if sign in {OWN_PINNED, OPPONENT_PINNED}:
        canvas.write(x + 1, y + (size.scale - 1) // 2, ("▬" if own else "▭") * (inner + 2), style)
        return
    first, between, last = (OWN_BOX if own else OPPONENT_BOX).split()
    filled = style + Style(reverse=own)
    for line in range(size.scale):
        ends = first if line == 0 else last if line == size.scale - 1 else between
        canvas.write(x + 1, y + line, ends[0] + ends[1].replace("·", " ") * inner + ends[2], filled)
    if number:
        text = f" {number} "[-inner - 2 :].center(inner + 2 if size.scale < 3 else inner)
        canvas.write(x + 1 + (inner + 2 - len(text)) // 2, y + (size.scale - 1) // 2, text, filled)


def _draw_bar(canvas: Canvas, view: BoardView, size: BoardSize, colours: Colours) -> None:
    """Draw the bar with the checkers on it and in hand, the numbers of checkers that are off, and the cube."""
    scene, x, tray = view.scene, size.left(BAR_COLUMN), size.left(TRAY_COLUMN)
    sides: tuple[tuple[DrawnSide, str, Style, bool], ...] = (
        (scene.above, OPPONENT_SIGN, colours.opponent, True),
        (scene.below, OWN_SIGN, colours.own, False),
    )
    for side, sign, style, upper in sides:
        edge, inwards = (1, 1) if upper else (size.height - 2, -1)
        if side.row[OFF]:
            canvas.write(tray, edge, f"{side.row[OFF]}{sign}".center(size.cell), style)
        if side.row[IN_HAND]:
            canvas.write(x, edge, f"{side.row[IN_HAND]}{sign}".center(size.cell), style)
        rows = size.rows - 2 // size.scale
        for index in range(min(side.row[BAR], rows)):
            number = side.row[BAR] if index == rows - 1 and side.row[BAR] > rows else 0
            away = index * size.scale
            y = size.half - away - size.scale + 1 if upper else size.half + MIDDLE + 1 + away
            _draw_checker(canvas, size, x, y, sign, style, number=number)
        owned = scene.owner is (Owner.OPPONENT if upper else Owner.PLAYER)
        if scene.cube and (owned or side.doubles):
            value = f"{side.doubles}?" if side.doubles else str(scene.cube)
            at = edge + inwards * bool(side.row[IN_HAND])
            canvas.write(x + (size.cell - 4) // 2, at, f"[{value}]".center(4)[:4], colours.cube)
    if scene.cube and scene.owner is Owner.CENTRED and not scene.offered:
        canvas.write(x + (size.cell - 4) // 2, size.half + 2, f"[{scene.cube}]".center(4), colours.cube)


def _draw_dice(canvas: Canvas, view: BoardView, size: BoardSize, colours: Colours) -> None:
    """Draw the dice in the half of the side that plays them, the person's on the right, or what it offers to resign."""
    for side, column in ((view.scene.below, BAR_COLUMN + 1), (view.scene.above, 0)):
        if side.resigns:
            text = f" resigns {Level(side.resigns).name.lower()} "
            x = size.left(column) + (6 * size.cell - len(text)) // 2
            canvas.write(x, size.half + 2, text, colours.die)
            return
    own = view.scene.below.dice is not None
    half = size.left(BAR_COLUMN + 1 if own else 0)
    x = half + (6 * size.cell - len(view.dice) * (DIE + 1) + 1) // 2
    for die in view.dice:
        rows = (" ╌╌╌ ", f"  {die.number}  ", " ╌╌╌ ") if die.used else ("┌───┐", f"│ {die.number} │", "└───┘")
        for line, text in enumerate(rows):
            canvas.write(x, size.half + 1 + line, text, colours.used_die if die.used else colours.die)
        x += DIE + 1
