"""What is wrong with an ID."""

from __future__ import annotations


class NotationError(ValueError):
    """A text is no ID, or a state cannot be written as one: one line that says what was expected and what came."""


def expected(what: str, got: object) -> NotationError:
    """Return the error for a part of an ID that is not as it has to be."""
    return NotationError(f"expected {what}, got {got!r}")
