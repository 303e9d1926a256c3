"""Numbers of examples of properties that are worth more of them than others."""

from __future__ import annotations

from hypothesis import settings


def more_examples(times: float) -> settings:
    """Return settings with a multiple of the examples that the profile asks for."""
    return settings(max_examples=round(times * settings().max_examples))


def examples(count: int) -> settings:
    """Return settings with this many examples, or as few as a quick run asks for."""
    asked = settings().max_examples
    return settings(max_examples=count if asked >= settings.get_profile("default").max_examples else min(count, asked))
