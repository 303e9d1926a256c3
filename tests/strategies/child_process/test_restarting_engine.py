"""An engine is restarted after failures, with growing pauses."""

from __future__ import annotations

import pytest

from fibsbot.strategies.child_process.engine_process import (
    MAX_FAILURES,
    RESTART_DELAYS,
    DeclinedError,
    EngineError,
    EngineExitedError,
    NotReadyError,
    RestartingEngine,
)


class Engine:
    """An engine that answers, or raises given errors."""

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


class Starter:
    """A RestartingEngine with its own clock, and the engines that it has started."""

    def __init__(self) -> None:
        self.now = 0.0
        self.starts: list[Engine] = []
        self.errors: list[Exception] = []
        self.engine = RestartingEngine(self._start, lambda: self.now)

    def ask(self) -> int:
        """Ask the engine."""
        return self.engine.ask(Engine.ask, 1.0)

    def _start(self, _deadline: float) -> Engine:
        self.starts.append(Engine(self.errors))
        return self.starts[-1]


def test_an_engine_is_started_by_the_first_question_only() -> None:
    starter = Starter()
    assert [] == starter.starts
    assert [42, 42] == [starter.ask(), starter.ask()]
    assert 1 == len(starter.starts)
    starter.engine.close()
    assert not starter.starts[0].running


def test_an_engine_that_has_ended_is_replaced_without_a_loss() -> None:
    starter = Starter()
    starter.ask()
    starter.starts[0].running = False
    assert 42 == starter.ask()
    starter.errors.append(EngineExitedError("ended"))  # noticed only when it is asked
    assert 42 == starter.ask()
    assert 3 == len(starter.starts)


def test_an_engine_that_ends_twice_loses_the_decision() -> None:
    starter = Starter()
    starter.ask()
    starter.errors += [EngineExitedError("ended"), EngineExitedError("ended")]
    with pytest.raises(EngineExitedError):
        starter.ask()
    assert [False, False] == [engine.running for engine in starter.starts]


def test_pauses_grow_to_a_minute_and_end_with_an_answer() -> None:
    starter = Starter()
    for pause in (*RESTART_DELAYS, RESTART_DELAYS[-1]):
        starter.errors.append(EngineError("nonsense"))
        with pytest.raises(EngineError, match="nonsense"):
            starter.ask()
        if pause:
            starter.now += pause - 0.5
            with pytest.raises(DeclinedError, match="is started again in"):
                starter.ask()
        starter.now += 1
    assert 42 == starter.ask()
    starter.errors.append(EngineError("nonsense"))
    with pytest.raises(EngineError, match="nonsense"):
        starter.ask()
    assert 42 == starter.ask()


def test_an_engine_that_never_works_is_given_up() -> None:
    starter = Starter()
    for _ in range(MAX_FAILURES):
        starter.errors.append(EngineError("nonsense"))
        with pytest.raises(EngineError, match="nonsense"):
            starter.ask()
        starter.now += 100
    with pytest.raises(DeclinedError, match="failed 20 times in a row and is not started again"):
        starter.ask()
    assert MAX_FAILURES == len(starter.starts)


@pytest.mark.parametrize("error", [DeclinedError("is sorry"), NotReadyError("not yet")])
def test_an_engine_that_is_only_sorry_or_slow_goes_on(error: Exception) -> None:
    starter = Starter()
    starter.errors.append(error)
    with pytest.raises(type(error)):
        starter.ask()
    assert 42 == starter.ask()
    assert 1 == len(starter.starts)
