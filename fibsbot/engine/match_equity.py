"""Match equity, the chance to win a match at a score before a game; and the points that each result of a game counts.

The values are Kazaross' table (XG2), extended to longer matches.

The table reaches to 25 points for both. Beyond it, the chance of the leader, who needs i points where the opponent
needs j, is the normal distribution function of (j - i) / sqrt(g), as if the match were a random walk. Its variance g
is nearly linear in the table, and is extended by the formula that fits it (standard deviation 0.39 where g runs from
35 to 167): see `_variance`. After the Crawford game the trailer doubles at once and therefore needs half as many games
as points: see `_doubled_at_once`.

In the Point Game (law 21 of 1931) the winner scores for each checker that the loser has left. How many that will be is
estimated from the pips of both sides, separately for single games, gammons and backgammons. The figures were fitted to
600 games of the engine against itself without lookahead and without a cube, 40,000 positions; the standard deviation of
a game around the estimate is 4 points (`docs/explanation/cube.md`). A pass counts the checkers where they are, 34
points at the start; the cube model takes a pass in a later turn for a single game, as by then most checkers have come
home.

The module needs neither numpy nor llvmlite: the heuristic strategy uses it, too.
"""

from __future__ import annotations

import json
import math
import threading
from functools import cache, lru_cache
from importlib import resources
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.match import MatchState
from fibsbot.position import CHECKERS, Position
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.laws import point_game_score

TABLE_POINTS: Final = 25
"""Points away up to which the published table reaches."""
GAMMON_RATE: Final = 0.326
"""Share of gammons among the trailer's wins after the Crawford game, as the end of the table has it."""
LEAST_SWING: Final = 1e-9
"""A game that decides less of the match than this is played as for money: its equities would be rounding errors."""


@frozen
class EquityTable:
    """The published table; element 0 stands for 1 point away."""

    before: tuple[tuple[float, ...], ...]
    """The player's chance by the points that the player and the opponent need. Row and column 0: the Crawford game."""
    after: tuple[float, ...]
    """The trailer's chance after the Crawford game, when the leader needs one point."""


@cache
def equity_table() -> EquityTable:
    """Return the published table."""
    text = resources.files("fibsbot.engine").joinpath("data", "kazaross_xg2.json").read_text("utf-8")
    read = json.loads(text)
    return EquityTable(tuple(tuple(row) for row in read["pre_crawford"]), tuple(read["post_crawford"]))


def match_chance(away: int, opponent_away: int, *, crawford_played: bool) -> float:
    """Return the player's chance to win the match before a game, by the points that player and opponent still need.

    Where one of them needs one point, the game is the Crawford game unless that has been played; elsewhere
    `crawford_played` makes no difference. A player who needs no more points has won.
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


_EXTENDING: Final = threading.Lock()
"""Held while the list of `_chances_after_crawford` is extended."""


def after_crawford(away: int) -> float:
    """Return the trailer's chance after the Crawford game, by the points needed; the leader needs one."""
    if away <= 0:
        return 1.0
    known = _chances_after_crawford()
    if len(known) < away:
        with _EXTENDING:  # two threads would append the same chance twice, and all after it would be wrong
            while len(known) < away and known[-1]:
                known.append(_doubled_at_once(known[-2], known[-4]))
    return known[away - 1] if away <= len(known) else 0.0  # too small for a float, after some thousand points


@cache
def _chances_after_crawford() -> list[float]:
    """Return the chances of `after_crawford` that are known, a list that it extends; element 0 is 1 point away."""
    return list(equity_table().after)


def _doubled_at_once(single: float, gammon: float) -> float:
    """Return the trailer's chance before a game on a cube of 2, from the chances after a single win and after a gammon.

    Two more points needed are therefore one more game. That makes the last point of an even number nearly worthless, so
    the leader can pass the double for nothing and does so when the first rolls went badly (the free drop). The table
    contains that, and this recursion passes it on to larger numbers.
    """
    return 0.5 * ((1 - GAMMON_RATE) * single + GAMMON_RATE * gammon)


def _crawford(away: int) -> float:
    """Return the trailer's chance in the Crawford game."""
    if away <= TABLE_POINTS:
        return equity_table().before[away - 1][0]
    return _doubled_at_once(after_crawford(away - 1), after_crawford(away - 2))  # the cube is at 1


@lru_cache(maxsize=1 << 16)
def _before(away: int, opponent_away: int) -> float:
    """Return the leader's chance before the Crawford game."""
    if opponent_away <= TABLE_POINTS:
        return equity_table().before[away - 1][opponent_away - 1]
    from fibsbot.engine.normal_distribution import cdf  # noqa: PLC0415 - slow to import, only long matches need it

    variance = _variance(away, opponent_away) + _variance_offset(min(away, TABLE_POINTS - 1))
    return cdf((opponent_away - away) / math.sqrt(variance))


@cache
def _variance_offset(away: int) -> float:
    """Return the variance in the table's last column minus that of the formula; added beyond the table's end."""
    from fibsbot.engine.normal_distribution import inverse_cdf  # noqa: PLC0415 - see `_before`

    deviation = (TABLE_POINTS - away) / inverse_cdf(equity_table().before[away - 1][TABLE_POINTS - 1])
    return deviation * deviation - _variance(away, TABLE_POINTS)


def _variance(away: int, opponent_away: int) -> float:
    """Return the variance of the rest of a match, in squared points, fitted to the table from 4 points away.

    If all games were played alike, it would be linear in the points that both need. It bends because a leader plays
    safe and a trailer seeks complications, and because one needs few games where the other needs many.
    """
    from fibsbot.engine.normal_distribution import log  # noqa: PLC0415 - see `_before`

    i, j = away, opponent_away
    return -3.6241 + 6.9411 * i + 2.0929 * (j - i) + 1.2316 * i * log(j / i)


def chance_after_game(away: tuple[int, int], points: int) -> float:
    """Return the player's chance to win the match after a game that ends with these points, negative ones lost.

    `away` is what player and opponent need before the game. Where one of them needs one point, the game is the Crawford
    game or comes after it, so that the next one is not the Crawford game.
    """
    left, opponent_left = away[0] - max(points, 0), away[1] - max(-points, 0)
    return match_chance(left, opponent_left, crawford_played=1 in away)


def equity_scale(away: tuple[int, int], cube: int) -> tuple[float, float] | None:
    """Return the match chance that equity 0 stands for, and the difference that equity 1 stands for.

    On this scale winning a single game at the cube is 1 and losing it -1 (GNU Backgammon's EMG). None where the game
    decides nothing.
    """
    won, lost = chance_after_game(away, cube), chance_after_game(away, -cube)
    return ((won + lost) / 2, (won - lost) / 2) if won - lost > LEAST_SWING else None


# -- points of a game --------------------------------------------------------------------------------------------------


LevelPoints: TypeAlias = tuple[float, float, float]
"""The points of a single game, a gammon and a backgammon."""

PLAIN_POINTS: Final[LevelPoints] = (1, 2, 3)
POINTS_PER_GAME: Final = 12
"""The mean score of the Point Game, the unit of its equities."""
SWING: Final = 16.0
"""Standard deviation of the difference of the scores after one Point Game, cubes included."""


@frozen
class GamePoints:
    """What the results of a game count for a player at a cube of 1."""

    won: LevelPoints = PLAIN_POINTS
    lost: LevelPoints = PLAIN_POINTS
    cashed: float = 1
    """What the player wins if the opponent passes or resigns now."""
    passed: float = 1
    """What the player loses by passing or resigning now."""
    unit: int = 1
    """The points that equity 1 stands for."""

    @classmethod
    def of(cls, state: MatchState) -> GamePoints:
        """Return what the game of a state counts for its player."""
        if state.point_game:
            position = state.position
            theirs = position.swapped()
            return cls(
                estimated_points(position),
                estimated_points(theirs),
                point_game_score(sides_of(position).opponent.row),
                point_game_score(sides_of(theirs).opponent.row),
                POINTS_PER_GAME,
            )
        return PLAIN if state.triple else NO_TRIPLE

    @property
    def swapped(self) -> GamePoints:
        """The same seen by the opponent."""
        return GamePoints(self.lost, self.won, self.passed, self.cashed, self.unit)

    @property
    def point_game(self) -> bool:
        """Whether the checkers left are counted."""
        return self.unit != 1


PLAIN: Final = GamePoints()
"""Gammons count two, backgammons three."""
NO_TRIPLE: Final = GamePoints((1, 2, 2), (1, 2, 2))
"""Backgammons count like gammons."""


def estimated_points(position: Position) -> LevelPoints:
    """Return the mean scores of the Point Game if the player who sees the position wins, by level.

    Exact where the game is over.
    """
    if position.off == CHECKERS:
        score = float(point_game_score(sides_of(position).opponent.row))
        return (score, score, score)
    ahead = position.opponent_pips - position.pips
    left = CHECKERS - position.opponent_off
    # In a short race what is left follows from the difference in pips; the longer the game, the less it says.
    length = min(position.pips / 120, 1.0)
    single = 3 + 5.6 * length + (0.2 - 0.165 * length) * ahead
    gammon = 11.7 + 0.076 * position.opponent_pips - 0.023 * position.pips
    return (
        min(max(single, 1.0), left, CHECKERS - 1.0),
        min(max(gammon, float(CHECKERS)), 30.0),
        min(max(gammon + 7, CHECKERS + 3.0), 45.0),
    )


def chance_after_points(away: tuple[int, int], points: float) -> float:
    """Return the chance to win a match of Point Games after a game with these points, negative ones lost.

    The difference of the scores is taken for a random walk, one step a game.
    """
    own, theirs = away[0] - max(points, 0), away[1] + min(points, 0)
    if min(own, theirs) <= 0:
        return 1.0 if own <= 0 else 0.0
    from fibsbot.engine.normal_distribution import cdf  # noqa: PLC0415 - see `_before`

    games = max((own + theirs) / POINTS_PER_GAME - 0.5, 0.5)
    return cdf((theirs - own) / (SWING * math.sqrt(games)))


def points_scale(away: tuple[int, int], cube: int) -> tuple[float, float] | None:
    """Return what equity 0 and 1 of the Point Game stand for at a match score, as `equity_scale` does for games."""
    won, lost = (chance_after_points(away, sign * cube * POINTS_PER_GAME) for sign in (1, -1))
    return ((won + lost) / 2, (won - lost) / 2) if won - lost > LEAST_SWING else None
