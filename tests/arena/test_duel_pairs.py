"""Pairs: results that are known in advance, and luck adjustment without bias."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from attrs import evolve

from fibsbot.analysis.luck import luck_adjusted_result
from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.arena.duel.games import MONEY_CUBE_LIMIT, DuelError, DuelPlan
from fibsbot.arena.duel.pairs import PairPlayer, TimedStrategy, play_pairs
from fibsbot.arena.duel.results import DuelSummary
from fibsbot.formats.mat_reader import read_mats
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import Evaluator, Strategy
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.workers.pool import InProcessPool, WorkerPool
from tests.arena.duel_strategies import Blind, Racer, Resigner, Runner

MONEY = DuelPlan(("a", "b"))
MATCH = DuelPlan(("a", "b"), length=2)


@contextlib.contextmanager
def pair_player(
    plan: DuelPlan, one: Strategy, other: Strategy, evaluator: Evaluator | None = None, *, with_mats: bool = False
) -> Iterator[PairPlayer]:
    """A player of pairs for two strategies."""
    players = TimedStrategy("one", lambda: one, 60), TimedStrategy("other", lambda: other, 60)
    yield PairPlayer(plan, players, (lambda: evaluator) if evaluator else None, with_mats=with_mats)
    for player in players:
        player.close()


def played(
    plan: DuelPlan, one: Strategy, other: Strategy, pairs: int, evaluator: Evaluator | None = None
) -> DuelSummary:
    """Play pairs and sum them up."""
    summary = DuelSummary(plan)
    with pair_player(plan, one, other, evaluator) as player:
        for number in range(pairs):
            summary.add(player.play(number).result)
    return summary


@pytest.mark.slow
@pytest.mark.parametrize("plan", [MONEY, evolve(MONEY, jacoby=True, beavers=True), evolve(MONEY, cube=False), MATCH])
def test_a_deterministic_strategy_draws_with_itself(plan: DuelPlan) -> None:
    with pair_player(plan, Racer(), Racer()) as player:
        for number in range(6):
            first, second = player.play(number).result.results
            assert (1.0 if plan.length else 0.0) == first + second


@pytest.mark.slow
def test_its_luck_is_zero_too() -> None:
    summary = played(evolve(MONEY, cube=False), Racer(), Racer(), 2, Racer())
    assert (0.0, 0.0) == (summary.result.mean, summary.result.error) if summary.result else None
    assert (0.0, 0.0) == (summary.adjusted.mean, summary.adjusted.error) if summary.adjusted else None


@pytest.mark.slow
def test_random_against_random_is_a_draw_within_the_interval() -> None:
    summary = played(evolve(MONEY, cube=False), RandomStrategy(1), RandomStrategy(2), 20)
    found = summary.result
    assert found is not None
    assert abs(found.mean) < 2.6 * found.error


@pytest.mark.slow
def test_racing_beats_random_as_a_and_as_b() -> None:
    for one, other, sign in ((Racer(), RandomStrategy(1), 1), (RandomStrategy(1), Racer(), -1)):
        found = played(evolve(MONEY, cube=False), one, other, 12).result
        assert found is not None
        assert sign * found.mean > 3 * found.error > 0


@pytest.mark.slow
def test_the_mean_of_luck_is_zero_for_a_poor_evaluator() -> None:
    """The Racer knows little of backgammon, and yet its luck does not bias the result."""
    summary, luck = DuelSummary(MONEY), DuelSummary(MONEY)
    with pair_player(MONEY, Racer(), Runner(), Racer()) as player:
        for number in range(3):
            pair = player.play(number).result
            assert pair.luck is not None
            summary.add(pair)
            luck.add(evolve(pair, results=pair.luck))
    mean, result, adjusted = luck.result, summary.result, summary.adjusted
    assert mean is not None
    assert result is not None
    assert adjusted is not None
    assert abs(mean.mean) < 2.6 * mean.error
    assert pytest.approx(result.mean - mean.mean) == adjusted.mean


@pytest.mark.slow
def test_the_luck_of_a_match_is_that_of_its_analysis() -> None:
    plan = evolve(MATCH, length=1)
    with pair_player(plan, Racer(), Runner(), Racer(), with_mats=True) as player:
        played = player.play(14)  # short games
    pair = played.result
    assert pair.luck is not None
    for result, luck, text, seat in zip(pair.results, pair.luck, played.mats.values(), Seat, strict=True):
        (transcript,) = read_mats(text)
        assert pytest.approx(luck_adjusted_result(analyse_match(transcript, Racer()), seat)) == result - luck


@pytest.mark.slow
def test_errors_come_with_the_luck() -> None:
    summary = played(evolve(MONEY, cube=False), Racer(), RandomStrategy(3), 1, Racer())
    racer, chance = summary.performances
    assert 0 == racer.faults == chance.faults
    assert racer.pr is not None
    assert chance.pr is not None
    assert racer.pr < 5 < chance.pr


def test_if_the_evaluator_fails_the_result_is_kept_and_the_error_reported() -> None:
    summary = played(evolve(MONEY, cube=False), Racer(), Racer(), 2, Blind())
    report = summary.report(2)
    assert (2, 2, None) == (report["pairs"], report["unjudged"], report["adjusted"])
    assert "racer cannot evaluate: RuntimeError: too dark" in report["examples"][0]


def test_resigning_a_backgammon_costs_three_points() -> None:
    plan = evolve(MONEY, cube=False)
    with pair_player(plan, Resigner(), Racer()) as player:
        assert (-3.0, -3.0) == player.play(0).result.results


def test_the_cube_of_money_games_has_a_limit() -> None:
    assert MONEY_CUBE_LIMIT == MONEY.laws.cube_limit
    assert MATCH.laws.cube_limit is None


@pytest.mark.slow
@pytest.mark.parametrize("plan", [MONEY, MATCH])
def test_written_matches_can_be_analysed(plan: DuelPlan) -> None:
    plan = evolve(plan, strategies=("racer", "random"))
    with pair_player(plan, Racer(), RandomStrategy(5), with_mats=True) as player:
        played = player.play(11)
    assert ["000012a.mat", "000012b.mat"] == [*played.mats]
    for result, text, seat in zip(played.result.results, played.mats.values(), Seat, strict=True):
        (transcript,) = read_mats(text)
        assert "racer" == transcript.players[seat].name
        points = transcript.scores[seat] - transcript.scores[seat.other]
        assert result == (float(transcript.winner is seat) if plan.length else points)
        assert analyse_match(transcript, Racer(), luck=False).figures_of(seat).decisions > 0


def test_a_pair_does_not_depend_on_those_before_it() -> None:
    """Strategies that decide by chance begin each pair with a seed of their own."""
    plan = evolve(MONEY, cube=False)
    with pair_player(plan, RandomStrategy(), RandomStrategy(), with_mats=True) as player:
        first, second, again = (player.play(number).mats for number in (3, 4, 3))
    assert first == again
    assert [*first.values()] != [*second.values()]
    assert len({*first.values(), *second.values()}) == 4


def test_a_missing_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    plan = DuelPlan(("random", "random"), length=1)
    with pytest.raises(DuelError, match="cannot write"):
        next(play_pairs(plan, [0], InProcessPool(), tmp_path / "missing"))


def test_only_strategies_of_ours_play_on_other_machines() -> None:
    pool = create_autospec(WorkerPool, is_local=False)
    with pytest.raises(DuelError, match=r"^strategy 'gnubg' works on this machine only, without --scheduler: "):
        next(play_pairs(DuelPlan(("engine:0", "gnubg")), [0], pool))
