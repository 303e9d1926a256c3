"""How a game can end: the six chances that everything in the engine works with.

An array of shape (n, 6) or (6,), float32 or float64. Seen by the player on roll; each chance counts what is above it: a
gammon won is won as well, so win + lose is 1 and win >= win gammon >= win backgammon. This is the order in which GNU
Backgammon prints them.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

WIN: Final = 0
WIN_GAMMON: Final = 1
WIN_BACKGAMMON: Final = 2
LOSE: Final = 3
LOSE_GAMMON: Final = 4
LOSE_BACKGAMMON: Final = 5
OUTCOMES: Final = 6

Outcomes: TypeAlias = npt.NDArray[np.floating[Any]]
"""Chances, shape (..., 6)."""


def cubeless_equity(outcomes: Outcomes) -> npt.NDArray[np.floating[Any]]:
    """Return points per game without a cube, gammons counting two and backgammons three; shape (...,)."""
    won = outcomes[..., :LOSE].sum(axis=-1)
    lost = outcomes[..., LOSE:].sum(axis=-1)
    return np.asarray(won - lost)


def other_side(outcomes: Outcomes) -> Outcomes:
    """Return the same chances seen by the other player."""
    return np.concatenate([outcomes[..., LOSE:], outcomes[..., :LOSE]], axis=-1)
