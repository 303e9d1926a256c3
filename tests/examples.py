"""Numbers of examples of properties that are worth more of them than others."""

from __future__ import annotations

from hypothesis import settings


def more_examples(times: float) -> settings:
    """Return settings with a multiple of the examples that the profile asks for."""
    return settings(max_examples=round(times * settings().max_examples))
