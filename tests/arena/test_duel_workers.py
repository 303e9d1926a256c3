"""Whatever a strategy does, it costs one decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from fibsbot.arena.duel.workers import TimedStrategy
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAnswer, PlayAnswer, Strategy
from fibsbot.strategies.loader import StrategyError
from fibsbot.strategies.pool import MAX_HANGING
from fibsbot.strategies.questions import LastResort, PlayQuestion, Question, RollQuestion
from tests.arena.duel_strategies import Hanging, Nonsense, Racer, Raising, Unmakeable

PLAYS = legal_plays(Position.start(), (3, 1))
WHICH = PlayQuestion(MatchState(Position.start(), phase=Phase.MOVE, dice=(3, 1)), PLAYS)
ROLL = RollQuestion(MatchState(Position.start()), may_double=True)
Sit = Callable[..., TimedStrategy]


@pytest.fixture
def sit() -> Iterator[Sit]:
    """Have strategies asked, and close them in the end."""
    askers: list[TimedStrategy] = []

    def make(strategy: Callable[[], Strategy], deadline: float = 60.0) -> TimedStrategy:
        askers.append(TimedStrategy("guest", strategy, deadline))
        return askers[-1]

    yield make
    for asker in askers:
        asker.close()


def test_a_good_strategy_is_asked_and_timed(sit: Sit) -> None:
    asker = sit(Racer)
    assert Racer().choose_play(WHICH.state, PLAYS) == asker.ask(WHICH)
    assert CubeAnswer(CubeAction.ROLL) == asker.ask(ROLL)
    counted = asker.collect()
    assert (1, 1, 0) == (counted.plays.count, counted.others.count, counted.faults)
    assert (0, 0, 0) == (asker.collect().plays.count, asker.collect().others.count, asker.collect().faults)


@pytest.mark.parametrize(
    ("strategy", "question", "text"),
    [
        (Raising, WHICH, "guest raised RuntimeError: no idea"),
        (Nonsense, WHICH, f"guest answered nonsense: expected one of the {len(PLAYS)} plays offered, got Play("),
        (Nonsense, ROLL, "guest answered nonsense: expected 0, 1, 2 or 3, got 7"),
    ],
)
def test_a_fault_is_counted_and_a_fallback_decides(
    sit: Sit, strategy: type[Strategy], question: Question, text: str
) -> None:
    asker = sit(strategy)
    for _ in range(3):
        assert question.put_to(LastResort()) == asker.ask(question)
    counted = asker.collect()
    assert 3 == counted.faults
    assert counted.example.startswith(text)
    assert len(counted.example.splitlines()) == 1


def test_one_that_hangs_is_left_and_another_takes_its_place(sit: Sit) -> None:
    made: list[Hanging] = []

    def make() -> Strategy:
        made.append(Hanging())
        return made[-1] if len(made) == 1 else Racer()

    asker = sit(make, 0.05)
    assert PlayAnswer(PLAYS[0]) == asker.ask(WHICH)
    assert Racer().choose_play(WHICH.state, PLAYS) == asker.ask(WHICH)
    counted = asker.collect()
    assert ("guest gave no answer within 0.05 s", 1, 2) == (counted.example, counted.faults, counted.plays.count)
    made[0].let_go.set()
    assert made[0].closed.wait(30), "what comes back late is closed"


def test_no_more_are_made_when_too_many_hang(sit: Sit) -> None:
    made: list[Hanging] = []

    def make() -> Strategy:
        made.append(Hanging())
        return made[-1]

    asker = sit(make, 0.01)
    for _ in range(MAX_HANGING + 5):
        asker.ask(WHICH)
    assert (MAX_HANGING, MAX_HANGING + 5) == (len(made), asker.collect().faults)
    for it in made:
        it.let_go.set()


def test_one_that_cannot_be_made_says_so_in_a_line(sit: Sit) -> None:
    with pytest.raises(StrategyError, match=r"^guest raised OSError: no network found$"):
        sit(Unmakeable)


def test_closing_closes_the_strategy(sit: Sit) -> None:
    strategy = Hanging()
    sit(lambda: strategy).close()
    assert strategy.closed.is_set()
