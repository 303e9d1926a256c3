"""Strategies: programs that decide in a match. This module has only their names, and imports nothing.

What a strategy is, and how it is asked:

    base.py             the interface, also of those that value positions; whether to reject the first roll
    questions.py        questions and answers, in backgammon and in other games
    loader.py           finds and loads strategies, and keeps them for piece after piece in a worker
    pool.py             asks them in threads, with deadlines and fallbacks

The strategies, besides the packages `heuristic` and `gnubg`:

    engine_strategy.py  `engine`
    engine_options.py   its options, and those of `gnubg`
    random_play.py      `random`
    ubgi.py             `ubgi:COMMAND`
    table_games.py      the interface for other games, and simple strategies
    table_engine.py     `engine` for other games: the engine or the network of a game

The package `child_process` runs engines as child processes.
"""

from __future__ import annotations

from typing import Final

DEFAULT_STRATEGY: Final = "engine"
"""The strategy that plays and evaluates unless another one is named."""
FALLBACK_STRATEGY: Final = "heuristic"
"""The strategy that decides if the chosen one fails: fast, and without files or programs that might be missing."""
DEFAULT_TABLE_STRATEGY: Final = "engine"
"""What plays other games for strategies that know backgammon only."""
FAST_ENGINE: Final = "engine:0"
"""The engine without looking ahead."""

PORTABLE: Final = frozenset({"engine", "heuristic", "random"})
"""Strategies that decide the same on any machine: their code is ours, and they need no other program."""


def base_name(name: str) -> str:
    """Return the installed name of a strategy, the part before the first colon: `ubgi` of `ubgi:engine --fast`."""
    return name.partition(":")[0]


def luck_evaluator(name: str) -> str:
    """Return the evaluator to use for luck, which takes very many evaluations.

    It is the given one, except that our engine does not look ahead: the luck is no less fair, and takes a twentieth of
    the time.
    """
    return FAST_ENGINE if base_name(name) == DEFAULT_STRATEGY else name
