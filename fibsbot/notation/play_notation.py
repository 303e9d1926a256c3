"""Plays as people write them: `24/18*/13 bar/22(2) 6/off`; and as in the server's `move` command, `13-7`.

A point where a checker stops is written between slashes, `*` marks a hit, `(2)` means that two checkers do the same.
Some games have `hand` for checkers that have not been on the board yet, `^` for a checker of the opponent that is
pinned, and moves around the world, as `2/24`. Points are those of the player on roll.

What differs by the kind of board is in `_PositionTurn` and `_SidesTurn`; on positions of backgammon all is faster.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise, permutations
from typing import Final, TypeAlias, overload

from attrs import frozen

from fibsbot.match import Dice, MatchState
from fibsbot.position import BAR, OFF, Move, Play, Position
from fibsbot.rules import general_plays, plays
from fibsbot.rules.backgammon import Board, sides_of
from fibsbot.rules.errors import (
    AmbiguousPlayError,
    AnyLaw,
    IllegalPlayError,
    InvalidPlayError,
    Law,
    NamedLaw,
    PlayError,
    RollFirstError,
)
from fibsbot.rules.ruleset import Numbers, Part, Ruleset
from fibsbot.rules.sides import HAND, START, Sides
from fibsbot.rules.state import GameState

CANNOT_MOVE: Final = "cannot move"
"""The text of the empty play."""
NO_MOVE: Final = "no move"
"""The text of the empty play where moves are possible, but not compulsory."""
NOTHING_TO_PIN: Final = NamedLaw("only a single checker of the opponent can be pinned")
IN_HAND: Final = 26
"""Where the path of a checker begins that has not been on the board yet, in games that tell the hand from the bar."""
Path: TypeAlias = tuple[int, ...]
"""The places that one checker touches, from its first to its last."""
PlayedOn: TypeAlias = GameState | MatchState | Position
"""What a play is made on: a game or a decision of any ruleset in which numbers are to be played, or a position of
backgammon."""
_EMPTY: Final = {CANNOT_MOVE, "can't move", NO_MOVE}
_NAMES: Final = ("off", *map(str, range(1, BAR)), "bar", "hand")
"""What each place is called."""
_PLACES: Final = {"bar": HAND, "b": HAND, "hand": HAND, "h": HAND, "off": OFF, "o": OFF}


@frozen(slots=False)
class Touches:
    """What a play does to the opponent's checkers, by point as the player on roll counts."""

    hits: frozenset[int]
    pins: frozenset[int] = frozenset()
    """Where a checker is pinned at the end of the play that was not pinned before."""


# -- writing --------------------------------------------------------------------------------------------------------


def format_play(play: Play, board: PlayedOn) -> str:
    """Write a legal play, so that `parse_play` reads it as the same.

    The moves of one checker are joined. An intermediate point is written if it hit there, or if the play could be
    misread without it; outside backgammon the moves are written one by one, in their order, if that decides. Only the
    first checker that comes to a blot is marked.

    Args:
        play: the play.
        board: a game or a decision of any ruleset, or a position. It is not checked whether the play is legal on a
            position, or in a decision of backgammon.

    Raises:
        PlayError: the game's rules forbid the play.
    """
    position = board.board if isinstance(board, MatchState) else board
    if isinstance(position, Position):
        return _write_on_position(play, position)
    return _turn(board).write(play)


def paths_of(play: Play, board: PlayedOn) -> list[Path]:
    """Return the path of each checker in a play that can be made: from the back, equal ones together.

    Intermediate points are only included if it hit there or, in backgammon, if the play could be misread without them.
    """
    return _turn(board).paths(play)


def touches_of(play: Play, board: PlayedOn) -> Touches:
    """Return what a play hits and pins that can be made in this order."""
    return _turn(board).touches(play)


def _join_moves(moves: Iterable[Move]) -> list[Path]:
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


def _write(paths: Iterable[Path], hits: Collection[int], pins: Collection[int] = ()) -> str:
    """Write paths, equal neighbours as one; a hit is marked where a checker comes first, a pin where one stays."""
    words = []
    marked: set[int] = set()
    for path, group in groupby(paths):
        names = [_NAMES[point] for point in path]
        if hits or pins:
            for index, point in enumerate(path[1:], 1):
                is_pinned = point in pins and point == path[-1]
                if (point in hits or is_pinned) and point not in marked:
                    names[index] += "*" if point in hits else "^"
                    marked.add(point)
        word = "/".join(names)
        times = len(list(group))
        words.append(f"{word}({times})" if times > 1 else word)
    return " ".join(words)


# -- reading --------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class _Notation:
    """What may be written in plays on one kind of board."""

    word: re.Pattern[str]
    expected: str
    expected_places: str


_BACKGAMMON: Final = _Notation(
    re.compile(r"(?P<path>(?:bar|b|\d{1,2})(?:[/-](?:off|o|\d{1,2})\*?)+)(?:\((?P<times>[1-4])\))?"),
    "expected moves such as 24/18*, bar/22(2) or 6/off",
    "expected points from 1 to 24, bar first or off last",
)
_ALL_GAMES: Final = _Notation(
    re.compile(r"(?P<path>(?:bar|b|hand|h|\d{1,2})(?:[/-](?:off|o|\d{1,2})[*^]?)+)(?:\((?P<times>[1-4])\))?"),
    "expected moves such as 24/18*, bar/22(2), hand/20 or 6/off",
    "expected points from 1 to 24, bar or hand first, off last",
)


@frozen(slots=False)
class _Word:
    """A written path, such as `24/18*/13(2)`."""

    text: str
    path: Path
    times: int
    hits: frozenset[int]
    """The points marked as hits."""
    pins: frozenset[int]
    goes_down: bool
    """Whether each point is lower than the one before."""


@overload
def parse_play(text: str, board: Position, dice: Dice, *, hits_are_marked: bool = ...) -> Play: ...
@overload
def parse_play(text: str, board: GameState | MatchState, *, hits_are_marked: bool = ...) -> Play: ...
def parse_play(text: str, board: PlayedOn, dice: Dice | None = None, *, hits_are_marked: bool = False) -> Play:
    """Parse a play and return it as single moves, in an order in which they can be made.

    Moves may be joined (`13/3` for 6-4); hits and pins need not be marked. Of two ways to bear a checker off, the one
    with fewer numbers is meant.

    Args:
        text: the play as people write it.
        board: a game or a decision of any ruleset, or a position of backgammon.
        dice: the roll to be played on a position; a game has its own.
        hits_are_marked: whether a checker with two ways to its point takes the one without a hit.

    Raises:
        InvalidPlayError: the text is not a play.
        IllegalPlayError: a law forbids it.
        AmbiguousPlayError: it can be read in ways with different results.
        DiceError: the dice are impossible.
        RollFirstError: no numbers are to be played.
    """
    turn = _turn(board, dice)
    if not turn.numbers:
        raise RollFirstError("the dice have to be rolled first")
    return _parse(text, turn, hits_are_marked=hits_are_marked)


def _parse(text: str, turn: _TurnToPlay, *, hits_are_marked: bool = False) -> Play:
    words = [] if " ".join(text.lower().split()) in _EMPTY else list(turn.read_words(text))
    paths = [word.path for word in words for _ in range(word.times)]
    readings: dict[Board, Play] = {}
    errors: list[IllegalPlayError] = []
    for moves in _readings(paths, turn.numbers):
        try:
            play, after = turn.make(Play(moves), words, text)
        except IllegalPlayError as error:
            errors.append(error)
        else:
            readings.setdefault(after, play)
    if len(readings) > 1:
        readings = _likeliest(readings, hits_are_marked=hits_are_marked)
    if len(readings) > 1:
        ways = " or ".join(" ".join(map(str, play.moves)) for play in readings.values())
        raise AmbiguousPlayError(f"{text.strip()} can be {ways}")
    if readings:
        return next(iter(readings.values()))
    raise _failure(text, paths, turn, errors)


def _parse_words(text: str, notation: _Notation) -> Iterator[_Word]:
    word = ""
    for word in text.lower().replace(",", " ").split():
        yield _parse_word(word, notation)
    if not word:
        raise InvalidPlayError(f"{notation.expected}, got nothing")


@lru_cache(2048)  # a file of matches has some hundred different words, each of them many times
def _parse_word(word: str, notation: _Notation) -> _Word:
    match = notation.word.fullmatch(word)
    if not match:
        raise InvalidPlayError(f"{notation.expected}, got {word!r}")
    names = re.split("[/-]", match["path"])
    path = tuple([int(_PLACES.get(name, name)) for name in [name.rstrip("*^") for name in names]])
    if not 0 < path[0] <= HAND or path[-1] >= HAND or not all(0 < point < HAND for point in path[1:-1]):
        raise InvalidPlayError(f"{notation.expected_places}, got {word!r}")
    return _Word(
        text=word,
        path=path,
        times=int(match["times"] or 1),
        hits=_marked(names, path, "*"),
        pins=_marked(names, path, "^"),
        goes_down=all(target < source for source, target in pairwise(path)),
    )


def _marked(names: Sequence[str], path: Path, sign: str) -> frozenset[int]:
    return frozenset(point for name, point in zip(names, path, strict=True) if name[-1] == sign)


@lru_cache(64)
def _orders(numbers: Numbers) -> tuple[Numbers, ...]:
    return tuple(dict.fromkeys(permutations(numbers)))


def _readings(paths: Sequence[Path], numbers: Numbers) -> Iterator[list[Move]]:
    """Yield every way to split paths into single moves by these numbers, each used once."""
    known = []
    for order in _orders(numbers):
        moves = _read(paths, order)
        if moves is not None and moves not in known:
            known.append(moves)
            yield moves


def _read(paths: Sequence[Path], numbers: Numbers) -> list[Move] | None:
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
    return moves


def _reached(point: int, number: int, target: int) -> int | None:
    """Return where a number brings a checker that is on its way to a point; None if that is not on its way."""
    left = point - number
    if target > point:  # around the world: the place after the 1-point counts as one
        return left if left > OFF else left + HAND if target <= left + HAND < HAND else None
    return left if left >= target and left > OFF else OFF if target == OFF else None


def _likeliest(readings: dict[Board, Play], *, hits_are_marked: bool) -> dict[Board, Play]:
    """Return the readings with the fewest moves: 2/off bears off by one number rather than by way of 1."""
    if hits_are_marked:
        hits = {after: sides_of(after).opponent.hit for after in readings}
        readings = {after: play for after, play in readings.items() if hits[after] == min(hits.values())}
    fewest = min(map(len, readings.values()))
    return {after: play for after, play in readings.items() if len(play) == fewest}


def _failure(
    text: str, paths: Sequence[Path], turn: _TurnToPlay, errors: Sequence[IllegalPlayError]
) -> IllegalPlayError:
    """Return the error of a text that cannot be read as a legal play."""
    law: AnyLaw = Law.NOT_ROLLED
    if any(target >= source for path in paths for source, target in pairwise(path)):
        law = Law.WRONG_DIRECTION
    elif sum(len(path) - 1 for path in paths) > len(turn.numbers):
        law = Law.TOO_MANY_MOVES
    about_the_board = [error for error in errors if error.law is not Law.NOT_ROLLED]
    if about_the_board or (errors and law is Law.NOT_ROLLED):
        return (about_the_board or errors)[0]
    return IllegalPlayError(law, f"{text.strip()} for {turn.rolled}: {law.value}")


# -- what differs by the kind of board ------------------------------------------------------------------------------


def _turn(board: PlayedOn, dice: Dice | None = None) -> _TurnToPlay:
    """Return what is to be played; on a position alone it is not known without dice."""
    if isinstance(board, MatchState) and isinstance(board.board, Position):
        dice, board = board.dice, board.board
    if isinstance(board, Position):
        if dice is None:
            return _PositionTurn(board)
        high, low = plays.check_dice(dice)
        return _PositionTurn(board, (high, low, high, low)[: 4 if high == low else 2])
    if isinstance(board.board, Position):
        return _PositionTurn(board.board, board.part.numbers)
    return _SidesTurn(board.rules, board.board, board.part)


@frozen(slots=False)
class _PositionTurn:
    """Numbers to be played in backgammon."""

    position: Position
    numbers: Numbers = ()
    """Two numbers, or four after a double; empty if they are not known."""

    @property
    def rolled(self) -> str:
        return "{}-{}".format(*self.numbers)

    def write(self, play: Play) -> str:
        made = plays.check_play(self.position, self.numbers[:2], play) if self.numbers else play
        return _write_on_position(made, self.position)

    def paths(self, play: Play) -> list[Path]:
        return _paths_on_position(play, self.position)

    def touches(self, play: Play) -> Touches:
        return Touches(frozenset(_hits_on_position(play, self.position)))

    def read_words(self, text: str) -> Iterator[_Word]:
        """Yield the words; raise IllegalPlayError also for one that no roll allows."""
        for word in _parse_words(text, _BACKGAMMON):
            if not word.goes_down:
                raise IllegalPlayError(Law.WRONG_DIRECTION, f"{word.text}: {Law.WRONG_DIRECTION.value}")
            if word.hits and any(self.position.points[point] != -1 for point in word.hits):
                raise IllegalPlayError(Law.NOTHING_TO_HIT, f"{word.text}: {Law.NOTHING_TO_HIT.value}")
            yield word

    def make(self, play: Play, _words: Iterable[_Word], _text: str) -> tuple[Play, Position]:
        after = plays.play_legally(self.position, self.numbers[:2], play)
        return Play(play.ordered), after


def _write_on_position(play: Play, position: Position) -> str:
    """Write a play of backgammon. This is done for each play of a game that is read, so it needs no other objects."""
    if not play.moves:
        return CANNOT_MOVE
    return _write(_paths_on_position(play, position), _hits_on_position(play, position))


def _paths_on_position(play: Play, position: Position) -> list[Path]:
    paths = _join_moves(play.ordered)
    for index, path in enumerate(paths):
        if len(path) > 2:
            paths[index] = _shortened(path, position.points)
    paths.sort(reverse=True)
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


def _hits_on_position(play: Play, position: Position) -> list[int]:
    cells, hits = position.points, []
    for move in play.moves:
        point = move.target
        if cells[point] == -1 and point != OFF:
            hits.append(point)
    return hits


@frozen(slots=False)
class _SidesTurn:
    """Numbers to be played in any other game."""

    rules: Ruleset
    sides: Sides
    part: Part

    @property
    def numbers(self) -> Numbers:
        return self.part.numbers

    @property
    def rolled(self) -> str:
        return "-".join(map(str, self.part.numbers))

    def write(self, play: Play) -> str:
        made, after = general_plays.check_play(self.rules, self.sides, self.part, play)
        if not made.moves:
            return NO_MOVE if general_plays.can_move(self.rules, self.sides, self.part) else CANNOT_MOVE
        touches = self.touches(made)
        whole = sorted(_join_moves(made.moves), reverse=True)
        for paths in (self._short_paths(made, touches), whole):
            text = _write(self._from_hand(paths), touches.hits, touches.pins)
            if self._is_read_as(text, after):
                return text
        one_by_one = self._from_hand([(move.source, move.target) for move in made.moves])
        return _write(one_by_one, touches.hits, touches.pins)

    def _is_read_as(self, text: str, after: Sides) -> bool:
        try:
            return self._after(_parse(text, self)) == after
        except PlayError:
            return False

    def _after(self, play: Play) -> Sides:
        return general_plays.check_play(self.rules, self.sides, self.part, play)[1]

    def paths(self, play: Play) -> list[Path]:
        return self._from_hand(self._short_paths(play, self.touches(play)))

    def _short_paths(self, play: Play, touches: Touches) -> list[Path]:
        paths = (
            (path[0], *(point for point in path[1:-1] if point in touches.hits), path[-1])
            for path in _join_moves(play.moves)
        )
        return sorted(paths, reverse=True)

    def _from_hand(self, paths: Iterable[Path]) -> list[Path]:
        """Let paths begin in the hand, but for those of checkers on the bar, which enter first."""
        on_bar = self.sides.own.row[HAND] - self.rules.in_hand(self.sides.own)
        named = []
        for path in paths:
            on_bar -= path[0] == HAND
            named.append((IN_HAND, *path[1:]) if path[0] == HAND and on_bar < 0 else path)
        return named

    def touches(self, play: Play) -> Touches:
        hits, board = set(), self.sides
        for move in play.moves:
            after = self._moved(board, move)
            if after.opponent.hit > board.opponent.hit:
                hits.add(move.target)
            board = after
        pinned, facing = board.opponent.pinned & ~self.sides.opponent.pinned, self.rules.course.facing
        pins = [point for point in range(1, START + 1) if pinned >> facing(point) & 1] if pinned else []
        return Touches(frozenset(hits), frozenset(pins))

    def _moved(self, board: Sides, move: Move) -> Sides:
        """Return the board after a move by whatever number."""
        numbers = sorted(range(1, 7), key=lambda number: number != move.pips)  # most often it is this one
        made = (general_plays.make_move(self.rules, board, move.source, number) for number in numbers)
        return next(after[1] for after in made if isinstance(after, tuple) and after[0] == move.target)

    def read_words(self, text: str) -> Iterator[_Word]:
        return _parse_words(text, _ALL_GAMES)

    def make(self, play: Play, words: Iterable[_Word], text: str) -> tuple[Play, Sides]:
        """Raise IllegalPlayError also for a mark where nothing is hit or pinned."""
        made, after = general_plays.check_play(self.rules, self.sides, self.part, play)
        touches = self.touches(made)
        marked: tuple[tuple[AnyLaw, bool], ...] = (
            (Law.NOTHING_TO_HIT, all(word.hits <= touches.hits for word in words)),
            (NOTHING_TO_PIN, all(word.pins <= touches.pins for word in words)),
        )
        for law, is_true in marked:
            if not is_true:
                raise IllegalPlayError(law, f"{text.strip()}: {law.value}")
        return made, after


_TurnToPlay: TypeAlias = _PositionTurn | _SidesTurn
