"""The same decision at other scores: which scores there are, and the state of a decision at each of them."""

from __future__ import annotations

from typing import Final

from attrs import evolve, frozen

from fibsbot.match import MatchState, Owner

DEFAULT_AWAY: Final = 5
"""Points away up to which scores are listed by default."""
MOST_AWAY: Final = 9
"""Points away up to which they can be."""


@frozen
class Away:
    """What one player still needs: the heading of a row or a column of a table of scores."""

    points: int
    crawford: bool = False
    """Whether this is the Crawford game, in which the player needs one point."""

    def __str__(self) -> str:
        """Return the heading: `C` in the Crawford game, else the points."""
        return "C" if self.crawford else str(self.points)


def away_scores(state: MatchState, most: int) -> tuple[Away, ...]:
    """Return what a player may need at the scores of a table, the Crawford game first.

    It is left out where the cube has been turned, or is about to be turned: nobody doubles in the Crawford game.
    """
    turned = state.cube > 1 or state.owner is not Owner.CENTRED
    crawford = () if turned else (Away(1, crawford=True),)
    return (*crawford, *(Away(points) for points in range(1, most + 1)))


def at_score(state: MatchState, mine: Away, theirs: Away) -> MatchState | None:
    """Return a decision at another score, in a match without the Jacoby rule and beavers; None if there is no such one.

    Only one player can have what the Crawford game is played for, and the other one needs more than a point.
    """
    crawford = mine.crawford or theirs.crawford
    if crawford and min(mine.points, theirs.points) == max(mine.points, theirs.points):
        return None
    length = max(mine.points, theirs.points)
    return evolve(
        state,
        length=length,
        score=(length - mine.points, length - theirs.points),
        crawford=crawford,
        post_crawford=not crawford and length > 1 and 1 in {mine.points, theirs.points},
        jacoby=False,
        redoubles=0,
    )


def unlimited(state: MatchState) -> MatchState:
    """Return a decision in an unlimited match; with the Jacoby rule and beavers only if it has them already."""
    return evolve(state, length=0, score=(0, 0), crawford=False, post_crawford=False)


def has_score(state: MatchState, mine: Away, theirs: Away) -> bool:
    """Return whether a decision is made at this score."""
    crawford = mine.crawford or theirs.crawford
    return bool(state.length) and (state.away, state.crawford) == ((mine.points, theirs.points), crawford)
