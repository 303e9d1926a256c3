"""The answers that are always there: for the one decision for which no strategy had one."""

from __future__ import annotations

from collections.abc import Sequence

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer

TAKE_LIMIT = 1.12
"""A double is taken while we have at most this many times the opponent's pips to go."""


class LastResort:
    """A strategy that needs no thought and cannot fail."""

    name = "last-resort"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Make the first legal play."""
        return PlayAnswer(plays[0])

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Never double."""
        return CubeAnswer(CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take in a race that is not lost."""
        close = state.position.pips <= TAKE_LIMIT * state.position.opponent_pips
        return CubeAnswer(CubeAction.TAKE if close else CubeAction.PASS)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept where more than the offer can hardly be won."""
        return state.resignation > 1 or state.position.opponent_off > 0

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Never resign."""
        return 0

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Leave it to the policy, which has agreed already."""
        return None

    def close(self) -> None:
        """Hold nothing."""
