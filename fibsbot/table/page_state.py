"""What the page of a table shows, in JSON types: the board as it is to be seen, the players, what may be done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import frozen

from fibsbot.drawing.layout import POINT, Layout
from fibsbot.drawing.scene import ViewOptions
from fibsbot.drawing.svg import game_svg, layout_of
from fibsbot.drawing.themes import Theme
from fibsbot.notation.play_notation import IN_HAND
from fibsbot.rules.game import resign
from fibsbot.rules.laws import REDOUBLE_NAMES, Level
from fibsbot.rules.sides import HAND, OFF
from fibsbot.rules.state import GameState, Seat
from fibsbot.table.model import Action, TableModel
from fibsbot.transcript import Continuation, Step

DICE: Final = 1.3 * 34
"""Width that a die takes."""


@frozen
class PageView:
    """How a browser wants the board."""

    left: bool = False
    """Whether home is on the left."""
    light: bool = False
    """Whether the person has the light checkers."""
    narrow: bool = False
    """Whether points are short, for a board that is turned by a quarter."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> PageView:
        """Return the view that a request asks for."""
        return cls(left="left" in query, light="light" in query, narrow="narrow" in query)

    @property
    def options(self) -> ViewOptions:
        """The same for a picture; points always have the person's own numbers."""
        return ViewOptions(
            theme=Theme.PAGE,
            left=self.left,
            dark=not self.light,
            narrow=self.narrow,
            board_only=True,
            fixed_numbers=True,
        )


def page_state(model: TableModel, view: PageView) -> dict[str, Any]:
    """Return what the page shows. Coordinates are those of the picture."""
    state, options = model.shown, view.options
    layout = layout_of(options, state.rules.course)
    actions = model.actions
    return {
        "board": game_svg(
            state,
            model.seat,
            view=options,
            names=model.names,
            last=_opponents_play(model),
            dice_played=model.dice_played,
        ),
        "size": [layout.width, layout.height],
        "text": model.sentence,
        "last": model.last,
        "over": "match" if model.match_over else "game" if Action.NEXT in actions else "",
        "players": [_player(model, seat, view) for seat in (model.seat, model.seat.other)],
        "game": state.rules.full_name,
        "length": state.length,
        "crawford": state.crawford,
        "sheet": [[int(entry.seat is not model.seat), entry.dice, entry.text] for entry in model.sheet],
        "actions": [action.value for action in actions],
        "redouble": REDOUBLE_NAMES[min(state.redoubles, len(REDOUBLE_NAMES) - 1)],
        "offered": state.offered or 2 * state.cube,
        "levels": _levels(model) if Action.RESIGN in actions else [],
        "preferences": [preference.value for preference in model.preferences],
        "names": list(model.names_offered),
        "moves": list(_moves(model)),
        "places": {place: _place(state, model.seat, layout, place) for place in range(OFF, HAND + 1)},
        "dice": _dice(state, layout),
        "cube": [layout.cube - layout.proportions.tray / 2, layout.middle - 30, layout.proportions.tray, 60],
    }


def merge_patch(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return what turns one state into another as a JSON Merge Patch (RFC 7396): what is None there is left out."""
    patch: dict[Any, Any] = dict.fromkeys(before.keys() - after.keys())
    for key, value in after.items():
        old = before.get(key)
        if value != old:
            patch[key] = merge_patch(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return patch


def _opponents_play(model: TableModel) -> Step | None:
    """Return the opponent's last play if nothing has been played since."""
    if model.last_play is None or model.last_play[0].turn is model.seat:
        return None
    before, play = model.last_play
    return Step(0, 0, before, Continuation(seat=before.turn, play=play), model.shown)


def _player(model: TableModel, seat: Seat, view: PageView) -> dict[str, Any]:
    state = model.shown
    return {
        "name": model.names[seat],
        "score": state.scores[seat],
        "pips": state.sides_for(seat).own.pips,
        "turn": state.decides is seat,
        "dark": (seat is model.seat) is not view.light,
    }


def _levels(model: TableModel) -> list[list[Any]]:
    """Return the levels that the person may resign, each with its words and the points that the opponent would win."""
    found = []
    for level in Level:
        offer = resign(model.state, model.seat, level).resignation
        found.append([int(level), level.words, offer.points if offer else 0])
    return found


def _moves(model: TableModel) -> Iterator[list[int]]:
    """Yield source, target and number of dice of what may be moved; what is played by one die comes first.

    Of the moves from one place, that by the left die comes first, and that by the right die is the last with one die.
    """
    single = {(made.move.source, made.move.target): None for made in model.moves}
    for source, target in single:
        yield [source, target, 1]
    for (source, target), way in model.ways.items():
        if (source, target) not in single:
            yield [source, target, len(way)]


def _place(state: GameState, seat: Seat, layout: Layout, place: int) -> dict[str, list[float]]:
    """Return the area of a place, where its uppermost checker is, and where the next one would be."""
    sides = state.sides_for(seat)
    own, other, in_hand = sides.own, sides.opponent, state.rules.in_hand(sides.own)
    enters_from_hand = place == HAND and in_hand > 0
    drawn = IN_HAND if enters_from_hand else place
    checkers = in_hand if enters_from_hand else own.row[place]
    top = layout.stack_spot(drawn, max(checkers - 1, 0), below=True)
    following = layout.stack_spot(drawn, checkers, below=True)
    if OFF < place < HAND:
        facing = state.rules.course.facing(place)
        if other.pinned >> facing & 1:
            top, following = layout.lifted(top), layout.lifted(following)
        elif other.row[facing] == 1 and not own.row[place]:  # a checker that may be hit or pinned
            following = layout.stack_spot(place, 0, below=True)
    return {"area": _area(layout, place, in_hand=enters_from_hand), "top": [*top], "next": [*following]}


def _area(layout: Layout, place: int, *, in_hand: bool) -> list[float]:
    """Return left, top, width and height of the area of a place.

    Checkers enter from the tray where they lie in hand, else from the bar.
    """
    sizes = layout.proportions
    top = layout.middle
    if place == OFF or in_hand:
        left, width = (layout.cube if in_hand else layout.off_of(below=True)) - sizes.tray / 2, sizes.tray
    elif place == HAND:
        left, width = layout.bar - sizes.bar / 2, sizes.bar
    else:
        left, width, top = layout.column(place) - POINT / 2, POINT, layout.middle if place <= 12 else layout.top
    return [left, top, width, layout.bottom - layout.middle]


def _dice(state: GameState, layout: Layout) -> list[float]:
    """Return the area where the person's dice lie."""
    (x, y), width = layout.side(below=True), DICE * max(state.rules.dice, 2) + 6
    return [x - width / 2, y - 25, width, 50]
