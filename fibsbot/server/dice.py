"""Dice from the system's randomness or from a seed, and the statistics that `dicetest` shows."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Iterator
from typing import Final, Protocol

from fibs_protocol.words import Dice

MAX_RUN: Final = 12
"""Runs of equal dice of this length and longer are counted together."""


class DiceSource(Protocol):
    """A source of dice."""

    def dice(self, match: str, roll: int) -> Dice:
        """Return two dice for a roll of a match; rolls are counted from 0."""

    def coin(self, match: str) -> bool:
        """Return the toss that decides the colours of a match's first game."""


class SystemDice:
    """Dice that cannot be predicted or repeated."""

    def dice(self, match: str, roll: int) -> Dice:  # noqa: ARG002 - only seeded dice depend on them
        """Return two dice."""
        return secrets.randbelow(6) + 1, secrets.randbelow(6) + 1

    def coin(self, match: str) -> bool:  # noqa: ARG002 - as above
        """Toss a coin."""
        return bool(secrets.randbits(1))


class SeededDice:
    """Repeatable dice: each roll depends only on the seed, the match and the number of the roll.

    So a match has the same dice whatever else is played, and continues with them after a restart of the server.
    """

    def __init__(self, seed: int) -> None:
        """Use a seed."""
        self._seed = seed

    def dice(self, match: str, roll: int) -> Dice:
        """Return the two dice of this roll."""
        source = random.Random(f"{self._seed}/{match}/{roll}")
        return source.randint(1, 6), source.randint(1, 6)

    def coin(self, match: str) -> bool:
        """Return the toss of this match."""
        return random.Random(f"{self._seed}/{match}/colours").random() < 0.5


class DiceTest:
    """Counts of all rolls since the server's start, and two tests of their quality (`help dicetest`)."""

    def __init__(self) -> None:
        """Start without rolls."""
        self.rolls = 0
        self._pairs = [[0] * 6 for _ in range(6)]
        self._runs = [[0] * (MAX_RUN + 1) for _ in range(6)]
        self._face = 0
        self._run = 0
        self._recent: list[float] = []
        self._points = 0
        self._inside = [0, 0, 0]

    def count(self, dice: Dice) -> None:
        """Count a roll."""
        self.rolls += 1
        self._pairs[dice[0] - 1][dice[1] - 1] += 1
        for face in dice:
            if face == self._face:
                self._run += 1
            else:
                self._end_run()
                self._face, self._run = face, 1
            self._place(face)

    def _end_run(self) -> None:
        if self._face:
            self._runs[self._face - 1][min(self._run, MAX_RUN)] += 1

    def _place(self, face: int) -> None:
        """Gather eight dice into a point of the four-dimensional unit cube; check its distance from a corner."""
        self._recent.append(face - 1)
        if len(self._recent) == 8:
            point = [(6 * self._recent[i] + self._recent[i + 1] + 0.5) / 36 for i in range(0, 8, 2)]
            self._recent.clear()
            self._points += 1
            for place, dimensions in enumerate((2, 3, 4)):
                self._inside[place] += sum(x * x for x in point[:dimensions]) <= 1

    def lines(self) -> Iterator[str]:
        """Yield the lines between the first and the last of `dicetest`."""
        yield f"*** Rolled {self.rolls} times with 2 dice"
        for first, row in enumerate(self._pairs, 1):
            yield "  ".join(f"{first}-{second} {count:>6}" for second, count in enumerate(row, 1))
        yield "unit n-sphere tests for n=1,2,3:"
        yield "number:             PI/4         PI/6     PI*PI/32"
        calculated = [inside / max(self._points, 1) for inside in self._inside]
        expected = (math.pi / 4, math.pi / 6, math.pi**2 / 32)
        for title, values in (("calculated:", calculated), ("real value:", expected)):
            yield title + "".join(f"{value:13.6f}" for value in values)
        yield "Distribution of runs of n identical rolls:"
        yield "n: " + "".join(f"{n if n < MAX_RUN else f'{n}+':>7}" for n in range(1, MAX_RUN + 1))
        for face, runs in enumerate(self._runs, 1):
            yield f"{face}: " + "".join(f"{n:>7}" for n in runs[1:]) + f" S:{sum(n * i for i, n in enumerate(runs))}"
        sums = [sum(runs[n] for runs in self._runs) for n in range(1, MAX_RUN + 1)]
        yield "S: " + "".join(f"{n:>7}" for n in sums) + f" S:{2 * self.rolls}"
        # A run of exactly n has n equal dice between two others: (1/6)^(n-1) * (5/6)^2 of all dice begin one.
        shares = [(1 / 6) ** (n - 1) * (5 / 6) ** 2 for n in range(1, MAX_RUN)] + [(1 / 6) ** (MAX_RUN - 1) * (5 / 6)]
        yield "T: " + "".join(f"{round(2 * self.rolls * share):>7}" for share in shares)
