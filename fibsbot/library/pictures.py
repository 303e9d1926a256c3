"""`draw`: a board as a picture."""

from __future__ import annotations

from pathlib import Path

from attrs import field, frozen

from fibsbot.draw.scene import ViewOptions
from fibsbot.draw.svg import game_svg
from fibsbot.files import replacing
from fibsbot.library.board import SHORT_NAMES, Board, plays_of
from fibsbot.position import Play


@frozen
class Picture:
    """A picture of a board; a notebook shows it."""

    svg: str = field(repr=False)
    """The SVG document."""

    def save(self, path: Path | str) -> None:
        """Write it into a file. Raises OSError."""
        with replacing(Path(path)) as part:
            part.write_text(self.svg, encoding="utf-8")

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
    shown = None if play is None else plays_of(board, [play])[0]
    return Picture(game_svg(board.state, board.seat, view=view, names=names, play=shown))
