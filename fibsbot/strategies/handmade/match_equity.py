"""How likely a match is won at a score: what the cube model expects when equal players begin the next game.

Nothing is looked up. Before the Crawford game each score follows from the scores that one game leads to, with the
cube used as in `cube.py`; in the Crawford game and after it the cube is simple enough to be reckoned by hand. The
constants were chosen so that the result agrees with the published table (Kazaross XG2) up to 25 points: to 0.0012 on
average, 0.007 at worst.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Final

from fibsbot.match import MatchState, Owner
from fibsbot.strategies.handmade.cube import Game, Worth

GAMMONS: Final = 0.29
"""How many of 1 wins are gammons between equal players."""
FREE_DROP: Final = 0.02
"""The share of his chances that the trailer loses after the Crawford game because the leader may pass at once when the
opening rolls went wrong. That is free while the trailer needs an even number of points."""


def match_equity(away: int, opponent_away: int, *, crawford_played: bool) -> float:
    """Return the player's chance to win the match, before a game, needing so many points against so many."""
    _prepare(max(away, opponent_away))
    return _look_up(away, opponent_away, crawford_played=crawford_played)


def chance_after(state: MatchState, points: int) -> float:
    """Return the player's chance to win the match after a game that ended with so many points, negative ones lost."""
    if not state.length:
        raise ValueError("expected a match of some length, got an unlimited one")
    away, opponent_away = state.away
    _prepare(max(away, opponent_away))
    return (1 + _worth(away, opponent_away, state.crawford or state.post_crawford, points)) / 2


def worth_of(state: MatchState) -> Worth:
    """Return what it is worth to win points in this game, in units of what the present cube decides.

    Winning the game at the present cube is worth 1, losing it -1, so that any score reads like a money game.
    """
    if not state.length:
        return partial(_money_worth, state.cube)
    away, opponent_away = state.away
    _prepare(max(away, opponent_away))
    worth = partial(_worth, away, opponent_away, state.crawford or state.post_crawford)
    won, lost = worth(state.cube), worth(-state.cube)
    return partial(_scaled, worth, (won + lost) / 2, (won - lost) / 2)


@cache
def after_crawford(away: int) -> float:
    """Return the trailer's chance after the Crawford game, when the leader needs one point.

    The trailer doubles at once; the leader takes or passes, whichever is better for him.
    """
    if away <= 1:
        return 0.5 if away == 1 else 1.0
    taken = 0.5 * ((1 - GAMMONS) * after_crawford(away - 2) + GAMMONS * after_crawford(away - 4))
    return min(taken, after_crawford(away - 1)) * (1 if away % 2 else 1 - FREE_DROP)


def _look_up(away: int, opponent_away: int, *, crawford_played: bool) -> float:
    if away <= 0 or opponent_away <= 0:
        return 1.0 if away <= 0 else 0.0
    if away < opponent_away:
        return 1 - _look_up(opponent_away, away, crawford_played=crawford_played)
    if away == opponent_away:
        return 0.5
    if opponent_away > 1:
        return _before_crawford(away, opponent_away)
    return after_crawford(away) if crawford_played else _crawford(away)


def _worth(away: int, opponent_away: int, crawford_played: bool, points: int) -> float:  # noqa: FBT001 - for partial
    left, opponent_left = away - max(points, 0), opponent_away - max(-points, 0)
    return 2 * _look_up(left, opponent_left, crawford_played=crawford_played) - 1


def _crawford(away: int) -> float:
    return 0.5 * ((1 - GAMMONS) * after_crawford(away - 1) + GAMMONS * after_crawford(away - 2))


def _money_worth(cube: int, points: int) -> float:
    return points / cube


def _scaled(worth: Worth, middle: float, unit: float, points: int) -> float:
    return (worth(points) - middle) / unit


@cache
def _before_crawford(away: int, opponent_away: int) -> float:
    shares = (1 - GAMMONS, GAMMONS, 0.0)
    worth = partial(_worth, away, opponent_away, False)  # noqa: FBT003 - for partial
    game = Game(worth, won=shares, lost=shares, away=(away, opponent_away))
    return (1 + game.value(0.5, 1, Owner.CENTRED)) / 2


@cache
def _prepare(away: int) -> None:
    """Reckon all scores up to this one from below, so that no recursion runs through a whole long match."""
    if away > 2:
        _prepare(away - 1)
    for opponent_away in range(2, away):
        _before_crawford(away, opponent_away)
