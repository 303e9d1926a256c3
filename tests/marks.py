"""Parameters of tests, some of which only the whole suite tries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import pytest


def some_slow(values: Iterable[str], is_slow: Callable[[str], bool]) -> list[object]:
    """Return the values as parameters; those that are slow are left out by `make test-fast`."""
    return [pytest.param(it, marks=pytest.mark.slow) if is_slow(it) else it for it in values]


def some_thorough(values: Iterable[str], is_thorough: Callable[[str], bool]) -> list[object]:
    """Return the values as slow parameters; only `make test-thorough` tries those that are thorough."""
    slow, both = (pytest.mark.slow,), (pytest.mark.slow, pytest.mark.thorough)
    return [pytest.param(value, marks=both if is_thorough(value) else slow) for value in values]


SAMPLE: Final = frozenset({"backgammon", "nackgammon", "plakoto", "acey-deucey"})
"""Games that differ most: what they share with the others is tried with them by `make test-fast`."""


def is_no_sample(game: str) -> bool:
    """Return whether `make test-fast` leaves out a game where whole tools are tried with each."""
    return game not in SAMPLE


def is_no_quick_sample(game: str) -> bool:
    """Return whether `make test-fast` leaves out a game where it takes a whole match: Acey-deucey has most plays."""
    return is_no_sample(game) or game == "acey-deucey"


def all_but(*games: str) -> Callable[[str], bool]:
    """Return whether only `make test-thorough` plays a whole match of a game, where that takes seconds."""
    return lambda game: game not in games


def is_long(game: str) -> bool:
    """Return whether a game has options, such as `plakoto:exception`, or so many plays that its tests take long."""
    return ":" in game or game == "buff"
