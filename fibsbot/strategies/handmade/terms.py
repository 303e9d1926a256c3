"""What a player sees in a position with contact, as numbers: one row of terms for each side.

Each term is about one side and numbers the points as that side does. The rows of `weights.py` name them, in this
order; most count something or are a share of 1, so that their weights can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

from fibsbot.position import BAR, CHECKERS
from fibsbot.strategies.handmade.shots import rolls_hitting

Cells: TypeAlias = Sequence[int]
"""How many checkers of one side stand on the cells 0 to 25."""

_ROLLS: Final = 36
_PAIRS: Final = tuple((a, b) for a in range(1, 7) for b in range(1, 7))


def side_terms(own: Cells, opponent: Cells) -> list[float]:
    """Return the terms of one side; both rows count checkers on the cells as that side numbers them."""
    own_pips, opponent_pips = _pips(own), _pips(opponent[::-1])
    board = _made(own[1:7])
    opponent_board = _made(opponent[19:25])
    return [
        *(float(n > 1) for n in own[1:25]),
        *(float(board >= n) for n in (4, 5, 6)),
        *(own[first : first + 6].count(1) for first in (1, 7, 13, 19)),
        *_spares(own),
        *_shots(own, opponent, opponent_board),
        *_bar(own[BAR], opponent_board),
        *_back(own, opponent, opponent_board),
        *_prime(own, opponent),
        float(board) if opponent[0] else 0.0,
        *_progress(own, opponent),
        race_lead(own_pips, opponent_pips) if not any(own[19:]) else 0.0,
    ]


def race_lead(own_pips: int, opponent_pips: int) -> float:
    """Return the lead in the race in standard deviations of what the dice may still do to it (Kleinman's measure)."""
    return (opponent_pips - own_pips) / math.sqrt(2 * max(own_pips + opponent_pips, 8))


def _pips(own: Cells) -> int:
    return sum(point * n for point, n in enumerate(own))


def _made(cells: Cells) -> int:
    return sum(n > 1 for n in cells)


def _spares(own: Cells) -> tuple[float, ...]:
    """Third checkers at home, those outside, checkers in stacks beyond the third, checkers on the two lowest points."""
    near = sum(n > 2 for n in own[4:9])
    outside = sum(n > 2 for n in own[9:14])
    stacked = sum(n - 3 for n in own[1:25] if n > 3)
    return (near, outside, stacked, sum(own[1:3]))


def _shots(own: Cells, opponent: Cells, opponent_board: int) -> tuple[float, ...]:
    """Rolls that hit, as shares of 36: any blot; pips lost; any, by the strength of the board; near home."""
    attacker, target = opponent[::-1], own[::-1]
    hitting = pips = near = 0
    for point in range(1, 25):
        if own[point] == 1:
            rolls = rolls_hitting(attacker, target, BAR - point)
            hitting |= rolls
            pips += rolls.bit_count() * (BAR - point)
            near += rolls.bit_count() if point <= 12 else 0
    hit = hitting.bit_count() / _ROLLS
    return (hit, pips / (_ROLLS * BAR), hit * opponent_board / 6, near / _ROLLS)


def _bar(waiting: int, opponent_board: int) -> tuple[float, ...]:
    """Whether a checker is on the bar; more of them; the chance that none enters."""
    return (float(waiting > 0), max(waiting - 1, 0), (opponent_board / 6) ** 2 if waiting else 0.0)


def _back(own: Cells, opponent: Cells, opponent_board: int) -> tuple[float, ...]:
    """Checkers in the opponent's home board or on the bar: how many, how far back, how hard to bring out."""
    back = sum(own[19:])
    last = max((point for point, n in enumerate(own) if n), default=0)
    caught = _caught(last, opponent)
    anchored = any(n > 1 for n in own[18:25])
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


def _caught(last: int, opponent: Cells) -> float:
    """Return the share of rolls that the rearmost checker cannot play in full."""
    if last <= 6:
        return 0.0
    blocked = [n > 1 for n in opponent[: last + 1]]
    stuck = 0
    for a, b in _PAIRS:
        if last > a + b and (blocked[last - a - b] or (blocked[last - a] and blocked[last - b])):
            stuck += 1
    return stuck / _ROLLS


def _prime(own: Cells, opponent: Cells) -> tuple[float, ...]:
    """Four, five, six points in a row with an opponent's checker behind them."""
    longest = run = end = 0
    for point in range(2, 13):
        run = run + 1 if own[point] > 1 else 0
        if run and run >= longest:
            longest, end = run, point
    if not any(opponent[: end - longest + 1]):
        longest = 0
    return (float(longest >= 4), float(longest >= 5), float(longest >= 6))


def _progress(own: Cells, opponent: Cells) -> tuple[float, ...]:
    """Checkers off, outside the home board, quarters to cross, checkers not yet past the opponent, pips to spare."""
    off = CHECKERS - sum(own)
    outside = sum(own[7:])
    crossings = sum((point - 1) // 6 * n for point, n in enumerate(own) if point > 6)
    first = next((point for point, n in enumerate(opponent) if n), BAR)
    spare = sum((point - 6) * n for point, n in enumerate(own[:19]) if point > 6)
    return (
        off / CHECKERS,
        float(off > 0),
        outside / CHECKERS,
        crossings / CHECKERS,
        sum(own[first + 1 :]) / CHECKERS,
        spare / 60,
    )
