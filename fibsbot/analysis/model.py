"""Results of an analysis. Equities are those of an `Evaluator`; losses are never negative."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from operator import add
from typing import Final, Self

from attrs import astuple, frozen

from fibsbot.analysis.skill import SkillLevel, estimated_rating, skill_level
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
    loss_in_chances: float = 0.0
    """The loss in match winning chances; 0 in an unlimited match."""


@frozen
class ErrorSum:
    """Number of errors of a kind, and what they cost."""

    count: int = 0
    loss: float = 0.0
    """Normalised equity."""

    def __add__(self, other: Self) -> ErrorSum:
        return ErrorSum(self.count + other.count, self.loss + other.loss)


@frozen
class CubeErrors:
    """Errors of a player with the cube, by kind; the losses add up to `PlayerStatistics.cube_loss`.

    The kinds are those of GNU Backgammon, and beavers. Its cash point is where the opponent should begin to pass.
    """

    missed_doubles_below_cash_point: ErrorSum = ErrorSum()
    """Rolls where doubling was better, and the opponent should have taken."""
    missed_doubles_above_cash_point: ErrorSum = ErrorSum()
    """Rolls where doubling was better, and the opponent should have passed."""
    wrong_doubles_below_doubling_point: ErrorSum = ErrorSum()
    """Doubles that were too early."""
    wrong_doubles_too_good: ErrorSum = ErrorSum()
    """Doubles where playing on was worth more than the opponent's pass."""
    wrong_takes: ErrorSum = ErrorSum()
    """Takes where passing was better."""
    wrong_passes: ErrorSum = ErrorSum()
    """Passes where taking, or a beaver, was better."""
    wrong_beavers: ErrorSum = ErrorSum()
    """Beavers that were wrong, and takes where a beaver was better."""

    def __add__(self, other: Self) -> CubeErrors:
        return CubeErrors(*map(add, astuple(self, recurse=False), astuple(other, recurse=False)))


@frozen
class PlayerStatistics:
    """Totals of a player in a game or a match. The names of the fields are keys in the JSON of `analyse`."""

    decisions: int = 0
    """Number of decisions that count for the performance rating."""
    loss: float = 0.0
    """Normalised equity lost by plays, with the cube, and by resignations."""
    play_loss: float = 0.0
    """Part of it that plays have lost."""
    cube_loss: float = 0.0
    """Part of it that cube decisions have lost."""
    luck: float = 0.0
    """Luck of all rolls, in normalised equity."""
    luck_in_points: float = 0.0
    """The same in points: the luck of each roll times the cube."""
    luck_in_chances: float = 0.0
    """The same in match winning chances; 0 in an unlimited match."""
    loss_in_points: float = 0.0
    """The loss in points: that of each decision times the cube before it."""
    play_loss_in_points: float = 0.0
    cube_loss_in_points: float = 0.0
    loss_in_chances: float = 0.0
    """The loss in match winning chances; 0 in an unlimited match."""
    play_loss_in_chances: float = 0.0
    cube_loss_in_chances: float = 0.0
    unforced_plays: int = 0
    """Number of plays that were not forced."""
    cube_decisions: int = 0
    """Number of close or actual cube decisions, as GNU Backgammon counts them."""
    cube_errors: CubeErrors = CubeErrors()

    @property
    def pr(self) -> float | None:
        """Performance rating: 500 times the mean loss, as in eXtreme Gammon; None without a decision."""
        return 500 * self.loss / self.decisions if self.decisions else None

    @property
    def error_rate(self) -> float | None:
        """Loss per decision as in GNU Backgammon: of unforced plays, and close or actual cube decisions."""
        return _rate(self.play_loss + self.cube_loss, self.unforced_plays + self.cube_decisions)

    @property
    def play_error_rate(self) -> float | None:
        """Loss per unforced play; None without one."""
        return _rate(self.play_loss, self.unforced_plays)

    @property
    def cube_error_rate(self) -> float | None:
        """Loss per close or actual cube decision; None without one."""
        return _rate(self.cube_loss, self.cube_decisions)

    @property
    def level(self) -> SkillLevel | None:
        """The level of GNU Backgammon for `error_rate`; None without a decision."""
        return _level(self.error_rate)

    @property
    def play_level(self) -> SkillLevel | None:
        """The level for `play_error_rate`."""
        return _level(self.play_error_rate)

    @property
    def cube_level(self) -> SkillLevel | None:
        """The level for `cube_error_rate`."""
        return _level(self.cube_error_rate)

    def estimated_rating(self, length: int) -> float | None:
        """Return the rating at FIBS that these error rates stand for in backgammon matches of this length.

        None without a decision, and for 0, an unlimited match.
        """
        if not length or self.error_rate is None:
            return None
        return estimated_rating(length, self.play_error_rate or 0.0, self.cube_error_rate or 0.0)

    def __add__(self, other: Self) -> PlayerStatistics:
        return PlayerStatistics(*map(add, astuple(self, recurse=False), astuple(other, recurse=False)))


def _rate(loss: float, decisions: int) -> float | None:
    return loss / decisions if decisions else None


def _level(error_rate: float | None) -> SkillLevel | None:
    return None if error_rate is None else skill_level(error_rate)


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

    def estimated_rating(self, seat: Seat) -> float | None:
        """Return the rating at FIBS by a player's errors; None in an unlimited match, and in another game."""
        transcript = self.transcript
        return self.figures[seat].estimated_rating(transcript.length) if transcript.is_backgammon else None
