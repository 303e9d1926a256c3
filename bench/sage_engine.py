"""Open Sage as an engine that speaks UBGI, to play and to measure against; run by a Python that has it.

    python -m venv sage && sage/bin/pip install bgsage
    fibsbot duel engine:2 "ubgi:sage/bin/python bench/sage_engine.py 2ply" --games 1000

Open Sage (package `bgsage`, MPL-2.0) is a separate program: none of it is bundled, and nothing is learned from it. Its
levels count from 1: its `1ply` is our 0-ply, its `3ply` our 2-ply. This file needs nothing of fibsbot. Positions are
read as XGID, seen by X, as the strategy `ubgi` writes them. A position without a decision is answered by `sorry`.
`rollout GAMES XGID`, with O to roll, is answered by X's cubeless equity after this number of games to the end at 1ply,
and its standard error.

Usage: sage_engine.py [LEVEL] [--cubeless]
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from typing import Any, Final

BAR: Final = 25
OWNERS: Final = {0: "centered", 1: "player", -1: "opponent"}
JACOBY: Final = 1
BEAVER: Final = 2

Board = list[int]
Move = tuple[int, int]


class Sage:
    """Answers positions."""

    def __init__(self, level: str, *, cubeful: bool) -> None:
        """Load the networks; one thread, as fibsbot's engine has."""
        self._package: Any = importlib.import_module("bgsage")
        self._boards: Any = importlib.import_module("bgsage.board")
        self._analyzer = self._package.BgBotAnalyzer(eval_level=level, cubeful=cubeful, parallel_threads=1)

    def answer(self, xgid: str) -> str:
        """Return the answer in UBGI's words. Raises ValueError for what is not a position."""
        fields = xgid.removeprefix("XGID=").split(":")
        board, dice = _board(fields[0]), fields[4]
        cube, owner, turn, own, theirs, rules, length = (int(fields[place]) for place in (1, 2, 3, 5, 6, 7, 8))
        stakes = {
            "away1": length - own if length else 0,
            "away2": length - theirs if length else 0,
            "is_crawford": bool(length and rules),
            "jacoby": not length and bool(rules & JACOBY),
            "beaver": not length and bool(rules & BEAVER),
        }
        if dice == "D":
            if turn != -1:
                raise ValueError("expected a double of the opponent")
            stakes["away1"], stakes["away2"] = stakes["away2"], stakes["away1"]
            found = self._analyzer.cube_action(self._boards.flip_board(board), 2**cube, OWNERS[-owner], **stakes)
            return "take" if found.should_take else "drop"
        if turn != 1:
            raise ValueError("expected X on turn")
        if dice == "00":
            found = self._analyzer.cube_action(board, 2**cube, OWNERS[owner], **stakes)
            return "double" if found.should_double else "roll"
        high, low = sorted(map(int, dice), reverse=True)
        found = self._analyzer.checker_play(board, high, low, 2**cube, OWNERS[owner], **stakes)
        if not found.moves or found.moves[0].board == board:
            return ""
        return " ".join(f"{_place(begin)}/{_place(end)}" for begin, end in self._path(board, high, low, found))

    def rolled_out(self, games: int, xgid: str) -> str:
        """Return X's cubeless equity, with O to roll, and its standard error."""
        analyzer = self._package.BgBotAnalyzer(
            eval_level="rollout", cubeful=False, n_trials=games, parallel_threads=1, cubeful_trial_moves=False
        )
        found = analyzer.post_move_analytics(_board(xgid.removeprefix("XGID=").partition(":")[0]))
        return f"{found.cubeless_equity} {found.cubeless_se}"

    def _path(self, board: Board, high: int, low: int, found: Any) -> list[Move]:
        """Return single moves that lead to the best board, as many as there can be: both numbers have to be played."""
        target = list(found.moves[0].board)
        orders = [[high] * 4] if high == low else [[high, low], [low, high]]
        ways = (way for dice in orders for way in self._sequences(board, dice))
        return max((moves for moves, left in ways if left == target), key=len)

    def _sequences(self, board: Board, dice: list[int]) -> Iterator[tuple[list[Move], Board]]:
        """Yield each way to play the dice in this order, shorter ones too, with the board after it."""
        yield [], board
        if not dice:
            return
        for step in self._boards.possible_single_die_moves(board, dice[0]):
            for moves, left in self._sequences(list(step["board"]), dice[1:]):
                yield [(step["from"], step["to"]), *moves], left


def _board(letters: str) -> Board:
    """Return the board, the opponent's checkers on the bar as a positive number in the first place."""
    board = list(map(_count, letters))
    return [abs(board[0]), *board[1:]]


def _count(letter: str) -> int:
    """Return the checkers that a letter of an XGID stands for: X's positive, O's negative."""
    if letter == "-":
        return 0
    return ord(letter) - ord("A") + 1 if letter.isupper() else ord("a") - 1 - ord(letter)


def _place(point: int) -> str:
    return "bar" if point == BAR else str(point) if point > 0 else "off"


def main() -> None:
    """Speak UBGI until `quit`."""
    options = argparse.ArgumentParser(description="Open Sage as an engine that speaks UBGI.")
    options.add_argument("level", nargs="?", default="1ply", help="1ply, 2ply, 3ply, 4ply or truncated1 to truncated3")
    options.add_argument("--cubeless", action="store_true", help="plays as if there was no cube")
    chosen = options.parse_args()
    sage = Sage(chosen.level, cubeful=not chosen.cubeless)
    for line in sys.stdin:
        text = line.strip()
        if text == "quit":
            return
        if text == "ubgi":
            print(f"id name Open Sage {chosen.level}\nid author Mark Higgins\nid version bgsage\nreadyok", flush=True)
        elif text != "stop":
            try:
                word, _, rest = text.partition(" ")
                games, _, position = rest.partition(" ")
                print(sage.rolled_out(int(games), position) if word == "rollout" else sage.answer(text), flush=True)
            except (ValueError, IndexError, KeyError) as error:
                print(f"{text}: {error}", file=sys.stderr)
                print("sorry", flush=True)


if __name__ == "__main__":
    main()
