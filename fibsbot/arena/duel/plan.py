"""What is played in a duel."""

from __future__ import annotations

from typing import Any, Final

from attrs import asdict, evolve, field, frozen
from attrs.validators import ge, gt

from fibsbot.rules.laws import FIBS, Laws

CUBE_LIMIT: Final = 4096
"""Of money games, lest two strategies that always double and take make one game outweigh all others."""
DEADLINE: Final = 60.0
"""Seconds for a decision where nothing else is wanted."""


class DuelError(Exception):
    """A duel cannot be played, or not to its end; the text is one line and says why."""


@frozen
class Plan:
    """Who plays whom, and what. The number of games is no part of it: a run may be made longer."""

    strategies: tuple[str, str]
    """The names of A and B, as `--strategy` takes them."""
    length: int = field(default=0, validator=ge(0))
    """Points of a match; 0: single money games."""
    seed: int = 1
    cube: bool = True
    jacoby: bool = False
    """Money games: whether gammons count only after a double was taken."""
    beavers: bool = False
    """Money games: whether who is doubled may redouble at once."""
    judge: str | None = None
    """Name of the strategy that judges luck and errors; None: nobody does."""
    deadline: float = field(default=DEADLINE, validator=gt(0))
    """Seconds for a decision, after which a fallback decides."""

    @property
    def laws(self) -> Laws:
        """The laws of these games."""
        return evolve(
            FIBS,
            cube=self.cube,
            cube_limit=None if self.length else CUBE_LIMIT,
            jacoby=self.jacoby,
            redoubles=int(self.beavers),
        )

    @property
    def labels(self) -> tuple[str, str]:
        """What A and B are called: their names, told apart where they are the same."""
        a, b = self.strategies
        return (a, b) if a != b else (f"{a} A", f"{b} B")

    def settings(self) -> dict[str, Any]:
        """Return everything that a result depends on, as JSON can write it."""
        return {**asdict(self), "strategies": list(self.strategies)}
