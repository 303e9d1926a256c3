"""What search, rollouts, strategies and commands need of whatever values positions."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from fibsbot.engine.boards import Boards
from fibsbot.engine.outcomes import Outcomes


@runtime_checkable
class Evaluator(Protocol):
    """Values positions without looking ahead (0-ply)."""

    name: str
    """What made the figures: network, version, tables."""

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of who is on roll, shape (n, 6) for n boards of shape (n, 26); see `engine.outcomes`.

        Games that are over are valued as what they are: the player on roll has lost (or, where the player on roll has
        borne off all checkers, won).
        """
        ...
