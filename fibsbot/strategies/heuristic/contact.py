"""The chances of a position with contact: shots, terms of each side, and their weighted sum.

Each term describes one side and numbers the points as that side does. `weights.py` names the terms, in the same order;
most are counts or shares of 1, so that their weights can be compared. A set of rolls is an integer with a
bit for each: a on one die and b on the other is bit 6(a-1) + b-1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import compress
from operator import mul
from typing import Final, TypeAlias

from fibsbot.position import BAR, CHECKERS, Position
from fibsbot.strategies.heuristic.cube import OutcomeChances
from fibsbot.strategies.heuristic.weights import BACKGAMMONS, BOTH_BACK, ONE_AWAY

Cells: TypeAlias = Sequence[int]
"""Number of checkers of one side on each of the cells 0 to 25."""
_WITH: Final = tuple(
    sum(1 << 6 * (a - 1) + b - 1 for a in range(1, 7) for b in range(1, 7) if number in (a, b)) for number in range(7)
)
"""For each number, the rolls that show it."""


def rolls_hitting(own: Cells, opponent: Cells, blot: int) -> int:
    """Return the rolls with which the player on roll can hit the opponent's blot on a point.

    Both rows count checkers on the cells 0 to 25 as the hitter numbers them. A roll counts when moves over open points
    hit; whether the other number would then have to be played differently (laws 13 and 15) is ignored.
    """
    if own[BAR]:
        return _shots_from_bar(own, opponent, blot)
    return _shots_from_points(_occupied(own), _blocked(opponent) >> blot, blot)


def _occupied(own: Cells) -> list[int]:
    """Return the points with checkers, those on the bar left out."""
    return [point for point in range(1, BAR) if own[point]]


def _blocked(opponent: Cells) -> int:
    """Return the points, a bit for each, on which the opponent has two or more checkers."""
    return sum([1 << point for point, n in enumerate(opponent) if n > 1])


def _shots_from_points(sources: Sequence[int], blocked: int, blot: int) -> int:
    """Return the rolls that hit from points with checkers; bit n of `blocked` is the point n beyond the blot."""
    rolls = 0
    for source in sources:
        if source > blot:
            rolls |= _shots_at(source - blot, blocked & _BETWEEN[source - blot])
    return rolls


@cache
def _shots_at(distance: int, blocked: int) -> int:
    """Return the rolls that hit a blot at a distance, over those points in between that matter."""
    rolls = _WITH[distance] if distance <= 6 else 0
    for low in range(max(1, distance - 6), (distance + 1) // 2):
        if not (blocked >> low & 1 and blocked >> distance - low & 1):
            rolls |= _WITH[low] & _WITH[distance - low]
    for steps in range(2, 5):
        number = distance // steps
        if number * steps == distance and number <= 6 and not any(blocked >> number * n & 1 for n in range(1, steps)):
            rolls |= _double(number)
    return rolls


def _between(distance: int) -> int:
    """Return the points, by their distance from a blot, on which a checker may touch down on its way there."""
    sums = {it for low in range(1, 7) if low < distance <= low + 6 for it in (low, distance - low)}
    for steps in range(2, 5):
        if distance % steps == 0 and distance // steps <= 6:
            sums |= {distance // steps * n for n in range(1, steps)}
    return sum(1 << it for it in sums)


_BETWEEN: Final = tuple(map(_between, range(25)))
"""For each distance, the points in between that matter: few, so that `_shots_at` meets few cases."""


def _shots_from_bar(own: Cells, opponent: Cells, blot: int) -> int:
    rolls = 0
    for number in range(1, 7):
        entry = BAR - number
        if opponent[entry] > 1:
            continue
        if entry == blot:
            rolls |= _WITH[number]
            continue
        if own[BAR] == 1:
            for second in range(1, 7):
                source = blot + second
                if second != number and (source == entry or (source < BAR and own[source])):
                    rolls |= _WITH[number] & _WITH[second]
        for steps in range(1, 5 - own[BAR]):
            source = blot + steps * number
            present = source == entry or (source < BAR and own[source])
            if present and _open_steps(opponent, source, number, steps):
                rolls |= _double(number)
    return rolls


def _open_steps(opponent: Cells, source: int, number: int, steps: int) -> bool:
    """Whether the points after all steps but the last are open."""
    return all(opponent[source - step * number] < 2 for step in range(1, steps))


def _double(number: int) -> int:
    return 1 << 7 * (number - 1)


_ROLLS: Final = 36
_POINTS: Final = range(BAR + 1)
_FROM_THE_BAR: Final = _POINTS[::-1]
_QUARTERS: Final = tuple((point - 1) // 6 if point > 6 else 0 for point in _POINTS)
"""How many quarters a checker on a point has to cross to come home."""
_PIPS_OUTSIDE: Final = tuple(max(point - 6, 0) for point in range(19))
"""How far a checker on a point is from home, up to the opponent's home board."""
_BITS: Final = tuple(1 << n for n in range(12))
_PAIRS: Final = tuple((a, b) for a in range(1, 7) for b in range(1, 7))


def side_terms(own: Cells, opponent: Cells) -> list[float]:
    """Return the terms of one side; both rows count checkers on the cells as that side numbers them."""
    made = [n > 1 for n in own]
    board = made[1:7].count(True)
    opponent_board = sum([n > 1 for n in opponent[19:25]])
    return [
        *made[1:25],
        *(board >= 4, board >= 5, board >= 6),
        *(own[1:7].count(1), own[7:13].count(1), own[13:19].count(1), own[19:25].count(1)),
        *_spares(own),
        *_shots(own, opponent, opponent_board),
        *_on_bar(own[BAR], opponent_board),
        *_back_checkers(own, opponent, opponent_board),
        *_prime(own, opponent),
        float(board) if opponent[0] else 0.0,
        *_progress(own, opponent),
        race_lead(_pips(own), _pips(opponent[::-1])) if not any(own[19:]) else 0.0,
    ]


def race_lead(own_pips: int, opponent_pips: int) -> float:
    """Return the lead in the race, in standard deviations of the rolls still to come (Kleinman's measure)."""
    return (opponent_pips - own_pips) / math.sqrt(2 * max(own_pips + opponent_pips, 8))


def _pips(own: Cells) -> int:
    return sum(map(mul, _POINTS, own))


def _spares(own: Cells) -> tuple[float, ...]:
    """Return terms of spare checkers: thirds at home and outside, those beyond, and those on the two lowest points."""
    spares = [n > 2 for n in own[:14]]
    near, outside = spares[4:9].count(True), spares[9:14].count(True)
    stacked = sum([n - 3 for n in own[1:25] if n > 3])
    return (near, outside, stacked, sum(own[1:3]))


def _shots(own: Cells, opponent: Cells, opponent_board: int) -> tuple[float, ...]:
    """Return terms of the rolls that hit, as shares of 36: any; pips lost; any, by board strength; near home."""
    attacker, target = opponent[::-1], own[::-1]
    from_bar, sources = attacker[BAR] > 0, _occupied(attacker)
    blocked = _blocked(target)
    hitting = pips = near = 0
    for blot, n in enumerate(target):
        if n == 1 and 0 < blot < BAR:
            if from_bar:
                rolls = _shots_from_bar(attacker, target, blot)
            else:
                rolls = _shots_from_points(sources, blocked >> blot, blot)
            hitting |= rolls
            pips += rolls.bit_count() * blot
            near += rolls.bit_count() if blot > 12 else 0
    hit = hitting.bit_count() / _ROLLS
    return (hit, pips / (_ROLLS * BAR), hit * opponent_board / 6, near / _ROLLS)


def _on_bar(waiting: int, opponent_board: int) -> tuple[float, ...]:
    """Return terms of checkers on the bar: whether there are any, how many more than one, the chance to dance."""
    return (float(waiting > 0), max(waiting - 1, 0), (opponent_board / 6) ** 2 if waiting else 0.0)


def _back_checkers(own: Cells, opponent: Cells, opponent_board: int) -> tuple[float, ...]:
    """Return terms of the checkers far back: how many, how far back, how hard to bring out."""
    back = sum(own[19:])
    last = next((point for point in _FROM_THE_BAR if own[point]), 0)
    caught = _blocked_rolls(last, opponent)
    anchored = max(own[18:25]) > 1
    danger = opponent_board / 6
    return (
        float(back > 0),
        float(back > 1),
        back,
        last / BAR,
        caught,
        caught * back,
        0.0 if anchored else back * danger,
        own[19:25].count(1) * danger,
        float(anchored),
    )


def _blocked_rolls(last: int, opponent: Cells) -> float:
    """Return the share of rolls that the rearmost checker cannot play in full."""
    if last <= 6:
        return 0.0
    ahead = opponent[last - 1 : max(last - 13, 0) : -1]
    return _blocked_shares(len(ahead), sum([bit for bit, n in zip(_BITS, ahead, strict=False) if n > 1]))


@cache
def _blocked_shares(ahead: int, blocked: int) -> float:
    """Return the share of rolls that a checker cannot play in full with this many points ahead, some of them blocked.

    Bit n - 1 of `blocked` is the point n ahead.
    """
    stuck = 0
    for a, b in _PAIRS:
        both, one, other = (blocked >> number - 1 & 1 for number in (a + b, a, b))
        if a + b <= ahead and (both or (one and other)):
            stuck += 1
    return stuck / _ROLLS


def _prime(own: Cells, opponent: Cells) -> tuple[float, ...]:
    """Return terms of primes of four, five and six points with an opponent's checker behind them."""
    longest = run = end = 0
    for point in range(2, 13):
        run = run + 1 if own[point] > 1 else 0
        if run and run >= longest:
            longest, end = run, point
    if longest < 4 or not any(opponent[: end - longest + 1]):
        return (0.0, 0.0, 0.0)
    return (float(longest >= 4), float(longest >= 5), float(longest >= 6))


def _progress(own: Cells, opponent: Cells) -> tuple[float, ...]:
    """Return terms: checkers off and outside home, crossovers, checkers not past the opponent, pips to spare."""
    off = CHECKERS - sum(own)
    outside = sum(own[7:])
    crossings = sum(map(mul, _QUARTERS, own))
    first = next((point for point, n in enumerate(opponent) if n), BAR)
    spare = sum(map(mul, _PIPS_OUTSIDE, own))
    return (
        off / CHECKERS,
        float(off > 0),
        outside / CHECKERS,
        crossings / CHECKERS,
        sum(own[first + 1 :]) / CHECKERS,
        spare / 60,
    )


_FLAGS: Final = 27
"""How many terms, the first ones, say whether a point is made or how strong the home board is."""
_HALF_A_ROLL: Final = 4
"""Value of being on roll in a race, in pips."""


def contact_chances(position: Position) -> OutcomeChances:
    """Return the chances of the player on roll; neither side has borne off all its checkers."""
    own = [(n > 0) * n for n in position.points]
    opponent = [(n < 0) * -n for n in position.points]
    ours, theirs = side_terms(own, opponent), side_terms(opponent[::-1], own[::-1])
    lead = race_lead(_pips(own) - _HALF_A_ROLL, _pips(opponent[::-1]))
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
    return OutcomeChances(
        win,
        gammon,
        gammon * _backgammons(sum(opponent[:7])),
        lose_gammon,
        lose_gammon * _backgammons(sum(own[19:])),
    )


def _sum(terms: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted sum of terms; of the first ones, which are true or false, without multiplying."""
    flags = sum(compress(weights, terms[:_FLAGS]))
    total: float = sum(map(mul, terms[_FLAGS:], weights[_FLAGS:]), flags)
    return total


def _logistic(total: float) -> float:
    return 1 / (1 + math.exp(-total))


def _backgammons(back: int) -> float:
    """Return the share of backgammons among the gammons, by the loser's checkers that are still far back."""
    return BACKGAMMONS[min(back, len(BACKGAMMONS) - 1)]
