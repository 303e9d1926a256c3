"""Races: how many rolls a side needs to bear off, the chances that follow, and when a game is certainly lost.

A distribution is a row of chances: entry k is the chance that the k-th roll is the last one needed. It is computed
exactly for a few checkers and estimated for more. A loss is certain if no rolls of either side change it; only then
is a game resigned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, TypeAlias

from fibsbot.match import PIPS_PER_ROLL, ROLL_WAYS, ROLLS
from fibsbot.position import CHECKERS, Position
from fibsbot.strategies.heuristic.cube import OutcomeChances

Counts: TypeAlias = tuple[int, ...]
"""Checkers on the points 1 to 24 of a side's own view."""
Home: TypeAlias = tuple[int, ...]
"""Checkers on the points 1 to 6."""
Distribution: TypeAlias = tuple[float, ...]

MAX_EXACT_CHECKERS: Final = 6
"""Home boards of up to this number of checkers are computed exactly: 924 positions, a fifth of a second once."""


@lru_cache(maxsize=4096)
def rolls_to_bear_off(counts: Counts) -> Distribution:
    """Return the rolls needed to bear off every checker."""
    if sum(counts) <= MAX_EXACT_CHECKERS and not any(counts[6:]):
        return exact_distribution(counts[:6])
    pips = sum(point * n for point, n in enumerate(counts, 1))
    rolls = (pips + wastage(counts)) / PIPS_PER_ROLL
    # Both constants are the least-squares line through the exact variances of 6 to 15 checkers in the home board.
    return normal_distribution(rolls, 0.23 * rolls - 0.61)


@lru_cache(maxsize=4096)
def rolls_to_reach(limit: int, counts: Counts) -> Distribution:
    """Return the rolls needed to bring every checker to `limit` or nearer, and if that is home, to bear one off.

    Limit 6 saves the gammon, limit 18 (out of the opponent's home board) the backgammon. The lines were fitted to
    played-out random positions; their error is a tenth of a roll.
    """
    checkers = sum(counts[limit:])
    pips = sum(distance * n for distance, n in enumerate(counts[limit:], 1))
    if not checkers:
        return (0.0, 1.0) if limit == 6 else (1.0,)
    rolls = 0.71 + 0.23 * checkers + 0.12 * pips if limit == 6 else 0.39 + 0.25 * checkers + 0.11 * pips
    return normal_distribution(rolls, 0.275 * rolls - 0.25)


def wastage(counts: Counts) -> float:
    """Return the pips that a side needs to bear off in addition to its pip count.

    Checkers on low points, gaps and stacks waste pips. The weights are the least squares over the exact values of all
    positions of 6 to 15 checkers with no point above five checkers and at most two gaps; the error is 0.6 pips.
    Checkers outside are taken to come home to the points 6, 5 and 4 in turn.
    """
    home = list(counts[:6])
    for checker in range(sum(counts[6:])):
        home[5 - checker % 3] += 1
    low = 1.96 * home[0] + 1.25 * home[1] + 0.73 * home[2]
    return 4.7 - 0.155 * sum(home) + low + 0.93 * home.count(0) + 0.54 * max(0, max(home) - 3)


def normal_distribution(mean: float, variance: float) -> Distribution:
    """Return a normal distribution cut into whole rolls, at least one."""
    width = math.sqrt(2 * max(variance, 0.05))
    chances = [0.0]
    below = 0.0
    while below < 0.9999:
        upto = 0.5 + 0.5 * math.erf((len(chances) + 0.5 - mean) / width)
        chances.append(upto - below)
        below = upto
    chances[-1] += 1 - below
    return tuple(chances)


def chance_to_finish_first(first: Distribution, second: Distribution) -> float:
    """Return the chance that the side that rolls first needs no more rolls than the other."""
    chance = 0.0
    left = 1.0
    for roll, finishes in enumerate(first):
        chance += finishes * left
        left -= second[roll] if roll < len(second) else 0.0
    return min(max(chance, 0.0), 1.0)


@cache
def exact_distribution(home: Home) -> Distribution:
    """Return the exact distribution for a home board, each roll played so that the fewest rolls are left on average."""
    if not any(home):
        return (1.0,)
    chances = [0.0]
    for (high, low), ways in zip(ROLLS, ROLL_WAYS, strict=True):
        after = min((exact_distribution(left) for left in set(_plays(home, high, low))), key=_mean)
        chances += [0.0] * (len(after) + 1 - len(chances))
        for rolls, chance in enumerate(after):
            chances[rolls + 1] += chance * ways / 36
    return tuple(chances)


def _mean(distribution: Distribution) -> float:
    return sum(rolls * chance for rolls, chance in enumerate(distribution))


def _plays(home: Home, high: int, low: int) -> Iterator[Home]:
    if high != low:
        for first, second in ((high, low), (low, high)):
            for between in _moves(home, first):
                yield from _moves(between, second)
        return
    boards = {home}
    for _ in range(4):
        boards = {after for board in boards for after in _moves(board, high)}
    yield from boards


def _moves(home: Home, number: int) -> Iterator[Home]:
    """Yield every home board that one number leaves; an empty one stays empty."""
    farthest = max((point for point, n in enumerate(home, 1) if n), default=0)
    if not farthest:
        yield home
    for point in range(number, farthest + 1):
        if home[point - 1]:
            yield _moved(home, point, point - number)
    if 0 < farthest < number:
        yield _moved(home, farthest, 0)


def _moved(home: Home, source: int, target: int) -> Home:
    left = list(home)
    left[source - 1] -= 1
    if target:
        left[target - 1] += 1
    return tuple(left)


_LAST_HOME_POINT: Final = 6
_LAST_OUTER_POINT: Final = 18
"""A checker beyond this point costs a backgammon."""


def race_chances(own: Counts, opponent: Counts) -> OutcomeChances:
    """Return the chances of the player on roll; each row counts checkers on the points 1 to 24 of its own side."""
    finish, opponent_finish = rolls_to_bear_off(own), rolls_to_bear_off(opponent)
    win = chance_to_finish_first(finish, opponent_finish)
    win_gammon = lose_gammon = win_backgammon = lose_backgammon = 0.0
    if sum(opponent) == CHECKERS:
        win_gammon = min(win, chance_to_finish_first(finish, rolls_to_reach(_LAST_HOME_POINT, opponent)))
        if any(opponent[_LAST_OUTER_POINT:]):
            win_backgammon = min(
                win_gammon, chance_to_finish_first(finish, rolls_to_reach(_LAST_OUTER_POINT, opponent))
            )
    if sum(own) == CHECKERS:
        lose_gammon = min(1 - win, 1 - chance_to_finish_first(rolls_to_reach(_LAST_HOME_POINT, own), opponent_finish))
        if any(own[_LAST_OUTER_POINT:]):
            reached = rolls_to_reach(_LAST_OUTER_POINT, own)
            lose_backgammon = min(lose_gammon, 1 - chance_to_finish_first(reached, opponent_finish))
    return OutcomeChances(win, win_gammon, win_backgammon, lose_gammon, lose_backgammon)


def certain_loss(position: Position) -> int:
    """Return what the player on roll has lost for certain: 0 nothing, 1 the game, 2 a gammon, 3 a backgammon.

    Nothing also when the game is lost, but more or less than a gammon depends on the dice.
    """
    opponent = tuple(max(-n, 0) for n in position.points[24:0:-1])
    if position.over or position.contact or sum(opponent) > MAX_EXACT_CHECKERS or any(opponent[_LAST_HOME_POINT:]):
        return 0
    turns = len(exact_distribution(opponent[:_LAST_HOME_POINT])) - 1
    if _fewest_turns(position, 0) <= turns:
        return 0
    if position.off:
        return 1
    # One more move than brings the last checker home bears one off.
    if _fewest_turns(position, _LAST_HOME_POINT, 1) <= turns:
        return 0
    if not any(n > 0 for n in position.points[_LAST_OUTER_POINT + 1 :]):
        return 2
    return 3 if _fewest_turns(position, _LAST_OUTER_POINT) > turns else 0


def _fewest_turns(position: Position, limit: int, more: int = 0) -> int:
    """Return the turns that bring all own checkers to `limit` or nearer, and make some moves more, if all are 6-6."""
    outside = ((point - limit, n) for point, n in enumerate(position.points) if point > limit and n > 0)
    moves = sum(-(-distance // 6) * n for distance, n in outside)
    return -(-(moves + more) // 4)
