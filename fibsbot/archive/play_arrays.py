"""Plays and rolls of the tables as arrays of positions, and back."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.archive.columns import Boards
from fibsbot.engine.arrays import BAR, swapped
from fibsbot.engine.generator import generate, plays_and_scratch
from fibsbot.match import Dice
from fibsbot.notation.play_notation import CANNOT_MOVE, format_play
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays, play_between

_PATH: Final = re.compile(r"(bar|\d+)((?:/(?:off|\d+)\*?)+)(?:\((\d)\))?")


@lru_cache(1 << 16)
def play_change(text: str) -> npt.NDArray[np.int8]:
    """Return what a play in notation adds to the cells of the position in which it is made, shape (26,)."""
    change = np.zeros(BAR + 1, np.int8)
    if text == CANNOT_MOVE:
        return change
    for source, targets, times in _PATH.findall(text):
        count = int(times or 1)
        change[BAR if source == "bar" else int(source)] -= count
        stops = targets.strip("/").split("/")
        for stop in stops:
            if stop.endswith("*"):  # the blot goes to the bar
                change[int(stop[:-1])] += 1
                change[0] -= 1
        last = stops[-1].rstrip("*")
        if last != "off":
            change[int(last)] += count
    return change


def dice_of(text: str) -> Dice:
    """Return a roll as the tables have it."""
    return int(text[0]), int(text[1])


def successors_of_rolls(boards: Boards, dice: list[Dice]) -> tuple[Boards, npt.NDArray[np.int64]]:
    """Return the positions after each roll seen by the opponent, and the row of each; a dance leaves the position."""
    plays, scratch = plays_and_scratch()
    found, counts = [], []
    for board, (high, low) in zip(boards, dice, strict=True):
        count = generate(board, high, low, plays, scratch)
        found.append(plays[:count].copy() if count else board[None].copy())
        counts.append(max(count, 1))
    after = np.concatenate(found) if found else np.empty((0, BAR + 1), np.int8)
    return swapped(after), np.repeat(np.arange(len(counts)), counts)


def play_text(board: npt.NDArray[np.int8], dice: Dice, after: npt.NDArray[np.int8]) -> str:
    """Return the play that leads from a position to another one."""
    position, cells = Position(tuple(board.tolist())), tuple(after.tolist())
    steps = play_between(position.points, dice, cells)
    if steps:
        return format_play(Play.of(*steps), position)
    every = legal_plays(position, dice)
    return next((format_play(play, position) for play in every if position.play(play).points == cells), CANNOT_MOVE)
