"""The page is whole, safe whatever stands in a match, and small.

`FIBSBOT_GOLDEN=write pytest tests/report/test_page.py` writes the golden score sheet anew.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path
from typing import Final

import pytest
from attrs import astuple, evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.model import LUCK_THRESHOLD
from fibsbot.drawing.svg import Theme, ViewOptions, board_svg
from fibsbot.formats.mat import write_mat
from fibsbot.formats.sgf import write_sgf
from fibsbot.report.page import IndexEntry, index_page, report_page
from fibsbot.report.score_sheet import BAD_LUCK, GOOD_LUCK, score_sheet
from fibsbot.report.statistics import equity_graph
from fibsbot.report.timeline import TimelineKind, match_timeline
from fibsbot.rules.state import Seat
from fibsbot.transcript import Gap, Transcript
from tests.examples import examples
from tests.formats.simulated_matches import simulate, transcripts
from tests.report.example_matches import analysed, eventful
from tests.report.parsed_page import Page

GOLDEN: Final = Path(__file__).parents[1] / "data" / "report" / "sheet.golden.html"
HOSTILE: Final = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "]]><!--",
    "\"' onclick='alert(1)",
    "\N{RIGHT-TO-LEFT OVERRIDE}bob\x00\x1b[31m",
    "\ud800half",
)
MEGABYTE: Final = 1_000_000


def page_of(*matches: Transcript) -> Page:
    """Return the page of some matches."""
    return Page.read(report_page([analysed(it) for it in matches], title="Matches"))


def test_the_score_sheet_has_a_column_per_player() -> None:
    sheet = (
        str(score_sheet(match_timeline(analysed(eventful()))))
        .replace("<tr>", "\n<tr>")
        .replace("<section", "\n<section")
    )
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(sheet + "\n", "utf-8")
    assert GOLDEN.read_text("utf-8") == sheet + "\n"


def check(matches: list[Transcript]) -> None:
    """Check that a page of these matches is well-formed, with unique ids and working links."""
    page = page_of(*matches)
    assert [] == page.faults
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    links = [it for it in page.values("href") if not it.startswith("data:")]
    assert set() == {it.removeprefix("#") for it in links} - set(ids)
    assert set() == {it for value in page.values("aria-labelledby") for it in value.split()} - set(ids)
    for number, _ in enumerate(matches, start=1):
        entries = page.data(f"m{number}-data")["entries"]
        linked = [it["id"] for name, it in page.elements if name == "a" and it.get("id", "").startswith(f"m{number}g")]
        assert [f"m{number}{entry['key']}" for entry in entries] == linked


def test_a_page_is_well_formed_and_every_entry_has_data() -> None:
    check([eventful(), eventful(("carol", "dave"))])


@pytest.mark.slow
@given(st.lists(transcripts(), max_size=2))
@examples(4)
def test_pages_of_any_matches_are_well_formed(matches: list[Transcript]) -> None:
    check(matches)


@pytest.mark.slow
def test_hostile_names_are_escaped() -> None:
    plain = page_of(eventful())
    tags = [name for name, _ in plain.elements]
    for name in HOSTILE:
        match = eventful((name, f"{name}2"))
        first, second, third = match.games
        entries = tuple(evolve(it, reason=name) if isinstance(it, Gap) else it for it in second.entries)
        match = evolve(match, games=(first, evolve(second, entries=entries), third), site=name, tags={name: name})
        html = report_page([analysed(match)], title=name)
        page = Page.read(html)
        assert [] == page.faults
        assert tags == [it for it, _ in page.elements]
        assert [] == [it for _, attributes in page.elements for it in attributes if it.startswith("on")]
        html.encode("utf-8")
        assert "\x00" not in html
        assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in html


def test_a_name_with_markup_is_shown_literally() -> None:
    page = page_of(eventful(("<b>&amp;</b>", "Zoë")))
    assert "<b>&amp;</b> \N{EN DASH} Zoë" in page.text
    assert "<b>&amp;</b> 52: 24/22 13/8" in {entry["headline"] for entry in page.data("m1-data")["entries"]}


def test_a_long_name_is_shortened() -> None:
    analysis = analysed(eventful(("a" * 200, "bob")))
    page = report_page([analysis], title="Match")
    assert f">{'a' * 39}…<" in page
    assert "a" * 61 not in page  # files to save have names of up to 60 letters
    assert [] == Page.read(page).faults


def test_the_page_needs_no_network_and_allows_no_other_script() -> None:
    html = report_page([analysed(eventful())], title="alice and bob")
    page = Page.read(html)
    assert [] == [it for it in (*page.values("href"), *page.values("src")) if not it.startswith(("#", "data:"))]
    policy = next(it["content"] for _, it in page.elements if it.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.scripts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert [] == page.values("style")
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/)", html)


def test_boards_are_the_pictures_of_board_svg() -> None:
    match = match_timeline(analysed(eventful()))
    known = page_of(eventful()).data("m1-data")
    for entry, data in zip(match.entries, known["entries"], strict=True):
        assert entry.state is not None
        below = entry.viewer is Seat.B  # the user
        names = ("alice", "bob") if entry.viewer is Seat.A else ("bob", "alice")
        play = entry.roll.play if entry.roll else None
        picture = board_svg(
            entry.state,
            view=ViewOptions(theme=Theme.PAGE, dark=below, opponents_side=not below, fixed_numbers=True),
            play=play,
            names=names,
        )
        expected = re.sub(r"<(title|desc)>.*?</\1>|\n", "", picture, flags=re.DOTALL)
        numbers: list[int] = []
        for run in data["board"].split():
            first, _, last = run.partition("-")
            numbers += range(int(first), int(last or first) + 1)
        assert expected == "".join(known["pieces"][it] for it in numbers)


def test_the_best_play_has_a_board_if_another_was_made() -> None:
    entries = page_of(eventful()).data("m1-data")["entries"]
    worse = [it["key"] for it in entries if " worse than " in it.get("verdict", "") and it.get("plays")]
    assert worse
    assert worse == [it["key"] for it in entries if "best" in it]


def test_plays_and_cube_actions_have_plies_and_chances() -> None:
    chances = ["60.0", "20.0", "1.0", "40.0", "10.0", "0.5"]
    entries = page_of(eventful()).data("m1-data")["entries"]
    plays = [row for entry in entries for row in entry.get("plays", [])]
    cubes = [row for entry in entries for row in entry.get("cube", {}).get("rows", [])]
    assert plays
    assert cubes
    for row in (*plays, *cubes):
        passed = row[0].endswith(", pass")
        assert ["2", *([""] * 6 if passed else chances)] == row[3:-1]


def test_resignations_and_answers_have_the_equity_of_playing_on() -> None:
    entries = page_of(eventful()).data("m1-data")["entries"]
    tables = {entry["key"]: entry["resigning"] for entry in entries if "resigning" in entry}
    assert ["g1t4r", "g1t4s", "g2t10s"] == list(tables), "only the answer is analysed where the other player is on turn"
    own, theirs = ["60.0", "20.0", "1.0"], ["40.0", "10.0", "0.5"]
    for key, table in tables.items():
        settled, played_on = table["rows"]
        offered, on_roll = key.endswith("r"), key in {"g1t4r", "g2t10s"}
        assert (["Resign", "Play on"] if offered else ["Accept", "Reject"]) == [settled[0], played_on[0]]
        assert [""] * 7 == settled[3:-1]
        assert ["2", *(own + theirs if on_roll else theirs + own)] == played_on[3:-1]
        assert (offered or key == "g2t10s", not offered and key == "g1t4s") == (settled[-1], played_on[-1])
        assert [table["right"]] == [row[0] for row in table["rows"] if row[2] == ""]


def test_turn_numbers_agree_in_sheet_links_and_texts() -> None:
    sheet = match_timeline(analysed(eventful()))
    html = str(score_sheet(sheet))
    for entry in sheet.entries:
        link = sheet.link(entry)
        assert re.fullmatch(rf"m1g{entry.step.game}t{entry.step.turn}[a-z]?(\.\d+)?", link)
        (shown,) = re.findall(rf'id="{re.escape(link)}"[^>]*>(?:<small[^>]*>(\d+)</small>)?', html)
        assert ("" if entry.seat is None else str(entry.step.turn)) == shown


def test_links_contain_the_numbers_of_games() -> None:
    first, second, third = eventful().games
    later = evolve(eventful(), games=(evolve(second, number=4), evolve(third, number=5)))
    assert ["m1g4", "m1g5"] == [it for it in page_of(later).values("id") if re.fullmatch(r"m1g\d+", it)]
    twice = evolve(eventful(), games=(first, evolve(second, number=1)))
    assert ["m1g1", "m1g2"] == [it for it in page_of(twice).values("id") if re.fullmatch(r"m1g\d+", it)]


def test_points_are_always_numbered_from_the_same_side() -> None:
    data = page_of(eventful()).data("m1-data")
    numbers = [it for it in data["pieces"] if re.search(r">(12|13)<", it)]
    assert 2 == len(numbers)


def test_the_graph_shows_errors_and_cubes_and_labels_its_axes() -> None:
    match = match_timeline(analysed(eventful()))
    graph = str(equity_graph(match))
    errors = [it for it in match.entries if it.grade and it.kind not in {TimelineKind.DOUBLE, TimelineKind.ANSWER}]
    cubes = [it for it in match.entries if it.kind in {TimelineKind.DOUBLE, TimelineKind.ANSWER}]
    assert errors
    assert cubes
    assert 2 * len(errors) == len(re.findall(r"<circle [^>]*><title>Game", graph))
    assert 2 * len(cubes) == len(re.findall(r"<rect [^>]*><title>Game", graph))
    assert 2 == graph.count(">equity of alice<") == graph.count(">turn<")


def test_the_evaluator_is_named_beside_the_ratings() -> None:
    analysis = evolve(analysed(eventful()), details="fibsbot 9.9, 2-ply, networks of paper")
    page = Page.read(report_page([analysis], title="Matches"))
    assert re.search(r"PR [\d.]+ : [\d.]+ by fibsbot 9\.9, 2-ply, networks of paper", page.text)
    assert "Performance, analysed by arbitrary (fibsbot 9.9, 2-ply, networks of paper)" in page.text


def test_skill_and_errors_with_the_cube_are_in_tables_of_their_own() -> None:
    analysis = analysed(eventful())
    page = Page.read(report_page([analysis], title="Matches"))
    assert "Skill, as GNU Backgammon measures it" in page.text
    assert "Beginner from 26, Awful! from 35." in page.text
    for label in ("Winning chances lost", "Error rate (mEMG)", "Level", "Estimated FIBS rating", "Class by PR"):
        assert label in page.text
    for figures in analysis.figures:
        assert figures.level
        assert figures.level.value in page.text
    made = any(it.count for figures in analysis.figures for it in astuple(figures.cube_errors, recurse=False))
    assert made is ("Errors with the cube, and their loss" in page.text)


def test_the_match_can_be_downloaded() -> None:
    page = page_of(eventful())
    files = {it["download"]: it["href"] for _, it in page.elements if "download" in it}
    read = {name: base64.b64decode(href.partition(",")[2]).decode() for name, href in files.items()}
    assert {"alice-bob.mat": write_mat(eventful()), "alice-bob.sgf": write_sgf(eventful())} == read


def test_empty_matches_and_pages_are_rendered() -> None:
    assert "No game of this match was seen." in page_of(evolve(eventful(), games=())).text
    assert "No match." in Page.read(report_page([], title="Nothing")).text


def test_an_analysis_without_luck_does_not_mention_it() -> None:
    text = Page.read(report_page([analysed(eventful(), luck=False)], title="alice and bob")).text
    assert "Luck" not in text.replace("Good luck", "")


def test_only_a_completely_seen_match_has_a_luck_adjusted_result() -> None:
    whole = simulate(21, 3)
    assert "Luck-adjusted result" in page_of(whole).text
    assert "Luck-adjusted result" not in page_of(evolve(whole, games=whole.games[1:])).text


def test_rolls_are_marked_from_the_luck_threshold_on() -> None:
    match = analysed(eventful())
    (roll,) = [it for it in match.games[0].decisions if it.decision.step.turn == 1]

    def sheet(luck: float) -> str:
        first = evolve(match.games[0], decisions=(evolve(roll, luck=luck),))
        return str(score_sheet(match_timeline(evolve(match, games=(first, *match.games[1:])))))

    assert LUCK_THRESHOLD == 0.3, "documented in docs/how-to/report.md"
    for luck, marks in ((0.29, ""), (0.3, GOOD_LUCK), (-0.29, ""), (-0.3, BAD_LUCK)):
        assert marks in sheet(luck)
        assert marks or not {GOOD_LUCK, BAD_LUCK} & set(sheet(luck))
    text = page_of(eventful()).text
    assert f"{GOOD_LUCK} and {BAD_LUCK} mark rolls with luck of 0.3 or more" in text
    assert "No roll changed the equity by 0.3 or more." in text


def test_the_page_explains_grades_and_names_the_evaluator() -> None:
    text = page_of(eventful()).text
    assert "doubtful (?!) from 0.02, error (?) from 0.04, blunder (??) from 0.08" in text
    assert "those of the evaluator arbitrary" in text


def test_without_javascript_the_page_explains_what_is_missing() -> None:
    page = page_of(eventful())
    assert "noscript" in {name for name, _ in page.elements}
    assert "The boards are drawn by the script of this page" in page.text


@pytest.mark.slow
def test_a_match_to_seven_points_takes_less_than_a_megabyte() -> None:
    match = simulate(1, 7)
    entries = sum(len(game.entries) for game in match.games)
    size = len(report_page([analysed(match)], title="A long match"))
    assert size < MEGABYTE * max(1.0, entries / 400)


def test_an_index_links_to_its_pages() -> None:
    match = analysed(eventful(HOSTILE[:2]))
    page = Page.read(index_page([IndexEntry.of(match, "match-1.html")], title="Matches"))
    assert [] == page.faults
    assert ["data:,", "match-1.html"] == page.values("href")
    assert "script-src 'none'" in page.values("content")[0]


def test_an_index_without_luck_has_no_column_for_it() -> None:
    with_luck, without = (IndexEntry.of(analysed(eventful(), luck=luck), "match-1.html") for luck in (True, False))
    assert ">Luck<" in index_page([with_luck, without], title="Matches")
    assert "Luck" not in index_page([without], title="Matches")
