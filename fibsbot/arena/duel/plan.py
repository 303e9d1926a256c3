"""What is played in a duel: strategies, rules, length, seed, and the dice that follow from the seed."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from attrs import asdict, evolve, field, frozen
from attrs.validators import ge, gt

from fibsbot.match import Dice
from fibsbot.rules.laws import FIBS, Laws

MONEY_CUBE_LIMIT: Final = 4096
"""Of money games, lest two strategies that always double and take make one game outweigh all others."""
DEFAULT_DEADLINE: Final = 60.0
"""Seconds for a decision where nothing else is wanted."""


class DuelError(Exception):
    """A duel cannot be played, or not to its end; the text is one line and says why."""


@frozen
class DuelPlan:
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
    deadline: float = field(default=DEFAULT_DEADLINE, validator=gt(0))
    """Seconds for a decision, after which a fallback decides."""

    @property
    def laws(self) -> Laws:
        """The laws of these games."""
        return evolve(
            FIBS,
            cube=self.cube,
            cube_limit=None if self.length else MONEY_CUBE_LIMIT,
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


OPENINGS: Final[tuple[Dice, ...]] = tuple((a, b) for a in range(1, 7) for b in range(1, 7) if a != b)
"""The 30 ways in which two players who throw a die each do not tie."""
THROWS: Final[tuple[Dice, ...]] = tuple((a, b) for a in range(1, 7) for b in range(1, 7))
"""The 36 ways in which two dice can fall."""
BLOCK: Final = len(OPENINGS) * len(THROWS)
"""So many pairs begin with every opening followed by every throw, each once."""


class GameDice:
    """The dice of one game of a pair.

    The first two throws of a pair's first game are stratified: over a whole BLOCK of pairs none is more frequent than
    another, and every 30 pairs see every opening. Each is still as likely as any other, since their order is drawn.
    """

    def __init__(self, seed: int, pair: int, game: int) -> None:
        """Begin a game of a pair, both counted from 0."""
        self._random = Random(f"{seed} {pair} {game}")  # a text is hashed, so neighbours have nothing in common
        self._planned = list(_planned(seed, pair)) if game == 0 else []

    def opening(self) -> Dice:
        """Return the die of seat A and that of seat B, which differ."""
        return self._planned.pop(0) if self._planned else self._drawn(OPENINGS)

    def throw(self) -> Dice:
        """Return the next throw, the higher die first."""
        dice = self._planned.pop(0) if self._planned else self._drawn(THROWS)
        return max(dice), min(dice)

    def _drawn(self, ways: tuple[Dice, ...]) -> Dice:
        # Of all that Random offers, only random() is promised to give the same numbers in every version of Python.
        return ways[int(len(ways) * self._random.random())]


def _planned(seed: int, pair: int) -> tuple[Dice, Dice]:
    block, place = divmod(pair, BLOCK)
    random = Random(f"{seed} block {block}")
    openings, throws = _shuffled(random, OPENINGS), _shuffled(random, THROWS)
    row, column = divmod(place, len(OPENINGS))
    return openings[column], throws[(row + place) % len(THROWS)]


def _shuffled(random: Random, ways: tuple[Dice, ...]) -> list[Dice]:
    drawn = {way: random.random() for way in ways}
    return sorted(ways, key=lambda way: drawn[way])
