"""Every decision of a match is judged, forced ones cost nothing, and luck averages out over the throws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fibsbot.analysis.decision_analysis import LISTED_PLAYS
from fibsbot.analysis.luck import ROLLS, RollValues
from fibsbot.analysis.match_analysis import AnalysisError, MatchAnalyser, analyse_match
from fibsbot.analysis.model import PlayerStatistics
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import CHECKERS, Play, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.evaluator import CubeValues, reversed_chances
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.transcript import (
    Cube,
    Decision,
    Entry,
    Game,
    Gap,
    Player,
    Resign,
    Throw,
    Transcript,
    TranscriptError,
    decisions,
    walk,
)
from tests.analysis.exact_evaluator import ExactJudge
from tests.analysis.random_matches import play_match
from tests.formats.simulated_matches import simulate
from tests.hypothesis_strategies import match_states

pytestmark = pytest.mark.slow

HANDMADE: Final = HeuristicStrategy()
SEEDS: Final = st.integers(0, 2**32)
START: Final = start_match(FIBS, 5)
OPENING: Final = Throw(seat=Seat.B, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
LATER: Final = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=9)


class PipJudge:
    """Judges by the pip count: quick, and good enough to test everything but judgement."""

    name = "pips"

    def value(self, state: MatchState) -> float:
        """Return the lead."""
        return self._lead(state.position)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return the lead after each play."""
        boards = [state.position.play(play) for play in plays]
        return [1.0 if board.off == CHECKERS else self._lead(board) for board in boards]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Twice as much for twice the cube."""
        lead = self._lead(state.position)
        return CubeValues(lead, 2 * lead, 1.0)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the share of the points."""
        away, opponent_away = state.away
        away, opponent_away = max(away - max(points, 0), 0), max(opponent_away + min(points, 0), 0)
        return opponent_away / (away + opponent_away)

    def _lead(self, position: Position) -> float:
        return (position.opponent_pips - position.pips) / 100


def transcript(*entries: Entry, start: GameState = START) -> Transcript:
    """Write a match of one game down."""
    return Transcript((Player("anna"), Player("bert")), start.length, (Game(1, start, entries),))


def made(match: Transcript) -> list[Decision]:
    """List the decisions of a match."""
    return [decision for game in match.games for step in walk(game) for decision in decisions(step)]


# -- what is judged -----------------------------------------------------------------------------------------------


@given(SEEDS)
@example(729254206)  # somebody resigns who has only one play
@settings(max_examples=20)
def test_every_decision_is_judged_in_its_order(seed: int) -> None:
    match = simulate(seed, games=2, gaps=True)
    found = analyse_match(match, PipJudge(), luck=False)
    assert made(match) == [judged.decision for game in found.games for judged in game.judged]
    assert ("pips", match) == (found.judge, found.transcript)
    for game in found.games:
        for judged in game.judged:
            assert judged.loss >= 0
            assert (judged.loss == 0) == (judged.best == judged.decision.text)
            assert judged.luck is None
            if judged.decision.forced:
                assert (judged.loss, judged.counts) == (0, False)


@given(SEEDS)
@settings(max_examples=15)
def test_the_options_of_a_play_are_the_best_and_the_one_that_was_made(seed: int) -> None:
    for game in analyse_match(simulate(seed, 1), PipJudge(), luck=False).games:
        for judged in game.judged:
            if not judged.options:
                continue
            equities = [option.equity for option in judged.options]
            assert sorted(equities, reverse=True) == equities
            assert len(equities) <= LISTED_PLAYS + 1
            (own,) = [option for option in judged.options if option.play == judged.decision.answer]
            assert (own.equity, own.text) == (judged.equity, judged.decision.text)
            assert pytest.approx(judged.loss, abs=1e-9) == equities[0] - own.equity
            assert judged.loss == 0 or judged.options[0].text == judged.best


def test_nothing_is_judged_across_a_gap() -> None:
    found = analyse_match(
        transcript(OPENING, Gap(reason="lost", then=LATER), Throw(seat=Seat.A, dice=(6, 6))), PipJudge()
    )
    assert ["8/5 6/5", "roll"] == [judged.decision.text for judged in found.games[0].judged]


def test_the_same_match_gives_the_same_study() -> None:
    entries = simulate(3, 1).games[0].entries[:6]
    match = transcript(*entries, start=simulate(3, 1).games[0].start)
    assert analyse_match(match, HeuristicStrategy()) == analyse_match(match, HANDMADE)


def test_what_is_illegal_is_told() -> None:
    with pytest.raises(TranscriptError, match="game 1, turn 1: "):
        analyse_match(transcript(evolve(OPENING, play=Play.of((8, 4), (6, 5)))), PipJudge())


def test_a_judge_that_fails_is_told_with_the_place() -> None:
    class Broken(PipJudge):
        def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
            raise RuntimeError(f"no idea\nof {len(plays)} at {state.length}")

    class Short(PipJudge):
        def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
            return super().value_plays(state, plays)[1:]

    for judge, what in ((Broken(), "RuntimeError: no idea of"), (Short(), "expected the values of")):
        with pytest.raises(AnalysisError) as caught:
            analyse_match(transcript(OPENING), judge)
        assert str(caught.value).startswith("game 1, turn 1: pips cannot judge: ")
        assert what in str(caught.value)
        assert "\n" not in str(caught.value)


def test_who_judges_makes_no_error() -> None:
    """But for a beaver that is not worth the risk, which no match knows."""
    for seed in range(3):
        found = analyse_match(play_match(HANDMADE, seed, 3), HANDMADE, luck=False)
        assert (0.0, 0.0) == tuple(figures.loss for figures in found.figures)
        assert all(figures.pr == 0 for figures in found.figures if figures.decisions)


# -- the cube and resignations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "offer", "answer"),
    [
        (-10, ("roll", 0.1, True), ("take", 0.0, False)),
        (30, ("double", 0.0, False), ("take", 0.0, False)),
        (45, ("double", 0.0, False), ("take", 0.0, True)),
        (70, ("double", 0.0, False), ("pass", 0.4, True)),
        (95, ("double", 0.0, True), ("pass", 0.9, True)),
        (120, ("roll", 0.2, True), ("pass", 1.4, True)),
    ],
)
def test_doubles_and_answers(ahead: int, offer: tuple[str, float, bool], answer: tuple[str, float, bool]) -> None:
    """What is right and obvious does not count; what is wrong always does."""

    class Fixed(PipJudge):
        def _lead(self, position: Position) -> float:  # noqa: ARG002 - whatever the position
            return ahead / 100

    entries = (Cube(seat=Seat.A, action=CubeAction.DOUBLE), Cube(seat=Seat.B, action=CubeAction.TAKE))
    found = analyse_match(transcript(*entries, start=LATER), Fixed())
    assert [offer, answer] == [(it.best, round(it.loss, 6), it.counts) for it in found.games[0].judged]


def test_a_missed_double_is_an_error_of_the_roll() -> None:
    """25 of 36 throws win at once, the others lose."""
    money = evolve(LATER, length=0, position=Position((0, 0, 1, 1, *(0,) * 20, -1, 0)))
    won = Throw(seat=Seat.A, dice=(3, 2), play=Play.of((3, 0), (2, 0)))
    roll, play = analyse_match(transcript(won, start=money), ExactJudge()).games[0].judged
    assert ("roll", "double", True) == (roll.decision.text, roll.best, roll.counts)
    assert roll.cube is not None
    assert pytest.approx((14 / 36, 28 / 36)) == (roll.cube.no_double, roll.cube.double)
    assert pytest.approx((14 / 36, 0)) == (roll.loss, play.loss)
    assert pytest.approx(22 / 36) == play.luck


def test_to_resign_too_much_is_an_error_and_so_is_to_reject_it() -> None:
    early = Resign(seat=Seat.A, level=Level.GAMMON, accepted=True)
    offer, answer = analyse_match(transcript(early, start=LATER), HANDMADE).games[0].judged
    assert ("play on", True) == (offer.best, offer.counts)
    assert offer.equity is not None
    assert offer.equity < -1.5
    assert (0.0, False) == (answer.loss, answer.counts)
    greedy = evolve(early, accepted=False)
    _, answer = analyse_match(transcript(greedy, start=LATER), HANDMADE).games[0].judged
    assert "accept" == answer.best
    assert answer.loss > 1.5


@pytest.mark.parametrize(
    ("before", "seat"),
    [
        ((), Seat.A),
        ((Throw(seat=Seat.A, dice=(4, 1)),), Seat.A),
        ((Cube(seat=Seat.A, action=CubeAction.DOUBLE),), Seat.B),
    ],
    ids=["before a throw", "with dice on the board", "while a double waits"],
)
def test_a_resignation_says_what_playing_on_is_worth_and_the_chances_of_both(
    before: tuple[Entry, ...], seat: Seat
) -> None:
    resign = Resign(seat=seat, level=Level.SINGLE, accepted=True)
    *_, offer, answer = analyse_match(transcript(*before, resign, start=LATER), HANDMADE).games[0].judged
    ours, theirs = offer.resigning, answer.resigning
    assert ours is not None
    assert theirs is not None
    assert (offer.equity, answer.equity) == (ours.settled, theirs.settled)
    assert pytest.approx((-ours.settled, -ours.played_on)) == (theirs.settled, theirs.played_on)
    assert ours.chances is not None
    assert theirs.chances is not None
    assert pytest.approx(reversed_chances(ours.chances)) == theirs.chances
    assert (0, 0) == (ours.plies, theirs.plies)
    assert (ours.chances[0] < 0.5) is (seat is Seat.B), "the one on roll, or who has doubled, is ahead"
    assert pytest.approx(max(ours.played_on - ours.settled, 0)) == offer.loss


def test_a_judge_that_says_no_chances_says_none_of_resignations() -> None:
    resign = Resign(seat=Seat.A, level=Level.SINGLE, accepted=False)
    for judged in analyse_match(transcript(resign, start=LATER), PipJudge()).games[0].judged:
        assert judged.resigning is not None
        assert (None, None) == (judged.resigning.plies, judged.resigning.chances)
        assert judged.resigning.played_on != judged.resigning.settled


# -- luck -----------------------------------------------------------------------------------------------------------


@given(match_states(resignations=False))
@settings(max_examples=15)
def test_luck_averages_out_over_the_throws(state: MatchState) -> None:
    throws = RollValues(PipJudge())
    state = evolve(state, phase=Phase.MOVE)
    lucks = [ways * throws.luck(evolve(state, dice=dice), opening=False) for dice, ways in ROLLS]
    assert pytest.approx(0, abs=1e-9) == sum(lucks)


@pytest.mark.parametrize(("length", "score"), [(0, (0, 0)), (5, (0, 0)), (5, (3, 1)), (5, (0, 4))])
def test_luck_averages_out_over_the_opening_throws_of_both(length: int, score: tuple[int, int]) -> None:
    throws = RollValues(HANDMADE)
    state = MatchState(Position.start(), length=length, score=score, phase=Phase.MOVE)
    opening = [dice for dice, _ in ROLLS if dice[0] != dice[1]]
    ours, theirs = (
        [throws.luck(evolve(seen, dice=dice), opening=True) for dice in opening] for seen in (state, state.swapped())
    )
    assert pytest.approx(0, abs=1e-9) == sum(ours) - sum(theirs)
    if not length:
        assert pytest.approx(sum(ours)) == sum(theirs)
        assert sum(ours) > 0, "to begin is lucky"


def test_luck_is_counted_in_points_and_in_chances_too() -> None:
    entries = (
        OPENING,
        Cube(seat=Seat.A, action=CubeAction.DOUBLE),
        Cube(seat=Seat.B, action=CubeAction.TAKE),
        Throw(seat=Seat.A, dice=(6, 6), play=Play.of((24, 18), (24, 18), (13, 7), (13, 7))),
    )
    found = analyse_match(transcript(*entries), HANDMADE)
    a, b = found.figures
    plays = [judged for judged in found.games[0].judged if judged.luck is not None]
    assert [b.luck, a.luck] == [play.luck for play in plays]
    assert (2 * a.luck, b.luck) == (a.luck_in_points, b.luck_in_points)
    state = plays[1].decision.state
    swing = HANDMADE.match_chance(state, 2) - HANDMADE.match_chance(state, -2)
    assert pytest.approx(a.luck * swing / 2) == a.luck_in_chances


def test_a_throw_that_was_not_seen_to_be_played_is_luck_as_well() -> None:
    played = analyse_match(transcript(OPENING), HANDMADE)
    thrown = analyse_match(
        transcript(evolve(OPENING, play=None), Resign(seat=Seat.B, level=Level.SINGLE, accepted=True)), HANDMADE
    )
    assert played.figures[1].luck == thrown.figures[1].luck != 0


def test_a_throw_on_the_board_where_a_game_is_first_seen_is_luck_as_well() -> None:
    on_board = evolve(LATER, stage=Stage.MOVE, dice=(6, 6))
    throw = Throw(seat=Seat.A, dice=(6, 6), play=legal_plays(LATER.position, (6, 6))[0])
    assert analyse_match(transcript(throw, start=on_board), HANDMADE).figures == (
        evolve(analyse_match(transcript(throw, start=LATER), HANDMADE).figures[0], decisions=1),
        PlayerStatistics(),
    )


# -- figures --------------------------------------------------------------------------------------------------------


@given(SEEDS)
@settings(max_examples=15)
def test_figures_add_up(seed: int) -> None:
    found = analyse_match(simulate(seed), PipJudge(), luck=False)
    for seat in Seat:
        counted = [
            judged for game in found.games for judged in game.judged if judged.counts and judged.decision.seat is seat
        ]
        figures = found.figures_of(seat)
        assert len(counted) == figures.decisions == sum(game.figures[seat].decisions for game in found.games)
        assert pytest.approx(sum(judged.loss for judged in counted)) == figures.loss
        assert figures.play_loss + figures.cube_loss <= figures.loss + 1e-9
        if counted:
            assert pytest.approx(500 * figures.loss / len(counted)) == figures.pr


def test_who_decides_nothing_has_no_rating() -> None:
    assert PlayerStatistics().pr is None


def test_progress_counts_every_entry() -> None:
    told: list[tuple[int, int]] = []
    match = simulate(5, 1)
    analyse_match(match, PipJudge(), progress=lambda done, of: told.append((done, of)))
    entries = sum(len(game.entries) for game in match.games)
    assert [(done, entries) for done in range(1, entries + 1)] == told


def test_luck_may_be_judged_by_another_one_who_has_no_say_in_errors() -> None:
    match = simulate(3, 1)
    found = MatchAnalyser(HANDMADE, PipJudge()).study(match)
    by_heuristic, by_pips = analyse_match(match, HANDMADE), analyse_match(match, PipJudge())
    assert [it.luck for it in by_pips.figures] == [it.luck for it in found.figures]
    for ours, theirs in zip(found.figures, by_heuristic.figures, strict=True):
        assert (theirs.decisions, theirs.loss, theirs.pr) == (ours.decisions, ours.loss, ours.pr)
    assert found.figures != by_heuristic.figures


def test_the_judge_is_asked_once_for_a_cube() -> None:
    asked = []

    class Counting(PipJudge):
        def value_cube(self, state: MatchState) -> CubeValues:
            asked.append(state)
            return super().value_cube(state)

    analyse_match(play_match(HANDMADE, 1, 1), Counting(), luck=False)
    analyse_match(transcript(Cube(seat=Seat.A, action=CubeAction.DOUBLE), start=LATER), Counting(), luck=False)
    assert len(set(asked)) == len(asked)
    assert asked
