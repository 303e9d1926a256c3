"""A strategy in a thread of its own: it may raise, answer nonsense or hang, and costs no more than one decision."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from attrs import field, frozen

from fibsbot.arena.duel.tally import Performance, Times
from fibsbot.bot.fallback import LastResort
from fibsbot.bot.questions import Answer, NonsenseError, Question, WhichPlay
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError

MAKING: Final = 300.0
"""Seconds for a strategy to be made: it may load networks and compile."""
CLOSING: Final = 2.0
"""Seconds for a strategy to be closed; then the process goes without it."""
SPARES: Final = 8
"""So many instances may hang before no further one is made."""
LONGEST: Final = 200
"""Characters of a fault that are kept."""

Make: TypeAlias = Callable[[], Strategy]


@frozen
class _Fault:
    """Why there is no answer; goes on after the strategy's name."""

    text: str


@frozen
class _Hand:
    """A thread that has made a strategy, and the ways to it and from it."""

    inbox: SimpleQueue[Question | None] = field(factory=SimpleQueue)
    outbox: SimpleQueue[tuple[Answer | _Fault | None, float]] = field(factory=SimpleQueue)


class Asker:
    """Puts one question after the other to a strategy; if it has no answer, the last resort has one."""

    def __init__(self, name: str, make: Make, deadline: float) -> None:
        """Make the strategy, in the thread that will ask it. Raises StrategyError where it cannot be made."""
        self._name = name
        self._make = make
        self._deadline = deadline
        self._hanging = 0
        self._hand: _Hand | None = None
        self._thread: threading.Thread | None = None
        fault = self._begin()
        if fault:
            raise StrategyError(fault.text)
        self._fresh()

    def _fresh(self) -> None:
        self._plays = Times()
        self._others = Times()
        self._faults = 0
        self._example = ""

    def ask(self, question: Question) -> Answer:
        """Return an answer, whatever the strategy does."""
        answer = self._answer(question)
        if not isinstance(answer, _Fault):
            return answer
        self._faults += 1
        self._example = self._example or f"{self._name} {answer.text}"[:LONGEST]
        return question.put_to(LastResort())

    def collect(self) -> Performance:
        """Return what was counted since the last time."""
        counted = Performance(self._plays, self._others, self._faults, self._example)
        self._fresh()
        return counted

    def close(self) -> None:
        """Let the strategy be closed by its thread; one that does not come back is left."""
        if self._hand and self._thread:
            self._hand.inbox.put(None)
            self._thread.join(CLOSING)
            self._hand = None

    def _answer(self, question: Question) -> Answer | _Fault:
        if self._hand is None:
            if self._hanging > SPARES:
                return _Fault("hangs")
            if fault := self._begin():
                return fault
        hand = self._hand
        assert hand is not None  # noqa: S101 - for the type checker: _begin has made one
        times = self._plays if isinstance(question, WhichPlay) else self._others
        hand.inbox.put(question)
        try:
            answer, seconds = hand.outbox.get(timeout=self._deadline)
        except Empty:
            times.add(self._deadline)
            self._abandon(hand)
            return _Fault(f"gave no answer within {self._deadline:g} s")
        times.add(seconds)
        return _Fault("gave no answer") if answer is None else answer

    def _begin(self) -> _Fault | None:
        hand = _Hand()
        self._thread = threading.Thread(target=_serve, args=(hand, self._make), name=self._name, daemon=True)
        self._thread.start()
        try:
            answer, _ = hand.outbox.get(timeout=MAKING)
        except Empty:
            self._abandon(hand)
            return _Fault(f"strategy {self._name!r} was not made within {MAKING:g} s")
        if isinstance(answer, _Fault):
            return answer
        self._hand = hand
        return None

    def _abandon(self, hand: _Hand) -> None:
        """Go on without an instance that does not come back; should it ever, it is closed."""
        hand.inbox.put(None)
        self._hand = None
        self._hanging += 1


def _serve(hand: _Hand, make: Make) -> None:
    """Make a strategy, answer questions until there are no more, and close it."""
    try:
        strategy = make()
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        hand.outbox.put((_Fault(str(error) if isinstance(error, StrategyError) else _one_line(error)), 0.0))
        return
    hand.outbox.put((None, 0.0))
    while (question := hand.inbox.get()) is not None:
        began = time.perf_counter()
        answer = _put(question, strategy)
        hand.outbox.put((answer, time.perf_counter() - began))
    with contextlib.suppress(BaseException):  # a plug-in may raise anything, and nothing depends on it any more
        strategy.close()


def _put(question: Question, strategy: Strategy) -> Answer | _Fault:
    try:
        return question.put_to(strategy)
    except NonsenseError as error:
        return _Fault(f"answered nonsense: {' '.join(str(error).split())}")
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything, SystemExit too
        return _Fault(f"raised {_one_line(error)}")


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
