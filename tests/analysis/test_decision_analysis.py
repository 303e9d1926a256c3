"""Every decision of a match is analysed, forced ones cost nothing, and luck averages out over the rolls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from fibsbot.analysis.decision_analysis import LISTED_PLAYS, _options
from fibsbot.analysis.luck import RollValues, equity_of_points
from fibsbot.analysis.match_analysis import AnalysisError, MatchAnalyser, analyse_match
from fibsbot.analysis.model import PlayerStatistics, PlayOption
from fibsbot.match import ROLL_WAYS, ROLLS, CubeAction, MatchState, Phase
from fibsbot.position import CHECKERS, Play, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, LAWS_1931, Laws, Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeValues, PlayValue, reversed_chances
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
from tests.analysis.exact_evaluator import ExactEvaluator
from tests.analysis.random_matches import play_match
from tests.examples import examples
from tests.formats.simulated_matches import simulate
from tests.hypothesis_strategies import match_states

HEURISTIC: Final = HeuristicStrategy()
SEEDS: Final = st.integers(0, 2**32)
START: Final = start_match(FIBS, 5)
OPENING: Final = Throw(seat=Seat.B, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
LATER: Final = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=9)


class PipEvaluator:
    """Fast evaluator that only counts pips."""

    name = "pips"

    def value(self, state: MatchState) -> float:
        """Return the lead."""
        return self._lead(state.position)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return the lead after each play."""
        boards = [state.position.play(play) for play in plays]
        return [1.0 if board.off == CHECKERS else self._lead(board) for board in boards]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the lead, doubled with the cube."""
        lead = self._lead(state.position)
        return CubeValues(lead, 2 * lead, 1.0)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the opponent's share of the points still needed."""
        away, opponent_away = state.away
        away, opponent_away = max(away - max(points, 0), 0), max(opponent_away + min(points, 0), 0)
        return opponent_away / (away + opponent_away)

    def _lead(self, position: Position) -> float:
        return (position.opponent_pips - position.pips) / 100


def transcript(*entries: Entry, start: GameState = START) -> Transcript:
    """Return a match of one game."""
    return Transcript((Player("anna"), Player("bert")), start.length, (Game(1, start, entries),))


def made(match: Transcript) -> list[Decision]:
    """List the decisions of a match."""
    return [decision for game in match.games for step in walk(game) for decision in decisions(step)]


# -- what is analysed -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(SEEDS)
@example(729254206)  # somebody resigns who has only one play
@examples(20)
def test_every_decision_is_analysed_in_order(seed: int) -> None:
    match = simulate(seed, games=2, gaps=True)
    found = analyse_match(match, PipEvaluator(), luck=False)
    assert made(match) == [analysed.decision for game in found.games for analysed in game.decisions]
    assert ("pips", match) == (found.evaluator, found.transcript)
    for game in found.games:
        for analysed in game.decisions:
            assert analysed.loss >= 0
            assert (analysed.loss == 0) == (analysed.best == analysed.decision.text)
            assert analysed.luck is None
            if analysed.decision.forced:
                assert (analysed.loss, analysed.counts) == (0, False)


@pytest.mark.slow
@given(SEEDS)
@examples(15)
def test_the_options_of_a_play_are_the_best_plays_and_the_one_made(seed: int) -> None:
    for game in analyse_match(simulate(seed, 1), PipEvaluator(), luck=False).games:
        for analysed in game.decisions:
            if not analysed.options:
                continue
            equities = [option.value.equity for option in analysed.options]
            assert sorted(equities, reverse=True) == equities
            assert len(equities) <= LISTED_PLAYS + 1
            (own,) = [option for option in analysed.options if option.play == analysed.decision.answer]
            assert (own.value.equity, own.text) == (analysed.equity, analysed.decision.text)
            assert pytest.approx(analysed.loss, abs=1e-9) == equities[0] - own.value.equity
            assert analysed.loss == 0 or analysed.options[0].text == analysed.best


def test_the_play_made_is_listed_once_and_plays_searched_less_deep_are_not() -> None:
    state = MatchState(START.position, phase=Phase.MOVE, dice=(3, 1))
    best, second, third, fourth = state.plays[:4]
    ranked = [
        (best, PlayValue(0.5, 2)),
        (second, PlayValue(0.4, 2)),
        (third, PlayValue(0.4, 2)),
        (fourth, PlayValue(0.9, 0)),
    ]
    made = [_options(state, ranked, PlayOption(play, "", value)) for play, value in ranked]
    assert [
        [best, second, third],
        [best, second, third],
        [best, third, second],
        [fourth, best, second, third],
    ] == [[option.play for option in options] for options in made]


def test_points_of_an_unlimited_match_are_worth_their_share_of_the_cube() -> None:
    assert 2.0 == equity_of_points(PipEvaluator(), MatchState(Position.start(), cube=2), 4)


def test_luck_is_computed_unless_it_is_not_wanted() -> None:
    match = transcript(OPENING)
    assert analyse_match(match, PipEvaluator()) == MatchAnalyser(PipEvaluator()).analyse(match)
    assert [True, False] == [
        MatchAnalyser(PipEvaluator()).analyse(match, luck=luck).games[0].decisions[0].luck is not None
        for luck in (True, False)
    ]


def test_nothing_is_analysed_across_a_gap() -> None:
    found = analyse_match(
        transcript(OPENING, Gap(reason="lost", then=LATER), Throw(seat=Seat.A, dice=(6, 6))), PipEvaluator()
    )
    assert ["8/5 6/5", "roll"] == [analysed.decision.text for analysed in found.games[0].decisions]


@pytest.mark.slow
def test_the_same_match_gives_the_same_analysis() -> None:
    entries = simulate(3, 1).games[0].entries[:6]
    match = transcript(*entries, start=simulate(3, 1).games[0].start)
    assert analyse_match(match, HeuristicStrategy()) == analyse_match(match, HEURISTIC)


def test_an_illegal_play_is_an_error() -> None:
    with pytest.raises(TranscriptError, match="game 1, turn 1: "):
        analyse_match(transcript(evolve(OPENING, play=Play.of((8, 4), (6, 5)))), PipEvaluator())


def test_an_error_of_the_evaluator_names_the_turn() -> None:
    class Broken(PipEvaluator):
        def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
            raise RuntimeError(f"no idea\nof {len(plays)} at {state.length}")

    class Short(PipEvaluator):
        def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
            return super().value_plays(state, plays)[1:]

    for evaluator, what in ((Broken(), "RuntimeError: no idea of"), (Short(), "expected the values of")):
        with pytest.raises(AnalysisError) as caught:
            analyse_match(transcript(OPENING), evaluator)
        assert str(caught.value).startswith("game 1, turn 1: pips cannot evaluate: ")
        assert what in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_the_evaluator_finds_no_errors_in_its_own_play() -> None:
    """Except for beavers, which it makes only with a margin; these matches have none."""
    for seed in range(2):
        found = analyse_match(play_match(HEURISTIC, seed, 3), HEURISTIC, luck=False)
        assert (0.0, 0.0) == tuple(figures.loss for figures in found.figures)
        assert all(figures.pr == 0 for figures in found.figures if figures.decisions)


POINT_GAME: Final = evolve(LAWS_1931, point_game=True)


@pytest.mark.slow
def test_the_evaluator_finds_no_errors_in_its_own_point_games() -> None:
    taken = 0
    for seed in range(2):
        found = analyse_match(play_match(HEURISTIC, seed, 30, POINT_GAME), HEURISTIC, luck=False)
        assert (0.0, 0.0) == tuple(figures.loss for figures in found.figures)
        assert found.note.startswith("Point Game: ")
        taken += sum(it.decision.answer is CubeAction.TAKE for game in found.games for it in game.decisions)
    assert taken


def test_in_the_point_game_a_pass_costs_the_checkers_where_they_stand() -> None:
    """A race: A has 5 checkers left on the ace point, B all 15 on his bar-point and mid-point."""
    position = Position.from_sides(
        own=[0, 5, *[0] * 23], opponent=[0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 7, *[0] * 11]
    )
    start = evolve(start_match(POINT_GAME, 0), stage=Stage.ROLL, turn=Seat.A, turns=9, board=position)
    double = Cube(seat=Seat.A, action=CubeAction.DOUBLE)
    passed = Cube(seat=Seat.B, action=CubeAction.PASS)
    game = Game(1, start, (double, passed))
    found = analyse_match(Transcript((Player("anna"), Player("bert")), 0, (game,)), HEURISTIC, luck=False)
    offered, answered = found.games[0].decisions
    score = 8 * 2 + 7 * 3
    assert pytest.approx(-score / 12) == answered.equity
    assert offered.cube is not None
    assert pytest.approx(score / 12) == offered.cube.double_pass


def test_points_of_the_point_game_are_equities_of_twelve_points() -> None:
    state = MatchState(Position.start(), cube=2, point_game=True)
    assert pytest.approx(34 / 12) == equity_of_points(HEURISTIC, state, 68)
    match = evolve(state, length=50, score=(10, 20))
    assert pytest.approx(1) == equity_of_points(HEURISTIC, match, 24)
    assert pytest.approx(-1) == equity_of_points(HEURISTIC, match, -24)


@pytest.mark.parametrize(
    ("laws", "what"),
    [(POINT_GAME, "the Point Game"), (evolve(FIBS, triple=False), "games without triples")],
)
def test_an_evaluator_that_does_not_know_the_laws_is_not_asked(laws: Laws, what: str) -> None:
    game = Game(1, start_match(laws, 5), (OPENING,))
    with pytest.raises(AnalysisError, match=f"^pips does not know {what}; engine and heuristic do$"):
        analyse_match(Transcript((Player("anna"), Player("bert")), 5, (game,)), PipEvaluator())


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
    """Correct and obvious decisions do not count; wrong ones always do."""

    class Fixed(PipEvaluator):
        def _lead(self, position: Position) -> float:  # noqa: ARG002 - whatever the position
            return ahead / 100

    entries = (Cube(seat=Seat.A, action=CubeAction.DOUBLE), Cube(seat=Seat.B, action=CubeAction.TAKE))
    found = analyse_match(transcript(*entries, start=LATER), Fixed())
    assert [offer, answer] == [(it.best, round(it.loss, 6), it.counts) for it in found.games[0].decisions]


def test_rolling_instead_of_doubling_is_an_error() -> None:
    """25 of 36 rolls win at once, the others lose."""
    money = evolve(LATER, length=0, board=Position((0, 0, 1, 1, *(0,) * 20, -1, 0)))
    won = Throw(seat=Seat.A, dice=(3, 2), play=Play.of((3, 0), (2, 0)))
    roll, play = analyse_match(transcript(won, start=money), ExactEvaluator()).games[0].decisions
    assert ("roll", "double", True) == (roll.decision.text, roll.best, roll.counts)
    assert roll.cube is not None
    assert pytest.approx((14 / 36, 28 / 36)) == (roll.cube.no_double, roll.cube.double)
    assert pytest.approx((14 / 36, 0)) == (roll.loss, play.loss)
    assert pytest.approx(22 / 36) == play.luck


def test_resigning_too_much_and_rejecting_that_are_errors() -> None:
    early = Resign(seat=Seat.A, level=Level.GAMMON, accepted=True)
    offer, answer = analyse_match(transcript(early, start=LATER), HEURISTIC).games[0].decisions
    assert ("play on", True) == (offer.best, offer.counts)
    assert offer.equity is not None
    assert offer.equity < -1.5
    assert (0.0, False) == (answer.loss, answer.counts)
    greedy = evolve(early, accepted=False)
    _, answer = analyse_match(transcript(greedy, start=LATER), HEURISTIC).games[0].decisions
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
def test_a_resignation_has_the_equity_and_chances_of_playing_on(before: tuple[Entry, ...], seat: Seat) -> None:
    resign = Resign(seat=seat, level=Level.SINGLE, accepted=True)
    *_, offer, answer = analyse_match(transcript(*before, resign, start=LATER), HEURISTIC).games[0].decisions
    ours, theirs = offer.resigning, answer.resigning
    assert ours is not None
    assert theirs is not None
    assert (offer.equity, answer.equity) == (ours.settled, theirs.settled)
    assert pytest.approx((-ours.settled, -ours.played_on.equity)) == (theirs.settled, theirs.played_on.equity)
    assert ours.played_on.chances is not None
    assert theirs.played_on.chances is not None
    assert pytest.approx(reversed_chances(ours.played_on.chances)) == theirs.played_on.chances
    assert (0, 0) == (ours.played_on.plies, theirs.played_on.plies)
    assert (ours.played_on.chances[0] < 0.5) is (seat is Seat.B), "the one on roll, or who has doubled, is ahead"
    assert pytest.approx(max(ours.played_on.equity - ours.settled, 0)) == offer.loss


def test_an_evaluator_without_chances_gives_none_for_resignations() -> None:
    resign = Resign(seat=Seat.A, level=Level.SINGLE, accepted=False)
    for analysed in analyse_match(transcript(resign, start=LATER), PipEvaluator()).games[0].decisions:
        assert analysed.resigning is not None
        assert (None, None) == (analysed.resigning.played_on.plies, analysed.resigning.played_on.chances)
        assert analysed.resigning.played_on.equity != analysed.resigning.settled


# -- luck -----------------------------------------------------------------------------------------------------------


@given(match_states(resignations=False))
@examples(15)
def test_luck_averages_out_over_all_rolls(state: MatchState) -> None:
    throws = RollValues(PipEvaluator())
    state = evolve(state, phase=Phase.MOVE)
    lucks = [
        ways * throws.luck(evolve(state, dice=dice), opening=False) for dice, ways in zip(ROLLS, ROLL_WAYS, strict=True)
    ]
    assert pytest.approx(0, abs=1e-9) == sum(lucks)


@pytest.mark.parametrize(("length", "score"), [(0, (0, 0)), (5, (0, 0)), (5, (3, 1)), (5, (0, 4))])
def test_luck_averages_out_over_the_opening_rolls_of_both_players(length: int, score: tuple[int, int]) -> None:
    throws = RollValues(HEURISTIC)
    state = MatchState(Position.start(), length=length, score=score, phase=Phase.MOVE)
    opening = [dice for dice in ROLLS if dice[0] != dice[1]]
    ours, theirs = (
        [throws.luck(evolve(seen, dice=dice), opening=True) for dice in opening] for seen in (state, state.swapped())
    )
    assert pytest.approx(0, abs=1e-9) == sum(ours) - sum(theirs)
    if not length:
        assert pytest.approx(sum(ours)) == sum(theirs)
        assert sum(ours) > 0, "to begin is lucky"


def test_luck_is_also_counted_in_points_and_in_match_winning_chances() -> None:
    entries = (
        OPENING,
        Cube(seat=Seat.A, action=CubeAction.DOUBLE),
        Cube(seat=Seat.B, action=CubeAction.TAKE),
        Throw(seat=Seat.A, dice=(6, 6), play=Play.of((24, 18), (24, 18), (13, 7), (13, 7))),
    )
    found = analyse_match(transcript(*entries), HEURISTIC)
    a, b = found.figures
    plays = [analysed for analysed in found.games[0].decisions if analysed.luck is not None]
    assert [b.luck, a.luck] == [play.luck for play in plays]
    assert (2 * a.luck, b.luck) == (a.luck_in_points, b.luck_in_points)
    state = plays[1].decision.state
    swing = HEURISTIC.match_chance(state, 2) - HEURISTIC.match_chance(state, -2)
    assert pytest.approx(a.luck * swing / 2) == a.luck_in_chances


def test_a_roll_whose_play_is_unknown_has_luck() -> None:
    played = analyse_match(transcript(OPENING), HEURISTIC)
    thrown = analyse_match(
        transcript(evolve(OPENING, play=None), Resign(seat=Seat.B, level=Level.SINGLE, accepted=True)), HEURISTIC
    )
    assert played.figures[1].luck == thrown.figures[1].luck != 0


def test_a_roll_on_the_board_at_the_start_of_a_capture_has_luck() -> None:
    on_board = evolve(LATER, stage=Stage.MOVE, dice=(6, 6))
    throw = Throw(seat=Seat.A, dice=(6, 6), play=legal_plays(LATER.position, (6, 6))[0])
    assert analyse_match(transcript(throw, start=on_board), HEURISTIC).figures == (
        evolve(analyse_match(transcript(throw, start=LATER), HEURISTIC).figures[0], decisions=1),
        PlayerStatistics(),
    )


# -- figures --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(SEEDS)
@examples(15)
def test_totals_are_sums_over_games_and_decisions(seed: int) -> None:
    found = analyse_match(simulate(seed), PipEvaluator(), luck=False)
    for seat in Seat:
        counted = [
            analysed
            for game in found.games
            for analysed in game.decisions
            if analysed.counts and analysed.decision.seat is seat
        ]
        figures = found.figures_of(seat)
        assert len(counted) == figures.decisions == sum(game.figures[seat].decisions for game in found.games)
        assert pytest.approx(sum(analysed.loss for analysed in counted)) == figures.loss
        assert figures.play_loss + figures.cube_loss <= figures.loss + 1e-9
        if counted:
            assert pytest.approx(500 * figures.loss / len(counted)) == figures.pr


def test_a_rating_is_the_mean_loss_of_all_decisions_if_there_are_any() -> None:
    assert PlayerStatistics().pr is None
    assert 25.0 == PlayerStatistics(decisions=4, loss=0.2).pr


@pytest.mark.slow
def test_another_evaluator_can_value_luck_without_changing_errors() -> None:
    game = simulate(3, 1).games[0]
    match = transcript(*game.entries[:8], start=game.start)
    found = MatchAnalyser(HEURISTIC, PipEvaluator()).analyse(match)
    by_heuristic, by_pips = analyse_match(match, HEURISTIC), analyse_match(match, PipEvaluator())
    assert [it.luck for it in by_pips.figures] == [it.luck for it in found.figures]
    for ours, theirs in zip(found.figures, by_heuristic.figures, strict=True):
        assert (theirs.decisions, theirs.loss, theirs.pr) == (ours.decisions, ours.loss, ours.pr)
    assert found.figures != by_heuristic.figures


def test_cube_values_are_computed_once() -> None:
    asked = []

    class Counting(PipEvaluator):
        def value_cube(self, state: MatchState) -> CubeValues:
            asked.append(state)
            return super().value_cube(state)

    analyse_match(play_match(HEURISTIC, 1, 1), Counting(), luck=False)
    analyse_match(transcript(Cube(seat=Seat.A, action=CubeAction.DOUBLE), start=LATER), Counting(), luck=False)
    assert len(set(asked)) == len(asked)
    assert asked
