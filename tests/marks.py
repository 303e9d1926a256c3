"""Parameters of tests, some of which only the whole suite tries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


def some_slow(values: Iterable[str], is_slow: Callable[[str], bool]) -> list[object]:
    """Return the values as parameters; those that are slow are left out by `make test-fast`."""
    return [pytest.param(it, marks=pytest.mark.slow) if is_slow(it) else it for it in values]


def is_long(game: str) -> bool:
    """Return whether a game has options, such as `plakoto:exception`, or so many plays that its tests take long."""
    return ":" in game or game == "buff"
