"""How much of a perfect cube's worth is had: the parameter x of Janowski's model, by kind of position.

0 is a cube that nobody will turn again, 1 one that is always turned at the perfect moment. What keeps it below 1 is
that chances move in jumps: a market is lost, or a double comes that should have waited.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen

from fibsbot.engine.boards import CELLS, Boards, boards_of, have_passed
from fibsbot.engine.cube.janowski import Floats
from fibsbot.position import Position


@frozen
class Efficiency:
    """The efficiency of a cube in each kind of position.

    The figures for races were read off races without checkers, solved exactly, where each side has only pips to go
    (`bench/bench_efficiency.py`).
    """

    contact: tuple[float, float] = (0.8, 0.74)
    """Of a centred and of an owned cube while the sides can still meet; `docs/cube.md` has where they come from."""
    contact_swing: float = 0.07
    """By how much a throw changes the chance to win where that is even, as a standard deviation."""
    race_most: tuple[float, float] = (0.96, 0.9)
    """What both efficiencies approach in a long race."""
    race_dead: tuple[float, float] = (3.0, 2.0)
    """Pips of the player on roll at which the cube is dead.

    Races without checkers have 2 more: checkers waste pips, so that with so few there are more throws left.
    """
    race_half: tuple[float, float] = (8.0, 11.0)
    """Pips more that bring the efficiency to half of the most."""
    race_swing: float = 0.4
    """By how much a throw changes the chance to win where that is even and an owned cube is dead.

    It gets less as the race gets longer and the cube more efficient: in proportion to what that lacks to 1.
    """

    def of(self, boards: Boards) -> Floats:
        """Return the efficiency of a centred and of an owned cube and what a throw changes.

        Shape (n, 3) for boards of shape (n, 26).
        """
        found = np.empty((len(boards), 3))
        found[:] = *self.contact, self.contact_swing
        races = np.flatnonzero(have_passed(boards))
        if len(races):
            pips = boards[races].clip(0) @ np.arange(CELLS)
            beyond = np.maximum(pips[:, None] - np.array(self.race_dead), 0.0)
            racing = np.array(self.race_most) * beyond / (beyond + np.array(self.race_half))
            found[races] = np.column_stack([racing, self.race_swing * (1 - racing[:, 1])])
        return found

    def of_position(self, position: Position) -> Floats:
        """Return the same for one position, shape (3,)."""
        return np.asarray(self.of(boards_of([position]))[0])


DEFAULT: Final = Efficiency()
"""What is used where nothing else is said."""
