"""A table in words: what has been done, where the checkers are, what is to be decided."""

from __future__ import annotations

from itertools import takewhile

from fibsbot.drawing.scene import DrawnSide, scene_of_game
from fibsbot.notation.play_notation import IN_HAND
from fibsbot.position import BAR, OFF
from fibsbot.table.model import SheetEntry, TableModel


class WordLog:
    """Says of a match, once, what has happened."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._sheet: list[SheetEntry] = []
        """The score sheet as far as it was said."""
        self._sentence = ""

    def new_lines(self, model: TableModel) -> list[str]:
        """Return what has happened since the last time."""
        pairs = zip(self._sheet, model.sheet, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        new = [entry_in_words(entry, model.names) for entry in model.sheet[same:]]
        self._sheet = list(model.sheet)
        if model.sentence != self._sentence and not model.waiting:
            self._sentence = model.sentence
            if model.state.dice:
                new.append(f"The dice are {' and '.join(map(str, model.state.dice))}.")
            new += [*board_in_words(model), model.sentence]
        return new


def entry_in_words(entry: SheetEntry, names: tuple[str, str]) -> str:
    """Return a line of the score sheet as a sentence."""
    name = names[entry.seat]
    return f"{name}: {entry.dice} {entry.text}." if entry.dice else f"{name} {entry.text}."


def board_in_words(model: TableModel) -> list[str]:
    """Return where the checkers of both sides are, each as its side counts, in a sentence for each."""
    scene = scene_of_game(model.shown, model.seat, model.names)
    return [_side_in_words(side) for side in (scene.below, scene.above)]


def _side_in_words(side: DrawnSide) -> str:
    names = {BAR: "bar", IN_HAND: "hand", OFF: "off"}
    places = (*range(IN_HAND, OFF, -1), OFF)
    found = [
        f"{names.get(place, place)}: {'pinned' if place in side.pinned else side.row[place]}"
        for place in places
        if side.row[place]
    ]
    return f"Checkers of {side.name}: {', '.join(found)}; {side.pips} pips."
