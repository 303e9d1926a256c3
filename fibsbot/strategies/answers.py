"""What is wrong with an answer of a strategy. A plug-in may return anything; nothing it returns is sent unseen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer

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
