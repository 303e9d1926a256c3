"""Makes strategies for tables games by their names."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Final

from fibsbot.strategies.table_games import BlotStrategy, PipStrategy, RandomTableStrategy, TableStrategy


def _engine_strategy(options: str) -> TableStrategy:
    from fibsbot.strategies.table_engine import EngineTableStrategy  # noqa: PLC0415 - loads numpy

    return EngineTableStrategy(options)


SIMPLE_TABLE_STRATEGIES: Final[dict[str, Callable[[int | None], TableStrategy]]] = {
    "random": RandomTableStrategy,
    "pips": lambda _seed: PipStrategy(),
    "blots": lambda _seed: BlotStrategy(),
}
"""The simple players by name, each made from a seed."""
ENGINE: Final = "engine"
TABLE_STRATEGIES: Final = (*SIMPLE_TABLE_STRATEGIES, ENGINE)
"""The names of the strategies for tables games, the weakest first."""


class UnknownTableStrategyError(ValueError):
    """There is no strategy for tables games of this name."""


def load_table_strategy(name: str, *, seed: int | None = None) -> TableStrategy:
    """Make the strategy of that name; a seed makes its random choices repeatable.

    `engine` may have the options of `EngineOptions` after a colon. Raises UnknownTableStrategyError if there is no such
    strategy or option.
    """
    plain, _, options = name.partition(":")
    if plain == ENGINE:
        try:
            return _engine_strategy(options)
        except ValueError as error:
            raise UnknownTableStrategyError(str(error)) from error
    if name not in SIMPLE_TABLE_STRATEGIES:
        known = difflib.get_close_matches(name, TABLE_STRATEGIES) or TABLE_STRATEGIES
        raise UnknownTableStrategyError(
            f"expected a strategy for tables games such as {', '.join(known)}, got {name!r}"
        )
    return SIMPLE_TABLE_STRATEGIES[name](seed)
