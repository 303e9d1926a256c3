"""Pairs: what is known beforehand of who plays whom, and that taking the luck out bends nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from fibsbot.analysis.luck import luck_adjusted_result
from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.arena.duel.plan import MONEY_CUBE_LIMIT, DuelError, DuelPlan
from fibsbot.arena.duel.results import DuelSummary
from fibsbot.arena.duel.workers import PairPlayer, TimedStrategy
from fibsbot.formats.mat import read_mats
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.strategies.random_play import RandomStrategy
from tests.arena.duel_strategies import Blind, Racer, Resigner, Runner

MONEY = DuelPlan(("a", "b"))
MATCH = DuelPlan(("a", "b"), length=2)


@contextlib.contextmanager
def room(
    plan: DuelPlan, one: Strategy, other: Strategy, judge: Evaluator | None = None, mats: Path | None = None
) -> Iterator[PairPlayer]:
    """Have two strategies play."""
    askers = TimedStrategy("one", lambda: one, 60), TimedStrategy("other", lambda: other, 60)
    yield PairPlayer(plan, askers, judge, mats)
    for asker in askers:
        asker.close()


def played(plan: DuelPlan, one: Strategy, other: Strategy, pairs: int, judge: Evaluator | None = None) -> DuelSummary:
    """Play so many pairs."""
    tally = DuelSummary(plan)
    with room(plan, one, other, judge) as here:
        for number in range(pairs):
            tally.add(here.play(number))
    return tally


@pytest.mark.slow
@pytest.mark.parametrize("plan", [MONEY, evolve(MONEY, jacoby=True, beavers=True), evolve(MONEY, cube=False), MATCH])
def test_who_always_decides_alike_draws_with_itself(plan: DuelPlan) -> None:
    with room(plan, Racer(), Racer()) as here:
        for number in range(6):
            first, second = here.play(number).results
            assert (1.0 if plan.length else 0.0) == first + second


@pytest.mark.slow
def test_its_luck_is_even_too() -> None:
    tally = played(evolve(MONEY, cube=False), Racer(), Racer(), 2, Racer())
    assert (0.0, 0.0) == (tally.result.mean, tally.result.error) if tally.result else None
    assert (0.0, 0.0) == (tally.adjusted.mean, tally.adjusted.error) if tally.adjusted else None


@pytest.mark.slow
def test_chance_draws_with_chance_within_its_interval() -> None:
    tally = played(evolve(MONEY, cube=False), RandomStrategy(1), RandomStrategy(2), 20)
    found = tally.result
    assert found is not None
    assert abs(found.mean) < 2.6 * found.error


@pytest.mark.slow
def test_who_races_home_beats_chance_wherever_it_sits() -> None:
    for one, other, sign in ((Racer(), RandomStrategy(1), 1), (RandomStrategy(1), Racer(), -1)):
        found = played(evolve(MONEY, cube=False), one, other, 12).result
        assert found is not None
        assert sign * found.mean > 3 * found.error > 0


@pytest.mark.slow
def test_luck_is_nothing_on_average_whoever_judges() -> None:
    """The Racer knows little of backgammon, and yet its luck bends nothing."""
    tally, luck = DuelSummary(MONEY), DuelSummary(MONEY)
    with room(MONEY, Racer(), Runner(), Racer()) as here:
        for number in range(3):
            pair = here.play(number)
            assert pair.luck is not None
            tally.add(pair)
            luck.add(evolve(pair, results=pair.luck))
    mean, result, adjusted = luck.result, tally.result, tally.adjusted
    assert mean is not None
    assert result is not None
    assert adjusted is not None
    assert abs(mean.mean) < 2.6 * mean.error
    assert pytest.approx(result.mean - mean.mean) == adjusted.mean


@pytest.mark.slow
def test_the_luck_of_a_match_is_that_of_its_study(tmp_path: Path) -> None:
    plan = evolve(MATCH, length=1)
    with room(plan, Racer(), Runner(), Racer(), tmp_path) as here:
        pair = here.play(0)
    assert pair.luck is not None
    for result, luck, path, seat in zip(pair.results, pair.luck, sorted(tmp_path.iterdir()), Seat, strict=True):
        (transcript,) = read_mats(path.read_text("utf-8"))
        assert pytest.approx(luck_adjusted_result(analyse_match(transcript, Racer()), seat)) == result - luck


@pytest.mark.slow
def test_errors_come_with_the_luck() -> None:
    tally = played(evolve(MONEY, cube=False), Racer(), RandomStrategy(3), 1, Racer())
    racer, chance = tally.performances
    assert 0 == racer.faults == chance.faults
    assert racer.pr is not None
    assert chance.pr is not None
    assert racer.pr < 5 < chance.pr


def test_a_judge_that_fails_leaves_the_result_and_says_why() -> None:
    tally = played(evolve(MONEY, cube=False), Racer(), Racer(), 2, Blind())
    report = tally.report(2)
    assert (2, 2, None) == (report["pairs"], report["unjudged"], report["adjusted"])
    assert "racer cannot evaluate: RuntimeError: too dark" in report["examples"][0]


def test_resigning_a_backgammon_costs_three_points() -> None:
    plan = evolve(MONEY, cube=False)
    with room(plan, Resigner(), Racer()) as here:
        assert (-3.0, -3.0) == here.play(0).results


def test_the_cube_of_money_games_has_an_end() -> None:
    assert MONEY_CUBE_LIMIT == MONEY.laws.cube_limit
    assert MATCH.laws.cube_limit is None


@pytest.mark.parametrize("plan", [MONEY, MATCH])
def test_what_was_played_can_be_analysed(plan: DuelPlan, tmp_path: Path) -> None:
    plan = evolve(plan, strategies=("racer", "random"))
    with room(plan, Racer(), RandomStrategy(5), mats=tmp_path) as here:
        pair = here.play(11)
    assert ["000012a.mat", "000012b.mat"] == sorted(it.name for it in tmp_path.iterdir())
    for result, path, seat in zip(pair.results, sorted(tmp_path.iterdir()), Seat, strict=True):
        (transcript,) = read_mats(path.read_text("utf-8"))
        assert "racer" == transcript.players[seat].name
        points = transcript.scores[seat] - transcript.scores[seat.other]
        assert result == (float(transcript.winner is seat) if plan.length else points)
        assert analyse_match(transcript, Racer(), luck=False).figures_of(seat).decisions > 0


def test_a_folder_that_is_gone_is_told_in_a_line(tmp_path: Path) -> None:
    with room(MONEY, Racer(), Racer(), mats=tmp_path / "gone") as here, pytest.raises(DuelError, match="cannot write"):
        here.play(0)
