"""Chances while the sides can still meet: hand-made terms, weighed and added up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import Final

from fibsbot.position import CHECKERS, Position
from fibsbot.strategies.handmade.chances import Chances
from fibsbot.strategies.handmade.terms import race_lead, side_terms
from fibsbot.strategies.handmade.weights import BACKGAMMONS, BOTH_BACK, ONE_AWAY

_HALF_A_ROLL: Final = 4
"""What being on roll is worth in the race, in pips."""


def contact_chances(position: Position) -> Chances:
    """Return the chances of the player on roll; neither side has borne off all its checkers."""
    own = [max(n, 0) for n in position.points]
    opponent = [max(-n, 0) for n in position.points]
    ours, theirs = side_terms(own, opponent), side_terms(opponent[::-1], own[::-1])
    lead = race_lead(position.pips - _HALF_A_ROLL, position.opponent_pips)
    weights = BOTH_BACK if any(own[19:]) and any(opponent[:7]) else ONE_AWAY

    win = _logistic(weights.win + weights.lead * lead + _sum(ours, weights.on_roll) - _sum(theirs, weights.waiting))
    gammon = lose_gammon = 0.0
    if sum(opponent) == CHECKERS:
        swing = weights.gammon_on_roll + weights.gammon_lead * lead
        gammon = win * _logistic(weights.gammon + swing + _sum(ours, weights.winner) + _sum(theirs, weights.loser))
    if sum(own) == CHECKERS:
        swing = weights.gammon_on_roll + weights.gammon_lead * lead
        share = _logistic(weights.gammon - swing + _sum(theirs, weights.winner) + _sum(ours, weights.loser))
        lose_gammon = (1 - win) * share
    return Chances(
        win,
        gammon,
        gammon * _backgammons(sum(opponent[:7])),
        lose_gammon,
        lose_gammon * _backgammons(sum(own[19:])),
    )


def _sum(terms: Sequence[float], weights: Sequence[float]) -> float:
    total: float = sum(map(mul, terms, weights))
    return total


def _logistic(total: float) -> float:
    return 1 / (1 + math.exp(-total))


def _backgammons(back: int) -> float:
    """Return the share of backgammons among the gammons, by the loser's checkers that are still far back."""
    return BACKGAMMONS[min(back, len(BACKGAMMONS) - 1)]
