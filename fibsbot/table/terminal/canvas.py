"""Characters in colours, by line and column, from which a widget takes its lines."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style


@lru_cache(4096)
def plain(text: str) -> str:
    """Return a text in which each character is printable and one column wide; "?" stands for others.

    What people and servers say may have characters that a terminal would obey.
    """
    if text.isascii() and text.isprintable():
        return text
    fits = (character.isprintable() and get_character_cell_size(character) == 1 for character in text)
    return "".join(character if good else "?" for character, good in zip(text, fits, strict=True))


class Canvas:
    """A rectangle of characters, each one column wide, with their styles."""

    def __init__(self, width: int, height: int, style: Style) -> None:
        """Begin with blanks in a style."""
        self.width = width
        self.height = height
        self._characters = [[" "] * width for _ in range(height)]
        self._styles = [[style] * width for _ in range(height)]

    def write(self, x: int, y: int, text: str, style: Style | None = None) -> None:
        """Write a text, or the part of it that is on the canvas; without a style, in what is there."""
        if not 0 <= y < self.height:
            return
        for column, character in enumerate(plain(text), x):
            if 0 <= column < self.width:
                self._characters[y][column] = character
        if style is not None:
            self.fill(x, y, len(text), 1, style)

    def fill(self, x: int, y: int, width: int, height: int, style: Style) -> None:
        """Colour a rectangle, and leave its characters."""
        before = after = style
        for line in range(max(y, 0), min(y + height, self.height)):
            styles = self._styles[line]
            for column in range(max(x, 0), min(x + width, self.width)):
                if styles[column] is not before:  # neighbours are alike, and to add styles takes long
                    before = styles[column]
                    after = before + style
                styles[column] = after

    def line(self, y: int) -> tuple[list[str], list[Style]]:
        """Return the characters of a line and their styles."""
        return self._characters[y], self._styles[y]

    def segments(self, y: int) -> list[Segment]:
        """Return a line in pieces of one style."""
        cells = zip(self._styles[y], self._characters[y], strict=True)
        return [
            Segment("".join(character for _, character in piece), style)
            for style, piece in groupby(cells, key=itemgetter(0))
        ]

    @property
    def lines(self) -> list[str]:
        """The characters without their styles."""
        return ["".join(line) for line in self._characters]
