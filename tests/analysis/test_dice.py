"""Dice statistics count every roll once, and their p-values agree with tables."""

from __future__ import annotations

import itertools
import math
from typing import Final

import pytest
from attrs import asdict, evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.dice import DiceStatistics, chance_of_run, chi_square, dice_statistics, survival
from fibsbot.match import ROLL_WAYS, ROLLS
from fibsbot.position import Play, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Entry, Game, Gap, Player, Throw, Transcript
from tests.examples import examples
from tests.formats.simulated_matches import simulate

KNOWN: Final = (
    (3.841458820694124, 1, 0.050000000000000057),
    (0.5, 1, 0.47950012218695346),
    (60.0, 1, 9.4857375710738484e-15),
    (5.991464547107979, 2, 0.050000000000000074),
    (7.814727903251179, 3, 0.050000000000000018),
    (11.070497693516351, 5, 0.050000000000000052),
    (0.001, 5, 0.99999999831851228),
    (31.410432844230918, 20, 0.050000000000000101),
    (10.85, 20, 0.95002004689109891),
    (45.31, 20, 0.0010014887294542931),
    (200.0, 20, 1.1253473960842734e-31),
    (150.5, 101, 0.0010308704550967073),
    (3.5, 14, 0.99779878537571692),
)
"""Statistic, degrees of freedom, and the tail, computed with 40 digits."""
SEEDS: Final = st.integers(0, 2**32)
START: Final = start_match(FIBS, 5)


def match(*games: Game) -> Transcript:
    """Return a match."""
    return Transcript((Player("anna"), Player("bert")), 5, games)


def rolled(*dice: tuple[int, int]) -> Game:
    """Return a game in which both players roll in turn after the opening, A first, and can hardly move."""
    entries: list[Entry] = []
    state = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=2)
    position = Position.start()
    for number, throw in enumerate(dice):
        seat = Seat(number % 2)
        play = legal_plays(position, throw)[0]
        position = position.play(play).swapped()
        entries.append(Throw(seat=seat, dice=throw, play=play))
    return Game(1, state, tuple(entries))


@pytest.mark.parametrize(("statistic", "freedom", "tail"), KNOWN)
def test_the_tail_is_exact(statistic: float, freedom: int, tail: float) -> None:
    assert pytest.approx(tail, rel=1e-12, abs=1e-300) == survival(statistic, freedom)


@given(st.floats(0, 1e4), st.integers(1, 200))
def test_the_tail_is_a_falling_probability(statistic: float, freedom: int) -> None:
    tail = survival(statistic, freedom)
    assert 0 <= tail <= 1
    assert survival(statistic + 1, freedom) - 1e-12 <= tail <= survival(statistic, freedom + 1) + 1e-12


@given(st.floats(0.01, 200), st.integers(1, 60))
def test_two_more_degrees_of_freedom_add_one_term(statistic: float, freedom: int) -> None:
    """Q(x, k + 2) - Q(x, k) = (x/2)^(k/2) e^(-x/2) / gamma(k/2 + 1)."""
    half = statistic / 2
    term = math.exp(freedom / 2 * math.log(half) - half - math.lgamma(freedom / 2 + 1))
    assert pytest.approx(term, abs=1e-13) == survival(statistic, freedom + 2) - survival(statistic, freedom)


def test_zero_degrees_of_freedom_are_rejected() -> None:
    with pytest.raises(ValueError, match="at least one degree"):
        survival(1.0, 0)


def test_rounding_does_not_make_the_tail_more_than_certain() -> None:
    for freedom in (101, 151, 201):
        assert all(1 - 1e-9 < survival(float(statistic), freedom) <= 1 for statistic in range(1, 21))


@pytest.mark.parametrize(("throws", "reliable"), [(29, False), (30, True)])
def test_five_expected_counts_are_enough(throws: int, reliable: bool) -> None:  # noqa: FBT001 - a parameter of the test
    found = chi_square((throws, 0, 0, 0, 0, 0), [1] * 6)
    assert found is not None
    assert reliable == found.reliable


def test_the_statistic_is_pearsons() -> None:
    """Weldon's question for a die rolled 60 times."""
    test = chi_square((5, 8, 9, 8, 10, 20), [1] * 6)
    assert test is not None
    assert pytest.approx(13.4) == test.statistic
    assert (5, 10.0, True) == (test.freedom, test.least_expected, test.reliable)
    assert pytest.approx(0.01990522033477436) == test.p_value
    few = chi_square((1, 2, 0, 0, 1, 0), [1] * 6)
    assert few is not None
    assert not few.reliable
    assert chi_square((0, 0), (1, 5)) is None


@pytest.mark.parametrize("length", range(11))
def test_the_probability_of_runs_agrees_with_enumeration(length: int) -> None:
    trials, chance = 9, 0.25
    likely = 0.0
    for outcomes in itertools.product((False, True), repeat=trials):
        runs = [len(list(run)) for success, run in itertools.groupby(outcomes) if success]
        if max(runs, default=0) >= length:
            likely += chance ** sum(outcomes) * (1 - chance) ** (trials - sum(outcomes))
    assert pytest.approx(likely) == chance_of_run(length, trials, chance)


# -- counting -------------------------------------------------------------------------------------------------------


@given(SEEDS)
@examples(12)
def test_every_roll_is_counted_once(seed: int) -> None:
    transcript = simulate(seed, gaps=True)
    for seat, found in zip(Seat, dice_statistics(transcript), strict=True):
        rolls = [it for game in transcript.games for it in game.entries if isinstance(it, Throw) and it.seat is seat]
        assert len(rolls) == found.rolls + found.openings
        assert sum(found.faces) == 2 * found.rolls
        assert found.doublets == sum(dice[0] == dice[1] for dice in (it.dice for it in rolls))
        assert found.entered <= found.from_bar <= found.rolls
        assert 0 <= found.expected_entered <= found.from_bar


def test_opening_rolls_are_not_counted() -> None:
    opening = Throw(seat=Seat.B, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
    a, b = dice_statistics(match(Game(1, START, (opening, Throw(seat=Seat.A, dice=(6, 6))))))
    assert (0, 1) == (b.rolls, b.openings)
    assert (1, 0, 1, (0, 0, 0, 0, 0, 2)) == (a.rolls, a.openings, a.doublets, a.faces)


def test_runs_are_counted_by_player_and_end_at_a_gap() -> None:
    game = rolled((1, 1), (2, 1), (2, 2), (2, 1), (1, 1), (2, 1), (2, 1))
    a, b = dice_statistics(match(game))
    assert 3 == a.doublets_in_a_row
    assert 0 == b.doublets_in_a_row
    gap = Gap(reason="lost", then=game.start)
    broken = evolve(game, entries=(*game.entries[:4], gap, *rolled((1, 1)).entries))
    a, _ = dice_statistics(match(broken))
    assert 2 == a.doublets_in_a_row


def test_entering_is_compared_with_its_expectation() -> None:
    """Four points closed: 20 of 36 rolls enter."""
    cells = [0] * 26
    cells[25], cells[1] = 1, 5
    cells[18] = cells[19] = cells[20] = cells[21] = cells[22] = -2  # 18 is outside
    from_bar = evolve(START, stage=Stage.ROLL, turns=8, board=Position(tuple(cells)))
    for dice, entered in (((6, 5), 0), ((2, 5), 1)):
        play = next(iter(legal_plays(from_bar.position, dice)), Play())
        a, _ = dice_statistics(match(Game(1, from_bar, (Throw(seat=Seat.A, dice=dice, play=play),))))
        assert (1, entered) == (a.from_bar, a.entered)
        assert pytest.approx(20 / 36) == a.expected_entered


def test_only_rolls_with_a_checker_on_the_bar_can_enter_one() -> None:
    for found in dice_statistics(match(rolled((2, 1), (2, 1)))):
        assert (1, 0, 0, 0.0) == (found.rolls, found.from_bar, found.entered, found.expected_entered)


def test_a_run_of_doublets_ends_at_a_gap() -> None:
    begun = evolve(START, stage=Stage.ROLL, turns=8)
    doublet = Throw(seat=Seat.A, dice=(3, 3), play=legal_plays(begun.position, (3, 3))[0])
    a, _ = dice_statistics(match(Game(1, begun, (doublet, Gap(reason="lost", then=begun), doublet))))
    assert (2, 1) == (a.rolls, a.doublets_in_a_row)


def test_a_run_of_doublets_begins_anew_after_another_roll_and_after_a_gap() -> None:
    game = rolled((2, 1), (2, 1), (1, 1), (1, 1), (2, 2), (1, 1))
    assert [2, 2] == [it.doublets_in_a_row for it in dice_statistics(match(game))]
    gap = Gap(reason="lost", then=game.start)
    broken = evolve(game, entries=(*game.entries[:4], gap, *rolled((1, 1), (1, 1)).entries))
    assert [1, 1] == [it.doublets_in_a_row for it in dice_statistics(match(broken))]
    begun = evolve(game, entries=(*game.entries[:2], gap, *rolled((1, 1), (1, 1)).entries))
    assert [1, 1] == [it.doublets_in_a_row for it in dice_statistics(match(begun))]


def counts_of(**rolls: int) -> tuple[int, ...]:
    """Return the counts of rolls such as `r31`."""
    known = {f"r{high}{low}": 0 for high, low in ROLLS}
    assert not rolls.keys() - known.keys()
    return tuple((known | rolls).values())


def test_figures_of_uneven_dice() -> None:
    uneven = DiceStatistics(counts_of(r21=40, r33=20), doublets_in_a_row=2)
    assert pytest.approx((40 * 3 + 20 * 12) / 60) == uneven.pips
    test = uneven.rolls_test
    assert test is not None
    assert pytest.approx((40 - 10 / 3) ** 2 / (10 / 3) + (20 - 5 / 3) ** 2 / (5 / 3) + 55) == test.statistic
    assert chance_of_run(2, 60) == uneven.run_chance
    assert pytest.approx(1 / 36 + 5 / 6 / 36) == DiceStatistics(counts_of(r11=2, r21=1), doublets_in_a_row=2).run_chance


def test_statistics_add_up() -> None:
    one = DiceStatistics(counts_of(r21=3, r66=1), 1, 4, 2, 2.5, 1)
    other = DiceStatistics(counts_of(r21=2, r55=2), 2, 3, 3, 1.25, 2)
    both = DiceStatistics(counts_of(r21=5, r55=2, r66=1), 3, 7, 5, 3.75, 2)
    assert both == one + other == other + one
    assert one == one + DiceStatistics()


def test_fair_counts_give_8_and_a_sixth_pips_and_p_1() -> None:
    fair = DiceStatistics(counts=tuple(100 * ways for ways in ROLL_WAYS))
    assert pytest.approx(49 / 6) == fair.pips
    for test in (fair.rolls_test, fair.faces_test):
        assert test is not None
        assert (0, 1) == (test.statistic, test.p_value)
    assert (DiceStatistics().pips, DiceStatistics().rolls_test) == (None, None)


def test_statistics_begin_at_zero() -> None:
    assert not any(value for name, value in asdict(DiceStatistics()).items() if name != "counts")
    assert not any(DiceStatistics().counts)


def test_loaded_dice_are_detected_with_enough_rolls() -> None:
    """One roll in twenty too many is a six: not detected in 100 rolls, but in 10,000."""
    loaded = [ways + (0.5 if 6 in dice else 0) for dice, ways in zip(ROLLS, ROLL_WAYS, strict=True)]
    for throws, sure in ((100, False), (10_000, True)):
        test = DiceStatistics(counts=tuple(round(throws * weight / sum(loaded)) for weight in loaded)).faces_test
        assert test is not None
        assert sure == (test.p_value < 0.001)


@pytest.mark.slow
@given(SEEDS, SEEDS)
@examples(10)
def test_statistics_of_matches_add_up(one: int, other: int) -> None:
    first, second = dice_statistics(simulate(one, 1))[0], dice_statistics(simulate(other, 1))[0]
    both = first + second
    assert both.rolls == first.rolls + second.rolls
    assert both.faces == tuple(map(sum, zip(first.faces, second.faces, strict=True)))
    assert both.expected_entered == first.expected_entered + second.expected_entered
    assert both.doublets_in_a_row == max(first.doublets_in_a_row, second.doublets_in_a_row)
    assert first == first + DiceStatistics()


@pytest.mark.parametrize(("checkers", "entered", "expected"), [(1, 1, 1.0), (2, 0, 35 / 36), (3, 0, 35 / 36)])
def test_a_point_is_closed_by_two_checkers(checkers: int, entered: int, expected: float) -> None:
    opponent = [0] * 25
    opponent[0], opponent[12] = checkers, 15 - checkers  # on the opponent's ace point, where a 1 would enter
    own = [0] * 25
    own[24], own[5] = 1, 14
    start = evolve(start_match(FIBS, 0), board=Position.from_sides(own, opponent), stage=Stage.ROLL, turns=5)
    throw = Throw(seat=Seat.A, dice=(1, 1), play=None)
    match = Transcript((Player("a"), Player("b")), 0, (Game(1, start, (throw,)),))
    own_dice, _ = dice_statistics(match)
    assert (1, entered) == (own_dice.from_bar, own_dice.entered)
    assert own_dice.expected_entered == pytest.approx(expected)
