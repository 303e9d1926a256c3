"""An exercise is the same for every file that has the match, and complete without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Final

import pytest
from attrs import evolve

from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.analysis.model import MatchAnalysis
from fibsbot.analysis.selection import DecisionSelection
from fibsbot.formats import Format
from fibsbot.formats.conversion import read_matches, write_matches
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.practice.exercises import Exercise, ExerciseError, ExerciseKind, exercises_of
from fibsbot.rules.state import Seat
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.transcript import Transcript
from tests.formats.simulated_matches import simulate

RESIGNATIONS: Final = {ExerciseKind.RESIGNATION, ExerciseKind.ACCEPTANCE}


@cache
def match(seed: int = 2, length: int = 3) -> Transcript:
    return simulate(seed, length, games=2, names=("anna", "bert"))


@cache
def analysed(transcript: Transcript) -> MatchAnalysis:
    return analyse_match(transcript, HeuristicStrategy(), luck=False)


def every_exercise(transcript: Transcript) -> list[Exercise]:
    return list(exercises_of(analysed(transcript), selection=DecisionSelection()))


def ids(exercises: Sequence[Exercise]) -> list[str]:
    return [exercise.id for exercise in exercises]


@pytest.mark.parametrize("kind", [Format.MAT, Format.SGF, Format.JSON])
def test_every_file_with_the_match_has_the_same_exercises(kind: Format) -> None:
    """Some formats have no words for resignations that were refused."""
    (read,) = read_matches(kind, "".join(write_matches(kind, [match()])))
    assert ids(every_exercise(read)) == [
        one.id for one in every_exercise(match()) if kind is not Format.MAT or one.kind not in RESIGNATIONS
    ]


def test_other_games_and_what_follows_make_no_difference() -> None:
    """A match that is still played, or a file with its second game alone."""
    first, second = match().games
    unfinished = evolve(match(), games=(evolve(first, entries=first.entries[:20], result=None),))
    alone = evolve(match(), games=(evolve(second, number=1),), started=None, site="", given_id="another")
    everything = ids(every_exercise(match()))
    assert everything[: len(every_exercise(unfinished))] == ids(every_exercise(unfinished))
    assert everything[-len(every_exercise(alone)) :] == ids(every_exercise(alone))


def test_every_decision_of_a_match_has_its_own_id() -> None:
    found = ids(every_exercise(match())) + ids(every_exercise(match(3)))
    assert len(found) == len(set(found)) > 50


def test_the_exercises_of_a_player_are_the_errors_of_this_player() -> None:
    found = list(
        exercises_of(analysed(match()), [Seat.B], selection=DecisionSelection(least_loss=0.04), source="match.mat")
    )
    decisions = [one for game in analysed(match()).games for one in game.decisions if one.decision.seat is Seat.B]
    assert [one.loss for one in decisions if one.loss > 0.04 - 1e-9] == pytest.approx([one.loss for one in found])
    assert {("bert", "anna", "match.mat")} == {(one.player, one.opponent, one.source) for one in found}
    assert all(one.best.loss == 0 < one.loss for one in found)


def test_an_exercise_survives_json() -> None:
    transcripts = [match(), match(30, 0), match(0)]
    found = [one for transcript in transcripts for one in every_exercise(transcript)]
    assert found == [Exercise.from_json(json.loads(json.dumps(one.to_json()))) for one in found]
    assert {*ExerciseKind} - {ExerciseKind.NAME} == {one.kind for one in found}


@pytest.mark.parametrize(
    "spoilt",
    [{}, {"state": {}}, {"choices": []}, {"kind": "guess"}, {"chances": [1, 2]}, {"choices": [{"text": "8/5"}] * 2}],
)
def test_values_that_are_no_exercise_are_refused_in_one_line(spoilt: dict[str, object]) -> None:
    values = {**every_exercise(match())[0].to_json(), **spoilt} if spoilt else {}
    with pytest.raises(ExerciseError) as refused:
        Exercise.from_json(values)
    assert 1 == len(str(refused.value).splitlines())


def test_a_play_is_found_in_any_order_of_its_moves() -> None:
    exercise = next(one for one in every_exercise(match()) if one.kind is ExerciseKind.PLAY)
    best = exercise.best.play
    assert best is not None
    backwards = exercise.state.check_play(evolve(best, moves=best.moves[::-1]))
    assert exercise.best == exercise.choice_of(backwards)


def test_what_is_asked_is_a_sentence() -> None:
    found = {one.kind: one for one in every_exercise(match()) if one.state.owner is Owner.CENTRED}
    offer = found[ExerciseKind.OFFER]
    assert "Double, or roll?" == offer.title
    assert ["Double", "No double"] == sorted(offer.choice_name(choice.text) for choice in offer.choices)
    dice = found[ExerciseKind.PLAY].state.dice or ()
    assert f"Your play with {max(dice)}-{min(dice)}?" == found[ExerciseKind.PLAY].title
    assert isinstance(offer.state, MatchState)
    assert Phase.ROLL is offer.state.phase
