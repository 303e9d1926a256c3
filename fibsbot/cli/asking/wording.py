"""How chances and equities are written, for people in columns and for programs by name."""

from __future__ import annotations

from typing import Any, Final

from fibsbot.engine.cube import Stakes
from fibsbot.engine.outcomes import Outcomes
from fibsbot.strategies.judge import CHANCES

HEADINGS: Final = ("win", "gammon", "bg", "lose", "gammon", "bg")
"""What stands above their columns."""
WIDTHS: Final = (7, 8, 7, 8, 8, 7)
DIGITS: Final = 6
"""Digits after the point in what programs read."""


def headings() -> str:
    """Return what stands above `chances`."""
    return "".join(f"{name:>{width}}" for name, width in zip(HEADINGS, WIDTHS, strict=True))


def chances(outcomes: Outcomes) -> str:
    """Write the six chances in columns."""
    return "".join(f"{chance:{width}.3f}" for chance, width in zip(outcomes.tolist(), WIDTHS, strict=True))


def chances_row(outcomes: Outcomes) -> dict[str, float]:
    """Return the six chances by name."""
    return {name: rounded(chance) for name, chance in zip(CHANCES, outcomes.tolist(), strict=True)}


def rounded(value: float) -> float:
    """Return a figure for programs."""
    return round(float(value), DIGITS) + 0.0


def equity(value: float) -> str:
    """Write an equity; nothing is never negative."""
    return f"{round(float(value), 4) + 0.0:+.4f}"


def percent(chance: float) -> str:
    """Write a chance as people say it."""
    return f"{100 * chance:.2f} %"


def match_chance(stakes: Stakes, worth: float) -> float | None:
    """Return the chance to win the match that so much is worth; None where there is no match."""
    return min(max(stakes.match_chance(worth), 0.0), 1.0) if stakes.match else None


def in_match(stakes: Stakes, worth: float) -> str:
    """Write the same; nothing where there is no match."""
    chance = match_chance(stakes, worth)
    return "" if chance is None else percent(chance)


def worth_row(stakes: Stakes, worth: float) -> dict[str, Any]:
    """Return an equity, and the chance to win the match that it is, by name."""
    chance = match_chance(stakes, worth)
    return {"equity": rounded(worth), "match_chance": None if chance is None else rounded(chance)}
