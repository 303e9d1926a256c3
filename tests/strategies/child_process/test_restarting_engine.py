"""An engine is kept running, with pauses that grow while it fails."""

from __future__ import annotations

import pytest

from fibsbot.strategies.child_process.process import (
    MAX_FAILURES,
    RESTART_DELAYS,
    DeclinedError,
    EngineError,
    EngineExitedError,
    NotReadyError,
    RestartingEngine,
)


class Engine:
    """An engine that answers, or raises what it is told to."""

    def __init__(self, errors: list[Exception]) -> None:
        self.running = True
        self._errors = errors

    def ask(self) -> int:
        """Answer or raise."""
        if self._errors:
            raise self._errors.pop(0)
        return 42

    def close(self) -> None:
        """End."""
        self.running = False


class House:
    """A revival with a clock of its own, and how often it has started an engine."""

    def __init__(self) -> None:
        self.now = 0.0
        self.starts: list[Engine] = []
        self.errors: list[Exception] = []
        self.revival = RestartingEngine(self._start, lambda: self.now)

    def ask(self) -> int:
        """Ask whichever engine there is."""
        return self.revival.ask(Engine.ask, 1.0)

    def _start(self, _deadline: float) -> Engine:
        self.starts.append(Engine(self.errors))
        return self.starts[-1]


def test_nothing_is_started_before_it_is_asked_and_then_once() -> None:
    house = House()
    assert [] == house.starts
    assert [42, 42] == [house.ask(), house.ask()]
    assert 1 == len(house.starts)
    house.revival.close()
    assert not house.starts[0].running


def test_an_engine_that_has_ended_is_replaced_without_a_loss() -> None:
    house = House()
    house.ask()
    house.starts[0].running = False
    assert 42 == house.ask()
    house.errors.append(EngineExitedError("ended"))  # noticed only when it is asked
    assert 42 == house.ask()
    assert 3 == len(house.starts)


def test_an_engine_that_ends_again_and_again_costs_the_decision() -> None:
    house = House()
    house.ask()
    house.errors += [EngineExitedError("ended"), EngineExitedError("ended")]
    with pytest.raises(EngineExitedError):
        house.ask()
    assert [False, False] == [engine.running for engine in house.starts]


def test_pauses_grow_to_a_minute_and_end_with_an_answer() -> None:
    house = House()
    for pause in (*RESTART_DELAYS, RESTART_DELAYS[-1]):
        house.errors.append(EngineError("nonsense"))
        with pytest.raises(EngineError, match="nonsense"):
            house.ask()
        if pause:
            house.now += pause - 0.5
            with pytest.raises(DeclinedError, match="is started again in"):
                house.ask()
        house.now += 1
    assert 42 == house.ask()
    house.errors.append(EngineError("nonsense"))
    with pytest.raises(EngineError, match="nonsense"):
        house.ask()
    assert 42 == house.ask()


def test_an_engine_that_never_works_is_given_up() -> None:
    house = House()
    for _ in range(MAX_FAILURES):
        house.errors.append(EngineError("nonsense"))
        with pytest.raises(EngineError, match="nonsense"):
            house.ask()
        house.now += 100
    with pytest.raises(DeclinedError, match="failed 20 times in a row and is not started again"):
        house.ask()
    assert MAX_FAILURES == len(house.starts)


@pytest.mark.parametrize("error", [DeclinedError("is sorry"), NotReadyError("not yet")])
def test_an_engine_that_is_only_sorry_or_slow_goes_on(error: Exception) -> None:
    house = House()
    house.errors.append(error)
    with pytest.raises(type(error)):
        house.ask()
    assert 42 == house.ask()
    assert 1 == len(house.starts)
