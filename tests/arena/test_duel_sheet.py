"""The printed report of a duel."""

from __future__ import annotations

import pytest
from attrs import evolve

from fibsbot.arena.duel.games import DuelPlan
from fibsbot.arena.duel.results import DuelSummary, PairResult, StrategyStats, TimeHistogram
from fibsbot.cli.duel import format_report, running_result

MONEY = DuelPlan(("ford", "marvin"), evaluator="heuristic")
MATCH = DuelPlan(("ford", "ford"), length=5, cube=False)


def tally(plan: DuelPlan, *results: tuple[float, float], luck: float | None = None) -> DuelSummary:
    """Sum up pairs with these results, each with this luck."""
    times = TimeHistogram()
    for seconds in (2e-6, 0.004, 2.5):
        times.add(seconds)
    performance = StrategyStats(times, TimeHistogram(), judged=100, loss=1.0)
    found = DuelSummary(plan)
    for number, it in enumerate(results):
        lucky = None if luck is None else (luck * it[0], luck * it[1])
        found.add(PairResult(number, it, lucky, 3, (performance, performance)))
    return found


def test_points_per_game_have_an_interval() -> None:
    text = format_report(tally(MONEY, (2.0, 1.0), (-1.0, 0.0)).report(2))
    assert "ford against marvin: 6 money games with a cube, the same dice twice, seed 1" in text
    assert "ford +0.5000 points a game, standard error 1.0000, 95 %: -1.4600 to +2.4600" in text
    assert "Interrupted" not in text


def test_options_of_money_games_are_named() -> None:
    text = format_report(tally(evolve(MONEY, jacoby=True, beavers=True), (2.0, 1.0), (-1.0, 0.0)).report(2))
    assert "money games with a cube (jacoby, beavers)," in text


def test_matches_have_a_rating_difference() -> None:
    text = format_report(tally(MATCH, *[(1.0, 0.0), (1.0, 1.0)] * 20).report(50))
    assert "ford A against ford B: 80 matches to 5 (120 games) without a cube, the same dice twice, seed 1" in text
    assert "Interrupted after 40 of 50 pairs." in text
    assert "ford A 75.00 % of matches, standard error 4.00, 95 %: 67.15 to 82.85 %; +427 FIBS rating points " in text


def test_all_matches_won_have_no_upper_limit() -> None:
    text = format_report(tally(MATCH, (1.0, 1.0), (1.0, 1.0)).report(2))
    assert "100.00 % of matches" in text
    assert "FIBS rating points" not in text


@pytest.mark.parametrize(
    ("luck", "words"), [(2 / 3, "worth 9 times as many pairs.\n"), (3.0, "makes the result less sure")]
)
def test_the_gain_of_luck_adjustment_is_printed(luck: float, words: str) -> None:
    text = format_report(tally(MONEY, (3.0, 3.0), (-3.0, -3.0), (0.0, 1.0), luck=luck).report(3))
    assert words in text
    assert "without luck: " in text


def test_times_and_ratings_are_aligned() -> None:
    lines = format_report(tally(MONEY, (3.0, 3.0)).report(1)).splitlines()
    (head,) = [line for line in lines if "median" in line]
    (row,) = [line for line in lines if line.startswith("marvin")]
    assert ["3", "3.97", "ms", "2.59", "s", "0", "-", "-", "0", "5.00"] == row.split()[1:]
    assert len(head) == len(row)
    assert "Fewer than two pairs: too few for a result." in lines
    assert "PR as evaluated by heuristic, from 200 decisions that count." in lines


def test_the_running_result_is_the_more_accurate_one() -> None:
    assert "" == running_result(tally(MONEY, (3.0, 3.0)))
    assert "ford +0.000 ± 1.960" == running_result(tally(MONEY, (3.0, 3.0), (-3.0, -3.0), luck=2 / 3))
    assert "ford +0.000 ± 5.880" == running_result(tally(MONEY, (3.0, 3.0), (-3.0, -3.0), luck=3.0))
    assert "ford A 75.0 % ± 49.0" == running_result(tally(MATCH, (1.0, 0.0), (1.0, 1.0)))
