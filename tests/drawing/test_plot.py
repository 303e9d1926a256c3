"""Curves and bars: any data, readable axes, safe text."""

from __future__ import annotations

import datetime as dt
import math
import re
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fibsbot.drawing.axes import Scale, Tick, nice_step, seconds, ticks, value_range
from fibsbot.drawing.plot import Annotation, Bar, Series, bars_svg, curve_svg
from fibsbot.drawing.plot_text import curve_text
from tests.drawing.svg_checks import NASTY, SVG, parsed, reaches_out, said, texts

BEGIN: Final = seconds(dt.datetime(2000, 1, 1, tzinfo=dt.UTC))
NUMBERS: Final = st.floats(-1e9, 1e9) | st.sampled_from([math.nan, math.inf, -math.inf])


@given(st.lists(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=60), max_size=6), st.text(max_size=40), st.booleans())
def test_any_curve_can_be_drawn(curves: list[list[tuple[float, float]]], text: str, zero: bool) -> None:  # noqa: FBT001
    series = [Series(text, sorted(it, key=lambda point: point[0])) for it in curves]
    drawn = curve_svg(series, title=text, x_label=text, y_label=text, zero=zero, annotations=[Annotation(0.5, text)])
    parsed(drawn)
    assert [] == reaches_out(drawn)
    assert "nan" not in re.sub(r"<(title|desc|text)\b.*?</\1>", "", drawn, flags=re.DOTALL)


@given(st.lists(st.builds(Bar, st.text(max_size=10), *[st.floats(-1e9, 1e9)] * 2), max_size=30), st.text(max_size=40))
def test_any_bars_can_be_drawn(bars: list[Bar], text: str) -> None:
    drawn = bars_svg(bars, title=text)
    parsed(drawn)
    assert [] == reaches_out(drawn)


def test_hostile_names_are_escaped() -> None:
    both = [Series(NASTY, [(0, 1), (1, 2)]), Series("b", [(0, 1)])]
    root = parsed(curve_svg(both, title=NASTY, annotations=[Annotation(0, NASTY)]))
    assert 3 == sum(it.startswith("<script>&\"'") for it in texts(root))


@pytest.mark.slow
def test_many_points_give_a_small_picture_with_all_peaks() -> None:
    points = [(float(it), 1000.0 if it == 23_333 else math.sin(it)) for it in range(30_000)]
    drawn = curve_svg([Series("rating", points)], title="long")
    top = float(re.search(r'data-plot="\S+ (\S+) ', drawn)[1])  # type: ignore[index]
    path = re.findall(r'<path d="(M[^"]*)" fill-opacity="0"', drawn)[0]
    heights, y = [], 0.0
    for first, step in re.findall(r"(?:M|l| )(-?[\d.]+) (-?[\d.]+)", path):
        assert first
        y += float(step)
        heights.append(y)
    assert len(drawn) < 60_000
    assert top < min(heights) < top + 15


def test_a_value_that_is_not_finite_interrupts_the_curve() -> None:
    drawn = curve_svg([Series("a", [(0, 1), (1, 2), (2, math.nan), (3, 1), (4, 2)])], title="gap")
    assert 2 == re.findall(r'<path d="([^"]*)" fill-opacity="0"', drawn)[0].count("M")


def test_the_root_element_has_the_coordinates_of_the_plot() -> None:
    root = parsed(curve_svg([Series("a", [(10, 1), (30, 2)])], title="t"))
    left, _, right, _ = map(float, root.attrib["data-plot"].split())
    assert "10 30" == root.attrib["data-x"]
    dots = [float(it.attrib["cx"]) for it in root.iter(f"{SVG}circle")]
    assert [left, right] == dots


def test_an_interval_is_a_line_through_its_point() -> None:
    intervals = [(1, 9), (math.nan, 5), (4, 4)]
    root = parsed(curve_svg([Series("a", [(10, 5), (20, 5), (30, math.inf)], intervals)], title="t"))
    _, top, _, bottom = map(float, root.attrib["data-plot"].split())
    (dot, _) = list(root.iter(f"{SVG}circle"))
    (line,) = [path.attrib["d"] for path in root.iter(f"{SVG}path") if path.attrib.get("stroke-opacity")]
    x, low, high = map(float, re.findall(r"[\d.]+", line))
    assert float(dot.attrib["cx"]) == x
    assert top <= high < float(dot.attrib["cy"]) < low <= bottom


def test_months_have_their_names_in_the_description() -> None:
    marks = [Tick(BEGIN, "Jan 2000"), Tick(BEGIN + 31 * 86_400, "Feb 2000")]
    points = [(mark.value, 12) for mark in marks]
    root = parsed(curve_svg([Series("PR", points)], title="t", x=Scale.TIME, x_ticks=marks))
    assert "PR: 12.0 at Jan 2000 to 12.0 at Feb 2000; between 12.0 and 12.0, 2 points" == said(root, "desc")


def test_at_most_six_series_are_drawn() -> None:
    with pytest.raises(ValueError, match="expected 6 series at most, got 7"):
        curve_svg([Series(str(it), []) for it in range(7)], title="")


def test_the_description_has_the_values() -> None:
    curve = parsed(curve_svg([Series("marvin", [(0, 1500), (9, 1512.5)])], title="t"))
    assert "marvin: 1500 at 0.000 to 1512 at 9.000; between 1500 and 1512, 2 points" == said(curve, "desc")
    bars = parsed(bars_svg([Bar("31", 5, 4.5)], title="t"))
    assert "31: 5.000, expected 4.500" == said(bars, "desc")


def test_a_chart_without_data_says_so() -> None:
    for drawn in (curve_svg([], title=""), curve_svg([Series("a", [])], title="t"), bars_svg([], title="t")):
        assert "nothing yet" in texts(parsed(drawn))


# -- axes -----------------------------------------------------------------------------------------------------------


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12))
@example(0.0, 0.7)
def test_ticks_are_few_in_order_and_within_the_axis(low: float, size: float) -> None:
    low, high = value_range([low, low + size], Scale.NUMBER)
    marks = ticks(low, high, Scale.NUMBER, 6)
    apart = high - low
    assert 1 <= len(marks) <= 8
    assert all(low - 1e-3 * apart <= it.value <= high + 1e-3 * apart for it in marks)
    assert all(one.value < other.value for one, other in pairwise(marks))


@given(st.floats(BEGIN, BEGIN + 1e9), st.floats(120, 3e9))
def test_ticks_of_times_are_few_in_order_and_within_the_axis(low: float, size: float) -> None:
    marks = ticks(low, low + size, Scale.TIME, 6)
    assert len(marks) <= 10
    assert all(low <= it.value <= low + size for it in marks)
    assert len(marks) == len({it.value for it in marks})


@pytest.mark.parametrize(
    ("low", "high", "scale", "texts"),
    [
        (0, 10, Scale.NUMBER, ["0", "2", "4", "6", "8", "10"]),
        (-0.5, 0.5, Scale.NUMBER, ["-0.4", "-0.2", "0.0", "0.2", "0.4"]),
        (0, 12, Scale.NUMBER, ["0.0", "2.5", "5.0", "7.5", "10.0"]),
        (BEGIN, BEGIN + 6 * 3600, Scale.TIME, ["1 Jan", "02:00", "04:00", "06:00"]),
        (BEGIN, BEGIN + 10 * 86_400, Scale.TIME, ["2 Jan", "4 Jan", "6 Jan", "8 Jan", "10 Jan"]),
        (BEGIN, BEGIN + 35 * 86_400, Scale.TIME, ["3 Jan", "10 Jan", "17 Jan", "24 Jan", "31 Jan"]),  # Mondays
        (BEGIN, BEGIN + 200 * 86_400, Scale.TIME, ["Jan 2000", "Mar 2000", "May 2000", "Jul 2000"]),
        (BEGIN, BEGIN + 9 * 365 * 86_400, Scale.TIME, ["2000", "2002", "2004", "2006", "2008"]),
    ],
)
def test_ticks_are_at_round_numbers_and_times(low: float, high: float, scale: Scale, texts: list[str]) -> None:
    assert texts == [it.text for it in ticks(low, high, scale, 5)]


@given(st.floats(1e-9, 1e12))
def test_a_nice_step_is_the_next_larger_one(rough: float) -> None:
    step = nice_step(rough)
    assert rough * (1 - 1e-6) <= step <= 2.5 * rough


# -- in a terminal --------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS), max_size=40),
    st.integers(30, 120),
    st.integers(3, 30),
    st.booleans(),
)
def test_any_curve_fits_its_lines(points: list[tuple[float, float]], width: int, height: int, unicode: bool) -> None:  # noqa: FBT001
    lines = curve_text(sorted(points, key=lambda it: it[0]), width=width, height=height, unicode=unicode)
    assert all(len(line) <= width for line in lines)
    assert len(lines) in {1, height + 2}
    assert unicode or all(line.isascii() for line in lines)


def test_a_rising_curve_rises() -> None:
    assert [
        "20 +       **",
        "   |     **",
        "15 +  ***",
        "10 +**",
        "   +---------",
        "    0    5",
    ] == curve_text([(0, 10), (8, 20)], width=13, height=4, unicode=False)


def test_braille_has_eight_dots_to_a_character() -> None:
    rows = curve_text([(0, 0), (1, 1)], width=12, height=2)
    dots = "".join(rows[:2])
    assert 8 == sum((ord(it) - 0x2800).bit_count() for it in dots if "\u2800" < it <= "\u28ff") / 2
