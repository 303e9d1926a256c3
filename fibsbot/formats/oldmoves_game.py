"""Reads the lines of one game in the text of `oldmoves`; see oldmoves.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Self, TypeAlias

from attrs import define, evolve

from fibsbot.formats import FormatError, expected
from fibsbot.formats.checked_game import (
    CheckedGame,
    reading_laws,
    resigned_level,
)
from fibsbot.formats.setups import USUAL, with_setup
from fibsbot.match import CubeAction
from fibsbot.position import BAR, OFF, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.state import Ending, GameState, Result, Seat
from fibsbot.transcript import Game, RejectedRoll

Line: TypeAlias = tuple[int, str]
"""A line with its number, counted from 1."""
Points: TypeAlias = list[int | None]
"""The points that one checker touches; None first is the bar, last is off."""

CUBE_ACTIONS: Final = {
    "doubles": CubeAction.DOUBLE,
    "redoubles": CubeAction.DOUBLE,
    "accepts": CubeAction.TAKE,
    "rejects": CubeAction.PASS,
}
SEATS_BY_LETTER: Final[Mapping[str, Seat]] = {"X": Seat.A, "O": Seat.B}
SWAPPED_SEATS: Final[Mapping[str, Seat]] = {"X": Seat.B, "O": Seat.A}
CANNOT_MOVE_TEXTS: Final = ("can't move", "cannot move", "")
STARTING_CUBES: Final = (1, 2, 4, 8, 16, 32, 64)
"""The cube at the start of a game, after automatic doubles."""

_PLAY: Final = re.compile(r"\(([1-6]) ([1-6])\) *(.*)")
_REJECTED_ROLL: Final = re.compile(r"rejects ([1-6])-([1-6])")
_MOVE: Final = re.compile(r"((?:bar|[0-9]{1,2})(?:[-/](?:off|[0-9]{1,2})\*?)+)(?:\(([2-4])\))?")
_WINS: Final = re.compile(r"wins(?: ([0-9]{1,9}) points?)?\b.*")


def game_of_lines(lines: Sequence[Line], length: int, setup: Position = USUAL) -> Game:
    """Return the game of these lines, at no particular score. Raises FormatError if a line cannot be read."""
    game, problem = read_game(lines, beginning(laws_of_lines(lines, length), length, setup))
    if problem:
        raise problem
    return game


def laws_of_lines(lines: Iterable[Line], length: int) -> Laws:
    """Return the laws for reading games of these lines: where a first roll is rejected, that is allowed."""
    rejects = any(_REJECTED_ROLL.fullmatch(line[3:].strip()) for _, line in lines)
    return evolve(reading_laws(length), reject_first_throw=rejects)


def laws_of_points(games: Iterable[Sequence[Line]], laws: Laws, length: int) -> Laws:
    """Return these laws or, if the points that games state need it, those without triple games or the Point Game.

    A game that states no points has to count as much by the laws that are returned.
    """
    every = [*games]
    stated = [_stated_points(lines) for lines in every]

    def fits(tried: Laws) -> bool:
        return all(
            _counts(lines, tried, length, points)
            if points is not None
            else tried == laws or _points(lines, tried, length) == _points(lines, laws, length)
            for lines, points in zip(every, stated, strict=True)
        )

    return next(filter(fits, (laws, evolve(laws, triple=False), evolve(laws, point_game=True))), laws)


def _counts(lines: Sequence[Line], laws: Laws, length: int, stated: int) -> bool:
    """Whether a game counts what it states, at any cube at its start; also one that cannot be read to its end."""
    counted = (_points(lines, laws, length, stated, cube) for cube in STARTING_CUBES)
    return any(points in {None, stated} for points in counted)


def _points(lines: Sequence[Line], laws: Laws, length: int, stated: int | None = None, cube: int = 1) -> int | None:
    """Return what a game counts by these laws; None if it cannot be read to its end."""
    game, problem = _GameReader.of(cube, beginning(laws, length), 1, SEATS_BY_LETTER).read(lines, stated)
    return None if problem or game.result is None else game.result.points


def _stated_points(lines: Iterable[Line]) -> int | None:
    """Return the points that the text says of a game."""
    return next((int(found[1]) for _, line in lines if (found := _WINS.fullmatch(line[3:])) and found[1]), None)


def beginning(laws: Laws, length: int, setup: Position = USUAL) -> GameState:
    """Return the beginning of a game at no particular score, in which nothing forbids to double."""
    return with_setup(start_match(laws, length, post_crawford=True), setup)


def read_game(
    lines: Sequence[Line], start: GameState, number: int = 1, seats: Mapping[str, Seat] = SEATS_BY_LETTER
) -> tuple[Game, FormatError | None]:
    """Return the game of these lines, at no particular score; from the first unreadable line on it is a gap.

    What it counted is believed, where the text says it: more than the moves make it can only come from a cube that
    stood higher from the beginning.
    """
    stated = _stated_points(lines)
    games = (_GameReader.of(cube, start, number, seats).read(lines, stated) for cube in STARTING_CUBES)
    first, problem = next(games)
    if problem or stated is None or first.result is None or first.result.points == stated:
        return first, problem
    fitting = next((game for game, _ in games if game.result and game.result.points == stated), None)
    return fitting or evolve(first, result=evolve(first.result, points=stated)), None


@define
class _GameReader:
    """A game that is being read line by line."""

    checked: CheckedGame
    seats: Mapping[str, Seat]
    resigning: Seat | None = None
    """The player whose offer to resign has no answer yet."""
    resigned: Seat | None = None
    """The player who has resigned; the points come at the end."""
    problem: FormatError | None = None
    """The error that makes the rest of the game unreadable."""

    @classmethod
    def of(cls, cube: int, start: GameState, number: int, seats: Mapping[str, Seat]) -> Self:
        """Begin a game from a state of `beginning`, with this cube."""
        return cls(CheckedGame.of(number, evolve(start, cube=cube)), seats)

    def read(self, lines: Sequence[Line], stated: int | None) -> tuple[Game, FormatError | None]:
        """Return the game and the first error; `stated` is the points in the text."""
        for number, line in lines:
            seat, words = self.seats[line[0]], line[3:].strip()
            if _WINS.fullmatch(words):
                self.resigned = self.resigned or seat.other
                break
            self._read_line(seat, words, number)
        cube = self.checked.state.cube
        unwritten = len(lines) == 1  # of such a game who won is all that is known
        if self.problem or (unwritten and self.resigned is not None):
            game = self.checked.finished()
            winner = None if self.resigned is None else self.resigned.other
            points = stated or cube
            result = None if winner is None else Result(winner, points, resigned_level(points, cube), Ending.RESIGNED)
            return evolve(game, result=result), self.problem
        if self.resigned is not None and not self.checked.over:
            level = next((level for level in Level if level == (stated or 0) / cube), Level.SINGLE)
            self.checked.resign(self.resigned, level, lines[-1][0])
        return self.checked.finished(), None

    def _read_line(self, seat: Seat, words: str, number: int) -> None:
        """Take a line; what cannot be read costs the rest of the game, but for who wins it."""
        if self.checked.over or self.resigned is not None or self.problem:
            return
        try:
            self._line(seat, words, number)
        except FormatError as error:
            self.checked.give_up(error)
            self.problem = error

    def _line(self, seat: Seat, words: str, number: int) -> None:
        offer, self.resigning = self.resigning, None
        if play := _PLAY.fullmatch(words):
            moves = read_moves(play[3], number)
            self.checked.throw(seat, (int(play[1]), int(play[2])), moves, number)
        elif rejected := _REJECTED_ROLL.fullmatch(words):
            self.checked.add(RejectedRoll(seat=seat, dice=(int(rejected[1]), int(rejected[2]))), number)
        elif words.startswith("wants to resign"):
            self.resigning = seat
        elif offer is seat.other and words in {"accepts", "rejects"}:
            self._answer(offer, words, number)
        elif words in CUBE_ACTIONS:
            self.checked.cube(seat, CUBE_ACTIONS[words], number)

    def _answer(self, offer: Seat, words: str, number: int) -> None:
        if words == "accepts":
            self.resigned = offer
        else:
            self.checked.resign(offer, Level.SINGLE, number, accepted=False)


def read_moves(text: str, line: int) -> list[tuple[int, int]]:
    """Return moves in the numbers of who makes them, whichever player's numbers the text uses. Raises FormatError."""
    if text.strip() in CANNOT_MOVE_TEXTS:
        return []
    paths: list[Points] = []
    for word in text.split()[:16]:
        found = _MOVE.fullmatch(word)
        if not found:
            raise expected("moves such as 13-8, bar-20 or 6-off", text, line)
        points = [None if point in {"bar", "off"} else int(point.rstrip("*")) for point in re.split("[-/]", found[1])]
        paths += [points] * int(found[2] or 1)
    mirrored = _goes_up(paths[0])
    return [move for path in paths for move in _single_moves(path, mirrored=mirrored)]


def _goes_up(points: Points) -> bool:
    """Whether the numbers are those of a player who goes up from 1 to 24."""
    source, target = points[0], points[-1]
    if source is None:
        return target is not None and target < BAR / 2
    return source > BAR / 2 if target is None else source < target


def _single_moves(points: Points, *, mirrored: bool) -> Iterator[tuple[int, int]]:
    source = BAR if points[0] is None else abs(BAR * mirrored - points[0])
    for point in points[1:]:
        target = OFF if point is None else abs(BAR * mirrored - point)
        yield source, target
        source = target
