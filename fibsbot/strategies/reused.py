"""Strategies that a worker process makes once and uses for piece after piece, each time from a fresh state."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from fibsbot.strategies.base import Strategy
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.strategies.loader import NOT_AN_EVALUATOR, StrategyError, load


@runtime_checkable
class Forgetful(Protocol):
    """A strategy that remembers what it has computed, which may change last digits of what it computes later."""

    def forget(self) -> None:
        """Return to the state of a new strategy."""
        ...


class ReusedStrategies:
    """Strategies by name. Pickled, as part of what pieces share, it is empty again."""

    def __init__(self) -> None:
        """Begin without strategies."""
        self._made: dict[str, Strategy] = {}

    def __reduce__(self) -> tuple[type[ReusedStrategies], tuple[()]]:
        return ReusedStrategies, ()

    def fresh(self, name: str) -> Strategy:
        """Return a strategy that answers as a new one does; raise StrategyError if it cannot be made."""
        strategy = self._made.get(name)
        if strategy is None:
            strategy = self._made[name] = load(name)
        elif isinstance(strategy, Forgetful):
            strategy.forget()
        return strategy

    def fresh_evaluator(self, name: str) -> Evaluator:
        """Return the same for a strategy that is an evaluator; raise StrategyError if it is none."""
        strategy = self.fresh(name)
        if not isinstance(strategy, Evaluator):
            raise StrategyError(NOT_AN_EVALUATOR.format(name))
        return strategy

    def close(self) -> None:
        """Close all of them."""
        while self._made:
            self._made.popitem()[1].close()
