"""Both players' skill in words and ratings, and their errors with the cube: rows for `analyse` and for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen

from fibsbot.analysis.model import CubeErrors, ErrorSum, MatchAnalysis, PlayerStatistics
from fibsbot.analysis.skill import SkillLevel, pr_class
from fibsbot.rules.state import Seat

NO_VALUE: Final = "\N{EN DASH}"


@frozen
class SkillFigure:
    """A row of a table."""

    label: str
    """In lower case."""
    cells: tuple[str, str]
    """Those of seat A and seat B."""
    explained: str
    is_part: bool = False
    """Whether it is a part of a row above."""


CUBE_ERROR_KINDS: Final[dict[str, tuple[str, Callable[[CubeErrors], ErrorSum]]]] = {
    "missed doubles (take)": (
        "Rolls below the cash point where doubling was better",
        lambda errors: errors.missed_doubles_below_cash_point,
    ),
    "missed doubles (pass)": (
        "Rolls above the cash point where doubling was better",
        lambda errors: errors.missed_doubles_above_cash_point,
    ),
    "wrong doubles (too early)": (
        "Doubles below the doubling point",
        lambda errors: errors.wrong_doubles_below_doubling_point,
    ),
    "wrong doubles (too good)": (
        "Doubles where playing on was worth more than a pass",
        lambda errors: errors.wrong_doubles_too_good,
    ),
    "wrong takes": ("Takes where passing was better", lambda errors: errors.wrong_takes),
    "wrong passes": ("Passes where taking was better", lambda errors: errors.wrong_passes),
    "wrong beavers": (
        "Beavers that were wrong, and takes where a beaver was better",
        lambda errors: errors.wrong_beavers,
    ),
}
"""Kinds of errors with the cube: what they mean, and where they are."""
_BY_PLAYS: Final = "The part that plays have lost"
_BY_CUBE: Final = "The part that cube decisions have lost"


def class_figure(analysis: MatchAnalysis) -> SkillFigure:
    """Return the classes of eXtreme Gammon."""

    def name(figures: PlayerStatistics) -> str:
        return NO_VALUE if figures.pr is None else pr_class(figures.pr)

    return _row(analysis, "class by PR", name, "The class of eXtreme Gammon for this performance rating")


def skill_figures(analysis: MatchAnalysis) -> Iterator[SkillFigure]:
    """Yield what the errors cost in winning chances, or in points, and what GNU Backgammon says of them."""
    yield from _chance_figures(analysis) if analysis.transcript.length else _point_figures(analysis)
    explained = (
        "1000 times the loss per decision as GNU Backgammon counts: unforced plays, close or actual cube decisions"
    )
    yield _row(analysis, "error rate (mEMG)", lambda it: _rate(it.error_rate), explained)
    yield _row(analysis, "level", lambda it: _word(it.level), "The level of GNU Backgammon for this error rate")
    yield _row(analysis, "of plays", lambda it: _word(it.play_level), "That for the error rate of plays", part=True)
    explained = "That for the error rate of cube decisions"
    yield _row(analysis, "of the cube", lambda it: _word(it.cube_level), explained, part=True)
    ratings = [analysis.estimated_rating(seat) for seat in Seat]
    if any(rating is not None for rating in ratings):
        a, b = (NO_VALUE if rating is None else f"{rating:.0f}" for rating in ratings)
        explained = "The rating at FIBS that both error rates stand for at this length, as GNU Backgammon estimates it"
        yield SkillFigure("estimated FIBS rating", (a, b), explained)


def _chance_figures(analysis: MatchAnalysis) -> Iterator[SkillFigure]:
    lost = "Match winning chances lost by all decisions"
    yield _row(analysis, "winning chances lost", lambda it: f"{it.loss_in_chances:.1%}", lost)
    yield _row(analysis, "by plays", lambda it: f"{it.play_loss_in_chances:.1%}", _BY_PLAYS, part=True)
    yield _row(analysis, "by the cube", lambda it: f"{it.cube_loss_in_chances:.1%}", _BY_CUBE, part=True)


def _point_figures(analysis: MatchAnalysis) -> Iterator[SkillFigure]:
    yield _row(
        analysis, "points lost", lambda it: f"{it.loss_in_points:.2f}", "The loss of each decision times the cube"
    )
    yield _row(analysis, "by plays", lambda it: f"{it.play_loss_in_points:.2f}", _BY_PLAYS, part=True)
    yield _row(analysis, "by the cube", lambda it: f"{it.cube_loss_in_points:.2f}", _BY_CUBE, part=True)


def cube_error_figures(analysis: MatchAnalysis) -> Iterator[SkillFigure]:
    """Yield number and loss of the errors with the cube, of the kinds that somebody made."""
    both = [figures.cube_errors for figures in analysis.figures]
    for label, (explained, errors_of) in CUBE_ERROR_KINDS.items():
        if any(errors_of(errors).count for errors in both):
            a, b = (_count(errors_of(errors)) for errors in both)
            yield SkillFigure(label, (a, b), explained)


def _row(
    analysis: MatchAnalysis,
    label: str,
    write: Callable[[PlayerStatistics], str],
    explained: str,
    *,
    part: bool = False,
) -> SkillFigure:
    a, b = analysis.figures
    return SkillFigure(label, (write(a), write(b)), explained, part)


def _rate(rate: float | None) -> str:
    return NO_VALUE if rate is None else f"{1000 * rate:.1f}"


def _word(level: SkillLevel | None) -> str:
    return NO_VALUE if level is None else level.value


def _count(errors: ErrorSum) -> str:
    return f"{errors.count} ({errors.loss:.3f})" if errors.count else "0"
