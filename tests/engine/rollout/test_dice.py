"""The rolls of a rollout."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fibsbot.engine.rollout.games import RolloutDice

FAIR = Counter(
    {high * (high - 1) // 2 + low - 1: 1 if high == low else 2 for high in range(1, 7) for low in range(1, high + 1)}
)
"""How often each roll comes up in 36."""


@pytest.mark.parametrize("block", [0, 1, 35, 100])
def test_in_a_block_the_first_and_the_second_roll_are_stratified(block: int) -> None:
    dice = RolloutDice(7, block)
    for _ in range(2):
        assert Counter(dice.roll().tolist()) == FAIR


def test_in_36_blocks_every_pair_of_rolls_has_its_exact_frequency() -> None:
    pairs: Counter[tuple[int, int]] = Counter()
    for block in range(36):
        dice = RolloutDice(3, block)
        pairs.update(zip(dice.roll().tolist(), dice.roll().tolist(), strict=True))
    assert all(FAIR[first] * FAIR[second] == count for (first, second), count in pairs.items())
    assert 21 * 21 == len(pairs)


def test_later_rolls_follow_from_the_seed() -> None:
    def later(seed: int, block: int) -> list[list[int]]:
        dice = RolloutDice(seed, block)
        return [dice.roll().tolist() for _ in range(30)][2:]

    assert later(1, 2) == later(1, 2)
    assert later(1, 2) != later(1, 3)
    assert later(1, 2) != later(2, 2)
    counts = np.bincount(np.ravel([later(5, block) for block in range(20)]), minlength=21)
    expected = np.array([FAIR[throw] for throw in range(21)]) * counts.sum() / 36
    assert 60 > ((counts - expected) ** 2 / expected).sum(), "chi-squared of 20 degrees of freedom"
