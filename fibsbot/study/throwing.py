"""What the throws of a position are worth, each played best: from that follows how lucky one of them was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from attrs import evolve, frozen

from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Stage
from fibsbot.strategies.judge import Judge, RollJudge

THROWS: Final[tuple[tuple[Dice, int], ...]] = tuple(
    ((high, low), 1 if high == low else 2) for high in range(1, 7) for low in range(1, high + 1)
)
"""The 21 throws, each with how many of the 36 ways in which two dice can fall show it."""
_NUMBER: Final[Mapping[Dice | None, int]] = {dice: number for number, (dice, _) in enumerate(THROWS)}
REMEMBERED: Final = 1024
"""Throws and means that are kept in mind: the opening comes again in every game, and whoever dances sees a position
twice."""


@frozen
class Valued:
    """Every play of a throw, with what each is worth to the player who makes it."""

    plays: tuple[Play, ...]
    """At least one: a dance is the empty play."""
    values: tuple[float, ...]

    @property
    def best(self) -> float:
        """What the best one is worth."""
        return max(self.values)


class Throws:
    """Values of throws, as a judge sees them; asked again, it remembers."""

    def __init__(self, judge: Judge) -> None:
        """Ask this judge."""
        self._judge = judge
        self._rolls = lru_cache(REMEMBERED)(judge.value_rolls) if isinstance(judge, RollJudge) else None
        self._known = lru_cache(REMEMBERED)(self._value)
        self._means = lru_cache(REMEMBERED)(self._mean)

    def valued(self, state: MatchState) -> Valued:
        """Return the plays of the throw that lies on the board; phase MOVE."""
        return self._known(_in_order(state))

    def best(self, state: MatchState) -> float:
        """Return what the best play of the throw that lies on the board is worth; phase MOVE."""
        if self._rolls is None:
            return self.valued(state).best
        return self._rolls(evolve(state, dice=None))[_NUMBER[_in_order(state).dice]]

    def plays(self, state: MatchState) -> tuple[Play, ...]:
        """Return the plays of the throw that lies on the board: at least one, as a dance is the empty play."""
        assert state.dice  # noqa: S101 - for the type checker: only states with dice come here
        return legal_plays(state.position, (max(state.dice), min(state.dice))) or (Play(),)

    def mean(self, state: MatchState) -> float:
        """Return what the position is worth on average over all throws, each played best."""
        return self._means(evolve(state, dice=None))

    def opening_mean(self, state: MatchState) -> float:
        """Return what the game is worth before the opening throw, in which either player may begin, without doublets.

        The state is that of the player on turn, who may be either: the position is the same for both.
        """
        return (self._openings(state) - self._openings(state.swapped())) / 2

    def luck(self, state: MatchState, *, opening: bool) -> float:
        """Return how much better the throw on the board is than the average one, for who threw it."""
        return self.best(state) - (self.opening_mean(state) if opening else self.mean(state))

    def _openings(self, state: MatchState) -> float:
        moving = evolve(state, phase=Phase.MOVE)
        best = [self.best(evolve(moving, dice=dice)) for dice, _ in THROWS if dice[0] != dice[1]]
        return sum(best) / len(best)

    def _mean(self, state: MatchState) -> float:
        return sum(ways * self.best(evolve(state, dice=dice)) for dice, ways in THROWS) / 36

    def _value(self, state: MatchState) -> Valued:
        plays = self.plays(state)
        return Valued(plays, _checked(self._judge.value_plays(state, plays), len(plays)))


def is_opening(before: GameState) -> bool:
    """Whether the next throw is the opening throw, also of a game that was first seen with it on the board."""
    fresh = before.turns == 0 and before.position == Position.start()
    return before.stage is Stage.OPENING or (before.stage is Stage.MOVE and fresh)


def _in_order(state: MatchState) -> MatchState:
    """Return the state with the higher die first: the order changes nothing that a play is worth."""
    if state.dice is None:
        raise ValueError("expected a state with dice on the board")
    return evolve(state, dice=(max(state.dice), min(state.dice)))


def _checked(values: Sequence[float], count: int) -> tuple[float, ...]:
    if len(values) != count:
        raise ValueError(f"expected the values of {count} plays, got {len(values)}")
    return tuple(values)
