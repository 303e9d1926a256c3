"""The chances of a position with contact: shots, terms of each side, and their weighted sum.

Each term describes one side and numbers the points as that side does. TERMS names them, in the order in which they are
computed; most are counts or shares of 1, so that their weights can be compared. A set of rolls is an integer with a bit
for each: a on one die and b on the other is bit 6(a-1) + b-1.

Two sums are made of a position, and the logistic function makes a chance of each: who wins, and whether it is a
gammon if he does. In the first sum a term speaks for the side that it is about, with one weight for the player on roll
and another for the one who waits where that matters. In the second it speaks for a gammon, with one weight for the
winner's terms and another for the loser's. A weight of 0.4 moves an even chance by a tenth.

The terms were chosen by hand. Their weights are logistic regressions on the results of games that the strategy played
against itself, first with weights set by hand, then with those of the round before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import compress
from operator import mul
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.position import BAR, CHECKERS, Position
from fibsbot.strategies.heuristic.cube import OutcomeChances

Row: TypeAlias = tuple[float, float, float, float]
"""Of the player on roll, of the one who waits, of a gammon's winner, of its loser."""


@frozen
class Weights:
    """The weights of one kind of position."""

    win: float
    """Added to the first sum in any case, for being on roll; `gammon` to the second."""
    lead: float
    """For the lead in the race of the player on roll, in standard deviations."""
    gammon: float
    gammon_on_roll: float
    """For a gammon if its winner is on roll, against it if its loser is; so is `gammon_lead`, times the lead."""
    gammon_lead: float
    on_roll: tuple[float, ...]
    """One weight a term, in the order of TERMS; so are the next three."""
    waiting: tuple[float, ...]
    winner: tuple[float, ...]
    loser: tuple[float, ...]


# fmt: off
TERMS: Final[dict[str, tuple[Row, Row]]] = {
    #                                   both sides have checkers back  | one side has none back
    #                                   on roll  wait    win   lose   | on roll  wait    win   lose
    "point 1 made":                  (( 0.24,  0.24,  0.51,  0.12), ( 0.10,  0.10,  0.32,  0.19)),
    "point 2 made":                  (( 0.38,  0.38,  0.53,  0.05), ( 0.24,  0.24,  0.45,  0.05)),
    "point 3 made":                  (( 0.20,  0.20,  0.30,  0.14), ( 0.03,  0.03,  0.16,  0.31)),
    "point 4 made":                  (( 0.29,  0.29,  0.33,  0.10), ( 0.14,  0.14,  0.21,  0.13)),
    "point 5 made":                  (( 0.42,  0.42,  0.44,  0.05), ( 0.26,  0.26,  0.40,  0.07)),
    "point 6 made":                  (( 0.49,  0.49,  0.68, -0.01), ( 0.32,  0.32,  0.44, -0.08)),
    "point 7 made":                  (( 0.20,  0.20,  0.40,  0.05), ( 0.23,  0.23,  0.41, -0.05)),
    "point 8 made":                  (( 0.21,  0.21,  0.42,  0.04), ( 0.23,  0.23,  0.39, -0.07)),
    "point 9 made":                  (( 0.26,  0.26,  0.47,  0.03), ( 0.22,  0.22,  0.36, -0.04)),
    "point 10 made":                 (( 0.25,  0.25,  0.43, -0.01), ( 0.19,  0.19,  0.42, -0.05)),
    "point 11 made":                 (( 0.27,  0.27,  0.32,  0.05), ( 0.15,  0.15,  0.39, -0.12)),
    "point 12 made":                 (( 0.30,  0.30,  0.49, -0.14), ( 0.17,  0.17,  0.40,  0.00)),
    "point 13 made":                 (( 0.32,  0.32,  0.41,  0.18), ( 0.18,  0.18,  0.33,  0.27)),
    "point 14 made":                 (( 0.27,  0.27,  0.25,  0.23), ( 0.09,  0.09,  0.25,  0.31)),
    "point 15 made":                 (( 0.38,  0.38,  0.55,  0.17), ( 0.11,  0.11,  0.41,  0.27)),
    "point 16 made":                 (( 0.37,  0.37,  0.63,  0.15), ( 0.09,  0.09,  0.50,  0.33)),
    "point 17 made":                 (( 0.14,  0.14,  0.05,  0.50), ( 0.17,  0.17,  0.50,  0.49)),
    "point 18 made":                 (( 0.35,  0.35,  0.44,  0.20), ( 0.45,  0.45,  0.80,  0.54)),
    "point 19 made":                 (( 0.40,  0.40, -0.04,  0.09), ( 0.30,  0.30, -0.26,  0.09)),
    "point 20 made":                 (( 0.36,  0.36, -0.12, -0.20), ( 0.16,  0.16, -0.03,  0.08)),
    "point 21 made":                 (( 0.35,  0.35, -0.10, -0.19), ( 0.24,  0.24,  0.09,  0.08)),
    "point 22 made":                 (( 0.31,  0.31, -0.08, -0.14), ( 0.31,  0.31,  0.37,  0.01)),
    "point 23 made":                 (( 0.26,  0.26,  0.10, -0.16), ( 0.38,  0.38,  0.84, -0.09)),
    "point 24 made":                 (( 0.26,  0.26,  0.01, -0.03), ( 0.50,  0.50,  0.47, -0.09)),
    "home board of 4 points":        (( 0.08,  0.08,  0.01, -0.06), ( 0.10,  0.10,  0.04, -0.18)),
    "home board of 5 points":        (( 0.03,  0.03, -0.11, -0.16), ( 0.08,  0.08,  0.00, -0.30)),
    "home board of 6 points":        (( 0.31,  0.31, -0.20, -0.64), ( 0.07,  0.07, -0.16, -0.48)),
    "blot at home":                  (( 0.06,  0.06,  0.19,  0.11), ( 0.03,  0.03,  0.11,  0.13)),
    "blot in the outer board":       (( 0.16,  0.16,  0.22,  0.06), ( 0.11,  0.11,  0.28, -0.03)),
    "blot in the far outer board":   (( 0.14,  0.14,  0.29,  0.13), ( 0.15,  0.15,  0.29,  0.13)),
    "blot in the far home board":    (( 0.07,  0.07,  0.07,  0.00), ( 0.07,  0.07,  0.15, -0.16)),
    "third checker on 4 to 8":       (( 0.15,  0.15,  0.16, -0.02), ( 0.11,  0.11,  0.18, -0.05)),
    "third checker on 9 to 13":      (( 0.15,  0.15,  0.17, -0.01), ( 0.09,  0.09,  0.08,  0.00)),
    "checker beyond the third":      (( 0.09,  0.09,  0.11,  0.02), ( 0.02,  0.02,  0.05,  0.03)),
    "checker on 1 or 2":             ((-0.10, -0.10, -0.12,  0.06), (-0.13, -0.13, -0.17,  0.16)),
    "rolls that hit":                (( 0.06,  0.08, -0.12, -0.32), ( 0.02,  0.23,  0.17,  0.15)),
    "pips lost to hits":             ((-0.15, -0.62, -0.26,  0.62), (-0.72, -1.91, -0.95,  1.45)),
    "rolls that hit, by board":      ((-0.11, -0.22,  0.39,  0.76), ( 0.14, -0.66, -0.19,  0.03)),
    "rolls that hit near home":      (( 0.05,  0.07,  0.28, -0.03), ( 0.28,  0.06,  0.35, -0.03)),
    "on the bar":                    ((-0.13, -0.03, -0.11, -0.08), (-0.15,  0.23, -0.17, -0.21)),
    "more on the bar":               (( 0.03,  0.02,  0.12,  0.28), ( 0.25,  0.28,  0.04,  0.42)),
    "dancing":                       ((-0.56,  0.11, -0.42,  0.96), (-1.70, -0.63, -1.66,  0.98)),
    "a checker back":                (( 0.00,  0.00,  0.00,  0.00), (-0.08, -0.08,  1.27,  0.05)),
    "a second back":                 ((-0.02, -0.02,  0.15,  0.01), ( 0.02,  0.02,  0.12,  0.42)),
    "checkers back":                 (( 0.14,  0.14,  0.42,  0.14), ( 0.54,  0.54,  0.76,  0.17)),
    "farthest checker":              (( 0.07,  0.07,  0.69,  0.48), (-1.19, -1.19,  0.39,  1.23)),
    "rolls that are blocked":        ((-0.84, -0.78, -0.25, -0.13), (-0.04,  0.28,  0.07,  0.16)),
    "blocked, for each back":        ((-0.01,  0.03,  0.04, -0.02), (-0.02,  0.04, -0.02, -0.24)),
    "back without anchor, by board": ((-0.15, -0.15, -0.07,  0.07), (-0.28, -0.30,  0.01, -0.10)),
    "blots back, by board":          (( 0.24,  0.24, -0.04, -0.21), ( 0.02,  0.47,  0.13,  0.08)),
    "an anchor":                     ((-0.13, -0.13,  0.11, -0.08), (-0.41, -0.41, -0.04, -0.37)),
    "prime of 4":                    (( 0.08,  0.08, -0.03, -0.02), ( 0.06,  0.06, -0.05,  0.02)),
    "prime of 5":                    (( 0.18,  0.18,  0.05, -0.10), ( 0.05,  0.05,  0.14, -0.11)),
    "prime of 6":                    (( 0.51,  0.51,  0.04, -0.54), ( 0.17,  0.17,  0.13,  0.26)),
    "opponent on the bar, by board": (( 0.00, -0.11, -0.03,  0.09), (-0.05, -0.27,  0.01,  0.36)),
    "checkers off":                  (( 2.65,  2.65,  1.58, -1.09), ( 1.46,  1.46,  0.67, -0.91)),
    "a checker off":                 ((-0.01, -0.01, -0.27, -4.93), (-0.10, -0.10, -0.24, -4.97)),
    "checkers outside home":         (( 0.40,  0.40, -0.71,  0.41), ( 0.29,  0.29, -0.74,  2.19)),
    "quarters to cross":             (( 0.51,  0.51,  0.21, -0.76), ( 0.01,  0.01,  0.08, -1.76)),
    "checkers still to pass":        ((-0.29, -0.29,  0.35,  0.26), ( 0.08,  0.08,  0.45, -0.71)),
    "pips to spare":                 (( 0.54,  0.54,  0.72,  0.08), ( 1.70,  1.70,  2.63, -0.04)),
    "race lead when all are past":   (( 0.00,  0.00,  0.00,  0.00), ( 0.48,  0.48,  0.44,  0.15)),
}
# fmt: on
"""For each term its weights while both sides have checkers in the other's home board or on the bar, and after."""

BACKGAMMONS: Final = (0.0, 0.02, 0.04, 0.08, 0.12, 0.15, 0.2)
"""Of 1 gammons, how many are backgammons, by the loser's checkers in the winner's home board or on the bar."""


def _weights(column: int, general: tuple[float, float, float, float, float]) -> Weights:
    """Build the weights of one kind of position; general are the fields of Weights that are one number."""
    on_roll, waiting, winner, loser = zip(*(both[column] for both in TERMS.values()), strict=True)
    return Weights(*general, on_roll, waiting, winner, loser)


BOTH_BACK: Final = _weights(0, (0.02, 0.64, -6.52, -0.02, 0.56))
ONE_AWAY: Final = _weights(1, (0.14, 0.46, -8.45, -0.01, 0.85))

Cells: TypeAlias = Sequence[int]
"""Number of checkers of one side on each of the cells 0 to 25."""
_WITH: Final = tuple(
    sum(1 << 6 * (a - 1) + b - 1 for a in range(1, 7) for b in range(1, 7) if number in (a, b)) for number in range(7)
)
"""For each number, the rolls that show it."""


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
    sums = {pips for low in range(1, 7) if low < distance <= low + 6 for pips in (low, distance - low)}
    for steps in range(2, 5):
        if distance % steps == 0 and distance // steps <= 6:
            sums |= {distance // steps * n for n in range(1, steps)}
    return sum(1 << pips for pips in sums)


_BETWEEN: Final = tuple(map(_between, range(25)))
"""For each distance, the points in between that matter: few, so that `_shots_at` meets few cases."""


def _shots_from_bar(own: Cells, opponent: Cells, blot: int) -> int:
    """Return the rolls that hit the opponent's blot after entering; both rows are numbered by the hitter."""
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
    """Return terms of the rolls that hit, as shares of 36: any; pips lost; any, by board strength; near home.

    A roll counts when moves over open points hit; whether the other number would then have to be played differently
    (laws 13 and 15) is ignored.
    """
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
