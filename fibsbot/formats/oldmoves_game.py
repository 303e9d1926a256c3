"""The lines of one game in the text of `oldmoves`, read and written as the server writes them; see oldmoves.py.

X is seat A and moves up from 1 to 24, O down. One extension is our own: where the moves do not show how many points a
game counted, `X: wins` is followed by them, as in `X: wins 4 points`. Other programs read only as far as `wins`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Self, TypeAlias

from attrs import define, evolve

from fibs_protocol.words import Colour, FibsMove
from fibsbot.fibs_numbering import DIRECTIONS, to_fibs
from fibsbot.formats import FormatError, expected, single_line
from fibsbot.formats.checked_game import CheckedGame, resigned_level
from fibsbot.formats.match_laws import USUAL, name_of_setup, reading_laws, scores_before, unusual_setup, with_setup
from fibsbot.match import CubeAction
from fibsbot.position import BAR, OFF, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, RejectedRoll, Resign, Throw, Transcript

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
CANNOT_MOVE_TEXT: Final = "can't move"
CANNOT_MOVE_TEXTS: Final = (CANNOT_MOVE_TEXT, "cannot move", "")
STARTING_CUBES: Final = (1, 2, 4, 8, 16, 32, 64)
"""The cube at the start of a game, after automatic doubles."""

COLOURS: Final = {Seat.A: Colour.X, Seat.B: Colour.O}
CUBE_WORDS: Final = {
    CubeAction.DOUBLE: "doubles",
    CubeAction.BEAVER: "doubles",  # the server says `redoubles`, which GNU Backgammon does not know
    CubeAction.TAKE: "accepts",
    CubeAction.PASS: "rejects",
}
NAMELESS: Final = "?"

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

    @classmethod
    def of(cls, cube: int, start: GameState, number: int, seats: Mapping[str, Seat]) -> Self:
        """Begin a game from a state of `beginning`, with this cube."""
        return cls(CheckedGame(number, evolve(start, cube=cube)), seats)

    def read(self, lines: Sequence[Line], stated: int | None) -> tuple[Game, FormatError | None]:
        """Return the game and the first error; `stated` is the points in the text."""
        for number, line in lines:
            seat, words = self.seats[line[0]], line[3:].strip()
            if _WINS.fullmatch(words):
                self.resigned = self.resigned or seat.other
                break
            if not (self.checked.over or self.resigned is not None or self.checked.problem):
                self._read_line(seat, words, number)
        checked = self.checked
        cube = checked.state.cube
        unwritten = len(lines) == 1  # of such a game who won is all that is known
        if self.resigned is not None and (checked.problem or unwritten):
            winner, points = self.resigned.other, stated or cube
            result = Result(winner, points, resigned_level(points, cube), Ending.RESIGNED)
            return evolve(checked.finished(), result=result), checked.problem
        if self.resigned is not None and not checked.over:
            level = next((level for level in Level if level == (stated or 0) / cube), Level.SINGLE)
            checked.line = lines[-1][0]
            checked.resign(self.resigned, level)
        return checked.finished(), checked.problem

    def _read_line(self, seat: Seat, words: str, number: int) -> None:
        """Take a line; what cannot be read costs the rest of the game, but for who wins it."""
        self.checked.line = number
        try:
            self._line(seat, words, number)
        except FormatError as error:
            self.checked.give_up(error)

    def _line(self, seat: Seat, words: str, number: int) -> None:
        offer, self.resigning = self.resigning, None
        if play := _PLAY.fullmatch(words):
            moves = read_moves(play[3], number)
            self.checked.throw(seat, (int(play[1]), int(play[2])), moves)
        elif rejected := _REJECTED_ROLL.fullmatch(words):
            self.checked.add(RejectedRoll(seat=seat, dice=(int(rejected[1]), int(rejected[2]))))
        elif words.startswith("wants to resign"):
            self.resigning = seat
        elif offer is seat.other and words in {"accepts", "rejects"}:
            if words == "accepts":
                self.resigned = offer
            else:
                self.checked.resign(offer, Level.SINGLE, accepted=False)
        elif words in CUBE_ACTIONS:
            self.checked.cube(seat, CUBE_ACTIONS[words])


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


def write_game(transcript: Transcript, game: Game) -> list[str]:
    """Return the lines of a game, up to the first thing that the text cannot say."""
    x, o = (single_line(player.name, NAMELESS) for player in transcript.players)
    a, b = scores_before(game)
    match = f"a {transcript.length} point match" if transcript.length else "an unlimited match"
    lines = [f"Score is {a}-{b} in {match}.", f"{x} is X - {o} is O", ""]
    moves = list(_move_lines(game))
    return lines + moves + list(_win_line(game, transcript.length, moves))


def _move_lines(game: Game) -> Iterator[str]:
    setup = unusual_setup(game.start)
    if game.start.stage is not Stage.OPENING or (setup and not name_of_setup(setup)):
        return
    for entry in game.entries:
        if isinstance(entry, Gap):
            return
        yield from _write_entry(entry)


def _write_entry(entry: Entry) -> Iterator[str]:
    match entry:
        case Throw(seat=seat, dice=dice, play=play) if play is not None:
            direction = DIRECTIONS[COLOURS[seat]]
            moves = " ".join(_point_to_point(to_fibs(move, direction)) for move in play.ordered)
            yield f"{COLOURS[seat].name}: ({dice[0]} {dice[1]}) {moves or CANNOT_MOVE_TEXT}"
        case RejectedRoll(seat=seat, dice=dice):
            yield f"{COLOURS[seat].name}: rejects {dice[0]}-{dice[1]}"
        case Cube(seat=seat, action=action):
            yield f"{COLOURS[seat].name}: {CUBE_WORDS[action]}"
        case Resign(seat=seat, accepted=True):
            yield f"{COLOURS[seat].name}: wants to resign"


def _point_to_point(move: FibsMove) -> str:
    source = "bar" if move.source is None else move.source
    return f"{source}-{'off' if move.target is None else move.target}"


def _win_line(game: Game, length: int, moves: list[str]) -> Iterator[str]:
    """Yield the winner; the points only if the moves, read again, would give others."""
    result = game.result
    if result is None or not game.whole:
        return
    wins = f"{COLOURS[result.winner].name}: wins"
    try:
        again = game_of_lines([(1, line) for line in (*moves, wins)], length, unusual_setup(game.start) or USUAL)
    except FormatError:  # a match by laws that the server has not
        again = None
    stated = again.result.points if again and again.result else None
    yield wins if stated == result.points else f"{wins} {result.points} point{'' if result.points == 1 else 's'}"
