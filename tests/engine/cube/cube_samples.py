"""Samples for tests of the cube: chances, efficiencies, and states whose board does not matter."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from hypothesis import strategies as st

from fibsbot.engine.arrays import Floats64
from fibsbot.engine.cube import Stakes
from fibsbot.match import MatchState, Owner
from fibsbot.position import Position

DEAD: Final = np.zeros(3)
LIVE: Final = np.array([1.0, 1.0, 0.0])
USUAL: Final = np.array([0.68, 0.68, 0.09])


def chances(win: float, gammon: float = 0.0, lose_gammon: float = 0.0) -> Floats64:
    """Return six chances without backgammons; the gammons are part of all games."""
    return np.array([win, gammon, 0.0, 1 - win, lose_gammon, 0.0])


def state(*away: int, **fields: Any) -> MatchState:
    """Return a state at a score in points away, or for money."""
    if away:
        length = max(away)
        score = (length - away[0], length - away[1])
        fields = {"length": length, "score": score, "post_crawford": 1 in away and length > 1} | fields
    return MatchState(Position.start(), **fields)


def stakes(*away: int, **fields: Any) -> Stakes:
    """Return the stakes of such a state."""
    return Stakes.of(state(*away, **fields))


@st.composite
def any_chances(draw: st.DrawFn) -> Floats64:
    """Draw six chances that can be."""
    win = draw(st.floats(0, 1))
    shares = [draw(st.floats(0, 1)) for _ in range(4)]
    gammon, lose_gammon = win * shares[0], (1 - win) * shares[1]
    return np.array([win, gammon, gammon * shares[2], 1 - win, lose_gammon, lose_gammon * shares[3]])


@st.composite
def any_stakes(draw: st.DrawFn) -> tuple[Stakes, Owner]:
    """Draw the stakes of a game that can be, and who owns the cube."""
    owner = draw(st.sampled_from(Owner))
    cube = draw(st.sampled_from([1, 2, 4, 8])) if owner is not Owner.CENTRED else 1
    if draw(st.booleans()):
        jacoby, redoubles = draw(st.booleans()), draw(st.integers(0, 2))
        return stakes(cube=cube, owner=owner, jacoby=jacoby, redoubles=redoubles), owner
    own, other = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    crawford = 1 in (own, other) and owner is Owner.CENTRED and draw(st.booleans())
    return stakes(own, other, cube=cube, owner=owner, crawford=crawford, post_crawford=not crawford), owner


efficiencies = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.2)).map(np.array)
