"""Games as generators: whatever is answered, the games are legal and finished."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.arena.duel.games import DuelPlan, GameDice, Games, play_match, play_out
from fibsbot.match import CubeAction, MatchState
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import CubeAnswer, Strategy
from fibsbot.strategies.questions import Question, StrategyAnswer
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.transcript import Cube, Resign, Throw, walk
from tests.arena.duel_strategies import Racer, Resigner
from tests.examples import examples

plans = st.builds(
    lambda length, seed, cube, money: DuelPlan(
        ("x", "y"), length, seed, cube, jacoby=money and not length, beavers=money and not length
    ),
    st.sampled_from((0, 0, 1, 2, 3)),
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
)


def played(plan: DuelPlan, one: Strategy, other: Strategy, number: int = 0) -> Games:
    """Play one match."""

    def ask(strategy: Strategy, question: Question) -> StrategyAnswer:
        return question.put_to(strategy)

    match = play_match(plan.laws, plan.length, partial(GameDice, plan.seed, number))
    return play_out(match, [partial(ask, one), partial(ask, other)])


@pytest.mark.slow
@examples(25)
@given(plans, st.integers(0, 99))
def test_every_match_is_legal_and_complete(plan: DuelPlan, seed: int) -> None:
    games = played(plan, RandomStrategy(seed), Resigner() if seed % 3 == 0 else RandomStrategy(seed + 1))
    scores = (0, 0)
    for game in games:
        assert game.whole
        assert scores == game.start.scores
        *_, last = walk(game)
        assert last.after.result is not None
        assert last.after.result == game.result
        scores = last.after.scores
    assert (1 if not plan.length else len(games)) == len(games)
    assert not plan.length or max(scores) >= plan.length


def test_without_a_cube_there_are_no_questions_about_it() -> None:
    asked: list[bool] = []

    class Curious(Racer):
        """Check the question."""

        def resign(self, state: MatchState) -> int:
            asked.append(state.cubeless)
            return 0

        def offer_double(self, state: MatchState) -> CubeAnswer:
            pytest.fail(f"asked to double in {state}")

    (game,) = played(DuelPlan(("x", "y"), cube=False), Curious(), Curious())
    assert {True} == set(asked)
    assert all(isinstance(entry, Throw) for entry in game.entries)


def test_both_games_of_a_pair_have_the_same_dice() -> None:
    """The seats change the plays, not the dice."""
    plan = DuelPlan(("x", "y"), cube=False)
    throws = []
    for one, other in ((Racer(), RandomStrategy(1)), (RandomStrategy(2), Racer())):
        (game,) = played(plan, one, other)
        throws.append([it.dice for it in game.entries if isinstance(it, Throw)])
    assert all(one == other for one, other in zip(*throws, strict=False))


def test_a_resignation_that_was_rejected_is_not_offered_again() -> None:
    (game,) = played(DuelPlan(("x", "y")), Resigner(), Resigner())
    offers = [it for it in game.entries if isinstance(it, Resign)]
    assert {Seat.A: 1, Seat.B: 1} == {seat: sum(it.seat is seat for it in offers) for seat in Seat}
    assert not any(it.accepted for it in offers)


def test_a_resignation_that_wins_the_match_is_accepted_without_a_question() -> None:
    """The Resigner accepts nothing, but wins the match."""
    (game,) = played(DuelPlan(("x", "y"), length=1), Resigner(), Resigner())
    (offer,) = [it for it in game.entries if isinstance(it, Resign)]
    assert offer.accepted


def test_a_dead_cube_is_not_turned() -> None:
    class Doubler(Racer):
        """Double whenever that is legal."""

        def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - whatever it is
            return CubeAnswer(CubeAction.DOUBLE)

    for number in range(4):
        for game in played(DuelPlan(("x", "y"), length=2, seed=5), Doubler(), Doubler(), number):
            for step in walk(game):
                if isinstance(step.entry, Cube) and step.entry.action is CubeAction.DOUBLE:
                    assert step.before.scores[step.entry.seat] + step.before.cube < 2


def test_matches_that_run_side_by_side_have_the_same_result() -> None:
    """A program that answers many questions at once can play many games at once."""
    plan, racer, random = DuelPlan(("x", "y")), Racer(), Random(3)
    matches = [play_match(plan.laws, plan.length, partial(GameDice, plan.seed, number)) for number in range(6)]
    waiting = {number: next(match) for number, match in enumerate(matches)}
    finished: dict[int, Games] = {}
    while waiting:
        number = random.choice(list(waiting))
        try:
            waiting[number] = matches[number].send(waiting[number].question.put_to(racer))
        except StopIteration as end:
            finished[number] = end.value
            del waiting[number]
    assert {number: played(plan, racer, racer, number) for number in range(6)} == finished
