"""What decisions add to the statistics of their player: losses in three units, kinds of cube errors, what counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from attrs import astuple, evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.analysis.model import CubeErrors, ErrorSum, MatchAnalysis, PlayerStatistics
from fibsbot.match import CubeAction, MatchState
from fibsbot.position import Play
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeValues
from fibsbot.transcript import Cube, Entry, Game, Player, Resign, Throw, Transcript
from tests.examples import examples
from tests.formats.simulated_matches import simulate

START: Final = start_match(FIBS, 5)
LATER: Final = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=9)
UNLIMITED: Final = evolve(start_match(FIBS, 0), stage=Stage.ROLL, turn=Seat.A, turns=9)
MAKING_POINT: Final = Play.of((8, 5), (6, 5))
ROLL: Final = Throw(seat=Seat.A, dice=(3, 1), play=MAKING_POINT)
BAD_ROLL: Final = evolve(ROLL, play=Play.of((13, 10), (10, 9)))
DOUBLE: Final = Cube(seat=Seat.A, action=CubeAction.DOUBLE)
TAKE, PASS, BEAVER = (
    Cube(seat=Seat.B, action=action) for action in (CubeAction.TAKE, CubeAction.PASS, CubeAction.BEAVER)
)


class FixedEvaluator:
    """Gives these values to every cube, 0 to the play 8/5 6/5 and -0.2 to all others."""

    name = "fixed"

    def __init__(self, no_double: float = 0.0, double_take: float = 0.0) -> None:
        self.cube = CubeValues(no_double, double_take, 1.0)

    def value(self, state: MatchState) -> float:
        """Return the value of not doubling."""
        del state
        return self.cube.no_double

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return 0 for the play that makes the 5 point."""
        best = state.position.play(MAKING_POINT)
        return [0.0 if state.position.play(play) == best else -0.2 for play in plays]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values given."""
        del state
        return self.cube

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return an even chance, and a tenth more for each point."""
        del state
        return 0.5 + points / 10


def analysed(evaluator: FixedEvaluator, *entries: Entry, start: GameState = LATER) -> MatchAnalysis:
    """Return the analysis of a game of these entries."""
    game = Game(1, start, entries)
    length = start.length
    return analyse_match(Transcript((Player("ann"), Player("bob")), length, (game,)), evaluator, luck=False)


def kinds(figures: PlayerStatistics) -> dict[str, tuple[int, float]]:
    """Return number and loss of the errors with the cube that were made, by kind."""
    found: dict[str, ErrorSum] = {it.name: getattr(figures.cube_errors, it.name) for it in fields(CubeErrors)}
    return {name: (errors.count, round(errors.loss, 9)) for name, errors in found.items() if errors.count}


def rounded(*numbers: float | None) -> list[float | None]:
    """Return numbers without the rounding of sums."""
    return [None if number is None else round(number, 9) for number in numbers]


@pytest.mark.parametrize(
    ("no_double", "double_take", "entries", "kind", "loss"),
    [
        (0.5, 0.7, (ROLL,), "missed_doubles_below_cash_point", 0.2),
        (0.7, 1.2, (ROLL,), "missed_doubles_above_cash_point", 0.3),
        (0.5, 0.2, (DOUBLE, TAKE), "wrong_doubles_below_doubling_point", 0.3),
        (1.3, 1.5, (DOUBLE, PASS), "wrong_doubles_too_good", 0.3),
    ],
)
def test_errors_of_the_player_who_may_double(
    no_double: float, double_take: float, entries: tuple[Entry, ...], kind: str, loss: float
) -> None:
    a, b = analysed(FixedEvaluator(no_double, double_take), *entries).figures
    assert {kind: (1, loss)} == kinds(a)
    assert pytest.approx(loss) == a.cube_loss
    assert not kinds(b)


@pytest.mark.parametrize(
    ("double_take", "answer", "kind", "loss"),
    [
        (1.4, TAKE, "wrong_takes", 0.4),
        (0.6, PASS, "wrong_passes", 0.4),
        (0.6, TAKE, None, 0.0),
        (1.4, PASS, None, 0.0),
    ],
)
def test_errors_of_the_player_who_is_doubled(double_take: float, answer: Cube, kind: str | None, loss: float) -> None:
    a, b = analysed(FixedEvaluator(0.5, double_take), DOUBLE, answer).figures
    assert ({kind: (1, loss)} if kind else {}) == kinds(b)
    assert not kinds(a)
    assert (1, 1) == (a.cube_decisions, b.cube_decisions)


def test_beavers_are_a_kind_of_their_own() -> None:
    start = evolve(UNLIMITED, laws=evolve(FIBS, redoubles=1))
    for double_take, answer in ((-0.4, TAKE), (0.4, BEAVER)):  # not made, and wrong
        _, b = analysed(FixedEvaluator(-0.5, double_take), DOUBLE, answer, start=start).figures
        assert {"wrong_beavers": (1, 0.4)} == kinds(b)


@pytest.mark.parametrize(
    ("no_double", "double_take", "counted"),
    [(0.5, 0.35, 1), (0.5, 0.33, 0), (1.1, 1.5, 1), (1.2, 1.5, 0), (0.5, 0.7, 1)],
)
def test_a_roll_counts_where_doubling_was_close_or_right(no_double: float, double_take: float, counted: int) -> None:
    a, _ = analysed(FixedEvaluator(no_double, double_take), ROLL).figures
    assert counted == a.cube_decisions


def test_a_dead_cube_is_no_decision() -> None:
    dead = evolve(LATER, scores=(3, 0), cube=2, owner=Seat.A)
    for start, counted in ((LATER, 1), (dead, 0)):
        a, _ = analysed(FixedEvaluator(0.5, 0.45), ROLL, start=start).figures
        assert (counted, 1) == (a.cube_decisions, a.unforced_plays)


@pytest.mark.parametrize(("start", "per_point"), [(LATER, 0.1), (UNLIMITED, 0.0)])
def test_a_small_match_by_hand(start: GameState, per_point: float) -> None:
    """A doubles though playing on is worth 1.7, B takes for 1.4, A then plays 0.2 badly with the cube at 2."""
    a, b = analysed(FixedEvaluator(1.7, 1.4), DOUBLE, TAKE, BAD_ROLL, start=start).figures
    assert [0.7, 0.2, 0.9] == rounded(a.cube_loss, a.play_loss, a.loss)
    assert [0.7, 0.4, 1.1] == rounded(a.cube_loss_in_points, a.play_loss_in_points, a.loss_in_points)
    assert rounded(1.1 * per_point) == rounded(a.loss_in_chances)
    assert rounded(0.4, 0.4 * per_point) == rounded(b.cube_loss_in_points, b.loss_in_chances)
    assert (1, 1, 1, 0) == (a.cube_decisions, b.cube_decisions, a.unforced_plays, b.unforced_plays)
    assert [0.45, 0.2, 0.7] == rounded(a.error_rate, a.play_error_rate, a.cube_error_rate)


def test_resignations_are_neither_plays_nor_cube_decisions() -> None:
    a, _ = analysed(FixedEvaluator(0.5, 0.7), Resign(seat=Seat.A, level=Level.GAMMON, accepted=False)).figures
    assert [1, 2.5, 0.25] == rounded(a.decisions, a.loss, a.loss_in_chances)
    assert (0, 0, 0.0, 0.0, None) == (a.unforced_plays, a.cube_decisions, a.play_loss, a.cube_loss, a.level)


@given(st.integers(0, 2**32), st.sampled_from([0, 1, 3]))
@examples(5)
def test_parts_add_up_to_totals(seed: int, length: int) -> None:
    found = analyse_match(simulate(seed, length, games=2), FixedEvaluator(0.3, 0.6), luck=False)
    for seat in Seat:
        figures = found.figures_of(seat)
        losses = [it.loss for it in astuple(figures.cube_errors, recurse=False)]
        counts = [it.count for it in astuple(figures.cube_errors, recurse=False)]
        own = [it for game in found.games for it in game.decisions if it.decision.seat is seat]
        assert pytest.approx(sum(losses)) == figures.cube_loss
        assert sum(counts) == sum(it.loss > 0 for it in own if it.cube is not None) <= figures.cube_decisions
        for unit in ("", "_in_points", "_in_chances"):
            plays, cubes = (getattr(figures, f"{part}_loss{unit}") for part in ("play", "cube"))
            others = sum(it.loss for it in own if it.resigning is not None)
            total = getattr(figures, f"loss{unit}")
            assert total >= plays + cubes - 1e-9
            assert others or pytest.approx(plays + cubes) == total
        assert length or not figures.loss_in_chances
        games = [game.figures[seat] for game in found.games]
        assert figures == sum(games, PlayerStatistics())
        assert figures.unforced_plays == sum(len(it.options) > 0 for it in own)
