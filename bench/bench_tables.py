"""Random games of every ruleset: how long they are, how they end, and whether a search that tries everything agrees.

Usage: python -m bench.bench_tables [--games N] [--positions N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter

from rich.console import Console
from rich.table import Table as Printed

from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.plays import perft, resulting_tables
from fibsbot.rules.state import Seat
from tests.games.random_games import brute_force, decisions, random_game

COLUMNS = ("game", "games", "turns, median", "longest", "drawn", "first player won", "reasons", "perft 1, 2",
           "compared", "skipped", "ms per turn")  # fmt: skip


def row(task: tuple[str, int, int]) -> tuple[str, ...]:
    """Play random games of one ruleset, compare its plays, and return a row of the table."""
    game, games, positions = task
    rules = load_ruleset(game)
    rng = random.Random(game)
    turns, reasons, first, drawn = [], Counter[str](), 0, 0
    began = time.process_time()
    for _ in range(games):
        beginner: Seat | None = None
        for state in random_game(rules, rng):
            beginner = state.decides if beginner is None else beginner
        turns.append(state.turns)
        reasons[state.reason.split(":")[0]] += 1
        drawn += state.drawn
        first += state.result is not None and state.result.winner is beginner
    spent = 1000 * (time.process_time() - began) / max(sum(turns), 1)
    compared = skipped = 0
    for table, part in decisions(game, positions):
        try:
            expected = brute_force(rules, table, part)
        except OverflowError:
            skipped += 1
            continue
        if expected != set(resulting_tables(rules, table, part)):
            raise AssertionError(f"{game}: {table} {part}")
        compared += 1
    counts = f"{perft(rules, 1)}, {perft(rules, 2)}"
    why = ", ".join(f"{reason} {100 * n / games:.0f} %" for reason, n in reasons.most_common(4))
    return (game, str(games), f"{statistics.median(turns):.0f}", str(max(turns)), f"{100 * drawn / games:.1f} %",
            f"{100 * first / games:.1f} %", why, counts, str(compared), str(skipped), f"{spent:.2f}")  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=GAMES)
    options = parser.parse_args()
    printed = Printed(*COLUMNS)
    tasks = [(game, options.games, options.positions) for game in options.only]
    for cells in map(row, tasks):
        printed.add_row(*cells)
    Console(width=200).print(printed)


if __name__ == "__main__":
    main()
