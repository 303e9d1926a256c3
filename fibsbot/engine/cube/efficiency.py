"""How much of a perfect cube's worth is had: the parameter x of Janowski's model, by kind of position.

0 is a cube that nobody will turn again, 1 one that is always turned at the perfect moment. What keeps it below 1 is
that chances move in jumps: a market is lost, or a double comes that should have waited.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen

from fibsbot.engine.boards import BAR, Boards, boards_of
from fibsbot.engine.cube.janowski import Floats
from fibsbot.position import Position


@frozen
class Efficiency:
    """The efficiency of a cube in each kind of position."""

    contact: tuple[float, float] = (0.69, 0.57)
    """Of a centred and of an owned cube while the sides can still meet: what others found by rollouts. Owned counts
    less: its owner can use it only once, late, and from behind."""
    race_most: tuple[float, float] = (0.96, 0.9)
    """What both approach in a long race."""
    race_dead: tuple[float, float] = (5.0, 4.0)
    """Pips of the player on roll at which the cube is dead: he bears off in a throw or two."""
    race_half: tuple[float, float] = (8.0, 11.0)
    """Pips more that bring the efficiency to half of the most.

    The figures for races were read off exact solutions of races without checkers, where each side has only pips to go
    (`bench/bench_cube.py --race`).
    """

    def of(self, boards: Boards) -> Floats:
        """Return the efficiency of a centred and of an owned cube, shape (n, 2) for boards of shape (n, 26)."""
        cells = np.asarray(boards, np.int64).reshape(-1, BAR + 1)
        points = np.arange(BAR + 1)
        own, other = cells > 0, cells < 0
        last = np.where(own, points, 0).max(axis=1)
        first = np.where(other, points, BAR + 1).min(axis=1)
        pips = (np.maximum(cells, 0) * points).sum(axis=1)
        beyond = np.maximum(pips[:, None] - np.array(self.race_dead), 0.0)
        racing = np.array(self.race_most) * beyond / (beyond + np.array(self.race_half))
        return np.where((last > first)[:, None], np.array(self.contact), racing)

    def of_position(self, position: Position) -> Floats:
        """Return the same for one position, shape (2,)."""
        return np.asarray(self.of(boards_of([position]))[0])


DEFAULT: Final = Efficiency()
"""What is used where nothing else is said."""


def constant(centred: float, owned: float | None = None) -> Efficiency:
    """Return the same efficiency for all positions."""
    pair = (centred, centred if owned is None else owned)
    return Efficiency(contact=pair, race_most=pair, race_dead=(-1e9, -1e9), race_half=(0.0, 0.0))
