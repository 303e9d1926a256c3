"""Levels, classes and estimated ratings: their thresholds, their order, and the figures of GNU Backgammon itself."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.model import PlayerStatistics
from fibsbot.analysis.skill import LEVEL_THRESHOLDS, PR_CLASSES, SkillLevel, estimated_rating, pr_class, skill_level
from tests.examples import examples

RATES: Final = st.floats(0, 0.2)
LENGTHS: Final = st.integers(1, 64)
LEVELS: Final = list(SkillLevel)
CLASSES: Final = list(PR_CLASSES)


@pytest.mark.parametrize("level", SkillLevel)
def test_a_level_begins_at_its_threshold(level: SkillLevel) -> None:
    least = LEVEL_THRESHOLDS[level]
    assert level is skill_level(least)
    if least:
        assert LEVELS[LEVELS.index(level) - 1] is skill_level(least - 1e-6)


@pytest.mark.parametrize("name", PR_CLASSES)
def test_a_class_begins_at_its_threshold(name: str) -> None:
    least = PR_CLASSES[name]
    assert name == pr_class(least)
    if least:
        assert CLASSES[CLASSES.index(name) - 1] == pr_class(least - 1e-3)


def test_rounding_does_not_lower_a_level() -> None:
    tenth = sum([0.1] * 3) / 150  # 0.002 but for its last digit
    assert SkillLevel.WORLD_CLASS is skill_level(tenth) is skill_level(0.3 / 150) is skill_level(0.002)


@given(RATES, RATES, LENGTHS)
@examples(50)
def test_who_loses_more_is_not_at_a_better_level_or_rating(one: float, other: float, length: int) -> None:
    less, more = sorted((one, other))
    assert LEVELS.index(skill_level(less)) <= LEVELS.index(skill_level(more))
    assert CLASSES.index(pr_class(500 * less)) <= CLASSES.index(pr_class(500 * more))
    assert estimated_rating(length, less, 0.0) >= estimated_rating(length, more, 0.0)
    assert estimated_rating(length, 0.0, less) >= estimated_rating(length, 0.0, more)


@given(RATES, LENGTHS)
@examples(50)
def test_who_makes_no_errors_has_the_best_rating_at_every_length(rate: float, length: int) -> None:
    assert 2050 == estimated_rating(length, 0.0, 0.0) >= estimated_rating(length, rate, rate)


@pytest.mark.parametrize(
    ("length", "play_loss", "plays", "cube_loss", "cubes", "rating"),
    [  # of matches that GNU Backgammon 1.07 has analysed, with its "Error based abs. FIBS rating"
        (1, 0.373, 18, 0.0, 0, 1338.5),
        (3, 2.128, 57, 0.757, 6, 1316.9),
        (5, 1.816, 80, 0.813, 23, 1707.5),
        (7, 2.641, 71, 1.884, 10, 1438.5),
    ],
)
def test_estimates_are_those_of_gnu_backgammon(  # noqa: PLR0917 - a row of its table
    length: int, play_loss: float, plays: int, cube_loss: float, cubes: int, rating: float
) -> None:
    figures = PlayerStatistics(
        loss=play_loss + cube_loss,
        play_loss=play_loss,
        cube_loss=cube_loss,
        unforced_plays=plays,
        cube_decisions=cubes,
    )
    assert rating == pytest.approx(figures.estimated_rating(length), abs=1)  # its losses have three digits


def test_without_decisions_there_is_no_level_and_no_rating() -> None:
    nobody = PlayerStatistics()
    assert (None, None, None) == (nobody.level, nobody.play_level, nobody.cube_level)
    assert nobody.estimated_rating(5) is None
    played = PlayerStatistics(play_loss=0.1, loss=0.1, unforced_plays=10)
    assert (SkillLevel.ADVANCED, SkillLevel.ADVANCED, None) == (played.level, played.play_level, played.cube_level)


def test_unlimited_matches_have_no_rating() -> None:
    assert PlayerStatistics(unforced_plays=10).estimated_rating(0) is None
    with pytest.raises(ValueError, match="expected a match to 1 point or more, got 0"):
        estimated_rating(0, 0.01, 0.01)
