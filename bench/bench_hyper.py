"""Hyper-backgammon solved, without a cube: an exact table by value iteration, and what the network loses against it.

Usage: python -m bench.bench_hyper [--processes 2] [--games 500] [--network FILE] [--seed 1]

A side has three checkers on 26 places, which are 3,276 arrangements, so that there are 10.7 million positions. The
table has what the player who is to roll can expect with best play by both sides, in points; it is kept in the cache
folder of the user (43 MB). Positions are visited in the order of the arrangement that is farther from the end, so that
in one pass everything is right but for hits and lost rolls; passes are repeated until no value changes by more than
TOLERANCE.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import statistics
import time
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import Floats32, Int64s
from fibsbot.engine.bearoff.storage import cache_folder
from fibsbot.engine.family.evaluator import TableEvaluator
from fibsbot.engine.family.network import Network, load_network
from fibsbot.engine.jit import compiled, inner
from fibsbot.games import load_ruleset
from fibsbot.games.game import TableGame, play, roll, roll_opening, start_match
from fibsbot.games.plays import outcome, resulting_tables, turn_over
from fibsbot.games.table import Side, Table
from fibsbot.position import Play
from fibsbot.rules.state import Stage

Int16s: TypeAlias = npt.NDArray[np.int16]
RULES: Final = load_ruleset("hyper")
HAND: Final = 25
SIDES: Final = 3276
"""Arrangements of three checkers on 26 places."""
TOLERANCE: Final = 1e-5
"""Points; a pass that changes no value by more is the last one."""
MOST_PASSES: Final = 100
_ROLLS: Final = 36
_WORST: Final = -9.0


def arrangements() -> tuple[Int64s, Int16s]:
    """Return the arrangements, those nearest to the end first, and the number of each by three places in any order."""
    triples = sorted(combinations_with_replacement(range(HAND, -1, -1), 3), key=lambda it: (sum(it), it))
    numbers = np.zeros(26**3, np.int16)
    for number, triple in enumerate(triples):
        for a, b, c in {(triple[i], triple[j], triple[3 - i - j]) for i in range(3) for j in range(3) if i != j}:
            numbers[(a * 26 + b) * 26 + c] = number
    return np.array(triples, np.int64), numbers


class Solver(NamedTuple):
    """The table and the working memory of a process."""

    values: Floats32
    """What the player who is to roll can expect, by the numbers of his arrangement and of the opponent's."""
    triples: Int64s
    """The arrangements, shape (SIDES, 3)."""
    numbers: Int16s
    """The number of each by three places."""
    boards: Int64s
    """Boards within a roll, both sides' places in a row; then rows for the search of doubles."""


def new_solver(values: Floats32) -> Solver:
    """Return a table with working memory."""
    return Solver(values, *arrangements(), np.zeros((7, 6), np.int64))


@inner
def _number(numbers: Int16s, board: Int64s, first: int) -> int:
    return int(numbers[(board[first] * 26 + board[first + 1]) * 26 + board[first + 2]])


@inner
def _blocked(board: Int64s) -> int:
    """Return our number of the point that the opponent holds, 0 if there is none."""
    x, y, z = board[3], board[4], board[5]
    double = y if y in (x, z) else x if x == z else 0
    return int(HAND - double) if 0 < double < HAND else 0


@inner
def _move(before: Int64s, after: Int64s, checker: int, number: int, blocked: int) -> bool:
    """Write the board after a move; return False if the move is illegal."""
    source = before[checker]
    if source == 0:
        return False
    farthest = max(before[0], before[1], before[2])
    if farthest == HAND and source != HAND:
        return False
    target = source - number
    if target <= 0:
        if farthest > 6 or (target < 0 and farthest > source):
            return False
        target = 0
    elif target == blocked:
        return False
    for place in range(6):
        after[place] = before[place]
    after[checker] = target
    if target > 0:
        for place in range(3, 6):
            if after[place] == HAND - target:
                after[place] = HAND
    return True


@inner
def _worth(it: Solver, board: Int64s) -> float:
    """Return what a board is worth for the player who has just moved."""
    if board[0] + board[1] + board[2] > 0:
        return -float(it.values[_number(it.numbers, board, 3) * SIDES + _number(it.numbers, board, 0)])
    if board[3] == 0 or board[4] == 0 or board[5] == 0:
        return 1.0
    return 3.0 if max(board[3], board[4], board[5]) > HAND - 7 else 2.0


@inner
def _two_numbers(it: Solver, blocked: int, first: int, second: int) -> float:
    """Return the best that comes of playing one number and then another one; _WORST if both cannot be played."""
    best = _WORST
    for one in range(3):
        if not _move(it.boards[0], it.boards[1], one, first, blocked):
            continue
        if it.boards[1, 0] + it.boards[1, 1] + it.boards[1, 2] == 0:
            return _worth(it, it.boards[1])
        for other in range(3):
            if _move(it.boards[1], it.boards[2], other, second, blocked):
                best = max(best, _worth(it, it.boards[2]))
    return best


@inner
def _one_number(it: Solver, blocked: int, number: int) -> float:
    best = _WORST
    for one in range(3):
        if _move(it.boards[0], it.boards[1], one, number, blocked):
            best = max(best, _worth(it, it.boards[1]))
    return best


@inner
def _double(it: Solver, blocked: int, number: int) -> float:
    """Return the best that comes of playing a number four times, or as often as possible; no checker before another.

    A checker that starts farther away moves first, so that each set of moves is looked at once.
    """
    best, longest, depth = _WORST, 0, 0
    it.boards[5, 0] = 0  # row 5 has the next checker to try at each depth
    while depth >= 0:
        checker = it.boards[5, depth]
        if checker == 3:
            depth -= 1
            continue
        it.boards[5, depth] += 1
        source = it.boards[depth, checker]
        if depth > 0 and source > it.boards[6, depth - 1]:
            continue
        if not _move(it.boards[depth], it.boards[depth + 1], checker, number, blocked):
            continue
        depth += 1
        it.boards[6, depth - 1] = source  # row 6 has the sources
        over = it.boards[depth, 0] + it.boards[depth, 1] + it.boards[depth, 2] == 0
        if depth >= longest:
            if depth > longest:
                best, longest = _WORST, depth
            best = max(best, _worth(it, it.boards[depth]))
        if over or depth == 4:
            depth -= 1
        else:
            it.boards[5, depth] = 0
    return best


@inner
def best_of_roll(it: Solver, high: int, low: int) -> float:
    """Return what a roll is worth on the board in the first row."""
    blocked = _blocked(it.boards[0])
    if high == low:
        best = _double(it, blocked, high)
    else:
        best = _two_numbers(it, blocked, high, low)
        best = max(best, _two_numbers(it, blocked, low, high))
        if best == _WORST:
            best = _one_number(it, blocked, high)
        if best == _WORST:
            best = _one_number(it, blocked, low)
    return _worth(it, it.boards[0]) if best == _WORST else best


@inner
def _value(it: Solver) -> float:
    total = 0.0
    for high in range(1, 7):
        for low in range(1, high + 1):
            total += best_of_roll(it, high, low) * (1 if high == low else 2)
    return total / _ROLLS


@inner
def _is_possible(triples: Int64s, own: int, other: int) -> bool:
    """Return whether no point has checkers of both sides, and both have some left."""
    if triples[own, 0] == 0 or triples[other, 0] == 0:
        return False
    for one in range(3):
        for two in range(3):
            point = triples[own, one]
            if 0 < point < HAND and point == HAND - triples[other, two]:
                return False
    return True


@compiled
def improve(it: Solver, first: int, step: int, change: Floats32) -> None:
    """Pass once over the pairs of arrangements, or over every `step`-th; write the largest change of a value."""
    largest = 0.0
    for far in range(first, SIDES, step):
        for near in range(far + 1):
            if not _is_possible(it.triples, far, near):
                continue
            for turn in range(2):
                own, other = (far, near) if turn == 0 else (near, far)
                for place in range(3):
                    it.boards[0, place] = it.triples[own, place]
                    it.boards[0, 3 + place] = it.triples[other, place]
                cell = own * SIDES + other
                value = _value(it)
                largest = max(largest, abs(value - it.values[cell]))
                it.values[cell] = value
    change[0] = largest


@compiled
def value_of_roll(it: Solver, high: int, low: int) -> float:
    """Return what a roll is worth on the board in the first row."""
    return best_of_roll(it, high, low)


def one_pass(path: Path, processes: int, process: int) -> float:
    """Let one of the processes pass over its part of the table; return the largest change."""
    values = np.asarray(np.memmap(path, np.float32, "r+"))
    change = np.zeros(1, np.float32)
    improve(new_solver(values), process, processes, change)
    return float(change[0])


def solved(processes: int) -> Floats32:
    """Return the table, made first if there is none yet."""
    path = cache_folder() / "hyper.table"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        if not unfinished.exists():
            np.zeros(SIDES * SIDES, np.float32).tofile(unfinished)
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            for number in range(1, MOST_PASSES + 1):
                began = time.monotonic()
                change = max(pool.map(partial(one_pass, unfinished, processes), range(processes)))
                print(f"pass {number}: {change:.6f} in {time.monotonic() - began:.0f} s", flush=True)
                if change <= TOLERANCE:
                    break
        unfinished.rename(path)
    return np.fromfile(path, np.float32)


def exact_points(values: Floats32, numbers: Int16s, table: Table) -> float:
    """Return what the player who is to roll can expect."""
    own, other = (numbers[(a * 26 + b) * 26 + c] for a, b, c in map(_places, (table.own, table.opponent)))
    return float(values[int(own) * SIDES + int(other)])


def _places(side: Side) -> list[int]:
    return [place for place, checkers in enumerate(side.row) for _ in range(checkers)]


def losses(values: Floats32, network: Network | None, games: int, seed: int) -> tuple[list[float], int]:
    """Return what each choice of the network loses in games against itself, in points, and how many it had."""
    numbers = arrangements()[1]
    evaluator = TableEvaluator(RULES, network)
    rng = random.Random(seed)
    lost, rolls = [], 0
    for _ in range(games):
        state = start_match(RULES, 0)
        while state.stage is Stage.OPENING:
            state = roll_opening(state, rng.randint(1, 6), rng.randint(1, 6))
        while state.stage is not Stage.OVER:
            if state.stage is Stage.ROLL:
                state = roll(state, state.turn, (rng.randint(1, 6), rng.randint(1, 6)))
            rolls += 1
            chosen, loss = choice(values, numbers, evaluator, state)
            state = play(state, state.turn, chosen)
            lost += [] if loss is None else [loss]
    return lost, rolls


def choice(values: Floats32, numbers: Int16s, evaluator: TableEvaluator, state: TableGame) -> tuple[Play, float | None]:
    """Return the network's play and what it loses; None if there is no choice."""
    plays = resulting_tables(RULES, state.table, state.part)
    if len(plays) < 2:
        return Play(next(iter(plays.values()), ())), None
    tables = list(plays)
    ended = [outcome(RULES, state.table, it) for it in tables]
    seen = [turn_over(it) for it in tables]
    guessed = (-evaluator.points(seen)).tolist()
    exact = [-exact_points(values, numbers, it) for it in seen]
    for place, end in enumerate(ended):
        if end is not None:
            guessed[place] = exact[place] = float(end.points)
    best = max(range(len(tables)), key=guessed.__getitem__)
    return Play(plays[tables[best]]), max(exact) - exact[best]


def main() -> None:
    """Solve, and print what the network loses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--network", type=Path, help="by default the bundled one")
    options = parser.parse_args()
    values = solved(options.processes)
    network = None if options.network is None else load_network(options.network)
    lost, rolls = losses(values, network, options.games, options.seed)
    wrong = sum(it > TOLERANCE for it in lost)
    start = exact_points(values, arrangements()[1], RULES.start())
    print(f"the player who rolls first from the set-up can expect {start:+.4f} points")
    print(
        f"{len(lost)} choices in {rolls} rolls of {options.games} games: {statistics.fmean(lost):.5f} points lost a "
        f"choice, {sum(lost) / options.games:.4f} a game; {100 * wrong / len(lost):.1f} % not the best play"
    )


if __name__ == "__main__":
    main()
