"""A listener for the progress of a training that ignores it."""

from __future__ import annotations

from typing import Any


class Silent:
    """A listener that ignores everything."""

    def begin(self, what: str, total: int) -> None:
        """Begin a step."""

    def advance(self, units: int, note: str = "") -> None:
        """Go on."""

    def measured(self, row: dict[str, Any]) -> None:
        """Hear a figure."""
