"""The pictures of docs/how-to/pictures.md: positions, data and drawing functions."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from typing import Final

from attrs import evolve

from fibsbot.drawing.axes import Scale, seconds
from fibsbot.drawing.plot import Annotation, Bar, Series, bars_svg, curve_svg
from fibsbot.drawing.svg import Theme, ViewOptions, board_svg, game_svg
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation import Xgid, parse_play
from fibsbot.position import Position
from fibsbot.rules.state import Seat
from tests.drawing.table_boards import NAMES, board_of

OPENING: Final = MatchState(Position.start(), 5, (1, 2), phase=Phase.MOVE, dice=(3, 1))
HITS: Final = MatchState(
    Position((0, -2, 0, 0, -1, 0, 5, 0, 3, 0, 0, 0, -4, 4, 0, 0, -1, -3, 0, -3, 0, -1, 0, 0, 2, 1)),
    7,
    (3, 6),
    cube=2,
    owner=Owner.OPPONENT,
    post_crawford=True,
    phase=Phase.MOVE,
    dice=(4, 4),
)
RACE: Final = MatchState(
    Position.from_sides([3, 3, 2, 1, 0, 0] + [0] * 19, [2, 2, 1] + [0] * 22),
    0,
    (12, 3),
    cube=4,
    owner=Owner.PLAYER,
    phase=Phase.MOVE,
    dice=(2, 2),
)
MIDDLE: Final = Xgid.parse("XGID=-a-B--E-B-a-dDB--b-bcb----:0:0:-1:D:2:1:0:5:10").state()


def _wave(count: int, *, rise: float = 0.0) -> list[float]:
    """Return values of an irregular but fixed curve."""
    return [math.sin(it / 4) + 0.5 * math.sin(it * 1.7) + 0.3 * math.sin(it * 5.3) + rise * it for it in range(count)]


def _rating() -> str:
    start = seconds(dt.datetime(2026, 1, 3, tzinfo=dt.UTC))
    points = [(start + 43_200 * at, 1500 + 24 * it) for at, it in enumerate(_wave(500, rise=0.01))]
    return curve_svg([Series("rating", points)], title="Rating of marvin", y_label="rating", x=Scale.TIME)


def _equity() -> str:
    own = list(enumerate(it / 2 for it in _wave(36)))
    both = [Series("marvin", own), Series("ford", [(x, -0.8 * y) for x, y in own])]
    annotations = [Annotation(0, "game 1"), Annotation(21, "game 2")]
    return curve_svg(both, title="Equity", x_label="move", y_label="points", zero=True, annotations=annotations)


def _dice() -> str:
    rolls = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
    bars = [
        Bar(f"{high}{low}", round(expected + 6 * it), expected=expected)
        for (high, low), it in zip(rolls, _wave(21), strict=True)
        for expected in [25 if high == low else 50]
    ]
    return bars_svg(bars, title="Dice of marvin", x_label="roll", y_label="count")


def _table(name: str, play: str) -> str:
    game = board_of(name)
    made = parse_play(play, game)
    return game_svg(game, Seat.A, names=NAMES, play=made)


GALLERY: Final[Mapping[str, Callable[[], str]]] = {
    "opening": lambda: board_svg(OPENING, names=NAMES, play=parse_play("8/5 6/5", OPENING.position, (3, 1))),
    "hits": lambda: board_svg(HITS, names=NAMES, play=parse_play("bar/21* 8/4*(2) 13/9", HITS.position, (4, 4))),
    "dark": lambda: board_svg(HITS, names=NAMES, view=ViewOptions(theme=Theme.DARK)),
    "left": lambda: board_svg(
        RACE,
        names=NAMES,
        view=ViewOptions(left=True, dark=False),
        play=parse_play("4/off 2/off(2)", RACE.position, (2, 2)),
    ),
    "doubled": lambda: board_svg(MIDDLE, names=NAMES),
    "resigned": lambda: board_svg(evolve(MIDDLE, phase=Phase.RESIGNED, resignation=2), names=NAMES),
    "above": lambda: board_svg(OPENING, names=NAMES[::-1], view=ViewOptions(opponents_side=True)),
    "bare": lambda: board_svg(OPENING, view=ViewOptions(board_only=True, width=334)),
    "tabula": lambda: _table("tabula", "bar/21 hand/19* 9/5"),
    "plakoto": lambda: _table("plakoto", "7/1^ 13/12"),
    "swedish": lambda: _table("swedish", "bar/22*"),
    "rating": _rating,
    "equity": _equity,
    "dice": _dice,
}
"""Drawing functions by the name of the file."""
