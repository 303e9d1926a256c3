"""Parameters of tests, some of which only the whole suite tries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


def some_slow(values: Iterable[str], is_slow: Callable[[str], bool]) -> list[object]:
    """Return the values as parameters; those that are slow are left out by `make test-fast`."""
    return [pytest.param(it, marks=pytest.mark.slow) if is_slow(it) else it for it in values]


def has_options(game: str) -> bool:
    """Return whether a game is one with options: `plakoto:exception`."""
    return ":" in game
