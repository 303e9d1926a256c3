"""TableState: the tokens of a `table:` line, read and written (docs/reference/protocol.md, "The `table:` line").

FIBS plays backgammon only. The `table:` line is to any other tables game what the `board:` line is to backgammon.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from attrs import frozen

from fibs_protocol import lazy_attrs
from fibs_protocol.errors import BoardError, LocalProtocolError
from fibs_protocol.words import Colour, TableNaming

PREFIX: Final = "table:"
ROW: Final = 26
"""Number of counts in a row."""
TOKENS: Final = 87
_SIDE_TOKENS: Final = ROW + 6
_NONE: Final = "-"
"""A token without a value."""

_NAME: Final = re.compile(r"[!-9;-~]{1,64}")
_NUMBER: Final = re.compile(r"[0-9]{1,4}", re.ASCII)
_STAKE: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_GAME: Final = re.compile(r"[a-z0-9-]{1,32}(?:\+[a-z0-9-]{1,32}){0,8}", re.ASCII)
_DICE: Final = re.compile(r"[1-6]{1,4}", re.ASCII)
_TODO: Final = re.compile(r"[1-6]{1,4}<?=?\??\+?|roll|name_double", re.ASCII)
_MARK: Final = re.compile(r"[a-z_]{1,32}", re.ASCII)
_MOST_ITEMS: Final = 64
"""Number of items that a list in one token may have."""


class TableStage(enum.Enum):
    """The stages of a game."""

    OPENING = "opening"
    """The opening roll comes next."""
    ROLL = "roll"
    """The player on turn rolls or doubles."""
    MOVE = "move"
    """The player on turn plays the first part of `todo`."""
    DOUBLED = "doubled"
    """A double waits for its answer."""
    NAME = "name"
    """A double or a point has to be named."""
    CONTEST = "contest"
    """Both roll for who names a point."""
    OVER = "over"
    """The game is over."""


class TableCourse(enum.Enum):
    """How the courses of the two sides meet."""

    CONTRARY = "contrary"
    """In opposite directions; each ends where the other begins."""
    SAME = "same"
    """In the same direction from the same corner."""
    DIAGONAL = "diagonal"
    """In the same direction from opposite corners."""

    def facing(self, point: int) -> int:
        """Return the number that the other side has for a point, 1 to 24."""
        if self is TableCourse.CONTRARY:
            return 25 - point
        return point if self is TableCourse.SAME else (point + 11) % 24 + 1


class TablePlayer(enum.Enum):
    """One of the two players, as the line names them."""

    PLAYER = "player"
    OPPONENT = "opponent"


@lazy_attrs.frozen
class SideState:
    """The checkers of one side, and what has to be remembered about it."""

    row: tuple[int, ...]
    """26 counts in the side's own numbering: 0 off, 1 to 24 the points, 24 where its course begins, 25 hand and bar."""
    pinned: tuple[int, ...] = ()
    """The points on which the side's only checker lies under one of the opponent's."""
    hit: int = 0
    """How many of the checkers in hand were hit."""
    throws: int = 0
    """How often the side has rolled in this game, in games in which that matters; else 0."""
    marks: tuple[str, ...] = ()
    """Facts that only some games have, such as `released`."""
    head: int = 0
    """How many checkers may still leave the start in this turn, in games that limit it; else 0."""
    held: tuple[int, ...] = ()
    """The points of which one checker may not move on in this turn."""


@lazy_attrs.frozen
class TableState:
    """A `table:` line. The fields have the order of its tokens."""

    player: str
    """YOU in our own game, otherwise the name of the player we watch."""
    opponent: str
    game: str
    """The game's name, with options after colons: `plakoto:exception`. In the line a plus takes the colon's place."""
    course: TableCourse
    length: int
    """Match length; UNLIMITED is 9999."""
    score: int
    opponent_score: int
    colour: Colour
    """The player's colour in drawings and in the list of moves."""
    stage: TableStage
    turn: TablePlayer | None
    """The player on turn; None before the opening roll and after the end of a game."""
    decides: TablePlayer | None
    """The player who has to act; None if the server does, or both have to join the next game."""
    dice: tuple[int, ...]
    """The dice that were rolled in this turn; empty if there are none."""
    rolls: int
    """How often the player on turn has rolled in this turn."""
    todo: tuple[str, ...]
    """What is left of the turn, in this order.

    A part that is played together is its numbers, such as `4444`, with signs behind them: `<` they are played in this
    order, `=` by one checker, `?` they may be left, `+` the turn goes on even if they cannot all be played. `roll` is
    another roll, `name_double` a double to be named. In stage MOVE a part comes first, and `move` plays it.
    """
    passed: bool
    """Whether the opponent has left `todo`; the player's own roll follows."""
    naming: TableNaming | None
    """In stage NAME, what has to be named."""
    choices: tuple[int, ...]
    """In stage NAME, what may be named."""
    cube: int
    offered: int
    """In stage DOUBLED, the value of the cube if the double is taken; else 0."""
    resignation: int
    """The points that the player who decides would win by accepting the opponent's resignation; 0 without one."""
    may_double: bool
    """Whether the player may double before the next own roll, this turn or the next; not in the Crawford game."""
    opponent_may_double: bool
    side: SideState
    opponent_side: SideState
    """In the opponent's own numbering."""

    @classmethod
    def from_line(cls, text: str) -> TableState:
        """Read a `table:` line and check that it is consistent.

        Raises:
            BoardError: with the reason.
        """
        tokens = [token.strip() for token in text.split(":", TOKENS)]
        if tokens[0] != PREFIX[:-1]:
            raise BoardError("not a table line")
        if len(tokens) != TOKENS:
            raise BoardError(f"expected {TOKENS} tokens, got {text.count(':') + 1}")
        head, sides = tokens[1 : 1 + len(_HEAD)], tokens[1 + len(_HEAD) :]
        values = {name: form.read(token) for (name, form), token in zip(_HEAD.items(), head, strict=True)}
        side, opponent_side = _read_side(sides[:_SIDE_TOKENS]), _read_side(sides[_SIDE_TOKENS:])
        state = cls(side=side, opponent_side=opponent_side, **values)
        reason = state.flaw()
        if reason:
            raise BoardError(reason)
        return state

    def to_line(self) -> str:
        """Write the `table:` line.

        Raises:
            LocalProtocolError: if the fields do not make a line that could be read back.
        """
        try:
            tokens = [form.write(getattr(self, name)) for name, form in _HEAD.items()]
            tokens += [*_write_side(self.side), *_write_side(self.opponent_side)]
        except (BoardError, AttributeError, TypeError, ValueError) as error:
            raise LocalProtocolError(f"expected what a table line can carry: {error}") from error
        reason = self.flaw()
        if reason:
            raise LocalProtocolError(reason)
        return PREFIX + ":".join(tokens)

    def flaw(self) -> str | None:
        """Return the first contradiction, or None."""
        if self.length < 1:
            return f"expected a length above 0, got {self.length}"
        if self.cube < 1 or self.cube & (self.cube - 1):
            return f"expected a power of two on the cube, got {self.cube}"
        return _flaw_of_sides(self.side, self.opponent_side, self.course) or self._flaw_of_turn()

    def _flaw_of_turn(self) -> str | None:
        """Return the first contradiction between the stage and what belongs to it, or None."""
        stage = self.stage
        nobody = stage in {TableStage.OPENING, TableStage.OVER}
        waits = not nobody and stage is not TableStage.CONTEST
        part = bool(self.todo) and self.todo[0][0].isdigit()
        expected = (
            ("a player on turn", (self.turn is None) is nobody),
            ("a player who decides", (self.decides is not None) is (waits or bool(self.resignation))),
            ("no resignation", not self.resignation or stage is not TableStage.OVER),
            ("a part to be played", part is (stage is TableStage.MOVE)),
            ("nothing to be played", not self.todo or stage in {TableStage.MOVE, TableStage.NAME}),
            ("dice", bool(self.dice) or stage is not TableStage.MOVE),
            ("no dice", not self.dice or stage in {TableStage.MOVE, TableStage.NAME}),
            ("something to name", (self.naming is not None) is (stage is TableStage.NAME)),
            ("choices", bool(self.choices) is (stage is TableStage.NAME)),
            ("an offered cube", (self.offered == 2 * self.cube) is (stage is TableStage.DOUBLED)),
            ("no offered cube", not self.offered or stage is TableStage.DOUBLED),
        )
        return next((f"expected {what} in stage {stage.value}" for what, holds in expected if not holds), None)


def _flaw_of_sides(side: SideState, other: SideState, course: TableCourse) -> str | None:
    """Return the first contradiction between the two sides, or None."""
    if sum(side.row) != sum(other.row) or not sum(side.row):
        return f"expected equally many checkers a side, got {sum(side.row)} and {sum(other.row)}"
    for one, opposite in ((side, other), (other, side)):
        if one.hit > one.row[25]:
            return f"expected at most {one.row[25]} checkers that were hit, got {one.hit}"
        for point in one.pinned:
            if one.row[point] != 1 or not opposite.row[course.facing(point)]:
                return f"expected a pinned checker under another one on point {point}"
    for point in range(1, 25):
        facing = course.facing(point)
        if side.row[point] and other.row[facing] and point not in side.pinned and facing not in other.pinned:
            return f"expected checkers of one side on point {point}, got both"
        if point in side.pinned and facing in other.pinned:
            return f"expected one pinned checker on point {point}, got two"
    return None


# -- tokens ---------------------------------------------------------------------------------------------------------


@frozen
class _Form:
    """How one token is read and written; reading raises BoardError."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = str


def _checked(pattern: re.Pattern[str], what: str, token: str) -> str:
    if not pattern.fullmatch(token):
        raise BoardError(f"expected {what}, got {token[:32]!r}")
    return token


_SMALL: Final = tuple(map(str, range(100)))
"""Tokens of the numbers that nearly all counts are; they need no check."""
_SMALL_NUMBERS: Final = {token: number for number, token in enumerate(_SMALL)}


def _number(token: str) -> int:
    number = _SMALL_NUMBERS.get(token)
    if number is not None:
        return number
    return int(_checked(_NUMBER, "a whole number of at most four digits", token))


def _write_number(value: int) -> str:
    if 0 <= value < len(_SMALL):
        return _SMALL[value]
    return _checked(_NUMBER, "a whole number of at most four digits", f"{value:d}")


def _stake(token: str) -> int:
    return int(_checked(_STAKE, "a whole number", token))


T = TypeVar("T")


def _list(read: Callable[[str], T], token: str) -> tuple[T, ...]:
    if token == _NONE:
        return ()
    items = token.split(",")
    if len(items) > _MOST_ITEMS:
        raise BoardError(f"expected at most {_MOST_ITEMS} items, got {len(items)}")
    return tuple(map(read, items))


def _write_list(write: Callable[[T], str], items: tuple[T, ...]) -> str:
    if len(items) > _MOST_ITEMS:
        raise BoardError(f"expected at most {_MOST_ITEMS} items, got {len(items)}")
    return ",".join(map(write, items)) or _NONE


def _word_form(pattern: re.Pattern[str], what: str) -> _Form:
    check = partial(_checked, pattern, what)
    return _Form(check, check)


def _list_form(item: _Form) -> _Form:
    return _Form(partial(_list, item.read), partial(_write_list, item.write))


def _choice_form(values: dict[str, Any], what: str) -> _Form:
    tokens = {value: token for token, value in values.items()}

    def read(token: str) -> Any:
        if token not in values:
            raise BoardError(f"expected {what} of {', '.join(values)}, got {token[:32]!r}")
        return values[token]

    return _Form(read, tokens.__getitem__)


def _dice(token: str) -> tuple[int, ...]:
    return () if token == _NONE else tuple(map(int, _checked(_DICE, "dice", token)))


def _write_dice(dice: tuple[int, ...]) -> str:
    return _checked(_DICE, "dice", "".join(f"{die:d}" for die in dice)) if dice else _NONE


def _point(token: str) -> int:
    number = _number(token)
    if not 1 <= number <= 24:
        raise BoardError(f"expected points from 1 to 24, got {number}")
    return number


def _write_point(point: int) -> str:
    return _write_number(_point(f"{point:d}"))


def _game(token: str) -> str:
    return _checked(_GAME, "a game's name", token).replace("+", ":")


_PLAYERS: Final = {_NONE: None, **{player.value: player for player in TablePlayer}}
_NAMINGS: Final = {_NONE: None, **{naming.value: naming for naming in TableNaming}}
_COUNT: Final = _Form(_number, _write_number)
_CUBE: Final = _Form(_stake, "{:d}".format)
_POINTS: Final = _list_form(_Form(_point, _write_point))
_PLAYER: Final = _choice_form(_PLAYERS, "one")
_FLAG: Final = _choice_form({"0": False, "1": True}, "one")
_HEAD: Final = {
    "player": _word_form(_NAME, "a name"),
    "opponent": _word_form(_NAME, "a name"),
    "game": _Form(_game, lambda name: _checked(_GAME, "a game's name", name.replace(":", "+"))),
    "course": _choice_form({course.value: course for course in TableCourse}, "a course"),
    "length": _COUNT,
    "score": _COUNT,
    "opponent_score": _COUNT,
    "colour": _choice_form({colour.name: colour for colour in Colour}, "a colour"),
    "stage": _choice_form({stage.value: stage for stage in TableStage}, "a stage"),
    "turn": _PLAYER,
    "decides": _PLAYER,
    "dice": _Form(_dice, _write_dice),
    "rolls": _COUNT,
    "todo": _list_form(_word_form(_TODO, "a part of a turn")),
    "passed": _FLAG,
    "naming": _choice_form(_NAMINGS, "one"),
    "choices": _POINTS,
    "cube": _CUBE,
    "offered": _CUBE,
    "resignation": _CUBE,
    "may_double": _FLAG,
    "opponent_may_double": _FLAG,
}
"""The form of each token before those of the sides, by the name of its field."""
_FACTS: Final = {
    "pinned": _POINTS,
    "hit": _COUNT,
    "throws": _COUNT,
    "marks": _list_form(_word_form(_MARK, "a mark")),
    "head": _COUNT,
    "held": _POINTS,
}
"""The form of each token behind a row, by the name of its field."""


def _read_side(tokens: list[str]) -> SideState:
    row = tuple(map(_number, tokens[:ROW]))
    return SideState(row, *(form.read(token) for form, token in zip(_FACTS.values(), tokens[ROW:], strict=True)))


def _write_side(side: SideState) -> list[str]:
    if len(side.row) != ROW:
        raise BoardError(f"expected {ROW} counts, got {len(side.row)}")
    return [*map(_write_number, side.row), *(form.write(getattr(side, name)) for name, form in _FACTS.items())]
