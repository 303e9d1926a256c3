"""All tables computed: one side alone, its first checker, both sides. What only asks tables needs none of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fibsbot.engine.bearoff.indexing import all_counts, size
from fibsbot.engine.bearoff.lookup import frozen_columns
from fibsbot.engine.bearoff.moves import single_moves
from fibsbot.engine.bearoff.one_sided import solve_all, solve_first
from fibsbot.engine.bearoff.tables import Tables
from fibsbot.engine.bearoff.two_sided import solve_pairs
from fibsbot.engine.boards import CHECKERS


def compute(checkers: int, show: Callable[[float], None]) -> Tables:
    """Compute the tables: one-sided for 15 checkers, two-sided for up to `checkers` each.

    `show` is told now and then what part is done, 0 to 1.
    """
    moves = single_moves(all_counts(CHECKERS))
    few = size(checkers)
    # Measured: a position of one side costs as much as five pairs.
    total = 5 * (len(moves) + len(moves) - size(CHECKERS - 1)) + few**2
    done = 0

    def shown(weight: int) -> Callable[[int], None]:
        def add(count: int) -> None:
            nonlocal done
            done += weight * count
            show(min(done / total, 1.0))

        return add

    means, throws = solve_all(moves, shown(5))
    first = solve_first(moves, shown(5))
    pairs = solve_pairs(moves[:few], shown(1))
    return Tables(frozen_columns(throws.astype(np.float32), first.astype(np.float32), means.astype(np.float32), pairs))
