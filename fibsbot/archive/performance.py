"""How well decisions of an archive were made: performance ratings of any part of them, and how much is chance in them.

A rating is the loss of a player's decisions divided by their number, and both differ from match to match. Its margin is
that of a ratio of sums over matches, by the residuals of the matches (W. G. Cochran, Sampling Techniques, chapter 6):
decisions of one match are not independent, as a plan that goes wrong costs more than one.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any, Final

from attrs import frozen

from fibsbot.analysis.model import GRADE_THRESHOLDS, Grade
from fibsbot.analysis.results import Z_95
from fibsbot.archive.answers import PR, RARE, JudgedArchive
from fibsbot.archive.dataset import quoted
from fibsbot.text import plural

BLUNDER: Final = GRADE_THRESHOLDS[Grade.BLUNDER]
MIN_MATCHES: Final = 3
"""Matches from which there is a margin."""


class RareValue(float):
    """A figure from so few decisions or matches that it says little; tables mark it."""

    __slots__ = ()


@frozen
class Performance:
    """The decisions of one player that count for the performance rating, summed over matches."""

    decisions: int = 0
    loss: float = 0.0
    """Normalised equity."""
    blunders: int = 0
    """Of all decisions, whether they count or not."""
    matches: int = 0
    """Matches with such decisions."""
    loss_squares: float = 0.0
    """Sum over matches of the square of a match's loss."""
    products: float = 0.0
    """Sum over matches of loss times decisions."""
    decision_squares: float = 0.0
    """Sum over matches of the square of its decisions."""

    def __add__(self, other: Performance) -> Performance:
        """Return the sum with decisions of other matches."""
        return Performance(
            self.decisions + other.decisions,
            self.loss + other.loss,
            self.blunders + other.blunders,
            self.matches + other.matches,
            self.loss_squares + other.loss_squares,
            self.products + other.products,
            self.decision_squares + other.decision_squares,
        )

    @property
    def pr(self) -> float | None:
        """The performance rating, lower is better; None without a decision."""
        return 500 * self.loss / self.decisions if self.decisions else None

    @property
    def is_rare(self) -> bool:
        """Whether there are too few decisions for a rating that says something."""
        return self.decisions < RARE

    @property
    def shown(self) -> float | None:
        """The rating as tables have it: marked if it is from few decisions."""
        return RareValue(self.pr) if self.is_rare and self.pr is not None else self.pr

    @property
    def margin(self) -> float | None:
        """How far the rating is from that of many more matches, with a probability of 95 %; None for a few matches."""
        if self.matches < MIN_MATCHES or not self.decisions:
            return None
        mean = self.loss / self.decisions
        residuals = self.loss_squares - 2 * mean * self.products + mean * mean * self.decision_squares
        spread = math.sqrt(max(residuals, 0.0) * self.matches / (self.matches - 1))
        return 500 * student_95(self.matches - 1) * spread / self.decisions


@frozen
class Change:
    """The performance of a player in two periods."""

    before: Performance
    after: Performance

    @property
    def difference(self) -> float | None:
        """By how much the rating has risen: negative is better. None if there is no rating to compare."""
        if self.before.pr is None or self.after.pr is None:
            return None
        return self.after.pr - self.before.pr

    @property
    def margin(self) -> float | None:
        """How far the difference is from the true one, with a probability of 95 %."""
        if self.before.margin is None or self.after.margin is None:
            return None
        return math.hypot(self.before.margin, self.after.margin)

    @property
    def verdict(self) -> str:
        """`better` or `worse` beyond the margin, `unclear` within it, or `too few` decisions or matches to say."""
        difference, margin = self.difference, self.margin
        if difference is None or margin is None or self.before.is_rare or self.after.is_rare:
            return "too few"
        if abs(difference) <= margin:
            return "unclear"
        return "better" if difference < 0 else "worse"


def student_95(degrees: int) -> float:
    """Return the deviations on each side of the mean that contain 95 % of Student's distribution, from 2 degrees on.

    By the expansion for many degrees (Abramowitz and Stegun, 26.7.5): 3 % too low for 2 degrees, exact to 1 % for more.
    """
    z = Z_95
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / float(degrees) ** power for power, term in enumerate(terms, 1))


# -- from the tables --------------------------------------------------------------------------------------------------


@frozen
class Grouping:
    """What divides decisions into parts."""

    key: str
    """The part of a decision, in SQL over `judgements`, `started` and `length` of its match, and `joins`."""
    joins: str = ""


NOTHING: Final = Grouping("NULL")
KINDS: Final = Grouping("kind")
CUBE_KINDS: Final = Grouping(
    "CASE WHEN kind = 'double' AND owner = 'player' THEN 'redouble' ELSE kind END",
    " LEFT JOIN (SELECT match, game, number, owner FROM decisions WHERE kind = 'double') USING (match, game, number)",
)
"""The same, with redoubles apart from doubles."""
CLASSES: Final = Grouping("CASE WHEN kind = 'play' THEN class END")
"""Classes of the positions of plays."""
MONTHS: Final = Grouping("strftime(started, '%Y-%m')")
"""Month of the beginning of the match, such as `2026-03`; NULL without a date."""
STAGES: Final = Grouping(
    "CASE WHEN turn <= 4 THEN '1 to 4' WHEN turn <= 12 THEN '5 to 12' WHEN turn <= 30 THEN '13 to 30' "
    "ELSE '31 and later' END"
)
STAGE_NAMES: Final = ("1 to 4", "5 to 12", "13 to 30", "31 and later")
SCORES: Final = Grouping(
    "CASE WHEN length = 0 THEN 'unlimited' WHEN crawford THEN 'Crawford' "
    "WHEN length - least(score_a, score_b) = 1 THEN 'both 1 away' "
    "WHEN length - greatest(score_a, score_b) = 1 THEN 'after Crawford' "
    "WHEN length - greatest(score_a, score_b) = 2 THEN '2 away' "
    "WHEN length - greatest(score_a, score_b) = 3 THEN '3 away' ELSE 'both 4+ away' END",
    " JOIN (SELECT match, game, score_a, score_b, crawford FROM games) USING (match, game)",
)
SCORE_NAMES: Final = ("unlimited", "both 4+ away", "3 away", "2 away", "Crawford", "after Crawford", "both 1 away")
"""The scores, by the points that the player who is nearer to the end needs."""


def since(boundary: dt.datetime) -> Grouping:
    """Return what divides decisions into those before a time in UTC and those since; NULL without a date."""
    return Grouping(f"started >= TIMESTAMP {quoted(boundary.replace(tzinfo=None))}")


def measure(judged: JudgedArchive, player: str, *groupings: Grouping) -> dict[tuple[Any, ...], Performance]:
    """Return the performance of a player in every part that the groupings make, by their keys."""
    keys = "".join(f"{grouping.key} AS k{number}, " for number, grouping in enumerate(groupings))
    names = "".join(f"k{number}, " for number in range(len(groupings)))
    rows = judged.rows(
        f"SELECT {names} sum(n)::BIGINT, sum(loss), sum(blunders)::BIGINT, count(*) FILTER (n > 0), sum(loss * loss), "
        f"sum(loss * n), sum(n * n) FROM (SELECT {keys} match, count(*) FILTER (counts)::DOUBLE AS n, "
        f"coalesce(sum(loss) FILTER (counts), 0) AS loss, count(*) FILTER (loss >= {BLUNDER}) AS blunders "
        f"FROM {_source(*groupings)} WHERE judge = ? AND player = ? GROUP BY ALL) GROUP BY ALL",
        judged.judge,
        player,
    )
    count = len(groupings)
    return {row[:count]: Performance(*row[count:]) for row in rows if row[count] is not None}


def ratings_of_all(judged: JudgedArchive, grouping: Grouping) -> dict[Any, float]:
    """Return the performance rating of all players together in every part."""
    rows = judged.rows(
        f"SELECT {grouping.key} AS k, {PR} FROM {_source(grouping)} WHERE judge = ? GROUP BY 1", judged.judge
    )
    return {key: rating for key, rating in rows if rating is not None}


NO_DATE: Final = "None of the matches has a date."


def left_out_undated(count: int) -> str:
    """Return a sentence about matches without a date; empty for none."""
    return f"{plural(count, 'match')} without a date {'is' if count == 1 else 'are'} left out." if count else ""


def _source(*groupings: Grouping) -> str:
    joins = "".join(grouping.joins for grouping in groupings)
    return f"judgements JOIN (SELECT match, started, length FROM matches) USING (match){joins}"
