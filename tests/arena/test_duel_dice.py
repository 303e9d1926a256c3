"""The dice of a duel: determined by seed and pair, fair, and stratified."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fibsbot.arena.duel.games import BLOCK, OPENINGS, ROLLS, GameDice
from fibsbot.match import Dice

pairs = st.integers(0, 2**40)
seeds = st.integers(-(2**40), 2**40)


def first_throws(seed: int, pair: int, game: int = 0, count: int = 20) -> list[Dice]:
    """Roll the opening and more."""
    dice = GameDice(seed, pair, game)
    return [dice.opening(), *(dice.roll() for _ in range(count))]


@given(seeds, pairs, st.integers(0, 50))
def test_the_same_game_has_the_same_dice(seed: int, pair: int, game: int) -> None:
    assert first_throws(seed, pair, game) == first_throws(seed, pair, game)


def test_the_dice_are_the_same_in_every_version() -> None:
    """A file of results may be continued by another version only if the dice stay the same."""
    assert [(3, 5), (5, 2), (1, 1), (6, 3), (2, 1), (4, 3)] == first_throws(1, 0, count=5)
    assert [(1, 4), (5, 4), (6, 2), (4, 1)] == first_throws(1, 0, game=1, count=3)


@given(seeds, pairs, st.integers(0, 5))
def test_an_opening_is_no_tie_and_rolls_have_the_higher_die_first(seed: int, pair: int, game: int) -> None:
    opening, *throws = first_throws(seed, pair, game)
    assert opening in OPENINGS
    assert all(6 >= high >= low >= 1 for high, low in throws)


def test_seeds_pairs_and_games_have_different_dice() -> None:
    every = {tuple(first_throws(seed, pair, game)) for seed in range(5) for pair in range(5) for game in range(5)}
    assert 125 == len(every)


def test_a_block_has_every_opening_followed_by_every_roll_equally_often() -> None:
    begun = Counter(tuple(first_throws(4, pair, count=1)) for pair in range(BLOCK, 2 * BLOCK))
    due = Counter((opening, (max(it), min(it))) for opening in OPENINGS for it in ROLLS)
    assert due == begun


def test_thirty_pairs_see_every_opening() -> None:
    assert set(OPENINGS) == {first_throws(9, pair)[0] for pair in range(60, 90)}


def test_later_rolls_are_fair() -> None:
    """Chi-square of 21,000 rolls with 20 degrees of freedom stays below its 99.9 % point."""
    counts = Counter(it for pair in range(1000) for it in first_throws(2, pair, count=22)[2:])
    of = sum(counts.values())
    due = {roll: of * (1 if roll[0] == roll[1] else 2) / 36 for roll in {(max(it), min(it)) for it in ROLLS}}
    assert sum((counts[it] - n) ** 2 / n for it, n in due.items()) < 45.3
