"""What one analysed decision adds to the statistics of its player."""

from __future__ import annotations

from typing import Final

from fibsbot.analysis.luck import points_of_equity
from fibsbot.analysis.model import AnalysedDecision, CubeErrors, ErrorSum, PlayerStatistics
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.rules.permissions import is_cube_dead
from fibsbot.strategies.base import CubeValues

CLOSE_IN_GNUBG: Final = 0.16
"""GNU Backgammon counts a roll as a cube decision if doubling would have lost less than this."""


def statistics_of(analysed: AnalysedDecision) -> PlayerStatistics:
    """Return the statistics of one decision, without luck."""
    loss, points = analysed.loss, analysed.loss * points_of_equity(analysed.decision.state)
    total = PlayerStatistics(
        decisions=int(analysed.counts), loss=loss, loss_in_points=points, loss_in_chances=analysed.loss_in_chances
    )
    match analysed.decision.answer:
        case Play():
            return total + PlayerStatistics(
                play_loss=loss,
                play_loss_in_points=points,
                play_loss_in_chances=analysed.loss_in_chances,
                unforced_plays=int(bool(analysed.options)),
            )
        case CubeAction() as action if analysed.cube is not None:
            return total + PlayerStatistics(
                cube_loss=loss,
                cube_loss_in_points=points,
                cube_loss_in_chances=analysed.loss_in_chances,
                cube_decisions=int(_is_close_or_actual(analysed, action, analysed.cube)),
                cube_errors=_cube_errors(analysed, action, analysed.cube),
            )
    return total


def _is_close_or_actual(analysed: AnalysedDecision, action: CubeAction, cube: CubeValues) -> bool:
    """Return whether GNU Backgammon counts a cube decision: all but rolls where doubling was far from right."""
    if action is not CubeAction.ROLL or analysed.loss:
        return True
    decision = analysed.decision
    return not is_cube_dead(decision.step.before, decision.seat) and cube.best - cube.double < CLOSE_IN_GNUBG


def _cube_errors(analysed: AnalysedDecision, action: CubeAction, cube: CubeValues) -> CubeErrors:
    """Return the error of a cube decision by its kind; none if it was right."""
    if not analysed.loss:
        return CubeErrors()
    match action:
        case CubeAction.ROLL:
            passes = cube.double_take > cube.double_pass
            kind = "missed_doubles_above_cash_point" if passes else "missed_doubles_below_cash_point"
        case CubeAction.DOUBLE:
            too_good = cube.no_double > cube.double_pass
            kind = "wrong_doubles_too_good" if too_good else "wrong_doubles_below_doubling_point"
        case CubeAction.PASS:
            kind = "wrong_passes"
        case CubeAction.TAKE if analysed.best == CubeAction.PASS.value:
            kind = "wrong_takes"
        case _:
            kind = "wrong_beavers"
    return CubeErrors(**{kind: ErrorSum(1, analysed.loss)})
