"""Selections of decisions: each is the intersection of its parts, and none depends on how a match is shown."""

from __future__ import annotations

import datetime as dt
from functools import cache, reduce
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.model import AnalysedDecision, MatchAnalysis, grade
from fibsbot.analysis.position_classes import CLASSES
from fibsbot.analysis.selection import GRADED, KINDS, DecisionSelection, decision_kind, match_start
from fibsbot.practice.exercises import exercises_of, is_selected
from fibsbot.report.links import find_exercise
from fibsbot.report.timeline import TimelineKind, match_timeline
from fibsbot.transcript import Transcript
from tests.examples import examples
from tests.formats.simulated_matches import simulate
from tests.report.example_matches import analysed, eventful

MATCH: Final = simulate(3, 5, games=2, names=("anna", "bert"))
START: Final = dt.datetime(2026, 10, 1, 18, 30, tzinfo=dt.UTC)
DAYS: Final = (None, *((MATCH.started or START) + dt.timedelta(days=days) for days in (-1, 0, 1)))

SELECTIONS: Final = st.builds(
    DecisionSelection,
    player=st.sampled_from((None, "anna", "bert", "nobody")),
    since=st.sampled_from(DAYS),
    kinds=st.lists(st.sampled_from(KINDS), max_size=3, unique=True).map(tuple),
    classes=st.lists(st.sampled_from(list(CLASSES)), max_size=4, unique=True).map(tuple),
    least_loss=st.sampled_from((0.0, 0.005, 0.02, 0.05, 0.2)),
)


@cache
def analysis() -> MatchAnalysis:
    return analysed(MATCH, luck=False)


def selected(selection: DecisionSelection) -> list[AnalysedDecision]:
    of_all = (one for game in analysis().games for one in game.decisions)
    return selection.of_match(analysis().transcript, of_all)


def identities(found: list[AnalysedDecision]) -> set[int]:
    return {id(one) for one in found}


def test_the_default_selects_every_decision() -> None:
    assert sum(len(game.decisions) for game in analysis().games) == len(selected(DecisionSelection()))


@given(SELECTIONS)
@examples(40)
def test_a_selection_is_the_intersection_of_its_parts(selection: DecisionSelection) -> None:
    parts = [
        DecisionSelection(player=selection.player),
        DecisionSelection(since=selection.since),
        DecisionSelection(kinds=selection.kinds),
        DecisionSelection(classes=selection.classes),
        DecisionSelection(least_loss=selection.least_loss),
    ]
    assert reduce(set.intersection, (identities(selected(part)) for part in parts)) == identities(selected(selection))


@pytest.mark.parametrize(
    "selections",
    [[DecisionSelection(kinds=(name,)) for name in KINDS], [DecisionSelection(classes=(name,)) for name in CLASSES]],
    ids=("kinds", "classes"),
)
def test_each_decision_is_of_one_kind_and_class(selections: list[DecisionSelection]) -> None:
    parts = [selected(selection) for selection in selections]
    assert sum(map(len, parts)) == len(selected(DecisionSelection()))
    assert sum(map(bool, parts)) > 2


def test_both_players_together_are_all() -> None:
    of_anna, of_bert = (selected(DecisionSelection(player=name)) for name in ("anna", "bert"))
    assert of_anna
    assert of_bert
    assert len(of_anna) + len(of_bert) == len(selected(DecisionSelection()))
    assert [] == selected(DecisionSelection(player="nobody"))


def test_graded_decisions_are_those_with_a_grade() -> None:
    every = selected(DecisionSelection())
    assert [one for one in every if grade(one.loss)] == selected(GRADED)


@given(SELECTIONS)
@examples(20)
def test_a_timeline_lists_exactly_the_selected_errors(selection: DecisionSelection) -> None:
    timeline = match_timeline(analysis(), selection=selection)
    assert identities([one for one in selected(selection) if one.loss]) == {id(it.analysed) for it in timeline.errors}
    keys = [entry.key for entry in timeline.entries]
    assert len(set(keys)) == len(keys)


def test_a_missed_double_of_a_small_loss_is_an_entry_if_it_is_listed() -> None:
    small = [
        one
        for one in selected(DecisionSelection(kinds=("double",), least_loss=0.0001))
        if one.loss < 0.02 and one.decision.text == "roll"
    ]
    assert small
    plain = [it.analysed for it in match_timeline(analysis()).entries if it.kind is TimelineKind.NO_DOUBLE]
    assert not identities(small) & {id(one) for one in plain}
    listed = match_timeline(analysis(), selection=DecisionSelection(least_loss=0.0001)).errors
    assert identities(small) <= {id(it.analysed) for it in listed if it.kind is TimelineKind.NO_DOUBLE}


def test_the_link_of_each_listed_error_leads_to_its_decision() -> None:
    selection = DecisionSelection(player="anna", kinds=("double", "take"), least_loss=0.0001)
    for entry in match_timeline(analysis(), selection=selection).errors:
        found = find_exercise([analysis()], f"m1{entry.key}", selection=selection)
        assert found
        assert is_selected(found, selection)
        assert pytest.approx(entry.loss) == found.loss


@given(SELECTIONS)
@examples(10)
def test_exercises_are_the_selected_decisions_with_a_choice(selection: DecisionSelection) -> None:
    every = list(exercises_of(analysis(), selection=DecisionSelection()))
    assert [it for it in every if is_selected(it, selection)] == list(exercises_of(analysis(), selection=selection))


def test_a_match_begins_at_its_time_or_on_its_day_or_nobody_knows_when() -> None:
    match = eventful()
    assert None is match_start(match)
    assert START == match_start(evolve(match, started=START.astimezone(dt.timezone(dt.timedelta(hours=9)))))
    for text in ("2026-10-01", "2026/10/01", "2026.10.01 18:30"):
        assert dt.datetime(2026, 10, 1, tzinfo=dt.UTC) == match_start(evolve(match, tags={"Date": text}))
    assert None is match_start(evolve(match, tags={"Date": "yesterday"}))


def test_since_a_day_has_the_matches_of_that_day_and_none_without_a_date() -> None:
    day = DecisionSelection(since=dt.datetime(2026, 10, 1, tzinfo=dt.UTC))

    def some(match: Transcript) -> bool:
        found = analysed(match, luck=False)
        return bool(day.of_match(match, (one for game in found.games for one in game.decisions)))

    match = eventful()
    assert some(evolve(match, tags={"Date": "2026-10-01"}))
    assert not some(evolve(match, tags={"Date": "2026-09-30"}))
    assert not some(match)


def test_kinds_are_what_people_call_the_decisions() -> None:
    kinds = {one.decision.text: decision_kind(one.decision) for one in selected(DecisionSelection())}
    known = {"roll": "double", "double": "double", "take": "take", "pass": "take"}
    assert {text: kind for text, kind in kinds.items() if text in known}.items() <= known.items()


def test_a_selection_says_in_words_what_it_is() -> None:
    assert "" == DecisionSelection().words
    every = DecisionSelection("anna", START, ("double", "take"), ("race",), 0.05)
    assert "of anna, since 2026-10-01, double or take, race, from 0.05" == every.words
    assert "2 errors selected (from 0.02), 0.100 in all" == GRADED.summary(2, 0.1)
    assert "0 errors selected (from 0.02)" == GRADED.summary(0, 0.0)
