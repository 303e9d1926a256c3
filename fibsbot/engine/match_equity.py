"""Match equity: the chance to win a match at a score, before a game.

The values are Kazaross' table (XG2), extended to longer matches.

The table reaches to 25 points for both. Beyond it, the chance of the leader, who needs i points where the other needs
j, is that of a normal deviate (j - i) / sqrt(g), as if the match were a random walk; its variance g is read off the
table and nearly linear, and continued by the formula that fits it (standard deviation 0.39 where g runs from 35 to
167): see `_scatter`. After the Crawford game the trailer doubles at once, so that he needs half as many games as
points: see `_doubled_at_once`. Needs neither numpy nor llvmlite.
"""

from __future__ import annotations

import json
import math
from functools import cache, lru_cache
from importlib import resources
from statistics import NormalDist
from typing import Final

from attrs import frozen

TABLE_POINTS: Final = 25
"""How many points away the published table reaches."""
GAMMON_RATE: Final = 0.326
"""How many of 1 wins of the trailer are gammons after the Crawford game; the end of the table decreases by it."""


@frozen
class EquityTable:
    """The published table; element 0 stands for 1 point away."""

    before: tuple[tuple[float, ...], ...]
    """The player's chance by his own points and the opponent's. Row and column 0 are the Crawford game."""
    after: tuple[float, ...]
    """The trailer's chance after the Crawford game, when the leader needs one point."""


@cache
def equity_table() -> EquityTable:
    """Return the published table."""
    text = resources.files("fibsbot.engine").joinpath("data", "kazaross_xg2.json").read_text("utf-8")
    read = json.loads(text)
    return EquityTable(tuple(tuple(row) for row in read["pre_crawford"]), tuple(read["post_crawford"]))


def match_chance(away: int, opponent_away: int, *, crawford_played: bool) -> float:
    """Return the player's chance to win the match, needing so many points against so many, before a game begins.

    With one point to go for one of them, the game is the Crawford game unless that has been played; elsewhere that
    makes no difference. Who needs no point any more has won.
    """
    if away <= 0 or opponent_away <= 0:
        return 1.0 if away <= 0 else 0.0
    if away == opponent_away:
        return 0.5
    if away > opponent_away:
        return 1 - match_chance(opponent_away, away, crawford_played=crawford_played)
    if away > 1:
        return _before(away, opponent_away)
    return 1 - (after_crawford(opponent_away) if crawford_played else _crawford(opponent_away))


def after_crawford(away: int) -> float:
    """Return the trailer's chance after the Crawford game, needing so many points where the leader needs one."""
    if away <= 0:
        return 1.0
    known = _after_crawford
    while len(known) < away:
        known.append(_doubled_at_once(known[-2], known[-4]))
    return known[away - 1]


def _doubled_at_once(single: float, gammon: float) -> float:
    """Return the trailer's chance before a game on a cube of 2, from his chances once it is won singly or doubly.

    Two points more therefore cost him one game more. That makes the odd point of an even number all but worthless, so
    the leader may pass the double for nothing and does so when the first throws went against him (the free drop); the
    table has that in it, and two points further on it is there again.
    """
    return 0.5 * ((1 - GAMMON_RATE) * single + GAMMON_RATE * gammon)


def _crawford(away: int) -> float:
    """Return the trailer's chance in the Crawford game."""
    if away <= TABLE_POINTS:
        return equity_table().before[away - 1][0]
    return _doubled_at_once(after_crawford(away - 1), after_crawford(away - 2))  # the same, but points count once


@lru_cache(maxsize=1 << 16)
def _before(away: int, opponent_away: int) -> float:
    """Return the leader's chance before the Crawford game."""
    if opponent_away <= TABLE_POINTS:
        return equity_table().before[away - 1][opponent_away - 1]
    scatter = _scatter(away, opponent_away) + _seam(min(away, TABLE_POINTS - 1))
    return NormalDist().cdf((opponent_away - away) / math.sqrt(scatter))


@cache
def _seam(away: int) -> float:
    """Return by how much the table's last column is off the formula; the formula is shifted by so much beyond it."""
    deviate = NormalDist().inv_cdf(equity_table().before[away - 1][TABLE_POINTS - 1])
    return ((TABLE_POINTS - away) / deviate) ** 2 - _scatter(away, TABLE_POINTS)


def _scatter(away: int, opponent_away: int) -> float:
    """Return what the rest of a match scatters, in squared points, as it fits the table from 4 points away.

    Were all games played alike, it would grow by the same for each point of either. A leader plays for safety and a
    trailer for complications, and one needs few games where the other needs many, which makes it bend.
    """
    i, j = away, opponent_away
    return -3.6241 + 6.9411 * i + 2.0929 * (j - i) + 1.2316 * i * math.log(j / i)


_after_crawford: Final = list(equity_table().after)
"""The trailer's chances as far as they have been asked for."""
