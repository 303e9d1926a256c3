"""A strategy is asked what the bot would be asked, and what it would have done differently is given a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings

from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.replay.batch import events_of_transcript
from fibsbot.replay.comparison import (
    ComparedDecision,
    ComparisonOptions,
    ComparisonTotals,
    PlayerSelection,
    StrategyComparison,
)
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.engine import EngineStrategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.loader import StrategyError
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.transcript import Game, Resign, Transcript, decisions, walk
from tests.formats.simulated_matches import transcripts
from tests.replay.sample_match import sample_transcript
from tests.replay.scripted_strategy import ScriptedStrategy


def ask(transcript: Transcript, strategy: ScriptedStrategy, *, both: bool = True) -> list[ComparedDecision]:
    """Ask about a whole match."""
    comparison = StrategyComparison(strategy, strategy, PlayerSelection(both=both))
    return [asked for it in events_of_transcript(1, transcript) for asked in comparison.compare(it)]


def texts(found: Iterable[ComparedDecision]) -> list[tuple[str, str, float | None]]:
    """Say what was done, what the strategy would have done, and what that is worth."""
    return [(it.decision.text, it.text, it.gain) for it in found]


def test_our_side_is_asked_unless_another_is_wanted() -> None:
    match = sample_transcript(Seat.A)
    assert (Seat.A,) == PlayerSelection().seats_in(match)
    assert (Seat.B,) == PlayerSelection("ford").seats_in(match)
    assert () == PlayerSelection("zaphod").seats_in(match)
    assert (Seat.A, Seat.B) == PlayerSelection(both=True).seats_in(match)
    assert () == PlayerSelection().seats_in(sample_transcript(None))


def test_every_decision_that_leaves_a_choice_is_asked_with_the_values_of_both_answers() -> None:
    found = ask(sample_transcript(), ScriptedStrategy(), both=False)
    assert ["double", "24/13", "13/11 6/5", "reject", "accept", "24/18 13/9"] == [it.decision.text for it in found]
    assert ("double", "roll", -0.5) == texts(found)[0]  # not to double is worth 0.25, to double 0.75
    plays = legal_plays(found[2].decision.state.position, (2, 1))
    assert ("13/11 6/5", plays.index(Play.of((13, 11), (6, 5)))) == (found[2].decision.text, found[2].gain)
    assert all(it.values for it in found if not it.same)


def test_a_double_is_valued_from_the_other_side() -> None:
    (take,) = [it for it in ask(sample_transcript(), ScriptedStrategy(answer=CubeAction.PASS)) if it.text == "pass"]
    assert ("take", (-0.75, -1.0), -0.25) == (take.decision.text, take.values, take.gain)


def test_a_resignation_is_worth_what_it_makes_of_the_match() -> None:
    """Played on it is worth 0.5 to who is on roll; a single game is 1 on the scale, whatever the cube."""
    (reject, *_) = [
        it
        for it in ask(sample_transcript(), ScriptedStrategy(accepts=True))
        if it.decision.state.phase is Phase.RESIGNED
    ]
    assert ("reject", "accept") == (reject.decision.text, reject.text)
    assert (-0.5, 1.0) == pytest.approx(reject.values)
    doubled = [it for it in ask(sample_transcript(), ScriptedStrategy(level=1)) if it.text == "resign 1"]
    assert -1.0 == pytest.approx(doubled[0].values[1] if doubled[0].values else None)


def test_what_was_rejected_once_is_not_offered_again() -> None:
    """As in a game: the strategy's wish to resign a single game once more is not heard."""
    found = [
        it
        for it in ask(sample_transcript(), ScriptedStrategy(level=1))
        if it.decision.step.turn == 8 and it.decision.seat is Seat.B
    ]
    assert [("resign 1", "resign 1"), ("roll", "roll")] == [(it.decision.text, it.text) for it in found][:2]


def test_a_bot_that_may_not_resign_the_match_is_not_asked_to() -> None:
    late = [it for it in ask(sample_transcript(), ScriptedStrategy(level=3)) if it.text == "resign 3"]
    assert [] == late


def test_a_resignation_that_wins_the_match_is_accepted_without_a_question() -> None:
    (first, *_) = sample_transcript().games
    entries = (*first.entries[:-1], Resign(seat=Seat.B, level=Level.GAMMON, accepted=True))
    found = ask(evolve(sample_transcript(), games=(evolve(first, entries=entries),)), ScriptedStrategy())
    assert "accept" not in [it.decision.text for it in found]


@settings(max_examples=12)
@given(transcripts(lengths=(0, 1, 2)))
def test_who_decides_as_it_was_done_has_no_difference(transcript: Transcript) -> None:
    for asked in ask(transcript, ScriptedStrategy()):
        assert asked.same == (asked.gain == 0.0 and asked.values is None)


@settings(max_examples=12)
@given(transcripts(lengths=(0, 1, 2)))
def test_nothing_is_asked_that_leaves_no_choice(transcript: Transcript) -> None:
    made = [it for game in transcript.games for step in walk(game) for it in decisions(step)]
    found = ask(transcript, ScriptedStrategy())
    assert not any(it.decision.forced for it in found)
    assert len([it for it in made if not it.forced and isinstance(it.answer, Play)]) == sum(
        isinstance(it.decision.answer, Play) for it in found
    )


@pytest.mark.slow
@settings(max_examples=5)
@given(transcripts(lengths=(0, 1), odd_names=False))
def test_a_strategy_that_judges_itself_prefers_its_own_plays(transcript: Transcript) -> None:
    heuristic = HeuristicStrategy()
    comparison = StrategyComparison(heuristic, heuristic, PlayerSelection(both=True))
    found = [asked for it in events_of_transcript(1, transcript) for asked in comparison.compare(it)]
    assert all((it.gain or 0.0) > -1e-5 for it in found if it.decision.state.phase is Phase.MOVE)


@pytest.mark.parametrize(
    ("play", "fault"),
    [
        (lambda *_: PlayAnswer(Play.of((1, 24))), "answered nonsense: expected one of the "),
        (lambda *_: None, "answered nonsense: expected a PlayAnswer, got None"),
        (lambda *_: 1 // 0, "raised ZeroDivisionError: "),
    ],
)
def test_a_strategy_without_an_answer_costs_the_decision_only(
    play: Callable[[MatchState, Sequence[Play]], Any], fault: str
) -> None:
    comparison = StrategyComparison(ScriptedStrategy(play), ScriptedStrategy(), PlayerSelection(both=True))
    found = [asked for it in events_of_transcript(1, sample_transcript()) for asked in comparison.compare(it)]
    failed = [it for it in found if it.answer is None]
    assert failed
    assert all(it.fault.startswith(fault) and not it.text and it.gain is None for it in failed)
    assert (len(found), len(failed)) == (comparison.totals.compared, comparison.totals.failed)


def test_a_judge_that_fails_leaves_the_difference_without_a_value() -> None:
    class Mute(ScriptedStrategy):
        def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
            assert state.dice
            assert plays
            raise RuntimeError("no opinion\non this")

    found = [it for it in ask(sample_transcript(), Mute()) if it.fault]
    assert {"the judge raised RuntimeError: no opinion on this"} == {it.fault for it in found}
    totals = ComparisonTotals()
    for it in found:
        totals.count(it)
    assert (len(found), 0.0) == (totals.unvalued, totals.sum)


def test_findings_add_up_what_is_gained_and_what_is_lost() -> None:
    both = [it for it in ask(sample_transcript(), ScriptedStrategy()) if it.gain is not None]
    totals, twice = ComparisonTotals(), ComparisonTotals()
    for it in both:
        totals.count(it)
    twice.add(totals)
    twice.add(totals)
    assert sum(it.gain or 0.0 for it in both) == pytest.approx(totals.gained - totals.lost)
    assert totals.mean == pytest.approx(totals.sum / len(both))
    assert 2 * totals.compared == twice.compared
    assert totals.mean == pytest.approx(twice.mean)
    assert 0.0 == ComparisonTotals().mean


def test_a_strategy_that_is_no_judge_is_judged_by_another() -> None:
    strategy, evaluator = ComparisonOptions("random", seed=1).load()
    assert isinstance(strategy, RandomStrategy)
    assert isinstance(evaluator, EngineStrategy)
    assert (DEFAULT_STRATEGY, "heuristic") == (
        ComparisonOptions("random").with_evaluator().evaluator_name,
        ComparisonOptions("heuristic").with_evaluator().evaluator_name,
    )
    with pytest.raises(StrategyError, match="strategy 'random' is no judge"):
        ComparisonOptions("heuristic", evaluator="random").with_evaluator()


def test_both_are_closed_once() -> None:
    one, other = ScriptedStrategy(), ScriptedStrategy()
    StrategyComparison(one, other, PlayerSelection()).close()
    StrategyComparison(one, one, PlayerSelection()).close()
    assert (2, 1) == (one.closed, other.closed)


def test_the_puppet_is_asked_in_the_order_of_the_game() -> None:
    puppet = ScriptedStrategy()
    ask(
        evolve(
            sample_transcript(),
            games=(Game(1, sample_transcript().games[0].start, sample_transcript().games[0].entries[:4]),),
        ),
        puppet,
    )
    assert [Phase.MOVE, Phase.ROLL, Phase.DOUBLED, Phase.MOVE] == puppet.asked
