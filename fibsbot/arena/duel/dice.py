"""The dice of a duel: the n-th throw of a game is the same whoever sits where, and follows from seed and pair alone."""

from __future__ import annotations

from random import Random
from typing import Final

from fibsbot.match import Dice

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
