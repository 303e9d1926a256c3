"""A strategy in a duel: faults cost one decision, and are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from fibsbot.arena.duel.pairs import TimedStrategy
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAnswer, PlayAnswer, Strategy
from fibsbot.strategies.loader import StrategyError
from fibsbot.strategies.pool import MAX_HANGING
from fibsbot.strategies.questions import LastResort, PlayQuestion, Question, RollQuestion
from tests.arena.duel_strategies import Hanging, Nonsense, Racer, Raising, Unmakeable
from tests.patience import SOON

PLAYS = legal_plays(Position.start(), (3, 1))
WHICH = PlayQuestion(MatchState(Position.start(), phase=Phase.MOVE, dice=(3, 1)), PLAYS)
ROLL = RollQuestion(MatchState(Position.start()), may_double=True)
OpenStrategy = Callable[..., TimedStrategy]


@pytest.fixture
def open_strategy() -> Iterator[OpenStrategy]:
    """Open strategies, and close them at the end."""
    opened: list[TimedStrategy] = []

    def make(strategy: Callable[[], Strategy], deadline: float = SOON) -> TimedStrategy:
        opened.append(TimedStrategy("guest", strategy, deadline))
        return opened[-1]

    yield make
    for timed in opened:
        timed.close()


def test_the_answers_of_a_strategy_are_timed(open_strategy: OpenStrategy) -> None:
    timed = open_strategy(Racer)
    assert Racer().choose_play(WHICH.state, PLAYS) == timed.ask(WHICH)
    assert CubeAnswer(CubeAction.ROLL) == timed.ask(ROLL)
    counted = timed.collect()
    assert (1, 1, 0) == (counted.plays.count, counted.others.count, counted.faults)
    assert (0, 0, 0) == (timed.collect().plays.count, timed.collect().others.count, timed.collect().faults)


@pytest.mark.parametrize(
    ("strategy", "question", "text"),
    [
        (Raising, WHICH, "guest raised RuntimeError: no idea"),
        (Nonsense, WHICH, f"guest answered nonsense: expected one of the {len(PLAYS)} plays offered, got Play("),
        (Nonsense, ROLL, "guest answered nonsense: expected 0, 1, 2 or 3, got 7"),
    ],
)
def test_a_fault_is_counted_and_the_last_resort_decides(
    open_strategy: OpenStrategy, strategy: type[Strategy], question: Question, text: str
) -> None:
    timed = open_strategy(strategy)
    for _ in range(3):
        assert question.put_to(LastResort()) == timed.ask(question)
    counted = timed.collect()
    assert 3 == counted.faults
    assert counted.example.startswith(text)
    assert len(counted.example.splitlines()) == 1


def test_an_instance_that_hangs_is_replaced(open_strategy: OpenStrategy) -> None:
    made: list[Hanging] = []

    def make() -> Strategy:
        made.append(Hanging())
        return made[-1] if len(made) == 1 else Racer()

    timed = open_strategy(make, 0.05)
    assert PlayAnswer(PLAYS[0]) == timed.ask(WHICH)
    timed._deadline = SOON
    assert Racer().choose_play(WHICH.state, PLAYS) == timed.ask(WHICH)
    counted = timed.collect()
    assert ("guest gave no answer within 0.05 s", 1, 2) == (counted.example, counted.faults, counted.plays.count)
    made[0].let_go.set()
    assert made[0].closed.wait(SOON), "an instance that returns late is closed"


def test_no_further_instance_is_made_when_too_many_hang(open_strategy: OpenStrategy) -> None:
    made: list[Hanging] = []

    def make() -> Strategy:
        made.append(Hanging())
        return made[-1]

    timed = open_strategy(make, 0.01)
    for _ in range(MAX_HANGING + 5):
        timed.ask(WHICH)
    assert (MAX_HANGING, MAX_HANGING + 5) == (len(made), timed.collect().faults)
    for it in made:
        it.let_go.set()


def test_a_strategy_that_cannot_be_made_is_reported_in_one_line(open_strategy: OpenStrategy) -> None:
    with pytest.raises(StrategyError, match=r"^guest raised OSError: no network found$"):
        open_strategy(Unmakeable)


def test_closing_closes_the_strategy(open_strategy: OpenStrategy) -> None:
    strategy = Hanging()
    open_strategy(lambda: strategy).close()
    assert strategy.closed.is_set()
