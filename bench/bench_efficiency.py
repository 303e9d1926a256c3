"""Efficiency of the cube in races that can be solved exactly: the source of the figures in `fibsbot.engine.cube`.

Usage: bench_efficiency.py

Races: each side has only pips to go, no checkers; throws take them off, who has none left has won. Solved exactly with
the cube, they show the efficiency that comes nearest to what a position is worth if the player on roll does not turn
the cube now, and how far off the model is with the figures that it uses.

After Crawford: the same where the trailer has nothing to lose by doubling; see `janowski._missed`.

Bear-offs: the exact tables of few checkers, where they have been computed (`fibsbot bearoff`), say the same of real
positions.

Jumps: no game at all, only a chance to win that each throw changes at random and keeps on average (beta distributions).
How far a throw reaches is given; what efficiency follows from it hints at positions with contact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff import load_tables
from fibsbot.engine.bearoff import tables as bearoff_tables
from fibsbot.engine.bearoff.tables import all_counts
from fibsbot.engine.cube import CENTRED, DEFAULT_EFFICIENCY, OWNED, THEIRS, Stakes
from fibsbot.match import MatchState
from fibsbot.position import Position

Floats: TypeAlias = npt.NDArray[np.float64]
Worths: TypeAlias = dict[int, Floats]
"""Equities of positions for the player on roll, by the column of `Stakes.no_double_values`."""

PIPS: Final = 120
FAR: Final = 40
"""Largest difference in pips of the races that are compared."""
BANDS: Final = ((10, 20), (20, 30), (30, 40), (40, 60), (60, 80), (80, 100), (100, 120))
"""Pips of the player on roll."""
AWAY: Final = 4
"""Points that the trailer needs after Crawford."""
SWINGS: Final = (0.04, 0.06, 0.08, 0.09, 0.1, 0.12, 0.14)
CELLS: Final = 400
NAMES: Final = {CENTRED: "centred", OWNED: "owned", THEIRS: "opponent's"}


def throws() -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the pips of each roll and their probabilities."""
    chances = np.zeros(25)
    for one in range(1, 7):
        for two in range(1, 7):
            chances[one + two if one != two else 4 * one] += 1 / 36
    pips = np.nonzero(chances)[0]
    return pips, chances[pips]


def race(settle: Callable[[int, int, Callable[[Floats, float], float]], None]) -> None:
    """Solve all races, the shorter first: call with own and opponent's pips and a function that averages over a roll.

    It averages what the opponent's table (own pips last) says after the throw, negated, and what a won game is worth.
    """
    pips, chances = throws()
    for both in range(2, 2 * PIPS + 1):
        for own in range(max(1, both - PIPS), min(PIPS, both - 1) + 1):
            other, left = both - own, np.maximum(own - pips, 0)

            def after(table: Floats, won: float, other: int = other, left: npt.NDArray[np.int64] = left) -> float:
                return float(chances @ np.where(left == 0, won, -table[other, left]))

            settle(own, other, after)


def table() -> Floats:
    """Return an array for a value of each race."""
    return np.zeros((PIPS + 1, PIPS + 1))


def money_races() -> tuple[Floats, Worths]:
    """Return cubeless equities, and equities without a double before this roll."""
    dead, best = table(), {column: table() for column in NAMES}
    held = {column: table() for column in NAMES}

    def settle(own: int, other: int, after: Callable[[Floats, float], float]) -> None:
        dead[own, other] = after(dead, 1.0)
        for column, theirs in ((CENTRED, CENTRED), (OWNED, THEIRS), (THEIRS, OWNED)):
            held[column][own, other] = best[column][own, other] = after(best[theirs], 1.0)
        doubled = min(2 * held[THEIRS][own, other], 1.0)
        for column in (CENTRED, OWNED):
            best[column][own, other] = max(best[column][own, other], doubled)

    race(settle)
    return (1 + dead) / 2, held


def races_after_crawford(stakes: Stakes, win: Floats) -> tuple[Floats, Floats]:
    """Return the trailer's equities before the trailer's roll without a double, and before the leader's roll."""
    trailers, leaders, held = table(), table(), table()
    doubled = stakes.turned.cubeless(chances_of(win.ravel())).reshape(win.shape)

    def settle(own: int, other: int, after: Callable[[Floats, float], float]) -> None:
        leaders[own, other] = after(trailers, 1.0)
        held[own, other] = after(leaders, 1.0)
        trailers[own, other] = max(held[own, other], min(doubled[own, other], 1.0))

    race(settle)
    return held, leaders


def bearoffs() -> tuple[npt.NDArray[np.int64], Floats, Worths] | None:
    """Return pips, chances to win and equities of bear-offs from the tables; None without tables."""
    tables = load_tables(compute=False)
    if tables is None:
        return None
    pairs = tables.columns.pairs
    counts = all_counts(tables.checkers)
    many = np.flatnonzero(counts.sum(axis=1) >= tables.checkers - 1)
    own = np.repeat(counts[many] @ np.arange(1, counts.shape[1] + 1), len(many)).astype(np.int64)
    found = pairs[np.ix_(many, many)].reshape(-1, pairs.shape[-1]).astype(np.float64)
    return (
        own,
        found[:, bearoff_tables.WIN],
        {
            CENTRED: found[:, bearoff_tables.CENTRED],
            OWNED: found[:, bearoff_tables.OWNED],
            THEIRS: found[:, bearoff_tables.THEIRS],
        },
    )


def jumps(swing: float) -> Worths:
    """Return equities without a double by the chance to win, if rolls change it at random."""
    wins = np.linspace(0, 1, CELLS + 1)
    step = kernel(wins, swing)
    best = dict.fromkeys(NAMES, 2 * wins - 1)
    while True:
        held = {
            column: step @ -best[theirs][::-1]
            for column, theirs in ((CENTRED, CENTRED), (OWNED, THEIRS), (THEIRS, OWNED))
        }
        doubled = np.minimum(2 * held[THEIRS], 1.0)
        new = {column: held[column] if column == THEIRS else np.maximum(held[column], doubled) for column in NAMES}
        change = max(np.abs(new[column] - best[column]).max() for column in NAMES)
        best = new
        if change < 1e-7:
            return held


def kernel(wins: Floats, swing: float) -> Floats:
    """Return transition probabilities between chances to win for one roll, with this standard deviation at 50 %."""
    fine = (np.arange(4 * CELLS) + 0.5) / 4
    spread = 1 / (4 * swing**2) - 1
    moves = np.eye(CELLS + 1)
    for row, win in enumerate(wins[1:-1], 1):
        density = (spread * win - 1) * np.log(fine / CELLS) + (spread * (1 - win) - 1) * np.log(1 - fine / CELLS)
        weights = np.exp(density - density.max())
        weights /= weights.sum()
        below = fine.astype(int)
        above = fine - below
        moves[row] = np.bincount(below, weights * (1 - above), CELLS + 1) + np.bincount(
            below + 1, weights * above, CELLS + 1
        )
        mean = moves[row] @ wins  # the cells at the ends are coarse: what is missing goes to a won or lost game
        share = (win - mean) / (1 - mean) if mean < win else (mean - win) / mean
        moves[row] *= 1 - share
        moves[row, -1 if mean < win else 0] += share
    return moves


def chances_of(win: Floats) -> Floats:
    """Return six chances without gammons."""
    nothing = np.zeros_like(win)
    return np.column_stack([win, nothing, nothing, 1 - win, nothing, nothing])


def fitted(true: Floats, dead: Floats, live: Floats) -> float:
    """Return the efficiency that fits the exact equities best."""
    gain = live - dead
    return float(((true - dead) * gain).sum() / (gain * gain).sum())


def of_pips(own: npt.NDArray[np.int64]) -> Floats:
    """Return the efficiency that the model uses for a number of pips, by putting them on the ace point."""
    boards = np.zeros((len(own), 26), np.int8)
    boards[:, 1] = own  # the model only counts
    return DEFAULT_EFFICIENCY.of(boards)


def show_money(own: npt.NDArray[np.int64], win: Floats, held: Worths) -> None:
    """Print the best-fitting efficiency by pip count, and the model's error."""
    stakes = Stakes.of(MatchState(Position.start()))
    for low, high in BANDS:
        here = (own >= low) & (own < high) & (win > 0.1) & (win < 0.9)
        if not here.any():
            continue
        chances = chances_of(win[here])
        dead, live = (stakes.no_double_values(chances, np.array(x)) for x in ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0)))
        ours = stakes.no_double_values(chances, of_pips(own[here]))
        cells = [
            f"{name} {fitted(held[column][here], dead[:, column], live[:, column]):.2f}"
            f" (uses {of_pips(np.array([(low + high) // 2]))[0, min(column, 1)]:.2f},"
            f" rms {math.sqrt(((held[column][here] - ours[:, column]) ** 2).mean()):.3f})"
            for column, name in NAMES.items()
        ]
        print(f"  {low:3} to {high:3} pips: " + ", ".join(cells))


def main() -> None:
    """Print the best-fitting efficiency, and the model's error."""
    win, held = money_races()
    own, other = np.mgrid[0 : PIPS + 1, 0 : PIPS + 1]
    near = (own > 0) & (other > 0) & (np.abs(own - other) < FAR)
    print("Races for money: efficiency that fits best, and rms error of the model with its own figures")
    show_money(own[near], win[near], {column: equities[near] for column, equities in held.items()})
    if exact := bearoffs():
        print("Bear-offs for money, with the most checkers that the tables have, or one less")
        show_money(*exact)

    print(f"Races after Crawford, trailer {AWAY} away: rms error of his worth if he rolls, and of the leader's on roll")
    trailer = Stakes.of(MatchState(Position.start(), length=AWAY, score=(0, AWAY - 1), post_crawford=True))
    rolled, leaders = races_after_crawford(trailer, win)
    for low, high in BANDS:
        here = near & (win > 0.1) & (win < 0.9) & (own >= low) & (own < high)
        mine = trailer.no_double_values(chances_of(win[here]), of_pips(own[here]))[:, CENTRED] - rolled[here]
        theirs = trailer.swapped.no_double_values(chances_of(win[here]), of_pips(own[here]))[:, CENTRED] - leaders[here]
        print(f"  {low:3} to {high:3} pips: {math.sqrt((mine**2).mean()):.3f} {math.sqrt((theirs**2).mean()):.3f}")

    print("Jumps: efficiency that fits best")
    wins = np.linspace(0, 1, CELLS + 1)
    inside = (wins > 0.15) & (wins < 0.85)
    chances = chances_of(wins[inside])
    stakes = Stakes.of(MatchState(Position.start()))
    dead, live = (stakes.no_double_values(chances, np.array(x)) for x in ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0)))
    for swing in SWINGS:
        found = jumps(swing)
        cells = [f"{name} {fitted(found[it][inside], dead[:, it], live[:, it]):.2f}" for it, name in NAMES.items()]
        print(f"  swing {swing}: " + ", ".join(cells))


if __name__ == "__main__":
    main()
