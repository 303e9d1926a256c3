"""Plays of tables games as people write them: `24/18*/14 bar/20(2) 6/off`, `hand/21`, `13/7^`.

As for backgammon, with `hand` for checkers that have not been on the board yet, `^` for a checker of the opponent that
is pinned, and moves around the world, as `2/24`. Points are those of the player on roll.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise, permutations
from typing import Final

from attrs import frozen

from fibsbot.notation.play_notation import CANNOT_MOVE, Path, join_moves
from fibsbot.position import Move, Play
from fibsbot.rules.errors import (
    AmbiguousPlayError,
    AnyLaw,
    IllegalPlayError,
    InvalidPlayError,
    Law,
    NamedLaw,
    PlayError,
)
from fibsbot.rules.general_plays import can_move, check_play, make_move
from fibsbot.rules.ruleset import Numbers, Part, Ruleset
from fibsbot.rules.sides import HAND, OFF, START, Sides

NO_MOVE: Final = "no move"
"""The text of the empty play where moves are possible, but not compulsory."""
NOTHING_TO_PIN: Final = NamedLaw("only a single checker of the opponent can be pinned")
_EMPTY: Final = {CANNOT_MOVE, "can't move", NO_MOVE}
_EXPECTED: Final = "expected moves such as 24/18*, bar/22(2), hand/20 or 6/off"
_PATH: Final = re.compile(r"(?P<path>(?:bar|b|hand|h|\d{1,2})(?:[/-](?:off|o|\d{1,2})[*^]?)+)(?:\((?P<times>[1-4])\))?")
_WORDS: Final = {"bar": HAND, "b": HAND, "hand": HAND, "h": HAND, "off": OFF, "o": OFF}


@frozen
class Touches:
    """What a play does to the opponent's checkers, by point as the player on roll counts."""

    hits: frozenset[int]
    pins: frozenset[int]
    """Where a checker is pinned at the end of the play that was not pinned before."""

    def sign(self, point: int, *, last: bool) -> str:
        """Return the sign after a point; a pin is marked where a checker stays."""
        if point in self.hits:
            return "*"
        return "^" if last and point in self.pins else ""


def touches_of(play: Play, rules: Ruleset, sides: Sides) -> Touches:
    """Return what a play hits and pins that can be made in this order on this table."""
    hits, board = set(), sides
    for move in play.moves:
        after = _after(rules, board, move)
        if after.opponent.hit > board.opponent.hit:
            hits.add(move.target)
        board = after
    pinned = board.opponent.pinned & ~sides.opponent.pinned
    pins = {point for point in range(1, START + 1) if pinned >> rules.course.facing(point) & 1} if pinned else ()
    return Touches(frozenset(hits), frozenset(pins))


def _after(rules: Ruleset, sides: Sides, move: Move) -> Sides:
    """Return the table after a move by whatever number."""
    numbers = sorted(range(1, 7), key=lambda number: number != move.pips)  # most often it is this one
    made = (make_move(rules, sides, move.source, number) for number in numbers)
    return next(it[1] for it in made if isinstance(it, tuple) and it[0] == move.target)


def format_play(play: Play, rules: Ruleset, sides: Sides, part: Part) -> str:
    """Write a legal play of a part of a turn, so that `parse_play` reads it as the same.

    The moves of one checker are joined. An intermediate point is written if it hit there, or if the play could be
    misread without it; the moves are written one by one, in their order, if that decides.

    Raises PlayError for an illegal play.
    """
    made, after = check_play(rules, sides, part, play)
    if not made.moves:
        return NO_MOVE if can_move(rules, sides, part) else CANNOT_MOVE
    touches = touches_of(made, rules, sides)
    joined = sorted(join_moves(made.moves), reverse=True)
    short = _short_paths(made, touches)
    one_by_one = [(move.source, move.target) for move in made.moves]
    on_bar = sides.own.row[HAND] - rules.in_hand(sides.own)
    for paths in (short, joined):
        text = _format_paths(paths, touches, on_bar)
        if _is_read_as(text, after, rules, sides, part):
            return text
    return _format_paths(one_by_one, touches, on_bar)


def paths_of(play: Play, rules: Ruleset, sides: Sides) -> list[Path]:
    """Return the path of each checker in a play that can be made in this order: from the back, equal ones together.

    Intermediate points are only included if it hit there.
    """
    return _short_paths(play, touches_of(play, rules, sides))


def _short_paths(play: Play, touches: Touches) -> list[Path]:
    return sorted((_shortened(path, touches) for path in join_moves(play.moves)), reverse=True)


def _shortened(path: Path, touches: Touches) -> Path:
    return (path[0], *(point for point in path[1:-1] if point in touches.hits), path[-1])


def _format_paths(paths: Iterable[Path], touches: Touches, on_bar: int) -> str:
    """Write paths, equal neighbours as one; the first checkers that enter come from the bar."""
    marked, words, entered = set[int](), [], 0
    named: list[tuple[str, Path]] = []
    for path in paths:
        entered += path[0] == HAND
        named.append((("bar" if entered <= on_bar else "hand") if path[0] == HAND else str(path[0]), path))
    for (start, path), group in groupby(named):
        times = len(list(group))
        signs = ["" if point in marked else touches.sign(point, last=point == path[-1]) for point in path]
        targets = [(str(point) if point else "off") + sign for point, sign in zip(path[1:], signs[1:], strict=True)]
        marked.update(point for point, sign in zip(path, signs, strict=True) if sign)
        words.append("/".join((start, *targets)) + (f"({times})" if times > 1 else ""))
    return " ".join(words)


def _is_read_as(text: str, after: Sides, rules: Ruleset, sides: Sides, part: Part) -> bool:
    try:
        return check_play(rules, sides, part, parse_play(text, rules, sides, part))[1] == after
    except PlayError:
        return False


@frozen
class _Written:
    """What a text says."""

    paths: tuple[Path, ...]
    hits: frozenset[int]
    pins: frozenset[int]


def parse_play(text: str, rules: Ruleset, sides: Sides, part: Part) -> Play:
    """Parse a play of a part of a turn and return it as single moves, in an order in which they can be made.

    Moves may be joined (`13/3` for 6-4); hits and pins need not be marked.

    Raises InvalidPlayError if the text is not a play, IllegalPlayError if a law forbids it, AmbiguousPlayError if it
    can be read in ways with different results.
    """
    if " ".join(text.lower().split()) in _EMPTY:
        return check_play(rules, sides, part, Play())[0]
    written = _parse_words(text)
    readings: dict[Sides, Play] = {}
    errors: list[IllegalPlayError] = []
    for moves in dict.fromkeys(_readings(written.paths, part.numbers)):
        try:
            play, after = check_play(rules, sides, part, Play(moves))
            _check_marks(written, touches_of(play, rules, sides), text)
        except IllegalPlayError as error:
            errors.append(error)
        else:
            readings.setdefault(after, play)
    fewest = min(map(len, readings.values()), default=0)  # 2/off bears off by one number rather than by way of 1
    readings = {after: play for after, play in readings.items() if len(play) == fewest}
    if len(readings) > 1:
        ways = " or ".join(" ".join(map(str, play.moves)) for play in readings.values())
        raise AmbiguousPlayError(f"{text.strip()} can be {ways}")
    if readings:
        return next(iter(readings.values()))
    raise _failure(text, written.paths, part, errors)


def _parse_words(text: str) -> _Written:
    paths: list[Path] = []
    marks: dict[str, set[int]] = {"*": set(), "^": set()}
    for word in text.lower().replace(",", " ").split():
        match = _PATH.fullmatch(word)
        if not match:
            raise InvalidPlayError(f"{_EXPECTED}, got {word!r}")
        names = re.split("[/-]", match["path"])
        path = tuple(int(_WORDS.get(name, name)) for name in (name.rstrip("*^") for name in names))
        if path[0] not in range(1, HAND + 1) or any(point not in range(1, HAND) for point in path[1:-1]):
            raise InvalidPlayError(f"expected points from 1 to 24, bar or hand first, off last, got {word!r}")
        if path[-1] >= HAND:
            raise InvalidPlayError(f"expected points from 1 to 24, bar or hand first, off last, got {word!r}")
        for name, point in zip(names, path, strict=True):
            if name[-1] in marks:
                marks[name[-1]].add(point)
        paths += [path] * int(match["times"] or 1)
    if not paths:
        raise InvalidPlayError(f"{_EXPECTED}, got nothing")
    return _Written(tuple(paths), frozenset(marks["*"]), frozenset(marks["^"]))


def _readings(paths: Sequence[Path], numbers: Numbers) -> Iterator[tuple[Move, ...]]:
    """Yield every way to split paths into single moves by these numbers, each used once."""
    for order in dict.fromkeys(permutations(numbers)):
        moves = _read(paths, order)
        if moves is not None:
            yield moves


def _read(paths: Sequence[Path], numbers: Numbers) -> tuple[Move, ...] | None:
    """Split paths into single moves that take the numbers in this order; None if the numbers do not fit."""
    left = iter(numbers)
    moves = []
    for path in paths:
        for source, target in pairwise(path):
            point = source
            while point != target:
                number = next(left, 0)
                reached = _reached(point, number, target)
                if not number or reached is None:
                    return None
                moves.append(Move(point, reached))
                point = reached
    return tuple(moves)


def _reached(point: int, number: int, target: int) -> int | None:
    """Return where a number brings a checker that is on its way to a point; None if that is not on its way."""
    left = point - number
    if target > point:  # around the world: the place after the 1-point counts as one
        return left if left > OFF else left + HAND if target <= left + HAND < HAND else None
    return left if left >= target and left > OFF else OFF if target == OFF else None


def _check_marks(written: _Written, touches: Touches, text: str) -> None:
    for marked, real, law in (
        (written.hits, touches.hits, Law.NOTHING_TO_HIT),
        (written.pins, touches.pins, NOTHING_TO_PIN),
    ):
        if not marked <= real:
            raise IllegalPlayError(law, f"{text.strip()}: {law.value}")


def _failure(text: str, paths: Sequence[Path], part: Part, errors: Sequence[IllegalPlayError]) -> IllegalPlayError:
    """Return the error of a text that cannot be read as a legal play."""
    law: AnyLaw = Law.NOT_ROLLED
    if any(target >= source for path in paths for source, target in pairwise(path)):
        law = Law.WRONG_DIRECTION
    elif sum(len(path) - 1 for path in paths) > len(part.numbers):
        law = Law.TOO_MANY_MOVES
    about_the_board = [error for error in errors if error.law is not Law.NOT_ROLLED]
    if about_the_board or (errors and law is Law.NOT_ROLLED):
        return (about_the_board or errors)[0]
    return IllegalPlayError(law, f"{text.strip()} for {'-'.join(map(str, part.numbers))}: {law.value}")
