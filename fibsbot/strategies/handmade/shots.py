"""Shots: which of the 36 rolls hit a blot, direct and in combination, over open points and from the bar.

A set of rolls is an integer with a bit for each: the roll of a on one die and b on the other is bit 6(a-1) + b-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fibsbot.position import BAR

_WITH: Final = tuple(
    sum(1 << 6 * (a - 1) + b - 1 for a in range(1, 7) for b in range(1, 7) if number in (a, b)) for number in range(7)
)
"""For each number, the rolls that show it."""


def rolls_hitting(own: Sequence[int], opponent: Sequence[int], blot: int) -> int:
    """Return the rolls with which the player on roll can hit the opponent's blot on a point.

    Both rows count checkers on the cells 0 to 25 as the hitter numbers them. A roll counts when moves over open points
    hit; whether the other number would then have to be played differently (laws 13 and 15) is not looked at.
    """
    if own[BAR]:
        return _shots_from_bar(own, opponent, blot)
    rolls = 0
    for source in range(blot + 1, 25):
        if own[source]:
            distance = source - blot
            if distance <= 6:
                rolls |= _WITH[distance]
            for low in range(max(1, distance - 6), (distance + 1) // 2):
                high = distance - low
                if opponent[source - low] < 2 or opponent[source - high] < 2:
                    rolls |= _WITH[low] & _WITH[high]
            for steps in range(2, 5):
                number = distance // steps
                if number * steps == distance and number <= 6 and _open_steps(opponent, source, number, steps):
                    rolls |= _double(number)
    return rolls


def _shots_from_bar(own: Sequence[int], opponent: Sequence[int], blot: int) -> int:
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


def _open_steps(opponent: Sequence[int], source: int, number: int, steps: int) -> bool:
    """Whether a checker can touch down after each of the steps but the last."""
    return all(opponent[source - step * number] < 2 for step in range(1, steps))


def _double(number: int) -> int:
    return 1 << 7 * (number - 1)
