"""Resignations: whether what is offered is enough, and what to offer when the game is lost."""

from __future__ import annotations

from typing import Final

from fibsbot.engine.cube.janowski import Floats
from fibsbot.engine.cube.stakes import COLUMN, Stakes
from fibsbot.engine.outcomes import WIN, Outcomes
from fibsbot.match import Owner

LEVELS: Final = (1, 2, 3)
"""A single game, a gammon, a backgammon."""
SLACK: Final = 1e-3
"""By how much an offer may fall short of the position: chances that are estimated are never quite 1."""
CERTAIN: Final = 5e-4
"""Who resigns gives away no more than this, and has no better chance to win."""


def settled(stakes: Stakes, owner: Owner, level: int) -> float:
    """Return what a game is worth that ends by a resignation, negative levels resigned by the player.

    Under the Jacoby rule nothing counts more than a single game as long as nobody has turned the cube.
    """
    if stakes.jacoby and owner is Owner.CENTRED:
        level = max(-1, min(level, 1))
    return stakes.worth(level * stakes.cube)


def accepts(stakes: Stakes, owner: Owner, level: int, worth: float) -> bool:
    """Whether the player should accept the opponent's offer, the position being worth so much to the player.

    The worth is that of playing on, whoever is on roll, and in the unit of `stakes`.
    """
    return settled(stakes, owner, level) >= worth - SLACK


def level_to_resign(stakes: Stakes, owner: Owner, outcomes: Outcomes, efficiency: Floats) -> int:
    """Return what the player on roll should resign: 0 nothing, 1 single, 2 gammon, 3 backgammon.

    Only what is lost for certain is given up, and the least that an opponent who knows should accept.
    """
    if outcomes[WIN] > CERTAIN:
        return 0
    worth = float(stakes.values(outcomes, efficiency)[0, COLUMN[owner]])
    return next((it for it in LEVELS if abs(settled(stakes, owner, -it) - worth) <= CERTAIN), 0)
