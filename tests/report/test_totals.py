"""Totals over several matches: sums of the matches, and the worst errors of all with links to their places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.model import MatchAnalysis
from fibsbot.analysis.selection import GRADED, DecisionSelection
from fibsbot.report.page import IndexEntry, index_page, report_page
from fibsbot.report.timeline import match_timeline
from fibsbot.report.totals import MAX_PLAYERS, MatchTotals
from fibsbot.rules.state import Seat
from fibsbot.transcript import Player
from tests.examples import examples
from tests.report.example_matches import analysed, eventful
from tests.report.parsed_page import Page

NAMES = (("anna", "bert"), ("carl", "anna"), ("bert", "<b>carl"))


@cache
def matches() -> tuple[MatchAnalysis, ...]:
    return tuple(analysed(eventful(names), luck=False) for names in NAMES)


def totals_of(chosen: Sequence[MatchAnalysis], selection: DecisionSelection = GRADED, most: int = 12) -> MatchTotals:
    totals = MatchTotals(selection, most)
    for number, match in enumerate(chosen, start=1):
        totals.add(match_timeline(match, selection=selection), f"match {number}", f"match-{number}.html")
    return totals


@given(
    st.lists(st.integers(0, 2), max_size=4),
    st.integers(0, 30),
    st.sampled_from((None, "anna")),
    st.sampled_from((0.0, 0.02, 0.3)),
)
@examples(20)
def test_the_worst_of_all_are_kept_and_no_more(numbers: list[int], most: int, player: str | None, least: float) -> None:
    selection = DecisionSelection(player=player, least_loss=least)
    chosen = [matches()[number] for number in numbers]
    totals = totals_of(chosen, selection, most)
    every = [
        (-entry.loss, place, number)
        for place, match in enumerate(chosen, start=1)
        for number, entry in enumerate(match_timeline(match, selection=selection).errors)
    ]
    assert [(loss, f"match {place}") for loss, place, _ in sorted(every)[:most]] == [
        (-error.entry.loss, error.match) for error in totals.worst
    ]
    assert len(every) == totals.errors
    assert len(totals._worst) <= most


def test_totals_are_the_sums_of_the_matches() -> None:
    totals = totals_of(matches())
    assert 3 == totals.matches
    assert [("anna", 2), ("bert", 2), ("<b>carl", 1), ("carl", 1)] == [
        (name, count) for name, count, _ in totals.ranked
    ]
    anna = matches()[0].figures_of(Seat.A) + matches()[1].figures_of(Seat.B)
    assert anna == totals.ranked[0][2]


def test_of_many_players_those_with_the_most_matches_are_listed() -> None:
    totals = MatchTotals()
    match = match_timeline(analysed(eventful(), luck=False))
    for number in range(MAX_PLAYERS + 4):
        players = (Player("alice"), Player(f"guest_{number}"))
        transcript = evolve(match.analysis.transcript, players=players)
        totals.add(evolve(match, analysis=evolve(match.analysis, transcript=transcript)))
    assert "alice" == totals.ranked[0][0]
    assert MAX_PLAYERS == len(totals.ranked)
    assert "and 5 more players" == totals.unlisted


def test_each_error_links_to_its_place_on_the_page_of_several_matches() -> None:
    page = Page.read(report_page(matches(), title="3 matches"))
    assert [] == page.faults
    worst = totals_of(matches()).worst
    anchors = {f"m{error.match.removeprefix('match ')}{error.entry.key}" for error in worst}
    assert anchors <= set(page.values("id"))
    header = Page.read(report_page(matches(), title="3 matches").partition("<main>")[0])
    assert {f"#{anchor}" for anchor in anchors} <= set(header.values("href"))
    assert "Totals over 3 matches" in header.text
    assert "<b>carl" in header.text


def test_each_error_links_to_its_place_on_another_page() -> None:
    totals = totals_of(matches())
    listed = [IndexEntry.of(match, f"match-{number}.html") for number, match in enumerate(matches(), start=1)]
    index = Page.read(index_page(listed, title="3 matches", totals=totals))
    assert [] == index.faults
    pages = {
        entry.href: Page.read(report_page([match], title="")) for entry, match in zip(listed, matches(), strict=True)
    }
    assert len(pages) == len({error.match for error in totals.worst})
    for error in totals.worst:
        assert error.href in index.values("href")
        page, _, anchor = error.href.partition("#")
        assert anchor in pages[page].values("id")


def test_a_page_says_what_is_selected_and_that_figures_are_not() -> None:
    page = Page.read(report_page(matches(), title="3 matches", selection=DecisionSelection(player="anna")))
    totals = totals_of(matches(), DecisionSelection(player="anna"))
    assert f"{totals.errors} errors selected (of anna), {totals.loss:.3f} in all. Only these are listed" in page.text
    assert "No decision cost" not in page.text
