"""A strategy is asked the questions of a bot, and the differences from the match are evaluated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given

from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.replay.comparison import (
    ComparedDecision,
    ComparisonOptions,
    ComparisonTotals,
    PlayerSelection,
    StrategyComparison,
)
from fibsbot.replay.events import EntryAdded
from fibsbot.replay.match_files import events_of_transcript
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.strategies.engine_strategy import EngineStrategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.loader import StrategyError
from fibsbot.transcript import Decision, Game, Resign, Transcript, decisions, walk
from tests.examples import examples
from tests.formats.simulated_matches import transcripts
from tests.replay.sample_match import sample_transcript
from tests.replay.scripted_strategy import ScriptedStrategy


def compare(transcript: Transcript, strategy: ScriptedStrategy, *, both: bool = True) -> list[ComparedDecision]:
    """Compare a whole match with a strategy."""
    comparison = StrategyComparison(strategy, strategy, PlayerSelection(both=both))
    return [compared for it in events_of_transcript(1, transcript) for compared in comparison.compare(it)]


def texts(found: Iterable[ComparedDecision]) -> list[tuple[str, str, float | None]]:
    """Return the decision, the strategy's answer and the gain of each."""
    return [(it.decision.text, it.text, it.gain) for it in found]


def test_the_owner_of_the_log_is_compared_unless_another_player_is_selected() -> None:
    match = sample_transcript(Seat.A)
    assert (Seat.A,) == PlayerSelection().seats_in(match)
    assert (Seat.B,) == PlayerSelection("ford").seats_in(match)
    assert () == PlayerSelection("zaphod").seats_in(match)
    assert (Seat.A, Seat.B) == PlayerSelection(both=True).seats_in(match)
    assert () == PlayerSelection().seats_in(sample_transcript(None))


def test_every_decision_with_a_choice_is_compared_and_both_answers_are_evaluated() -> None:
    found = compare(sample_transcript(), ScriptedStrategy(), both=False)
    assert ["double", "24/13", "13/11 6/5", "reject", "accept", "24/18 13/9"] == [it.decision.text for it in found]
    assert ("double", "roll", -0.5) == texts(found)[0]  # not to double is worth 0.25, to double 0.75
    plays = legal_plays(found[2].decision.state.position, (2, 1))
    assert ("13/11 6/5", plays.index(Play.of((13, 11), (6, 5)))) == (found[2].decision.text, found[2].gain)
    assert all(it.values for it in found if not it.same)


def test_a_take_is_evaluated_from_the_other_side() -> None:
    (take,) = [it for it in compare(sample_transcript(), ScriptedStrategy(answer=CubeAction.PASS)) if it.text == "pass"]
    assert ("take", (-0.75, -1.0), -0.25) == (take.decision.text, take.values, take.gain)


def test_a_resignation_is_worth_its_effect_on_the_match() -> None:
    """Playing on is worth 0.5 to the player on roll; a single game is 1 on the scale, at any cube."""
    (reject, *_) = [
        it
        for it in compare(sample_transcript(), ScriptedStrategy(accepts=True))
        if it.decision.state.phase is Phase.RESIGNED
    ]
    assert ("reject", "accept") == (reject.decision.text, reject.text)
    assert (-0.5, 1.0) == pytest.approx(reject.values)
    doubled = [it for it in compare(sample_transcript(), ScriptedStrategy(level=1)) if it.text == "resign 1"]
    assert -1.0 == pytest.approx(doubled[0].values[1] if doubled[0].values else None)


def test_a_rejected_resignation_is_not_offered_again() -> None:
    """As in a live game, the strategy cannot offer a single game again."""
    found = [
        it
        for it in compare(sample_transcript(), ScriptedStrategy(level=1))
        if it.decision.step.turn == 8 and it.decision.seat is Seat.B
    ]
    assert [("resign 1", "resign 1"), ("roll", "roll")] == [(it.decision.text, it.text) for it in found][:2]


def test_a_strategy_may_not_resign_the_match() -> None:
    late = [it for it in compare(sample_transcript(), ScriptedStrategy(level=3)) if it.text == "resign 3"]
    assert [] == late


def test_a_resignation_that_wins_the_match_is_accepted_without_a_question() -> None:
    (first, *_) = sample_transcript().games
    entries = (*first.entries[:-1], Resign(seat=Seat.B, level=Level.GAMMON, accepted=True))
    found = compare(evolve(sample_transcript(), games=(evolve(first, entries=entries),)), ScriptedStrategy())
    assert "accept" not in [it.decision.text for it in found]


class Echo(ScriptedStrategy):
    """A strategy that gives the answers of the decisions in `pending`."""

    pending: Sequence[Decision] = ()

    def _answer(self, phase: Phase) -> Any:
        self.asked.append(phase)
        return next(it.answer for it in self.pending if it.state.phase is phase)

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Return the legal play that leads to the same position as the one in the match."""
        after = state.position.play(self._answer(Phase.MOVE))
        return PlayAnswer(next(play for play in plays if state.position.play(play) == after))

    def offer_double(self, _: MatchState) -> CubeAnswer:
        """Return the action in the match."""
        answer = self._answer(Phase.ROLL)
        return CubeAnswer(answer if isinstance(answer, CubeAction) else CubeAction.ROLL)

    def answer_double(self, _: MatchState) -> CubeAnswer:
        """Return the answer in the match."""
        return CubeAnswer(self._answer(Phase.DOUBLED))

    def accept_resignation(self, _: MatchState) -> bool:
        """Return the answer in the match."""
        accepted: bool = self._answer(Phase.RESIGNED)
        return accepted


@examples(12)
@given(transcripts(lengths=(0, 1, 2)))
def test_a_strategy_that_repeats_the_decisions_of_a_match_differs_nowhere(transcript: Transcript) -> None:
    strategy = Echo()
    comparison = StrategyComparison(strategy, strategy, PlayerSelection(both=True))
    for event in events_of_transcript(1, transcript):
        strategy.pending = event.decisions if isinstance(event, EntryAdded) else ()
        for compared in comparison.compare(event):
            asked = strategy.asked.pop() if strategy.asked else None  # not asked: a bot may not double here
            if asked is not None and not isinstance(compared.decision.answer, Level):  # it never resigns
                assert (True, 0.0, "") == (compared.same, compared.gain, compared.fault)


@examples(12)
@given(transcripts(lengths=(0, 1, 2)))
def test_decisions_without_a_choice_are_not_compared(transcript: Transcript) -> None:
    made = [it for game in transcript.games for step in walk(game) for it in decisions(step)]
    found = compare(transcript, ScriptedStrategy())
    assert not any(it.decision.forced for it in found)
    assert len([it for it in made if not it.forced and isinstance(it.answer, Play)]) == sum(
        isinstance(it.decision.answer, Play) for it in found
    )


@pytest.mark.slow
@examples(5)
@given(transcripts(lengths=(0, 1), odd_names=False))
def test_a_strategy_that_evaluates_itself_prefers_its_own_plays(transcript: Transcript) -> None:
    heuristic = HeuristicStrategy()
    comparison = StrategyComparison(heuristic, heuristic, PlayerSelection(both=True))
    found = [compared for it in events_of_transcript(1, transcript) for compared in comparison.compare(it)]
    assert all((it.gain or 0.0) > -1e-5 for it in found if it.decision.state.phase is Phase.MOVE)


@pytest.mark.parametrize(
    ("play", "fault"),
    [
        (lambda *_: PlayAnswer(Play.of((1, 24))), "answered nonsense: expected one of the "),
        (lambda *_: None, "answered nonsense: expected a PlayAnswer, got None"),
        (lambda *_: 1 // 0, "raised ZeroDivisionError: "),
    ],
)
def test_a_strategy_without_a_valid_answer_fails_at_that_decision_only(
    play: Callable[[MatchState, Sequence[Play]], Any], fault: str
) -> None:
    comparison = StrategyComparison(ScriptedStrategy(play), ScriptedStrategy(), PlayerSelection(both=True))
    found = [compared for it in events_of_transcript(1, sample_transcript()) for compared in comparison.compare(it)]
    failed = [it for it in found if it.answer is None]
    assert failed
    assert all(it.fault.startswith(fault) and not it.text and it.gain is None for it in failed)
    assert (len(found), len(failed)) == (comparison.totals.compared, comparison.totals.failed)


def test_values_that_are_not_finite_are_none() -> None:
    class Infinite(ScriptedStrategy):
        def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
            return [*super().value_plays(state, plays[:1]), math.nan]

    found = [it for it in compare(sample_transcript(), Infinite()) if it.fault]
    assert found
    assert all(it.gain is None and "expected finite values, got (" in it.fault for it in found)


def test_an_evaluator_that_fails_leaves_the_difference_without_a_value() -> None:
    class Mute(ScriptedStrategy):
        def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
            assert state.dice
            assert plays
            raise RuntimeError("no opinion\non this")

    found = [it for it in compare(sample_transcript(), Mute()) if it.fault]
    assert {"the evaluator raised RuntimeError: no opinion on this"} == {it.fault for it in found}
    totals = ComparisonTotals()
    for it in found:
        totals.count(it)
    assert (len(found), 0.0) == (totals.unvalued, totals.sum)


def test_totals_add_up_gains_and_losses() -> None:
    both = [it for it in compare(sample_transcript(), ScriptedStrategy()) if it.gain is not None]
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "heuristic"])
def test_the_engine_evaluates_unless_told_otherwise(name: str) -> None:
    strategy, evaluator = ComparisonOptions(name, seed=1 if name == "random" else None).load()
    assert name == strategy.name
    assert isinstance(evaluator, EngineStrategy)


def test_a_strategy_evaluates_itself_only_if_it_is_named_twice() -> None:
    loaded: tuple[object, object] = ComparisonOptions("heuristic", "heuristic").load()
    assert loaded[0] is loaded[1]
    with pytest.raises(StrategyError, match="strategy 'random' is not an evaluator"):
        ComparisonOptions("heuristic", "random").check()


def test_strategy_and_evaluator_are_closed_once() -> None:
    one, other = ScriptedStrategy(), ScriptedStrategy()
    StrategyComparison(one, other, PlayerSelection()).close()
    StrategyComparison(one, one, PlayerSelection()).close()
    assert (2, 1) == (one.closed, other.closed)


def test_questions_come_in_the_order_of_the_game() -> None:
    strategy = ScriptedStrategy()
    compare(
        evolve(
            sample_transcript(),
            games=(Game(1, sample_transcript().games[0].start, sample_transcript().games[0].entries[:4]),),
        ),
        strategy,
    )
    assert [Phase.MOVE, Phase.ROLL, Phase.DOUBLED, Phase.MOVE] == strategy.asked
