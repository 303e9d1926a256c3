"""Results of an analysis. Equities are those of an `Evaluator`; losses are never negative."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from operator import add
from typing import Final, Self

from attrs import astuple, frozen

from fibsbot.engine import short_details
from fibsbot.position import Play
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import Chances, CubeValues, PlayValue, PositionValue
from fibsbot.transcript import Decision, Transcript


class Grade(enum.Enum):
    """Grade of a bad decision; the value is its sign."""

    DOUBTFUL = "?!"
    ERROR = "?"
    BLUNDER = "??"


GRADE_THRESHOLDS: Final = {Grade.BLUNDER: 0.08, Grade.ERROR: 0.04, Grade.DOUBTFUL: 0.02}
"""Minimum loss of each grade, the worst first; normalised equity."""
LUCK_THRESHOLD: Final = 0.3
"""Minimum luck, good or bad, of a roll that is marked; normalised equity."""


CLOSE_CUBE_DECISION: Final = 0.2
"""A cube decision counts if its actions differ by no more than this, or if it was wrong; all others are obvious."""
EQUITY_TOLERANCE: Final = 1e-7
"""Equities that differ by no more are equal: networks calculate with 24 bits, so that a position that is evaluated
among others may get another last digit."""


def loss_against(best: float, made: float) -> float:
    """Return what a choice loses against the best one; 0 for equal ones."""
    return best - made if best - made > EQUITY_TOLERANCE else 0.0


def differ(best: float, worst: float) -> bool:
    """Return whether it matters which of several choices is made."""
    return best - worst > EQUITY_TOLERANCE


def grade(loss: float) -> Grade | None:
    """Return the grade of a loss; None for a small one."""
    # Tolerate floating-point error: 0.3 - 0.26 is less than 0.04.
    return next((name for name, least in GRADE_THRESHOLDS.items() if loss > least - EQUITY_TOLERANCE), None)


@frozen
class PlayOption:
    """A legal play and its value."""

    play: Play
    text: str
    """The play in notation."""
    value: PlayValue
    """Its search depth, if known, is the same for all options."""


@frozen
class ValuedChoice:
    """One of the choices of a decision, with what it is worth against the others."""

    text: str
    """The play in notation, or the action in words."""
    equity: float
    """For the player who decides; normalised."""
    loss: float
    """What it loses against the best choice; 0 for that one."""
    play: Play | None = None
    """To be shown by arrows; None if it is no play."""
    chances: Chances | None = None
    """Of the player who decides, after the play; None if the evaluator gives none, or for another decision."""
    plies: int | None = None
    """Rolls looked ahead, fewer for plays that are clearly worse; None if the evaluator does not say."""


@frozen
class ResignationValues:
    """Values of a resignation and of playing on, for the player who decided."""

    settled: float
    """Equity of the resignation."""
    played_on: PositionValue


@frozen
class AnalysedDecision:
    """A decision and its analysis."""

    decision: Decision
    equity: float | None
    """Equity of the decision, for the player who made it; None if the evaluator gives none."""
    loss: float = 0.0
    """Equity lost compared with the best decision; 0 for a forced one."""
    best: str = ""
    """The best decision in notation."""
    options: tuple[PlayOption, ...] = ()
    """Of a play: the best plays, the best first, and the one that was made, all searched to the same depth."""
    cube: CubeValues | None = None
    """Of a cube decision: its values for the player who may double."""
    resigning: ResignationValues | None = None
    """Of an offer to resign, or an answer to one."""
    alternatives: tuple[tuple[str, float], ...] = ()
    """Of a decision that is no play: each choice in words, with its equity for the player who decided."""
    luck: float | None = None
    """Of a play: how much better the roll was than the average roll; None if not computed."""
    counts: bool = True
    """Whether it counts for the performance rating: forced plays and obvious cube decisions do not."""


@frozen
class PlayerStatistics:
    """Totals of a player in a game or a match. The names of the fields are keys in the JSON of `analyse`."""

    decisions: int = 0
    """Number of decisions that count."""
    loss: float = 0.0
    """Equity lost by them."""
    play_loss: float = 0.0
    cube_loss: float = 0.0
    luck: float = 0.0
    """Luck of all rolls, in normalised equity."""
    luck_in_points: float = 0.0
    """The same in points: the luck of each roll times the cube."""
    luck_in_chances: float = 0.0
    """The same in match winning chances; 0 in an unlimited match."""

    @property
    def pr(self) -> float | None:
        """Performance rating: 500 times the mean loss, as in eXtreme Gammon; None without a decision."""
        return 500 * self.loss / self.decisions if self.decisions else None

    def __add__(self, other: Self) -> PlayerStatistics:
        return PlayerStatistics(*map(add, astuple(self), astuple(other)))


def sum_statistics(
    parts: Iterable[tuple[PlayerStatistics, PlayerStatistics]],
) -> tuple[PlayerStatistics, PlayerStatistics]:
    """Return the totals of both players."""
    a = b = PlayerStatistics()
    for of_a, of_b in parts:
        a, b = a + of_a, b + of_b
    return a, b


@frozen
class GameAnalysis:
    """Analysis of a game: its decisions, in order."""

    number: int
    decisions: tuple[AnalysedDecision, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]
    """Totals of seat A and seat B."""


@frozen
class MatchAnalysis:
    """Analysis of a match."""

    transcript: Transcript
    evaluator: str
    """Name of the evaluator."""
    games: tuple[GameAnalysis, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]
    details: str = ""
    """Version and plies of the evaluator, and after a semicolon its networks; empty if it has none to report."""

    @property
    def short_details(self) -> str:
        """The details without the networks."""
        return short_details(self.details)

    @property
    def note(self) -> str:
        """A sentence about laws by which equities mean something else; empty for most matches."""
        if not any(game.start.laws.point_game for game in self.transcript.games):
            return ""
        return "Point Game: equity 1 is 12 points at the cube; final scores are estimated."

    def figures_of(self, seat: Seat) -> PlayerStatistics:
        """Return the totals of one player."""
        return self.figures[seat]
