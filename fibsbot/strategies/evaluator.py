"""The interface of a strategy that can also say what positions, plays and cube actions are worth.

Analysis needs that: errors and luck are differences of equities. A strategy that has these methods is an evaluator;
nothing else registers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias, runtime_checkable

from attrs import frozen

from fibsbot.match import MatchState
from fibsbot.position import Play

Chances: TypeAlias = tuple[float, float, float, float, float, float]
"""To win, to win at least a gammon, to win a backgammon, and the same lost; a backgammon counts as a gammon, too."""

CHANCE_NAMES: Final = ("win", "win_gammon", "win_backgammon", "lose", "lose_gammon", "lose_backgammon")
"""What programs call them, in their order."""


def six_chances(
    win: float, win_gammon: float, win_backgammon: float, lose_gammon: float, lose_backgammon: float
) -> Chances:
    """Return all six chances from the five that programs say."""
    return (win, win_gammon, win_backgammon, 1 - win, lose_gammon, lose_backgammon)


def reversed_chances(chances: Chances) -> Chances:
    """Return the chances of the opponent."""
    win, win_gammon, win_backgammon, lose, lose_gammon, lose_backgammon = chances
    return (lose, lose_gammon, lose_backgammon, win, win_gammon, win_backgammon)


@frozen
class CubeValues:
    """What the cube actions before a throw are worth, all seen by the player who may double.

    The unit is that of `Evaluator`. Who is doubled chooses the lower of `double_take` and `double_pass`.
    """

    no_double: float
    double_take: float
    double_pass: float
    plies: int | None = None
    """Rolls that were looked ahead for all of them; None where the judge does not say."""
    chances: Chances | None = None
    """Of the player who may double, before the throw; None where the judge does not say."""

    @property
    def double(self) -> float:
        """What doubling is worth against the best answer."""
        return min(self.double_take, self.double_pass)

    @property
    def best(self) -> float:
        """What the best action is worth."""
        return max(self.no_double, self.double)


@frozen
class PlayValue:
    """What a play is worth to who makes it; the unit is that of `Evaluator`."""

    equity: float
    plies: int | None = None
    """Rolls that were looked ahead after the play; None where the judge does not say."""
    chances: Chances | None = None
    """That the play leaves to who makes it; None where the judge does not say."""


@frozen
class PositionValue:
    """What a position is worth to one of the players; the unit is that of `Evaluator`."""

    equity: float
    plies: int | None = None
    """Rolls that were looked ahead; None where the judge does not say."""
    chances: Chances | None = None
    """Of that player, the game being played on; None where the judge does not say."""

    def reversed(self) -> PositionValue:
        """Return what it is worth to the opponent."""
        chances = None if self.chances is None else reversed_chances(self.chances)
        return PositionValue(-self.equity, self.plies, chances)


@runtime_checkable
class Evaluator(Protocol):
    """Values positions. Every method may take seconds and may raise; none changes what another returns.

    Equities are normalised: in points at the value that the cube shows in the state, so that winning a single game is 1
    and losing it -1. At a match score they are match winning chances on the same scale: what a single win at the
    present cube brings is 1, what a single loss costs is -1 (GNU Backgammon calls this EMG).
    """

    name: str
    """The strategy's name. An attribute `details` may add version, networks and plies."""

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


@runtime_checkable
class RollEvaluator(Evaluator, Protocol):
    """A judge that values all rolls of a position together, which is faster than one after the other."""

    def value_rolls(self, state: MatchState) -> Sequence[float]:
        """Return what each of the 21 rolls is worth, played best: 1-1, 2-1, 2-2, 3-1 and so on.

        The phase is MOVE, and the dice of the state do not count. Equities are those of `value_plays`.
        """
        ...


@runtime_checkable
class DetailedEvaluator(Evaluator, Protocol):
    """A judge that can say how far it has looked, and what the chances are."""

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:
        """Return what each play is worth, in their order; phase MOVE.

        The play that was made, the best one and those that come close to it are looked at equally far. All others are
        worth no more than the best.
        """
        ...


@runtime_checkable
class PositionEvaluator(Evaluator, Protocol):
    """A judge that can say of any position before a throw how far it has looked, and what the chances are."""

    def value_position(self, state: MatchState) -> PositionValue:
        """Return what the position is worth to who is on roll, as `value` does; phase ROLL."""
        ...
