"""Tables of scores: as text within 80 columns, and as a picture that says the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fibsbot.drawing.score_table import LINE, Cell, Mark, ScoreTable, format_margin, score_table_lines, score_table_svg
from fibsbot.drawing.themes import ColourRole, Theme
from tests.drawing.svg_checks import parsed, reaches_out, said, texts

MARKS = st.builds(Mark, st.sampled_from(["A", "DP", "-"]), st.text(max_size=30), st.sampled_from([None, *ColourRole]))
CELLS = st.builds(Cell, MARKS, st.none() | st.floats(0, 9), st.booleans())


def table(size: int, cells: list[Cell | None]) -> ScoreTable:
    names = tuple(map(str, range(1, size + 1)))
    rows = tuple(tuple(cells[row * size : (row + 1) * size]) for row in range(size))
    return ScoreTable("Title", ("rows", "columns"), names, names, rows, (("unlimited", Cell(Mark("A", "words"))),))


@given(
    st.integers(1, 9).flatmap(
        lambda size: st.builds(table, st.just(size), st.lists(st.none() | CELLS, min_size=size**2, max_size=size**2))
    )
)
def test_any_table_can_be_drawn(drawn: ScoreTable) -> None:
    for theme in Theme:
        picture = score_table_svg(drawn, theme)
        assert "unlimited" in texts(parsed(picture))
        assert [] == reaches_out(picture)
        assert "Title" == said(parsed(picture), "title")
    head, *rows = list(score_table_lines(drawn))[3 : 4 + len(drawn.rows)]
    assert max(map(len, (head, *rows))) <= LINE
    starts = [head.index(name) for name in drawn.columns]
    for line, cells in zip(rows, drawn.cells, strict=True):
        for start, cell in zip(starts, cells, strict=True):
            assert line[start:].startswith(cell.mark.code) if cell else not line[start : start + 3].strip()


@given(st.floats(0, 99))
def test_an_equity_takes_four_characters(value: float) -> None:
    text = format_margin(value)
    assert 4 == len(text)
    assert abs(float(text) - value) < (0.001 if value < 1 else 0.1)
