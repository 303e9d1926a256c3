"""Rolls of two dice, and how likely each is."""

from __future__ import annotations

from typing import Final, TypeAlias

Dice: TypeAlias = tuple[int, ...]
"""A roll, each die 1 to 6: two dice in backgammon and nearly all other games."""

ROLLS: Final[tuple[Dice, ...]] = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""The 21 rolls, the high number first: 1-1, 2-1, 2-2, 3-1 and so on."""
ROLL_WAYS: Final = tuple(1 if high == low else 2 for high, low in ROLLS)
"""How many of the 36 results of two dice give each of the ROLLS."""
PIPS_PER_ROLL: Final = 49 / 6
"""What a roll moves on average, doubles counted four times."""
