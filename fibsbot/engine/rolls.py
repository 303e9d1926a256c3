"""The 21 rolls, in the order in which everything that goes over all of them has them."""

from __future__ import annotations

from typing import Final

import numpy as np

DICE: Final = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""1-1, 2-1, 2-2, 3-1 and so on, the high number first."""
ROLLS: Final = len(DICE)
CHANCE_OF_ROLL: Final = np.array([1.0 if high == low else 2.0 for high, low in DICE]) / 36
"""How likely each roll is."""
