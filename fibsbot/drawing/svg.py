"""Boards as SVG, in the usual form of backgammon diagrams: pure functions that return text."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

from attrs import field, frozen

from fibsbot.drawing.arrows import draw_arrows
from fibsbot.drawing.board_text import draw_scene
from fibsbot.drawing.caption import Caption, caption_of_game, caption_of_state
from fibsbot.drawing.layout import NARROW, POINT, RADIUS, SIX, STACK, STRIP, USUAL, XY, Layout
from fibsbot.drawing.markup import coord, escape, svg_document, text_width
from fibsbot.drawing.scene import DrawnSide, Scene, ViewOptions, as_viewed, scene_of_game, scene_of_state
from fibsbot.drawing.themes import ColourRole, Theme, paint
from fibsbot.match import MatchState, Owner
from fibsbot.notation.play_notation import IN_HAND
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import check_dice
from fibsbot.rules.sides import START, Course
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Step

__all__ = ["SvgBoard", "Theme", "ViewOptions", "board_svg", "game_svg", "scene_svg"]

CENTRED: Final = 64
"""Value shown by a centred cube."""
DIE: Final = 34
_PIPS: Final = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}
"""Positions of the pips of a die, from its middle."""
_ROLES: Final = tuple(
    role
    for role in ColourRole
    if not role.value.startswith("series") and role not in {ColourRole.AXIS, ColourRole.GRID}
)


def board_svg(
    state: MatchState,
    *,
    view: ViewOptions | None = None,
    play: Play | None = None,
    names: tuple[str, str] | None = None,
) -> str:
    """Draw a decision.

    Args:
        state: the decision, seen by the player who has to make it, who also numbers the points.
        view: side, direction and colours; by default the player is below, with home on the right.
        play: a legal play, shown by arrows.
        names: names of the player and the opponent.

    Raises:
        ValueError: the position is impossible, or the dice are.
    """
    if isinstance(state.board, Position):
        state.board.check()
        if state.dice:
            check_dice(state.dice)
    view = view or ViewOptions()
    scene = scene_of_state(state, names, dark=view.dark, play=play)
    return scene_svg(scene, caption_of_state(state, names, play), view)


def game_svg(  # noqa: PLR0913 - what may be shown, by name
    state: GameState,
    seat: Seat,
    *,
    view: ViewOptions | None = None,
    names: tuple[str, str] = ("", ""),
    play: Play | None = None,
    last: Step | None = None,
    dice_played: Collection[int] = (),
) -> str:
    """Draw the current state of a game of any ruleset.

    Args:
        state: the game, in any stage.
        seat: the player that `view` refers to, shown below by default.
        view: side, direction and colours.
        names: names of seat A and seat B.
        play: a legal play of the player on turn, shown by arrows.
        last: the last step, whose play is shown by arrows unless `play` is.
        dice_played: which of the dice are drawn faint, from 0.
    """
    view = view or ViewOptions()
    scene = scene_of_game(state, seat, names, dark=view.dark, play=play, last=last, dice_played=dice_played)
    return scene_svg(scene, caption_of_game(state, names, play, last), view)


@frozen
class SvgBoard:
    """A decision that notebooks display as a picture."""

    state: MatchState
    play: Play | None = None
    names: tuple[str, str] | None = None
    view: ViewOptions = field(factory=ViewOptions)

    def svg(self) -> str:
        """Return the picture."""
        return board_svg(self.state, view=self.view, play=self.play, names=self.names)

    def _repr_svg_(self) -> str:
        return self.svg()


def scene_svg(scene: Scene, caption: Caption, view: ViewOptions) -> str:
    """Draw a scene from the side, with the theme, direction and size of `view`."""
    text = "\n".join([*draw_scene(scene), *(f"{name}: {fact}" for name, fact in caption.facts)])
    scene = as_viewed(scene, view)
    layout, theme = layout_of(view, scene.course), view.theme
    sides = ((scene.below, True), (scene.above, False))
    parts: list[Iterable[str]] = [
        _empty_board(layout, theme, bool(scene.cube), scene.numbers_below),
        *(_start(scene, side, layout, theme, below=below) for side, below in sides),
        *(_pinned(side, layout, theme, below=below) for side, below in sides),
        *(_checkers(scene, side, layout, theme, below=below) for side, below in sides),
        _cube(scene, layout, theme),
        *(_resignation(side, layout, theme, below=below) for side, below in sides),
        draw_arrows(scene.shown, layout, theme) if scene.shown else (),
        *(_dice(side, layout, theme, below=below) for side, below in sides),
        *(() if view.board_only else (_strip(scene, side, layout, theme, below=below) for side, below in sides)),
    ]
    body = itertools.chain.from_iterable(parts)
    return svg_document((layout.width, layout.height), caption.title, text, body, theme, _ROLES, width=view.width)


def layout_of(view: ViewOptions, course: Course) -> Layout:
    """Return the coordinates of a picture of a game whose courses meet in this way."""
    return Layout(view.left, view.board_only, course, NARROW if view.narrow else USUAL)


# -- board ------------------------------------------------------------------------------------------------------


def _rect(x: float, y: float, width: float, height: float, round_: float = 0) -> str:
    corners = f' rx="{coord(round_)}"' if round_ else ""
    return f'<rect x="{coord(x)}" y="{coord(y)}" width="{coord(width)}" height="{coord(height)}"{corners}/>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{coord(x)}" y="{coord(y)}">{escape(text)}</text>'


def _group(role: ColourRole, theme: Theme, body: str, attributes: str = "") -> str:
    return f"<g{' ' if attributes else ''}{attributes}{paint(role, theme)}>{body}</g>" if body else ""


@lru_cache(64)
def _empty_board(layout: Layout, theme: Theme, has_cube: bool, numbers_below: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Draw what stays during a match."""
    return (
        *_background(layout, theme, has_cube=has_cube),
        *_points(layout, theme),
        *_numbers(layout, theme, below=numbers_below),
    )


def _background(layout: Layout, theme: Theme, *, has_cube: bool) -> Iterator[str]:
    """Draw background, frame, field and trays."""
    top, middle, height, sizes = layout.top, layout.middle, layout.bottom - layout.top, layout.proportions
    yield _group(ColourRole.PAPER, theme, _rect(0, 0, layout.width, layout.height, 10))
    wide, high = layout.width - 2 * sizes.margin, layout.frame_bottom - layout.frame_top
    wood = _rect(sizes.margin, layout.frame_top, wide, high, 8)
    yield _group(ColourRole.FRAME, theme, wood)
    yield _group(
        ColourRole.FIELD, theme, "".join(_rect(x, top, SIX, height) for x in (layout.left_half, layout.right_half))
    )
    off, cube = layout.off - sizes.tray / 2, layout.cube - sizes.tray / 2
    half = height / 2 - sizes.edge / 2
    lower = middle + sizes.edge / 2
    trays = [(off, top, half), (off, lower, half)]
    trays += [(cube, top, height)] if has_cube else [(cube, top, half), (cube, lower, half)]
    yield _group(ColourRole.TRAY, theme, "".join(_rect(x, y, sizes.tray, tall, 4) for x, y, tall in trays))


def _points(layout: Layout, theme: Theme) -> Iterator[str]:
    apex = layout.proportions.apex
    for role, odd in ((ColourRole.POINT, 1), (ColourRole.OTHER_POINT, 0)):
        path = ""
        for point in range(2 - odd, 25, 2):
            x = layout.column(point) - POINT / 2
            y, up = (layout.bottom, -apex) if point <= 12 else (layout.top, apex)
            path += f"M{coord(x)} {coord(y)}h{POINT}l-{POINT // 2} {coord(up)}z"
        yield f'<path d="{path}"{paint(role, theme)}/>'


def _numbers(layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    high = layout.proportions.numbers
    lines = (layout.frame_top + high * 0.74, layout.bottom + high * 0.74)
    size = coord(high * 8 / 11)
    body = "".join(
        _text(layout.column(point), lines[point <= 12], str(point if below else layout.course.facing(point)))
        for point in range(1, 25)
    )
    yield _group(ColourRole.ON_FRAME, theme, body, f'text-anchor="middle" font-size="{size}"')


def _start(scene: Scene, side: DrawnSide, layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    """Mark beside the first point of a side's course where it starts, and in which direction."""
    if not scene.marks_starts:
        return
    point = START if below else scene.course.facing(START)
    right, upper = point in {1, START}, point > START // 2
    x = layout.off if right else layout.cube
    y = (layout.frame_top if upper else layout.bottom) + layout.proportions.numbers / 2
    if scene.course.facing(START) == START:  # both start here
        x += -12 if below else 12
    way = -1 if right is not layout.left else 1
    disc = f'<circle cx="{coord(x - way * 5)}" cy="{coord(y)}" r="6"/>'
    yield _group(ColourRole.DARK if side.dark else ColourRole.LIGHT, theme, disc, 'stroke-width="1.5"')
    yield f'<path d="M{coord(x + way * 4)} {coord(y - 5)}v10l{way * 7}-5z"{paint(ColourRole.ON_FRAME, theme)}/>'


# -- checkers, cube, dice ------------------------------------------------------------------------------------------


def _checkers(scene: Scene, side: DrawnSide, layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    """Draw the checkers of a side, except those that lie under others."""
    other = scene.above if below else scene.below
    role, on = (ColourRole.DARK, ColourRole.ON_DARK) if side.dark else (ColourRole.LIGHT, ColourRole.ON_LIGHT)
    discs, counts = "", ""
    for point in range(1, BAR + 1):
        count = side.row[point]
        if not count or point in side.pinned:
            continue
        spots = [layout.stack_spot(point, index, below=below) for index in range(min(count, STACK))]
        if other.pinned and point != BAR and scene.course.facing(point) in other.pinned:
            spots = [layout.lifted(spot) for spot in spots]
        discs += "".join(map(_disc, spots))
        if count > STACK:
            x, y = spots[-1]
            counts += _text(x, y + 7, str(count))
    yield _group(role, theme, discs, 'stroke-width="2"')
    yield _group(on, theme, counts, 'text-anchor="middle" font-size="20" font-weight="700"')
    yield from _slabs(side, OFF, layout, theme, below=below)
    yield from _slabs(side, IN_HAND, layout, theme, below=below)


def _pinned(side: DrawnSide, layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    """Draw the checkers that lie under others."""
    discs = "".join(_disc(layout.stack_spot(point, 0, below=below)) for point in sorted(side.pinned))
    yield _group(ColourRole.DARK if side.dark else ColourRole.LIGHT, theme, discs, 'stroke-width="2"')


def _disc(spot: XY) -> str:
    x, y = spot
    return f'<circle cx="{coord(x)}" cy="{coord(y)}" r="{RADIUS}"/>'


def _slabs(side: DrawnSide, place: int, layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    """Draw the checkers of a side that are off or in hand, on edge in their tray, and their number."""
    count = side.row[place]
    if not count:
        return
    places = [layout.stack_spot(place, index, below=below) for index in range(count)]
    wide, thick = layout.proportions.tray - 8, layout.proportions.slab - 1.6
    slabs = "".join(_rect(x - wide / 2, y - thick / 2, wide, thick, 3) for x, y in places)
    yield _group(ColourRole.DARK if side.dark else ColourRole.LIGHT, theme, slabs, 'stroke-width="1.2"')
    y = layout.middle + (20 if below else -9)
    text = _text(places[0][0], y, str(count))
    yield _group(ColourRole.INK, theme, text, 'text-anchor="middle" font-size="16" font-weight="600"')
    if place == IN_HAND:
        label = _text(places[0][0], y + (12 if below else -13), "hand")
        yield _group(ColourRole.FAINT, theme, label, 'text-anchor="middle" font-size="12"')


def _dice(side: DrawnSide, layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    if side.dice is None or side.resigns:  # the white flag lies where the dice would
        return
    role, on = (ColourRole.DARK, ColourRole.ON_DARK) if side.dark else (ColourRole.LIGHT, ColourRole.ON_LIGHT)
    x, y = layout.side(below=below)
    centres = [x + (number - (len(side.dice) - 1) / 2) * DIE * 1.3 for number in range(len(side.dice))]
    for played, faint in ((False, ""), (True, ' opacity="0.35"')):
        lie = [index for index in range(len(centres)) if (index in side.dice_played) is played]
        squares = "".join(_rect(centres[index] - DIE / 2, y - DIE / 2, DIE, DIE, 6) for index in lie)
        pips = "".join(
            f'<circle cx="{coord(centres[index] + dx * DIE * 0.27)}" cy="{coord(y + dy * DIE * 0.27)}" r="3.6"/>'
            for index in lie
            for dx, dy in _PIPS[side.dice[index]]
        )
        yield _group(role, theme, squares, f'stroke-width="2"{faint}')
        yield _group(on, theme, pips, faint.strip())


def _cube(scene: Scene, layout: Layout, theme: Theme) -> Iterator[str]:
    if scene.offered:
        below = scene.below.doubles > 0
        value = scene.below.doubles or scene.above.doubles
        yield from _cube_at(*layout.side(below=below), value, layout.proportions.cube, theme)
        return
    if not scene.cube:
        return
    x, away = layout.cube, layout.bottom - layout.middle - layout.proportions.cube / 2 - 4
    y = layout.middle + {Owner.CENTRED: 0.0, Owner.PLAYER: away, Owner.OPPONENT: -away}[scene.owner]
    if scene.crawford:
        turn = f'text-anchor="middle" font-size="18" transform="rotate(-90 {coord(x)} {coord(layout.middle)})"'
        yield _group(ColourRole.FAINT, theme, _text(x, layout.middle + 6, "Crawford"), turn)
        return
    value = CENTRED if scene.cube == 1 and scene.owner is Owner.CENTRED else scene.cube
    yield from _cube_at(x, y, value, layout.proportions.cube, theme)


def _cube_at(x: float, y: float, value: int, wide: float, theme: Theme) -> Iterator[str]:
    text = str(value)
    size = min(24.0, (wide - 6) / (0.6 * len(text)))
    square = _rect(x - wide / 2, y - wide / 2, wide, wide, 6)
    yield _group(ColourRole.CUBE, theme, square, 'stroke-width="2"')
    weight = f'text-anchor="middle" font-size="{coord(size)}" font-weight="700"'
    yield _group(ColourRole.ON_CUBE, theme, _text(x, y + size * 0.36, text), weight)


def _resignation(side: DrawnSide, layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    """Draw the white flag."""
    if not side.resigns:
        return
    text = f"resigns {Level(side.resigns).name.lower()}"
    x, y = layout.side(below=below)
    wide = text_width(text, 18, bold=True) + 24
    yield _group(ColourRole.CUBE, theme, _rect(x - wide / 2, y - 17, wide, 34, 17), 'stroke-width="2"')
    yield _group(
        ColourRole.ON_CUBE, theme, _text(x, y + 6.5, text), 'text-anchor="middle" font-size="18" font-weight="600"'
    )


# -- player strips -------------------------------------------------------------------------------------------------


def _strip(scene: Scene, side: DrawnSide, layout: Layout, theme: Theme, *, below: bool) -> Iterator[str]:
    """Draw the strip of a player: turn, colour, name, pips and score."""
    sizes = layout.proportions
    y = (layout.frame_bottom if below else sizes.margin) + (STRIP / 2 if below else STRIP / 2 - 3)
    if side.on_turn:
        yield f'<path d="M{coord(sizes.margin + 4)} {coord(y - 8)}v16l12-8z"{paint(ColourRole.INK, theme)}/>'
    role = ColourRole.DARK if side.dark else ColourRole.LIGHT
    yield _group(role, theme, f'<circle cx="{coord(sizes.margin + 34)}" cy="{coord(y)}" r="11"/>', 'stroke-width="2"')
    score = f"{side.score}/{scene.length}" if scene.length else str(side.score)
    box = max(text_width(score, 20, bold=True) + 16, sizes.tray + sizes.edge)
    right = layout.width - sizes.margin
    yield _group(ColourRole.TRAY, theme, _rect(right - box, y - 14, box, 28, 6))
    yield _group(
        ColourRole.INK,
        theme,
        _text(right - box / 2, y + 7, score),
        'text-anchor="middle" font-size="20" font-weight="600"',
    )
    pip_text = f"{side.pips} pips"
    yield _group(
        ColourRole.FAINT, theme, _text(right - box - 12, y + 6.5, pip_text), 'text-anchor="end" font-size="18"'
    )
    space = right - box - 24 - text_width(pip_text, 18) - (sizes.margin + 54)
    size = min(21.0, 21.0 * space / max(text_width(side.name, 21, bold=True), 1))
    if side.name:
        name = _text(sizes.margin + 54, y + size * 0.34, side.name)
        yield _group(ColourRole.INK, theme, name, f'font-size="{coord(size)}" font-weight="600"')
