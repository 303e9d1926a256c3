"""Strategies: who decides in a match.

The names of the built-in ones stand here, where importing them costs nothing.
"""

from __future__ import annotations

from typing import Final

DEFAULT_STRATEGY: Final = "engine"
"""Who decides, and who judges, where nobody is asked for by name."""
FALLBACK_STRATEGY: Final = "heuristic"
"""Who decides where the chosen one fails: it needs nothing that could be missing, and takes no time."""
FAST_ENGINE: Final = "engine:0"
"""Our engine where it does not look ahead."""


def base_name(name: str) -> str:
    """Return what a strategy is installed as: what stands before the first colon, `ubgi` of `ubgi:engine --fast`."""
    return name.partition(":")[0]


def luck_evaluator(name: str) -> str:
    """Return who judges in place of a judge where very many questions are asked, as about luck.

    That is the same one, but our engine does not look ahead then: luck judged so is no less fair, and takes a twentieth
    of the time.
    """
    return FAST_ENGINE if name.partition(":")[0] == DEFAULT_STRATEGY else name
