"""The results of an analysis. Equities are those of an `Evaluator`; losses are never negative."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from attrs import asdict, frozen

from fibsbot.position import Play
from fibsbot.rules.state import Seat
from fibsbot.strategies.evaluator import Chances, CubeValues
from fibsbot.transcript import Decision, Transcript


@frozen
class PlayOption:
    """A play that could have been made."""

    play: Play
    text: str
    """As people write it."""
    equity: float
    plies: int | None = None
    """Rolls that were looked ahead after it, the same for all options; None where the judge does not say."""
    chances: Chances | None = None
    """That it leaves to who makes it; None where the judge does not say."""


@frozen
class ResignationValues:
    """What it is worth to end the game by a resignation, and to play on, both seen by who decided."""

    settled: float
    """The game ends as it was offered."""
    played_on: float
    plies: int | None = None
    """Rolls that were looked ahead for playing on; None where the judge does not say."""
    chances: Chances | None = None
    """Of who decided, if the game is played on; None where the judge does not say."""


@frozen
class AnalysedDecision:
    """A decision, as a judge sees it."""

    decision: Decision
    equity: float | None
    """Of what was decided, seen by who decided; None where the judge has nothing to say."""
    loss: float = 0.0
    """By how much the best decision would have been worth more; 0 for a forced one."""
    best: str = ""
    """The best decision as people write it."""
    options: tuple[PlayOption, ...] = ()
    """Of a play: the best ones, the best first, and the one that was made; at most a handful, all judged as deep."""
    cube: CubeValues | None = None
    """Of a cube decision: seen by who may double."""
    resigning: ResignationValues | None = None
    """Of an offer to resign, or of the answer to it."""
    luck: float | None = None
    """Of a play: how much better the throw was than the average throw, for who threw; None where not worked out."""
    counts: bool = True
    """Whether it counts for the performance: a real choice, and no cube action that nobody would think about."""


@frozen
class PlayerStatistics:
    """What a player did in a game or a match, summed up."""

    decisions: int = 0
    """That count."""
    loss: float = 0.0
    """Sum over them."""
    play_loss: float = 0.0
    cube_loss: float = 0.0
    luck: float = 0.0
    """Sum over all throws, in normalised points."""
    luck_in_points: float = 0.0
    """The same in points of the match: each throw's luck times what the cube showed."""
    luck_in_chances: float = 0.0
    """The same in chances to win the match; 0 in an unlimited one."""

    @property
    def pr(self) -> float | None:
        """Performance rating: 500 times the mean loss, as eXtreme Gammon counts it; None without a decision."""
        return 500 * self.loss / self.decisions if self.decisions else None

    def __add__(self, other: Self) -> PlayerStatistics:
        more = asdict(other)
        return PlayerStatistics(**{name: value + more[name] for name, value in asdict(self).items()})


def sum_statistics(
    parts: Iterable[tuple[PlayerStatistics, PlayerStatistics]],
) -> tuple[PlayerStatistics, PlayerStatistics]:
    """Sum up the figures of both players."""
    a = b = PlayerStatistics()
    for of_a, of_b in parts:
        a, b = a + of_a, b + of_b
    return a, b


@frozen
class GameAnalysis:
    """A game with all its decisions judged, in their order."""

    number: int
    judged: tuple[AnalysedDecision, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]
    """Of seat A and seat B."""


@frozen
class MatchAnalysis:
    """A match, studied."""

    transcript: Transcript
    judge: str
    """Name of the strategy that judged."""
    games: tuple[GameAnalysis, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]
    details: str = ""
    """Of the judge: version, networks and plies; empty where it does not say them."""

    def figures_of(self, seat: Seat) -> PlayerStatistics:
        """Return what one player did in the whole match."""
        return self.figures[seat]
