"""What a search is told and what it answers."""

from __future__ import annotations

from attrs import frozen

from fibsbot.engine import MOST_PLIES
from fibsbot.engine.cube import Verdict
from fibsbot.engine.outcomes import Outcomes, cubeless_equity
from fibsbot.position import Play, Position


@frozen
class Limits:
    """How far a search may go."""

    plies: int = 2
    """Rolls that are looked ahead, at most; 0 is the network alone, as GNU Backgammon counts."""
    seconds: float | None = None
    """Time for the decision: as many plies as fit, the best so far at the deadline."""
    decided: bool = False
    """Whether to stop as soon as only one play is left in the running: enough to play, not to study."""

    def __attrs_post_init__(self) -> None:
        """Raise ValueError for limits that are none."""
        if not 0 <= self.plies <= MOST_PLIES:
            raise ValueError(f"expected plies between 0 and {MOST_PLIES}, got {self.plies}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"expected a time above 0 seconds, got {self.seconds}")


@frozen
class Compared:
    """Which plays are looked at as deep as the best one, so that their equities can be compared to the last digit."""

    most: int = 5
    """Plays, the best ones, that are looked at so."""
    least: int = 1
    """So many of them however far they are behind the best."""
    margin: float = 0.16
    """The others only if they are no further behind than this (GNU Backgammon's usual filter)."""
    also: Play | None = None
    """A play that is looked at so in any case: the one that was made."""


@frozen(eq=False)
class Effort:
    """What an answer has cost."""

    plies: int
    """How far was looked ahead."""
    evaluations: int
    """Positions that the network or the tables valued."""
    seconds: float


@frozen(eq=False)
class RankedPlay:
    """A play, and what it is worth to who makes it."""

    play: Play
    position: Position
    """What the play leaves, seen by who made it."""
    outcomes: Outcomes
    """The six chances of who made it, shape (6,)."""
    equity: float
    """Worth with the cube, normalised: a single game at the present cube won is 1, lost -1; see `cube.Stakes`."""
    plies: int
    """How far was looked ahead after this play; only plays of equal plies can be compared to the last digit."""

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, gammons counting two and backgammons three."""
        return float(cubeless_equity(self.outcomes))


@frozen(eq=False)
class Ranking:
    """The plays of a throw, the best first; what was looked at deeper stands before what was not."""

    plays: tuple[RankedPlay, ...]
    effort: Effort

    @property
    def best(self) -> RankedPlay:
        """The play to make."""
        return self.plays[0]

    def loss(self, ranked: RankedPlay) -> float:
        """Return what a play gives away against the best one, never below 0."""
        return max(self.best.equity - ranked.equity, 0.0)


@frozen(eq=False)
class Reading:
    """What the position is worth before a throw, and what to do with the cube."""

    verdict: Verdict
    """No double, double and take, double and pass; normalised."""
    taken: float
    """Worth of doubling when the opponent takes and does not beaver, even if the player may not double."""
    outcomes: Outcomes
    """The six chances of the player on roll, shape (6,)."""
    effort: Effort

    @property
    def equity(self) -> float:
        """Worth with the cube, normalised, the player doubling where that gains."""
        return self.verdict.best

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, gammons counting two and backgammons three."""
        return float(cubeless_equity(self.outcomes))
