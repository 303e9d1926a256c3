"""The statistics of a duel, for inputs with known results."""

from __future__ import annotations

import math
import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.results import wilson
from fibsbot.arena.duel.games import DuelPlan
from fibsbot.arena.duel.results import (
    CLASS_RATIO,
    MAX_EXAMPLES,
    DuelSummary,
    Estimate,
    PairResult,
    StrategyStats,
    TimeHistogram,
)
from fibsbot.fibs_ratings import rating_difference, winning_chance

values = st.lists(st.floats(-50, 50), min_size=2, max_size=40)
MONEY = DuelPlan(("a", "b"))
MATCH = DuelPlan(("a", "b"), length=5)


def pair(number: int, results: tuple[float, float], luck: tuple[float, float] | None = None) -> PairResult:
    """Return a pair."""
    return PairResult(
        number, results, luck, 2, (StrategyStats(loss=0.1 * number, judged=3), StrategyStats(faults=1, example="x"))
    )


@given(values)
def test_an_estimate_is_mean_and_standard_error(numbers: list[float]) -> None:
    found = Estimate.of(numbers)
    assert found is not None
    assert pytest.approx(statistics.fmean(numbers), abs=1e-9) == found.mean
    error = statistics.stdev(numbers) / math.sqrt(len(numbers))
    assert pytest.approx(error, abs=1e-9) == found.error
    assert pytest.approx(found.mean - 1.96 * error, abs=1e-2) == found.low
    assert pytest.approx(found.mean + 1.96 * error, abs=1e-2) == found.high


@given(values, st.randoms())
def test_the_order_makes_no_difference_in_the_last_digit(numbers: list[float], random: Random) -> None:
    shuffled = random.sample(numbers, len(numbers))
    assert Estimate.of(numbers) == Estimate.of(shuffled)


def test_one_value_gives_no_estimate() -> None:
    assert Estimate.of([]) is None
    assert Estimate.of([1.0]) is None
    assert Estimate.of_shares([1.0]) is None


def test_nineteen_intervals_of_twenty_contain_the_true_mean() -> None:
    """Of 2,000 means of 50 rolls of a die each, between 93 and 97 % have 3.5 in their interval."""
    random = Random(1)
    found = [Estimate.of([random.randint(1, 6) for _ in range(50)]) for _ in range(2000)]
    held = sum(it is not None and it.low <= 3.5 <= it.high for it in found)
    assert 0.93 * 2000 < held < 0.97 * 2000


@given(st.lists(st.sampled_from((0.0, 0.5, 1.0)), min_size=2, max_size=30))
def test_intervals_of_shares_stay_between_0_and_1(shares: list[float]) -> None:
    found = Estimate.of_shares(shares)
    assert found is not None
    assert 0 <= found.low <= found.mean <= found.high <= 1


def test_few_matches_that_were_all_won_have_a_wide_interval() -> None:
    won = Estimate.of_shares([1.0] * 10)
    assert won is not None
    assert (*wilson(10, 10), 1.0) == (won.low, won.high, won.mean)


@given(st.floats(-400, 400), st.integers(1, 25))
def test_the_rating_difference_is_that_of_the_formula(difference: float, length: int) -> None:
    found = rating_difference(winning_chance(difference, 0, length), length)
    assert pytest.approx(difference, abs=1e-6) == found


@pytest.mark.parametrize("share", [-0.1, 0.0, 1.0, 1.2])
def test_all_or_no_wins_have_no_rating_difference(share: float) -> None:
    assert rating_difference(share, 5) is None


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60), st.sampled_from((0.01, 0.5, 0.99, 1.0)))
def test_quantiles_of_times_are_accurate_to_a_class(seconds: list[float], share: float) -> None:
    times = TimeHistogram()
    for it in seconds:
        times.add(it)
    exact = sorted(seconds)[math.ceil(share * len(seconds)) - 1]
    found = times.quantile(share)
    assert found is not None
    assert exact / CLASS_RATIO < found < exact * CLASS_RATIO
    assert len(seconds) == times.count


def test_the_shortest_times_count_as_the_minimum() -> None:
    assert TimeHistogram().quantile(0.5) is None


def test_points_are_per_game_and_the_error_is_that_of_pairs() -> None:
    tally = DuelSummary(MONEY)
    for number, results in enumerate([(2.0, -1.0), (4.0, 0.0), (-1.0, 1.0)]):
        tally.add(pair(number, results))
    found = tally.result
    assert found is not None
    assert pytest.approx(2.5 / 3) == found.mean
    assert pytest.approx(statistics.stdev([0.5, 2.0, 0.0]) / math.sqrt(3)) == found.error
    assert tally.adjusted is None


def test_luck_is_subtracted_from_every_result() -> None:
    tally = DuelSummary(MONEY)
    tally.add(pair(0, (2.0, -1.0), (1.5, -1.5)))
    tally.add(pair(1, (-2.0, 2.0), (-1.0, 0.5)))
    found = tally.adjusted
    assert found is not None
    assert pytest.approx((0.5 + 0.25) / 2) == found.mean


def test_the_gain_is_the_ratio_of_the_squared_errors() -> None:
    tally = DuelSummary(MONEY)
    for number in range(10):
        result = 3.0 if number % 2 else -3.0
        tally.add(pair(number, (result, result), (result * 2 / 3, result * 2 / 3)))
    assert pytest.approx(9) == tally.report(10)["gain"]


@given(st.permutations(range(8)))
def test_a_report_does_not_depend_on_the_order_of_its_pairs(order: list[int]) -> None:
    random = Random(5)
    pairs = [pair(n, (random.uniform(-3, 3), random.uniform(-3, 3)), (random.random(), 0.1)) for n in range(8)]
    tallies = DuelSummary(MONEY), DuelSummary(MONEY)
    for number in range(8):
        tallies[0].add(pairs[number])
        tallies[1].add(pairs[order[number]])
    assert tallies[0].report(8) == tallies[1].report(8)


def test_a_pair_counts_once() -> None:
    tally = DuelSummary(MATCH)
    for _ in range(2):
        tally.add(pair(3, (1.0, 0.0)))
    report = tally.report(2)
    assert (1, 2, False, None) == (report["pairs"], report["games"], report["finished"], report["result"])


def test_the_first_faults_are_quoted_and_all_are_counted() -> None:
    tally = DuelSummary(MATCH)
    for number in reversed(range(10)):
        tally.add(pair(number, (1.0, 0.0)))
    report = tally.report(10)
    assert [f"pair {number}: x" for number in range(1, MAX_EXAMPLES + 1)] == report["examples"]
    assert [0, 10] == [it["faults"] for it in report["performances"]]
    assert pytest.approx(500 * 4.5 / 30) == report["performances"][0]["pr"]


def test_half_of_all_matches_is_a_rating_difference_of_0() -> None:
    tally = DuelSummary(MATCH)
    for number in range(4):
        tally.add(pair(number, (1.0, 0.0)))
    assert {"mean": 0.5, "error": 0.0, "rating_mean": 0.0} == {
        name: tally.report(4)["result"][name] for name in ("mean", "error", "rating_mean")
    }
