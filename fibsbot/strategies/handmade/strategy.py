"""The handmade strategy: every decision follows from the estimated chances of a position. It is a judge as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fibsbot.match import MatchState, Owner
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.handmade import judging
from fibsbot.strategies.handmade.evaluate import chances
from fibsbot.strategies.handmade.match_equity import chance_after, worth_of
from fibsbot.strategies.handmade.resigning import certain_loss
from fibsbot.strategies.judge import CubeValues, PlayValue, PositionValue

BEAVER_FROM: Final = 0.1
"""Points per game that a take must promise before it becomes a beaver."""
SLACK: Final = 0.01
"""A resignation may fall short of the position by so many points per game: estimates are not exact."""


class HandmadeStrategy:
    """Play by hand-made knowledge: race, shots, points, primes and anchors; the cube by match equity."""

    name = "handmade"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the play after which the results are worth most at this score, the cube left alone."""
        if not plays:
            raise ValueError("expected at least one play")
        ranks = judging.rank_plays(state, plays)
        best = max(ranks)
        return PlayAnswer(plays[ranks.index(best)], best[0])

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double when that gains, which it does neither too early nor when a gammon is worth more than a pass."""
        if not judging.cube_is_open(state):
            return CubeAnswer(CubeAction.ROLL, judging.value(state))
        values = judging.value_cube(state)
        action = CubeAction.DOUBLE if values.double > values.no_double else CubeAction.ROLL
        return CubeAnswer(action, values.best)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take what loses less than a pass, and beaver what clearly wins."""
        if is_beavered(state):
            expected, owner = chances(state.position), Owner.OPPONENT
        else:
            expected, owner = chances(state.position.swapped()).reversed(), Owner.PLAYER
        equity = judging.game_of(state, expected).value(expected.win, 2 * state.cube, owner)
        if equity < -1:
            return CubeAnswer(CubeAction.PASS, -1.0)
        beaver = state.redoubles and equity > BEAVER_FROM
        return CubeAnswer(CubeAction.BEAVER if beaver else CubeAction.TAKE, equity)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept what is worth as much as playing on, even if it is our turn."""
        return worth_of(state)(state.resignation * state.cube) >= judging.value(state) - SLACK

    def resign(self, state: MatchState) -> int:
        """Resign what no dice can save."""
        level = certain_loss(state.position)
        _, opponent_away = state.away
        return 1 if level and 0 < opponent_away <= state.cube else level

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Play anybody at any length that the policy allows."""
        return None

    def close(self) -> None:
        """Nothing is held."""

    # -- as a judge -----------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return what the position is worth to the player on roll, who doubles where that gains."""
        return judging.value(state)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return what the position is worth to the player on roll, with plies and chances."""
        return judging.value_position(state)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return what each play is worth, none more than the one that the strategy would choose."""
        return [it.equity for it in judging.compare_plays(state, plays)]

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:  # noqa: ARG002
        """Return what each play is worth, without looking ahead, and the chances that it leaves."""
        return judging.compare_plays(state, plays)

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return what doubling and not doubling is worth."""
        if not judging.cube_is_open(state):
            raise ValueError(f"expected a state in which the player may double, got {state}")
        return judging.value_cube(state)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return how likely the match is won once this game has ended with so many points."""
        return chance_after(state, points)


def is_beavered(state: MatchState) -> bool:
    """Whether the double to be answered is a beaver or raccoon of our own double, after which we are on roll.

    The state does not say, but who could double had the cube; a centred cube above 1 stands for a first double.
    """
    if state.length:
        return False
    return state.owner is Owner.PLAYER or (state.owner is Owner.CENTRED and state.cube > 1)
