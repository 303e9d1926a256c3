"""What the page of a table shows, in JSON types: the board as it is to be seen, the players, what may be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from fibsbot.draw.layout import BAR_WIDTH, POINT, TRAY, WIDTH, Layout
from fibsbot.draw.scene import ViewOptions
from fibsbot.draw.svg import game_svg
from fibsbot.draw.themes import Theme
from fibsbot.rules.sides import HAND, OFF
from fibsbot.table.model import TableModel


@frozen
class PageView:
    """How a browser wants the board."""

    left: bool = False
    """Whether home is on the left."""
    light: bool = False
    """Whether the person has the light checkers."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> PageView:
        """Return the view that a request asks for."""
        return cls(left="left" in query, light="light" in query)


def page_state(model: TableModel, view: PageView) -> dict[str, Any]:
    """Return what the page shows."""
    state = model.shown
    options = ViewOptions(theme=Theme.PAGE, left=view.left, dark=not view.light, board_only=True, fixed_numbers=True)
    layout = Layout(view.left, board_only=True, course=state.rules.course)
    in_hand = state.rules.in_hand(state.sides_for(model.seat).own) > 0
    return {
        "board": game_svg(state, model.seat, view=options, names=model.names),
        "text": model.sentence,
        "last": model.last,
        "players": [
            {
                "name": model.names[seat],
                "score": state.scores[seat],
                "pips": state.sides_for(seat).own.pips,
                "turn": state.decides is seat,
            }
            for seat in (model.seat, model.seat.other)
        ],
        "length": state.length,
        "actions": [action.value for action in model.actions],
        "preferences": [preference.value for preference in model.preferences],
        "names": list(model.names_offered),
        "moves": [[made.move.source, made.move.target, made.number] for made in model.moves],
        "places": {place: _area(layout, place, in_hand=in_hand) for place in range(OFF, HAND + 1)},
    }


def _area(layout: Layout, place: int, *, in_hand: bool) -> list[float]:
    """Return left, top, width and height of the area of a place, as fractions of the picture.

    Checkers enter from the tray where they lie in hand, else from the bar.
    """
    if place == OFF:
        left, width, top = layout.off_of(below=True) - TRAY / 2, TRAY, layout.middle
    elif place == HAND and in_hand:
        left, width, top = layout.cube - TRAY / 2, TRAY, layout.middle
    elif place == HAND:
        left, width, top = layout.bar - BAR_WIDTH / 2, BAR_WIDTH, layout.middle
    else:
        left, width, top = layout.column(place) - POINT / 2, POINT, layout.middle if place <= 12 else layout.top
    half = layout.bottom - layout.middle
    return [left / WIDTH, top / layout.height, width / WIDTH, half / layout.height]
