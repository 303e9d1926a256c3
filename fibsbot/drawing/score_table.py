"""A decision at many scores, as a table: as text and as SVG. Each cell has a mark, which the legend explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import frozen

from fibsbot.drawing.axes import TEXT, TITLE
from fibsbot.drawing.markup import clean, coord, escape, svg_document, text_width
from fibsbot.drawing.themes import ColourRole, Theme, paint

CELL: Final = (104.0, 46.0)
"""Width and height of a cell of the picture."""
EDGE: Final = 16.0
"""Margin of the picture."""
SMALLEST: Final = 7.0
"""Font size below which the words of a cell are left out."""
HERE: Final = "*"
"""Follows the cell of the decision's own score, in text."""
LINE: Final = 80
"""Characters of a line of text, where the table is not too wide for it."""
_MARGIN: Final = 5
"""Characters of an equity, with the blank before it."""


@frozen
class Mark:
    """What is right in a cell: an entry of the legend."""

    code: str
    """A letter or two."""
    words: str
    role: ColourRole | None = None
    """Colour of the cells; None leaves them empty."""


@frozen
class Cell:
    """The decision at one score."""

    mark: Mark
    margin: float | None = None
    """An equity that goes with it, not negative; the legend says which."""
    here: bool = False
    """Whether this is the score of the decision itself."""


@frozen
class ScoreTable:
    """A table of scores."""

    title: str
    """What is decided."""
    axes: tuple[str, str]
    """What the rows and the columns are."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    """By row and column; None where there is no such score."""
    others: tuple[tuple[str, Cell], ...] = ()
    """Decisions beside the table, such as that in an unlimited match, each with its name."""
    notes: tuple[str, ...] = ()
    """Sentences below the legend."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks that occur, in the order of the legend: by code."""
        return tuple(sorted({cell.mark for cell in self._decisions}, key=lambda mark: (len(mark.code), mark.code)))

    @property
    def count(self) -> int:
        """The number of decisions."""
        return len(self._decisions)

    @property
    def _decisions(self) -> list[Cell]:
        return [cell for row in self.cells for cell in row if cell] + [cell for _, cell in self.others]


def format_margin(margin: float) -> str:
    """Return an equity in four characters."""
    return f"{margin:.2f}"[:4] if margin >= 1 else f"{min(margin, 0.999):.3f}"[1:]


# -- text -------------------------------------------------------------------------------------------------------------


def score_table_lines(table: ScoreTable) -> Iterator[str]:
    """Yield the lines of a table as text."""
    marks = table.marks
    codes = max(len(mark.code) for mark in marks)
    heading = max(map(len, table.rows))
    width = codes + _MARGIN + len(HERE)
    if heading + 2 + len(table.columns) * (width + 1) <= LINE:
        width += 1
    yield table.title
    yield f"rows: {table.axes[0]}; columns: {table.axes[1]}"
    yield ""
    yield f"{'':{heading}}  " + "".join(f"{name:{width}}" for name in table.columns).rstrip()
    for name, row in zip(table.rows, table.cells, strict=True):
        yield (f"{name:>{heading}}  " + "".join(f"{_cell_text(cell, codes):{width}}" for cell in row)).rstrip()
    yield ""
    names = max((len(name) for name, _ in table.others), default=0)
    yield from (f"{name:{names}}  {_cell_text(cell, codes)}".rstrip() for name, cell in table.others)
    yield ""
    yield from (f"{mark.code:{codes}}  {mark.words}" for mark in marks)
    yield from table.notes
    yield f"{HERE} the score of the position"


def _cell_text(cell: Cell | None, codes: int) -> str:
    if cell is None:
        return ""
    margin = "" if cell.margin is None else f" {format_margin(cell.margin)}"
    return f"{cell.mark.code:{codes}}{margin}".rstrip() + HERE * cell.here


# -- SVG --------------------------------------------------------------------------------------------------------------


def score_table_svg(table: ScoreTable, theme: Theme = Theme.AUTO) -> str:
    """Draw a table of scores: cells in the colours of the legend, with the same in words."""
    wide, high = CELL
    others = max((text_width(name, TEXT) for name, _ in table.others), default=0.0) + 12
    left = EDGE + TEXT + 14 + max(text_width(name, TEXT, bold=True) for name in table.rows)
    top = EDGE + TITLE + 12 + 2 * (TEXT + 10)
    bottom = top + high * len(table.rows)
    beside = max(left, EDGE + others)
    texts = _Texts(theme)
    body = [
        texts.line(EDGE, EDGE + TITLE, table.title, ColourRole.INK, size=TITLE, bold=True),
        texts.line(left, top - TEXT - 12, table.axes[1], ColourRole.FAINT),
        *(
            texts.line(left + (place + 0.5) * wide, top - 7, name, ColourRole.INK, bold=True, anchor="middle")
            for place, name in enumerate(table.columns)
        ),
        _upright(table.axes[0], EDGE + TEXT - 2, (top + bottom) / 2, theme),
    ]
    for row, (name, cells) in enumerate(zip(table.rows, table.cells, strict=True)):
        y = top + row * high
        body.append(texts.line(left - 8, y + high / 2 + TEXT * 0.36, name, ColourRole.INK, bold=True, anchor="end"))
        body += [line for place, cell in enumerate(cells) for line in _cell(cell, left + place * wide, y, theme)]
    y = bottom + 14
    for name, cell in table.others:
        body.append(texts.line(EDGE, y + high / 2 + TEXT * 0.36, name, ColourRole.INK))
        body += _cell(cell, beside, y, theme)
        y += high + 6
    y += TEXT + 4
    notes = (*table.notes, "outlined: the score of the position")
    lines = [f"{mark.code}: {mark.words}" for mark in table.marks] + list(notes)
    for mark in table.marks:
        body += _swatch(mark, EDGE, y, theme)
        body.append(texts.line(EDGE + 46, y, mark.words, ColourRole.INK))
        y += TEXT + 9
    for note in notes:
        body.append(texts.line(EDGE, y, note, ColourRole.FAINT))
        y += TEXT + 6
    width = max(
        left + wide * len(table.columns),
        beside + wide,
        EDGE + text_width(table.title, TITLE, bold=True),
        EDGE + 46 + max(text_width(line, TEXT) for line in lines),
    )
    size = (width + EDGE, y + EDGE - TEXT)
    paper = f'<rect width="{coord(size[0])}" height="{coord(size[1])}" rx="8"{paint(ColourRole.PAPER, theme)}/>'
    roles = {ColourRole.PAPER, ColourRole.INK, ColourRole.FAINT, ColourRole.GRID, ColourRole.EXPECTED}
    roles |= {mark.role for mark in table.marks if mark.role}
    return svg_document(
        size,
        table.title,
        "\n".join(score_table_lines(table)),
        [paper, *body],
        theme,
        sorted(roles, key=lambda role: role.value),
        f' font-size="{TEXT}"',
    )


@frozen
class _Texts:
    """Writes lines of text."""

    theme: Theme

    def line(  # noqa: PLR0913 - a place and a look
        self,
        x: float,
        y: float,
        text: str,
        role: ColourRole,
        size: float = TEXT,
        *,
        bold: bool = False,
        anchor: str = "start",
    ) -> str:
        """Return an element with a line of text."""
        look = f' font-size="{coord(size)}"' if size != TEXT else ""
        look += ' font-weight="600"' if bold else ""
        look += f' text-anchor="{anchor}"' if anchor != "start" else ""
        place = f'x="{coord(x)}" y="{coord(y)}"'
        return f"<text {place}{look}{paint(role, self.theme)}>{escape(clean(text, 200))}</text>"


def _upright(text: str, x: float, y: float, theme: Theme) -> str:
    turned = f'transform="translate({coord(x)} {coord(y)}) rotate(-90)" text-anchor="middle"'
    return f"<text {turned}{paint(ColourRole.FAINT, theme)}>{escape(clean(text, 200))}</text>"


def _box(x: float, y: float, size: tuple[float, float], role: ColourRole | None, theme: Theme) -> str:
    place = f'x="{coord(x)}" y="{coord(y)}" width="{coord(size[0])}" height="{coord(size[1])}" rx="4"'
    if role is None:
        return f"<rect {place}{paint(ColourRole.GRID, theme)}/>"
    return f'<rect {place} fill-opacity="0.24" stroke-opacity="0.7"{paint(role, theme)}/>'


def _cell(cell: Cell | None, x: float, y: float, theme: Theme) -> Iterable[str]:
    if cell is None:
        return
    wide, high = CELL
    yield _box(x + 2, y + 2, (wide - 4, high - 4), cell.mark.role, theme)
    if cell.here:
        place = f'x="{coord(x + 2)}" y="{coord(y + 2)}" width="{coord(wide - 4)}" height="{coord(high - 4)}" rx="4"'
        yield f'<rect {place} stroke-width="2.5"{paint(ColourRole.EXPECTED, theme)}/>'
    texts = _Texts(theme)
    below = "" if cell.margin is None else format_margin(cell.margin)
    lines = [(cell.mark.words, False), (f"{cell.mark.code}  {below}".rstrip(), True)]
    shown = [(text, bold, _fitting(text, wide - 14, bold=bold)) for text, bold in lines]
    shown = [line for line in shown if line[2] >= SMALLEST]
    step = (high - 4) / (len(shown) + 1)
    for number, (text, bold, size) in enumerate(shown, 1):
        at = y + 2 + number * step + size * 0.36 + (number * 2 - len(shown) - 1)
        yield texts.line(x + wide / 2, at, text, ColourRole.INK, size, bold=bold, anchor="middle")


def _fitting(text: str, width: float, *, bold: bool) -> float:
    """Return the font size at which a text fits, at most TEXT."""
    return min(float(TEXT), width / max(text_width(text, 1.0, bold=bold), 0.1))


def _swatch(mark: Mark, x: float, y: float, theme: Theme) -> Sequence[str]:
    label = _Texts(theme).line(x + 18, y, mark.code, ColourRole.INK, bold=True, anchor="middle")
    return (_box(x, y - TEXT - 1, (36, TEXT + 6), mark.role, theme), label)
