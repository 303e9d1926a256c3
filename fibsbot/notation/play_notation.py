"""Plays as people write them: `24/18*/13`, `bar/22(2)`, `6/off`; and as in the server's `move` command, `13-7`.

A point where a checker stops is written between slashes, `*` marks a hit, `(2)` means that two checkers do the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Final, TypeAlias

from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Move, Play, Position
from fibsbot.rules.errors import AmbiguousPlayError, IllegalPlayError, InvalidPlayError, Law
from fibsbot.rules.plays import check_dice, check_play

CANNOT_MOVE: Final = "cannot move"
"""The text of the empty play."""
Path: TypeAlias = tuple[int, ...]
"""The points that one checker touches, from its first to its last."""

_PATH: Final = re.compile(r"(?P<path>(?:bar|b|\d{1,2})(?:[/-](?:off|o|\d{1,2})\*?)+)(?:\((?P<times>[1-4])\))?")
_WORDS: Final = {"bar": BAR, "b": BAR, "off": OFF, "o": OFF}


def format_play(play: Play, position: Position) -> str:
    """Write a play that can be made in this position.

    The moves of one checker are joined; an intermediate point is written if it hit there, or if the play could be
    misread without it. Only the first checker that comes to a blot is marked.
    """
    if not play.moves:
        return CANNOT_MOVE
    cells = position.points
    reached = {OFF}
    words = []
    for path, group in groupby(paths_of(play, position)):
        source, *targets = path
        word = "bar" if source == BAR else str(source)
        for point in targets:
            hits = cells[point] == -1 and point not in reached
            word += f"/{point or 'off'}{'*' if hits else ''}"
        times = len(list(group))
        words.append(f"{word}({times})" if times > 1 else word)
        reached.update(targets)
    return " ".join(words)


def paths_of(play: Play, position: Position) -> list[Path]:
    """Return the path of each checker in a play as `format_play` writes it: from the back, equal ones together.

    Intermediate points are only included if it hit there or if the play could be misread without them.
    """
    paths = join_moves(play.ordered)
    for index, path in enumerate(paths):
        if len(path) > 2:
            paths[index] = _shortened(path, position.points)
    paths.sort(reverse=True)
    return paths


def join_moves(moves: Iterable[Move]) -> list[Path]:
    """Join moves into paths: a checker that arrives on a point moves on before one that was there already."""
    paths: list[Path] = []
    for move in moves:
        source, target = move.source, move.target
        for index, path in enumerate(paths):
            if path[-1] == source:
                del paths[index]
                paths.append((*path, target))
                break
        else:
            paths.append((source, target))
    return paths


def _shortened(path: Path, cells: Sequence[int]) -> Path:
    """Leave out intermediate points without a hit.

    A single one stays if another way between the same ends passes a blot, or if one number could bear the checker off.
    """
    source, *between, target = path
    kept = [point for point in between if cells[point] == -1]
    if len(between) == 1 and not kept:
        others = cells[1:source] if target == OFF else (cells[source + target - between[0]],)
        one_move = target == OFF and source <= 6
        kept = between if one_move or -1 in others else []
    return (source, *kept, target)


def parse_play(text: str, position: Position, dice: Dice, *, hits_are_marked: bool = False) -> Play:
    """Parse a play and return it as single moves, in an order in which they can be made.

    Moves may be joined (`13/3` for 6-4); a hit need not be marked. Points are those of the player on roll. If
    `hits_are_marked`, a checker with two ways to its point takes the one without a hit.

    Raises InvalidPlayError if the text is not a play, IllegalPlayError if a law forbids it, AmbiguousPlayError if it
    can be read in two ways with different results, DiceError for impossible dice.
    """
    paths = _parse_paths(text, position)
    high, low = check_dice(dice)
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]
    readings: dict[Position, Play] = {}
    errors: list[IllegalPlayError] = []
    for order in orders:
        moves = _read(paths, order)
        if moves is None:
            continue
        try:
            play = check_play(position, dice, Play(tuple(moves)))
        except IllegalPlayError as error:
            errors.append(error)
        else:
            readings.setdefault(position.play(play), play)
    if hits_are_marked and len(readings) > 1:
        least = min(after.opponent_bar for after in readings)
        readings = {after: play for after, play in readings.items() if after.opponent_bar == least}
    if len(readings) > 1:
        ways = " or ".join(" ".join(map(str, play.moves)) for play in readings.values())
        raise AmbiguousPlayError(f"{text.strip()} can be {ways}")
    if readings:
        return next(iter(readings.values()))
    if errors:
        raise errors[0]
    law = Law.TOO_MANY_MOVES if sum(len(path) - 1 for path in paths) > len(orders[0]) else Law.NOT_ROLLED
    raise IllegalPlayError(law, f"{text.strip()} for {high}-{low}: {law.value}")


def _parse_paths(text: str, position: Position) -> list[Path]:
    """Parse the path of every checker; raise for errors that do not depend on the dice."""
    if text.strip().lower() in {CANNOT_MOVE, "can't move"}:
        return []
    paths = []
    for word in text.lower().replace(",", " ").split():
        match = _PATH.fullmatch(word)
        if not match:
            raise InvalidPlayError(f"expected moves such as 24/18*, bar/22(2) or 6/off, got {word!r}")
        points = re.split("[/-]", match["path"])
        path = tuple(int(_WORDS.get(point, point)) for point in (name.rstrip("*") for name in points))
        if path[0] not in range(1, 26) or any(point not in range(1, 25) for point in path[1:-1]) or path[-1] > 24:
            raise InvalidPlayError(f"expected points from 1 to 24, bar first or off last, got {word!r}")
        if any(target >= source for source, target in pairwise(path)):
            raise IllegalPlayError(Law.WRONG_DIRECTION, f"{word}: {Law.WRONG_DIRECTION.value}")
        if any("*" in name and position.points[point] != -1 for name, point in zip(points, path, strict=True)):
            raise IllegalPlayError(Law.NOTHING_TO_HIT, f"{word}: {Law.NOTHING_TO_HIT.value}")
        paths += [path] * int(match["times"] or 1)
    if not paths:
        raise InvalidPlayError("expected moves such as 24/18*, bar/22(2) or 6/off, got nothing")
    return paths


def _read(paths: list[Path], numbers: tuple[int, ...]) -> list[Move] | None:
    """Split paths into single moves that take the numbers in this order; None if the numbers do not fit."""
    left = iter(numbers)
    moves = []
    for path in paths:
        for source, target in pairwise(path):
            point = source
            while point > target:
                number = next(left, 0)
                reached = max(point - number, OFF)
                if not number or reached < target:
                    return None
                moves.append(Move(point, reached))
                point = reached
    return moves
