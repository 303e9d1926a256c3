"""Normalised equities, points and chances to win the match, each from the other."""

from __future__ import annotations

from fibsbot.match import MatchState
from fibsbot.strategies.judge import Judge


def worth_of_points(judge: Judge, state: MatchState, points: int) -> float:
    """Return what it is worth, normalised, if the player gets so many points for this game, negative ones lost."""
    if not state.length:
        return points / state.cube
    won, lost = (judge.match_chance(state, sign * state.cube) for sign in (1, -1))
    return (2 * judge.match_chance(state, points) - won - lost) / (won - lost)


def chances_in_one(judge: Judge, state: MatchState) -> float:
    """Return how many chances to win the match a normalised equity of 1 is; 0 in an unlimited match."""
    if not state.length:
        return 0.0
    return (judge.match_chance(state, state.cube) - judge.match_chance(state, -state.cube)) / 2
