"""The market of a position: from where a double is right, until where it is taken, from where it is too good."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen

from fibsbot.engine.cube.janowski import TURNED, Floats
from fibsbot.engine.cube.stakes import COLUMN, Stakes
from fibsbot.engine.outcomes import LOSE, Outcomes
from fibsbot.match import Owner

STEPS: Final = 2000
"""Into how many the way from a lost to a won game is cut; within one the worths run straight, or nearly so."""


@frozen
class Market:
    """Chances of the player on roll to win, the proportion of gammons being that of one position.

    None stands for what is not reached, however good the position.
    """

    double_from: float | None
    """Doubling point: from here on doubling is worth as much as rolling."""
    cash_from: float | None
    """Cash point: from here on the opponent loses less by passing. One less this is his take point."""
    too_good_from: float | None
    """From here on it is worth more to play on than that the opponent passes."""
    dead_cash_from: float
    """The cash point if nobody could turn the cube again after the take."""
    live_cash_from: float
    """The cash point if the cube were always turned at the perfect moment."""

    @classmethod
    def of(cls, stakes: Stakes, owner: Owner, outcomes: Outcomes, efficiency: Floats) -> Market:
        """Return the market of a cube that the player may turn, from the six chances and efficiency of one position.

        Raises:
            ValueError: The player may not turn the cube, or has no use for that.
        """
        if not stakes.can_double(owner):
            raise ValueError(f"expected a cube that the player can turn, got {owner} at {stakes}")
        wins = np.linspace(0, 1, STEPS + 1)
        line = along(wins, outcomes)
        held = stakes.hold(line, efficiency)
        rolled, taken = held[:, COLUMN[owner]], stakes.answered(held[:, TURNED])
        doubled = np.minimum(taken, stakes.passed)
        too_good = _crossing(wins, rolled - stakes.passed, strictly=True)
        return cls(
            double_from=_crossing(wins, doubled - rolled),
            cash_from=_crossing(wins, taken - stakes.passed),
            too_good_from=too_good,
            dead_cash_from=_crossing(wins, stakes.turned.cubeless(line) - stakes.passed) or 1.0,
            live_cash_from=float(stakes.market(np.asarray(outcomes, np.float64))[1, 1]),
        )


def along(wins: Floats, outcomes: Outcomes) -> Floats:
    """Return six chances for chances to win, shape (n, 6) for (n,), with the gammons of one position, shape (6,)."""
    chances = np.asarray(outcomes, np.float64)
    won = chances[:LOSE] / chances[0] if chances[0] > 0 else np.array([1.0, 0, 0])
    lost = chances[LOSE:] / chances[LOSE] if chances[LOSE] > 0 else np.array([1.0, 0, 0])
    return np.concatenate([np.outer(wins, won), np.outer(1 - wins, lost)], axis=1)


def _crossing(wins: Floats, excess: Floats, *, strictly: bool = False) -> float | None:
    """Return the least chance from which the excess is at least 0 (above 0, strictly); None if there is none."""
    reached = excess > 1e-9 if strictly else excess >= -1e-9
    if not reached.any():
        return None
    first = int(np.argmax(reached))
    if first == 0:
        return float(wins[0])
    before, after = excess[first - 1], excess[first]
    share = -before / (after - before) if after > before else 1.0
    return float(wins[first - 1] + min(max(share, 0.0), 1.0) * (wins[first] - wins[first - 1]))
