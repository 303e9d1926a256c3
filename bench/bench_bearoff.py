"""Bear-off tables: time to compute and to load them, lookups per second, and accuracy.

Where Debian's gnubg has its own two-sided table, all of its 853,776 equities are compared with ours.
Seconds are those of the processor, so that other work on the machine counts little.
"""

from __future__ import annotations

import tempfile
import time
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from fibsbot.engine.arrays import Boards
from fibsbot.engine.bearoff import BearoffTables, TableArrays
from fibsbot.engine.bearoff.solver import compute_tables
from fibsbot.engine.bearoff.storage import read_tables, write_tables
from fibsbot.engine.bearoff.tables import WIN, covered_chances, look_up, position_count

GNUBG: Final = Path("/var/lib/gnubg/gnubg_ts0.bd")
GNUBG_HEAD: Final = 40
"""Bytes before gnubg's equities: four of 16 bits per pair; cubeless, owned, centred, opponent's."""
BOARDS: Final = 200_000
REPEATS: Final = 5


def chances(boards: Boards, columns: TableArrays) -> None:
    """Look boards up as search and training do."""
    _, own, opponent = look_up(boards, columns.rolls)
    covered_chances(own, opponent, columns)


def figures(boards: Boards, columns: TableArrays) -> None:
    """Look up exact values, as the search does for money."""
    _, own, opponent = look_up(boards, columns.pairs)
    columns.pairs[own, opponent]  # this gathers them


def random_boards(most: int) -> Boards:
    """Return boards with 1 to `most` checkers per side, all home."""
    generator = np.random.default_rng(1)
    boards = np.zeros((BOARDS, 26), np.int8)
    rows = np.arange(BOARDS)
    for lowest, step in ((1, 1), (19, -1)):
        count = generator.integers(1, most + 1, BOARDS)
        for checker in range(most):
            points = generator.integers(lowest, lowest + 6, BOARDS)
            boards[rows, points] += np.where(checker < count, step, 0).astype(np.int8)
    return boards


def seconds(work: Callable[[], object]) -> float:
    """Return the smallest processor time of several runs."""
    return min(timeit.repeat(work, timer=time.process_time, repeat=REPEATS, number=1))


def accuracy(tables: BearoffTables) -> str:
    """Print how far chances computed from both sides' rolls are from the exact ones."""
    count = position_count(tables.checkers)
    throws = tables.columns.rolls[:count].astype(float)
    later = 1 - np.cumsum(throws, axis=1) + throws
    error = np.abs(throws @ later.T - tables.columns.pairs[..., WIN])[1:, 1:]
    far = np.quantile(error, 0.99)
    return f"mean {error.mean():.5f}, 99 % below {far:.5f}, largest {error.max():.5f}"


def difference_from_gnubg(tables: BearoffTables) -> str:
    """Print how far the equities are from gnubg's."""
    theirs = np.fromfile(GNUBG, "<u2", offset=GNUBG_HEAD).reshape(924, 924, 4) / 32767.5 - 1
    ours = tables.columns.pairs[..., [0, 2, 1, 3]].astype(float)
    ours[..., 0] = 2 * ours[..., 0] - 1
    error = np.abs(ours - theirs)[1:, 1:]
    return f"mean {error.mean():.6f}, largest {error.max():.6f}"


def computed(checkers: int) -> BearoffTables:
    """Compute, save and load tables, and print the times."""
    begun = time.process_time()
    tables = compute_tables(checkers, lambda _: None)
    taken = time.process_time() - begun
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables"
        megabytes = write_tables(tables, path).bytes / 1e6
        loading = seconds(partial(read_tables, path, checkers))
    print(f"{checkers} checkers: {taken:5.2f} s to compute, {megabytes:6.1f} MB, {loading * 1000:4.0f} ms to load")
    print(f"  chances from throws, against the exact ones: {accuracy(tables)}")
    return tables


def main() -> None:
    """Measure and print."""
    compute_tables(2, lambda _: None)  # what is compiled here need not be compiled below
    tables = [computed(checkers) for checkers in (8, 7, 6)][-1]
    if GNUBG.exists():
        print(f"  equities, against gnubg's of 16 bits: {difference_from_gnubg(tables)}")
    for what, boards in {"up to 15 checkers": random_boards(15), "up to 6 checkers": random_boards(6)}.items():
        both, exact = (BOARDS / seconds(partial(ask, boards, tables.columns)) / 1e6 for ask in (chances, figures))
        print(f"{what:18} {both:5.2f} M boards/s have their chances, {exact:5.2f} M/s their exact figures or none")


if __name__ == "__main__":
    main()
