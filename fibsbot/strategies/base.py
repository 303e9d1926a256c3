"""The interface of a strategy, small and free of asyncio: a strategy may block, because it is asked in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from attrs import frozen

from fibsbot.match import CubeAction, MatchState
from fibsbot.position import Play

__all__ = ["CubeAction", "CubeAnswer", "Opponent", "PlayAnswer", "RejectsRolls", "Strategy"]


@frozen
class PlayAnswer:
    """The play to make."""

    play: Play
    equity: float | None = None
    """Equity after the play, in points per game at the present cube; None if the strategy gives none."""


@frozen
class CubeAnswer:
    """ROLL or DOUBLE when asked before the roll; TAKE, PASS or BEAVER when doubled."""

    action: CubeAction
    equity: float | None = None


@frozen
class Opponent:
    """What the server says about a player who invites, in its `5` line."""

    name: str
    rating: float | None = None
    experience: int | None = None
    client: str | None = None


@runtime_checkable
class Strategy(Protocol):
    """A player of backgammon. States are seen by the player who decides; every method may take seconds and may raise.

    If a strategy is late, raises or answers nonsense, another strategy makes this one decision.
    """

    name: str
    """Its name for `--strategy` and in logs."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose one of the legal plays (at least two, with distinct results) for `state.dice`; phase MOVE."""
        ...

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Return ROLL or DOUBLE; asked only when doubling is legal; phase ROLL."""
        ...

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Return TAKE, PASS or, while `state.redoubles` is above 0, BEAVER; phase DOUBLED."""
        ...

    def accept_resignation(self, state: MatchState) -> bool:
        """Return whether the offered `state.resignation` is enough; phase RESIGNED."""
        ...

    def resign(self, state: MatchState) -> int:
        """Return how much to resign before the roll: 0 nothing, 1 single, 2 gammon, 3 backgammon; phase ROLL."""
        ...

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:
        """Return None to accept a match of `length` points (0 is unlimited), else a sentence for the inviter.

        Asked only after the policy in the configuration has accepted.
        """
        ...

    def close(self) -> None:
        """Release what the strategy holds; it is not asked again."""
        ...


@runtime_checkable
class RejectsRolls(Protocol):
    """A strategy that also decides whether to reject the first roll of a game; others keep it."""

    def reject_roll(self, state: MatchState) -> bool:
        """Return whether to reject `state.dice`, which doubles the centred cube, and roll again; phase MOVE.

        Asked only where the laws allow it (`state.may_reject`). The second roll has to be played.
        """
        ...
