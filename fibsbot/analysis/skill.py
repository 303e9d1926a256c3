"""Words and ratings for error rates: the levels of GNU Backgammon, the classes of eXtreme Gammon, a rating at FIBS.

The levels are those of "Threshold for ratings" in the manual of GNU Backgammon 1.07. The classes are those of the
table of performance ratings at https://en.wikipedia.org/wiki/EXtreme_Gammon, which has no credible name for ratings
from 30 on: they are in its last class here. The rating is an estimate by Kees van den Doel, from matches of GNU
Backgammon with players whose errors were known; it is the "error based absolute FIBS rating" of that program.
"""

from __future__ import annotations

import enum
from typing import Final


class SkillLevel(enum.Enum):
    """A level of GNU Backgammon, the best first; the value is its name there."""

    SUPERNATURAL = "Supernatural"
    WORLD_CLASS = "World class"
    EXPERT = "Expert"
    ADVANCED = "Advanced"
    INTERMEDIATE = "Intermediate"
    CASUAL_PLAYER = "Casual player"
    BEGINNER = "Beginner"
    AWFUL = "Awful!"


LEVEL_THRESHOLDS: Final = {
    SkillLevel.SUPERNATURAL: 0.0,
    SkillLevel.WORLD_CLASS: 0.002,
    SkillLevel.EXPERT: 0.005,
    SkillLevel.ADVANCED: 0.008,
    SkillLevel.INTERMEDIATE: 0.012,
    SkillLevel.CASUAL_PLAYER: 0.018,
    SkillLevel.BEGINNER: 0.026,
    SkillLevel.AWFUL: 0.035,
}
"""Least error rate of each level: normalised equity lost per decision."""
PR_CLASSES: Final = {
    "World Champ": 0.0,
    "World Class": 2.5,
    "Expert": 5.0,
    "Advanced": 7.5,
    "Intermediate": 12.5,
    "Casual Player": 17.5,
    "Beginner": 22.5,
}
"""Least performance rating of each class of eXtreme Gammon."""
PERFECT_RATING: Final = 2050.0
"""Rating of a player without errors: the default "rating offset" of GNU Backgammon."""
PLAY_WEIGHTS: Final = (8798.0, 25526.0)
"""Rating lost per error rate of plays: in very long matches, and what is added to it divided by the length."""
CUBE_WEIGHTS: Final = (863.0, -519.0)
"""The same for cube decisions."""
_ROUNDING: Final = 1e-9
"""Error rates are sums of rounded numbers divided by a count: this much below a threshold is at it."""


def skill_level(error_rate: float) -> SkillLevel:
    """Return the level of GNU Backgammon for an error rate, the normalised equity lost per decision, not below 0."""
    return [level for level, least in LEVEL_THRESHOLDS.items() if error_rate >= least - _ROUNDING][-1]


def pr_class(performance_rating: float) -> str:
    """Return the class of eXtreme Gammon for a performance rating, not below 0."""
    return [name for name, least in PR_CLASSES.items() if performance_rating >= least - _ROUNDING][-1]


def estimated_rating(length: int, play_error_rate: float, cube_error_rate: float) -> float:
    """Return the rating at FIBS at which a player has these error rates in matches of this length, 1 or more.

    Both rates are normalised equity lost per decision, as GNU Backgammon counts decisions; 0 without any. The rating
    may be below the 1500 of a beginner, and is not limited.
    """
    if length < 1:
        raise ValueError(f"expected a match to 1 point or more, got {length}")
    rating = PERFECT_RATING
    for rate, (constant, divided) in ((play_error_rate, PLAY_WEIGHTS), (cube_error_rate, CUBE_WEIGHTS)):
        rating -= rate * (constant + divided / length)
    return rating
