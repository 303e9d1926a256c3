"""Keeps an engine running: starts it when it is asked, and again after it has died."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

from fibsbot.strategies.foreign.errors import DeclinedError, EndedError, NotReadyError

PAUSES: Final = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds between a failure and the next start: after the first, the second... failure in a row."""
ATTEMPTS: Final = 20
"""After so many failures in a row it is not started again."""


class Engine(Protocol):
    """What can be kept running."""

    @property
    def running(self) -> bool:
        """Whether it can be asked, as far as is known."""
        ...

    def close(self) -> None:
        """End it."""
        ...


EngineT = TypeVar("EngineT", bound=Engine)
AnswerT = TypeVar("AnswerT")


class Revival(Generic[EngineT]):
    """Holds at most one engine.

    An engine that has ended is started again and asked again: that costs no decision unless it ends again. One that is
    late or talks nonsense is ended and costs that decision. Nobody waits for a pause to end: who asks in it gets an
    error at once.
    """

    def __init__(self, start: Callable[[float], EngineT], clock: Callable[[], float] = time.monotonic) -> None:
        """Start nothing yet; `start` is told until when, by `time.monotonic`, whoever asks can wait."""
        self._start = start
        self._clock = clock
        self._engine: EngineT | None = None
        self._failures = 0
        self._not_before = 0.0

    def ask(self, question: Callable[[EngineT], AnswerT], deadline: float) -> AnswerT:
        """Return what a question to the running engine returns; raise EngineError where there is none to ask."""
        fresh = self._engine is None
        try:
            answer = question(self._running(deadline))
        except (DeclinedError, NotReadyError):
            raise
        except BaseException as error:
            self._fail()
            if fresh or not isinstance(error, EndedError):
                raise
            return self.ask(question, deadline)
        self._failures = 0
        return answer

    def close(self) -> None:
        """End the engine; it is started again if it is asked again."""
        if self._engine is not None:
            engine, self._engine = self._engine, None
            engine.close()

    def _running(self, deadline: float) -> EngineT:
        if self._engine is not None and not self._engine.running:
            self.close()
        if self._engine is None:
            if self._failures >= ATTEMPTS:
                raise DeclinedError(f"failed {ATTEMPTS} times in a row and is not started again")
            left = self._not_before - self._clock()
            if left > 0:
                raise DeclinedError(f"has failed, and is started again in {left:.0f} s")
            self._engine = self._start(deadline)
        return self._engine

    def _fail(self) -> None:
        self.close()
        pause = PAUSES[min(self._failures, len(PAUSES) - 1)]
        self._failures += 1
        self._not_before = self._clock() + pause
