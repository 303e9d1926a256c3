"""The interface of a strategy: who decides.

Small, typed and free of asyncio; a strategy may block, the caller runs it elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from attrs import frozen

from fibsbot.match import CubeAction, MatchState
from fibsbot.position import Play

__all__ = ["CubeAction", "CubeAnswer", "Opponent", "PlayAnswer", "Strategy"]


@frozen
class PlayAnswer:
    """The play to make."""

    play: Play
    equity: float | None = None
    """What the strategy expects after it, in points per game at the present cube; None when it does not say."""


@frozen
class CubeAnswer:
    """ROLL or DOUBLE when asked before the roll; TAKE, PASS or BEAVER when doubled."""

    action: CubeAction
    equity: float | None = None


@frozen
class Opponent:
    """What the server tells about somebody who invites, from the `5` line."""

    name: str
    rating: float | None = None
    experience: int | None = None
    client: str | None = None


@runtime_checkable
class Strategy(Protocol):
    """Decides. Every state is seen by the player who decides; every method may take seconds and may raise.

    A strategy that is late, raises or answers nonsense costs one decision: the caller asks a fallback.
    """

    name: str
    """What `--strategy` and logs call it."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose one of the legal plays (at least two, with distinct results) for `state.dice`; phase MOVE."""
        ...

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Answer ROLL or DOUBLE; asked only when doubling is legal; phase ROLL."""
        ...

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Answer TAKE, PASS or, while `state.redoubles` is above 0, BEAVER; phase DOUBLED."""
        ...

    def accept_resignation(self, state: MatchState) -> bool:
        """Whether the offered `state.resignation` is enough; phase RESIGNED."""
        ...

    def resign(self, state: MatchState) -> int:
        """How much to resign before the roll: 0 nothing, 1 single, 2 gammon, 3 backgammon; phase ROLL."""
        ...

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:
        """Return None to accept a match of `length` points (0 is unlimited), else a sentence for the inviter.

        Asked only after the policy in the configuration has agreed.
        """
        ...

    def close(self) -> None:
        """Release what the strategy holds; it is not asked again."""
        ...
