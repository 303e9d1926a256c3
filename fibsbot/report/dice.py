"""The dice of a match: what each player threw, and what chance says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fibsbot.draw.plot import Bar, Theme, bars_svg
from fibsbot.report.figures import NONE, row, table
from fibsbot.report.markup import Html, joined, tag
from fibsbot.report.sheet import name, plain_name
from fibsbot.rules.state import Seat
from fibsbot.study.dice import DOUBLETS, ChiSquare, DiceStatistics, dice_of
from fibsbot.study.throwing import THROWS
from fibsbot.transcript import Transcript


def dice(transcript: Transcript) -> Html:
    """Return the dice statistics of both players."""
    both = dice_of(transcript)
    if not any(it.throws for it in both):
        return tag("p", "No throw but opening throws was seen.", class_="note")
    charts = (tag("div", Html(_chart(plain_name(transcript, seat), both[seat])), class_="plot-alone") for seat in Seat)
    faces = table("How often each number came", *_faces(transcript, both))
    figures = table("Throws, opening throws left out", *_figures(transcript, both))
    explained = (
        "p is the chance that fair dice come at least as unevenly as these did: in one match of 20 it is below 0.05."
        " Where it is called rough, there were too few throws for the test to be exact."
    )
    return joined(
        tag("div", figures, faces, class_="tables"),
        tag("div", *charts, class_="tables charts"),
        tag("p", explained, class_="note"),
    )


def _figures(
    transcript: Transcript, both: tuple[DiceStatistics, DiceStatistics]
) -> tuple[tuple[Html | str, ...], list[Html]]:
    def line(label: str, write: Callable[[DiceStatistics], str]) -> Html:
        return row(label, *map(write, both))

    rows = [
        line("Throws", lambda it: str(it.throws)),
        line(f"Doublets (1 in {1 / DOUBLETS:.0f} expected)", _doublets),
        line("Pips in a throw (8.17 expected)", lambda it: NONE if it.pips is None else f"{it.pips:.2f}"),
        line("Entered from the bar (expected)", lambda it: f"{it.entered} of {it.barred} ({it.entering:.1f})"),
        line("Doublets in a row (chance)", lambda it: f"{it.doublets_in_a_row} ({_percent(it.run_chance)})"),
        line("Chi-square of the 21 throws", lambda it: _statistic(it.throws_test)),
        line("its p", lambda it: _p_value(it.throws_test)),
        line("Chi-square of the 6 numbers", lambda it: _statistic(it.faces_test)),
        line("its p", lambda it: _p_value(it.faces_test)),
    ]
    return ("", *(name(transcript, seat) for seat in Seat)), rows


def _doublets(it: DiceStatistics) -> str:
    return f"{it.doublets} ({it.doublets / it.throws:.0%})" if it.throws else NONE


def _percent(chance: float) -> str:
    return f"{chance:.0%}" if chance >= 0.01 else f"{chance:.2%}"


def _statistic(test: ChiSquare | None) -> str:
    return NONE if test is None else f"{test.statistic:.1f}"


def _p_value(test: ChiSquare | None) -> str:
    if test is None:
        return NONE
    p = f"{test.p_value:.3f}" if test.p_value >= 0.001 else "< 0.001"
    return p if test.reliable else f"{p} (rough)"


def _faces(
    transcript: Transcript, both: tuple[DiceStatistics, DiceStatistics]
) -> tuple[tuple[Html | str, ...], list[Html]]:
    rows = [row(name(transcript, seat), *both[seat].faces, f"{sum(both[seat].faces) / 6:.1f}") for seat in Seat]
    return ("", *map(str, range(1, 7)), "Mean"), rows


def _chart(who: str, statistics: DiceStatistics) -> str:
    return bars_svg(
        list(_bars(statistics)),
        title=f"{who}: how often each throw came",
        theme=Theme.PAGE,
        width=520,
        height=210,
    )


def _bars(statistics: DiceStatistics) -> Iterator[Bar]:
    """Return a bar for each throw, with a line where it should end."""
    ways_of_all = sum(ways for _, ways in THROWS)
    for ((high, low), ways), count in zip(THROWS, statistics.counts, strict=True):
        yield Bar(f"{high}{low}", count, expected=statistics.throws * ways / ways_of_all)
