"""Speed of the rules core's play generator, compared with one that tries every checker in every order.

Both answer the same 21 rolls in the same positions and are compared with each other on the way.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fibsbot.match import ROLLS, Dice
from fibsbot.notation.position_ids import parse_position_id
from fibsbot.position import BAR, OFF, Move, Position
from fibsbot.rules.plays import Cells, check_play, legal_plays, resulting_positions

DATA: Final = Path(__file__).parent.parent / "tests" / "data" / "rules" / "legal_moves.jsonl.gz"
EVERY: Final = 10
"""The naive generator is slow: it gets only one position in this many."""


def positions() -> list[Position]:
    """Return the 2,000 positions."""
    with gzip.open(DATA, "rt") as lines:
        next(lines)
        return [parse_position_id(json.loads(line)["pos"]) for line in lines]


def naive(cells: Cells, dice: Dice) -> set[Cells]:
    """Try every checker in every order, then keep what used the most dice, and of single dice the higher."""
    first, second = dice
    orders = [(first,) * 4] if first == second else [(first, second), (second, first)]
    ends: list[tuple[int, int, Position]] = []

    def go(position: Position, left: tuple[int, ...], used: tuple[int, ...]) -> None:
        moved = False
        for source in range(BAR, 0, -1) if left else ():
            move = Move(source, max(source - left[0], OFF))
            if _can(position, move, left[0]):
                moved = True
                go(position.after(move), left[1:], (*used, left[0]))
        if not moved and used:
            ends.append((len(used), used[0], position))

    for order in orders:
        go(Position(cells), order, ())
    most = max((length for length, _, _ in ends), default=0)
    best = max((number for length, number, _ in ends if length == most), default=0)
    return {position.points for length, number, position in ends if length == most and (most > 1 or number == best)}


def _can(position: Position, move: Move, number: int) -> bool:
    cells = position.points
    if cells[move.source] <= 0 or (position.bar and move.source != BAR):
        return False
    if move.target != OFF:
        return cells[move.target] > -2
    return position.all_home and (move.source == number or not any(n > 0 for n in cells[move.source + 1 :]))


def microseconds(work: Callable[[Position, Dice], object], boards: list[Position]) -> float:
    """Return the time per roll."""
    start = time.perf_counter()
    for board in boards:
        for roll in ROLLS:
            work(board, roll)
    return (time.perf_counter() - start) * 1e6 / (len(boards) * len(ROLLS))


def check_all(board: Position, roll: Dice) -> None:
    """Validate the first legal play of a roll, as a server does with a command."""
    play = next(iter(legal_plays(board, roll)), None)
    if play:
        check_play(board, roll, play)


def main() -> None:
    """Measure and print."""
    boards = positions()
    few = boards[::EVERY]
    differences = sum(naive(b.points, r) != set(resulting_positions(b.points, r)) for b in few for r in ROLLS)
    plays = sum(len(resulting_positions(b.points, r)) for b in boards for r in ROLLS)
    whole = microseconds(lambda b, r: resulting_positions(b.points, r), boards)
    ours = microseconds(lambda b, r: resulting_positions(b.points, r), few)
    theirs = microseconds(lambda b, r: naive(b.points, r), few)
    objects = microseconds(legal_plays, few)
    checked = microseconds(check_all, few)
    rolls = len(boards) * len(ROLLS)
    print(f"{len(boards)} positions, {len(ROLLS)} rolls each, {plays / rolls:.1f} plays a roll")
    print(f"positions after every play    {whole:7.1f} us a roll, {plays / rolls / whole * 1e6:10,.0f} plays a second")
    print(f"the same on {len(few)} positions   {ours:7.1f} us a roll")
    peer = f"{theirs / ours:.1f} times ours, {differences} differences"
    print(f"every order, no ordering      {theirs:7.1f} us a roll: {peer}")
    print(f"as Play objects               {objects:7.1f} us a roll: {objects / ours:.2f} times the positions alone")
    print(f"and one of them checked       {checked:7.1f} us a roll")


if __name__ == "__main__":
    main()
