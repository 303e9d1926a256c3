"""Chances while the sides can still meet: hand-made terms, weighed and added up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from fibsbot.position import CHECKERS, Position
from fibsbot.strategies.handmade.chances import Chances
from fibsbot.strategies.handmade.terms import race_lead, side_terms
from fibsbot.strategies.handmade.weights import BACKGAMMONS, LOSE_GAMMON, WIN, WIN_GAMMON

_ROLL = 4
"""Half a roll: what being on roll is worth in the race, in pips."""


def contact_chances(position: Position) -> Chances:
    """Return the chances of the player on roll; neither side has borne off all its checkers."""
    own = [max(n, 0) for n in position.points]
    opponent = [max(-n, 0) for n in position.points]
    lead = race_lead(position.pips - _ROLL, position.opponent_pips)
    row = (1.0, lead, *side_terms(own, opponent), *side_terms(opponent[::-1], own[::-1]))
    win = _logistic(row, WIN)
    win_gammon = win * _logistic(row, WIN_GAMMON) if sum(opponent) == CHECKERS else 0.0
    lose_gammon = (1 - win) * _logistic(row, LOSE_GAMMON) if sum(own) == CHECKERS else 0.0
    return Chances(
        win,
        win_gammon,
        win_gammon * _backgammons(sum(opponent[:7])),
        lose_gammon,
        lose_gammon * _backgammons(sum(own[19:])),
    )


def _logistic(row: Sequence[float], weights: Sequence[float]) -> float:
    return 1 / (1 + math.exp(-sum(map(mul, row, weights))))


def _backgammons(back: int) -> float:
    """Return the share of backgammons among the gammons, by the loser's checkers that are still far back."""
    return BACKGAMMONS[min(back, len(BACKGAMMONS) - 1)]
