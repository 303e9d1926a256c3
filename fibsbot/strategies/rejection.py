"""Whether to reject the first roll: its best play against the mean of all rolls at twice the cube."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve

from fibsbot.engine.match_equity import equity_scale, points_scale
from fibsbot.match import ROLL_WAYS, ROLLS, MatchState


def gains_by_rejecting(state: MatchState, values_of_rolls: Callable[[MatchState], Sequence[float]]) -> bool:
    """Return whether a new roll with the doubled cube, which has to be played, is worth more than the present one.

    `values_of_rolls` returns the normalised equity of the best play of each of the 21 rolls of a state. That the
    opponent may reject a roll, too, is left out of account.
    """
    high, low = sorted(state.dice or (0, 0), reverse=True)
    if (high, low) not in ROLLS:
        return False
    kept = values_of_rolls(state)[ROLLS.index((high, low))]
    raised = evolve(state, cube=2 * state.cube, may_reject=False)
    again = sum(ways * value for ways, value in zip(ROLL_WAYS, values_of_rolls(raised), strict=True)) / sum(ROLL_WAYS)
    scales = _scale(state), _scale(raised)
    if None in scales or not state.length:
        return 2 * again > kept
    (middle, half), (raised_middle, raised_half) = (scale or (0.0, 1.0) for scale in scales)
    return raised_middle + raised_half * again > middle + half * kept


def _scale(state: MatchState) -> tuple[float, float] | None:
    """Return the match chances that equity 0 and a difference of 1 stand for; None if the game decides nothing."""
    if not state.length:
        return None
    return (points_scale if state.point_game else equity_scale)(state.away, state.cube)
