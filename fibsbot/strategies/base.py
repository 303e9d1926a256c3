"""The interface of a strategy, and the checks of its answers.

Small, typed and free of asyncio; a strategy may block, the caller runs it elsewhere. A plug-in may return anything:
no answer is sent unchecked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

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


_OFFERS: Final = (CubeAction.ROLL, CubeAction.DOUBLE)


def play_fault(plays: Sequence[Play], answer: object) -> str | None:
    """Return what is wrong with an answer to `choose_play`, None when it is one of the plays."""
    if not isinstance(answer, PlayAnswer):
        return f"expected a PlayAnswer, got {answer!r}"
    return None if answer.play in plays else f"expected one of the {len(plays)} plays offered, got {answer.play!r}"


def offer_fault(answer: object) -> str | None:
    """Return what is wrong with an answer to `offer_double`."""
    return _cube_fault(_OFFERS, answer)


def response_fault(state: MatchState, answer: object) -> str | None:
    """Return what is wrong with an answer to `answer_double`."""
    beaver = (CubeAction.BEAVER,) if state.redoubles else ()
    return _cube_fault((CubeAction.TAKE, CubeAction.PASS, *beaver), answer)


def acceptance_fault(answer: object) -> str | None:
    """Return what is wrong with an answer to `accept_resignation`."""
    return None if isinstance(answer, bool) else f"expected True or False, got {answer!r}"


def resignation_fault(answer: object) -> str | None:
    """Return what is wrong with an answer to `resign`."""
    known = isinstance(answer, int) and not isinstance(answer, bool) and answer in range(4)
    return None if known else f"expected 0, 1, 2 or 3, got {answer!r}"


def invitation_fault(answer: object) -> str | None:
    """Return what is wrong with an answer to `accept_invitation`."""
    return None if answer is None or isinstance(answer, str) else f"expected None or a sentence, got {answer!r}"


def _cube_fault(allowed: tuple[CubeAction, ...], answer: object) -> str | None:
    if not isinstance(answer, CubeAnswer):
        return f"expected a CubeAnswer, got {answer!r}"
    if answer.action in allowed:
        return None
    return f"expected {' or '.join(action.name for action in allowed)}, got {answer.action!r}"
