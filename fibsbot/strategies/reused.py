"""Strategies that a worker process makes once and uses for piece after piece, each time from a fresh state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from fibsbot.strategies import DEFAULT_STRATEGY, base_name
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.strategies.loader import NOT_AN_EVALUATOR, StrategyError, load
from fibsbot.text import one_line

if TYPE_CHECKING:
    from fibsbot.engine.engine import Networks


@runtime_checkable
class Forgetful(Protocol):
    """A strategy that remembers what it has computed, which may change last digits of what it computes later."""

    def forget(self) -> None:
        """Return to the state of a new strategy."""
        ...


@runtime_checkable
class Seeded(Protocol):
    """A strategy that decides by chance."""

    def reseed(self, seed: str) -> None:
        """Begin other random numbers: with the same seed, the same questions in the same order get the same answers."""
        ...


class ReusedStrategies:
    """Strategies by name. Pickled, as part of what pieces share, it has made none of them.

    Networks of a folder of this machine travel with it: the worker may be another machine.
    """

    def __init__(self, networks: Mapping[str, Networks] | None = None) -> None:
        """Begin without strategies; `networks` are those of the engine by the name of the strategy."""
        self._networks = dict(networks or {})
        self._made: dict[str, Strategy] = {}

    @classmethod
    def of(cls, *names: str) -> Self:
        """Prepare strategies that workers will make. Raises StrategyError where networks cannot be read."""
        return cls({name: networks for name in names if (networks := _networks_of(name)) is not None})

    def __reduce__(self) -> tuple[type[ReusedStrategies], tuple[Mapping[str, Networks]]]:
        return ReusedStrategies, (self._networks,)

    def fresh(self, name: str) -> Strategy:
        """Return a strategy that answers as a new one does; raise StrategyError if it cannot be made."""
        strategy = self._made.get(name)
        if strategy is None:
            strategy = self._made[name] = self.new(name)
        elif isinstance(strategy, Forgetful):
            strategy.forget()
        return strategy

    def new(self, name: str, **options: Any) -> Strategy:
        """Make a strategy, which the caller closes; raise StrategyError if that fails."""
        return load(name, **self._options(name), **options)

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

    def _options(self, name: str) -> Mapping[str, Any]:
        if name not in self._networks:
            return {}
        from fibsbot.engine.engine import Engine  # noqa: PLC0415 - only if the engine is used

        return {"engine": Engine.of(self._networks[name])}


def _networks_of(name: str) -> Networks | None:
    """Return the networks that a strategy reads from a folder; None if it does not."""
    if base_name(name) != DEFAULT_STRATEGY or "networks" not in name:
        return None
    try:
        folder = EngineOptions.parse(name.partition(":")[2]).networks
    except ValueError:
        return None  # the error of making it is more helpful
    if folder is None:
        return None
    from fibsbot.engine.engine import load_networks  # noqa: PLC0415 - only if the engine is used
    from fibsbot.engine.network import NetworkError  # noqa: PLC0415 - as above

    try:
        return load_networks(folder)
    except NetworkError as error:
        raise StrategyError(f"strategy {name!r}: {one_line(error)}") from None
