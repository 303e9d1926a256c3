"""Random games of every ruleset: how long they are, how they end, and whether three searches find the same plays.

Usage: python -m bench.bench_tables [--games N] [--positions N] [--options] [--only NAME ...]

On seeded positions of random games the plays of `fibsbot.rules.general_plays` are compared with those of a search that
tries every order of the numbers with every checker, and with those of the compiled kernel, which has laws of its own.
Each play has to be accepted, and a changed one to be refused unless it leads to a legal table, too.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from functools import partial

from rich.console import Console
from rich.table import Table

from fibsbot.games import GAMES, load_ruleset
from fibsbot.position import Play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.general_plays import check_play, legal_plays, perft, resulting_boards
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import Seat
from tests.engine.rulesets.test_plays import kernel_tables, limited
from tests.games.random_games import brute_force, decisions, mutated, random_game, variants

GAME_COLUMNS = ("game", "games", "turns, median", "longest", "drawn", "first player won", "reasons", "perft 1, 2",
                "ms per turn")  # fmt: skip
POSITION_COLUMNS = ("game", "positions", "plays, mean", "most", "changed plays refused", "of", "s")
SHARE = 0.5
"""Share of the decisions of a random game that are compared."""


def games_row(games: int, game: str) -> tuple[str, ...]:
    """Play random games of one ruleset, and return a row about them."""
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
    counts = f"{perft(rules, 1)}, {perft(rules, 2)}"
    why = ", ".join(f"{reason} {100 * n / games:.0f} %" for reason, n in reasons.most_common(4))
    return (game, str(games), f"{statistics.median(turns):.0f}", str(max(turns)), f"{100 * drawn / games:.1f} %",
            f"{100 * first / games:.1f} %", why, counts, f"{spent:.2f}")  # fmt: skip


def positions_row(positions: int, game: str) -> tuple[str, ...]:
    """Compare the plays on positions of one ruleset; return a row about them. Raises AssertionError if they differ."""
    rules = load_ruleset(game)
    rng = random.Random(game)
    began = time.process_time()
    plays = []
    refused = changed = 0
    for found, part in decisions(game, positions, SHARE):
        table = Sides(limited(found.own), limited(found.opponent))
        results = resulting_boards(rules, table, part)
        assert brute_force(rules, table, part) == set(results), (game, table, part)
        assert set(kernel_tables(rules, table, part)) == set(results), (game, table, part)
        plays.append(len(results))
        for play in rng.sample(legal_plays(rules, table, part), min(len(results), 4)):
            assert check_play(rules, table, part, play)[1] in results, (game, table, part, play)
            if play.moves:
                changed += 1
                refused += is_refused(rules, table, part, mutated(play, rng))
    spent = f"{time.process_time() - began:.0f}"
    return (game, str(len(plays)), f"{statistics.mean(plays):.1f}", str(max(plays)), str(refused), str(changed), spent)


def is_refused(rules: Ruleset, table: Sides, part: Part, play: Play) -> bool:
    """Return whether a play is refused. Raises AssertionError if it is accepted and leads to an illegal table."""
    try:
        after = check_play(rules, table, part, play)[1]
    except PlayError:
        return True
    assert after in resulting_boards(rules, table, part), (rules.full_name, table, part, play)
    return False


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--options", action="store_true", help="every game with each of its options, too")
    parser.add_argument("--only", nargs="*", metavar="NAME")
    options = parser.parse_args()
    names = options.only or (list(variants()) if options.options else GAMES)
    tables = ((options.games, GAME_COLUMNS, games_row), (options.positions, POSITION_COLUMNS, positions_row))
    for count, columns, row in tables:
        if count:
            printed = Table(*columns)
            for cells in map(partial(row, count), names):
                printed.add_row(*cells)
            Console(width=200).print(printed)


if __name__ == "__main__":
    main()
