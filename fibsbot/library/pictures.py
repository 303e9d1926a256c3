"""`draw`: a board as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import field, frozen

from fibsbot.drawing.scene import ViewOptions
from fibsbot.drawing.svg import game_svg
from fibsbot.files import replacing
from fibsbot.library.board import SHORT_NAMES, Board, check_board, plays_of
from fibsbot.position import Play

__all__ = ["Picture", "draw"]

ENDINGS: Final = (".svg", ".txt")
"""Endings of the files that `Picture.save` writes."""


@frozen
class Picture:
    """A picture of a board: SVG, or the board as text; a notebook shows the SVG."""

    svg: str = field(repr=False)
    """The SVG document."""
    text: str = field(repr=False)
    """The board before the play, as `print` shows it."""

    def save(self, path: Path | str) -> None:
        """Write it into a file: SVG if the name ends in `.svg`, text if it ends in `.txt`.

        Raises ValueError for another ending, OSError if the file cannot be written.
        """
        place = Path(path)
        if place.suffix not in ENDINGS:
            raise ValueError(f"expected a file that ends in {' or '.join(ENDINGS)}, got {place.name}")
        with replacing(place) as part:
            part.write_text(self.svg if place.suffix == ".svg" else f"{self.text}\n", encoding="utf-8")

    def __str__(self) -> str:
        """Return the board as text."""
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg


def draw(
    board: Board,
    play: Play | str | None = None,
    *,
    names: tuple[str, str] = SHORT_NAMES,
    view: ViewOptions | None = None,
) -> Picture:
    """Return a picture of a board, seen by the player who decides; a legal play is shown by arrows.

    `names` are those of players 0 and 1; `view` has colours and direction. Raises RuleError for an illegal play.
    """
    shown = None if play is None else plays_of(check_board(board), [play])[0]
    return Picture(game_svg(check_board(board).state, board.seat, view=view, names=names, play=shown), str(board))
