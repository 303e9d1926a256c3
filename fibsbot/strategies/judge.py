"""What a strategy may offer besides deciding: to say what a position, a play and a cube action are worth.

Whoever studies a match needs that: errors and luck are differences of equities. A strategy that has these methods is a
judge; nothing else registers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from attrs import frozen

from fibsbot.match import MatchState
from fibsbot.position import Play


@frozen
class CubeValues:
    """What the cube actions before a throw are worth, all seen by the player who may double.

    The unit is that of `Judge`. Who is doubled chooses the lower of `double_take` and `double_pass`.
    """

    no_double: float
    double_take: float
    double_pass: float

    @property
    def double(self) -> float:
        """What doubling is worth against the best answer."""
        return min(self.double_take, self.double_pass)

    @property
    def best(self) -> float:
        """What the best action is worth."""
        return max(self.no_double, self.double)


@runtime_checkable
class Judge(Protocol):
    """Values positions. Every method may take seconds and may raise; none changes what another returns.

    Equities are normalised: in points at the value that the cube shows in the state, so that winning a single game is 1
    and losing it -1. At a match score they are match winning chances on the same scale: what a single win at the
    present cube brings is 1, what a single loss costs is -1 (GNU Backgammon calls this EMG).
    """

    name: str
    """The strategy's name."""

    def value(self, state: MatchState) -> float:
        """Return what the position is worth before the throw to who is on roll, the cube played well; phase ROLL."""
        ...

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return what each play is worth to the player who makes it, in their order; phase MOVE."""
        ...

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return what doubling and not doubling is worth; phase ROLL, and doubling must be legal."""
        ...

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return how likely the player wins the match once this game has ended with so many points.

        Points are the player's own, those of the opponent negative. Only for a match of some length. This is what turns
        normalised equities into chances to win the match, and says what a gammon or a resignation is worth.
        """
        ...
