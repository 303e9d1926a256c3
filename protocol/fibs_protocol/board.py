"""BoardState: the 53 tokens of a `board:` line, read and written (docs/reference/protocol.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, TypeAlias

from fibs_protocol.errors import BoardError, LocalProtocolError
from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.words import Colour, Dice, FibsMove

CHECKERS: Final = 15
"""Number of checkers of each side on the points, on the bar and borne off."""
TOKENS: Final = 53
CELLS: Final = 26
"""Number of cells in `points`."""
_BAR: Final = 25
"""The bar in the player's own numbering."""
LAST_TOKENS: Final = 21
"""Number of tokens after the cells."""
CUBE_FACTORS: Final = (1, 3, 5)
"""A cube is a power of two, or 3 or 5 times one where ties in the opening roll add one to it (up to 6)."""
PREFIX: Final = "board:"
CACHED_ROWS: Final = 32
"""Number of cached beginnings of boards."""
_FIRST: Final = ("player", "opponent", "length", "score", "opponent_score", "points")
_OTHERS: Final = (
    *("direction", "home", "bar", "off", "opponent_off", "on_bar", "opponent_on_bar"),
    *("can_move", "forced_move", "post_crawford", "redoubles"),
)
"""The last fields, whose tokens are their values."""
_TURNS: Final = {0: None, -1: Colour.X, 1: Colour.O}
_COLOURS: Final = tuple(Colour)  # an enumeration's hash takes longer

_NAME: Final = re.compile(r"[!-9;-~]{1,64}")
_NUMBER: Final = re.compile(r" *-?[0-9]{1,4} *", re.ASCII)


class _Numbers(dict[str, int]):
    """A cache of tokens and their numbers, because a board has 50 of them."""

    def __missing__(self, token: str) -> int:
        if not _NUMBER.fullmatch(token):
            raise BoardError("expected whole numbers of at most four digits after the names")
        return int(token)


_NUMBERS: Final = _Numbers({str(number): number for number in range(-CHECKERS, 26)})
_number: Final = _NUMBERS.__getitem__

_Counts: TypeAlias = tuple[int, int, int, int]
"""The checkers of O borne off and on the bar, and those of X."""


@lru_cache(8 * CACHED_ROWS)
def _name(token: str) -> str:
    name = token.strip()
    if not _NAME.fullmatch(name):
        raise BoardError("expected two names")
    return name


def _beginning(tokens: list[str]) -> tuple[dict[str, Any], _Counts | None]:
    """Read the tokens up to the cells; return their fields, and the counts of checkers that the others have to show.

    There are no counts if the length or a score cannot be.
    """
    points = tuple(map(_number, tokens[6:]))
    scores = _number(tokens[3]), _number(tokens[4]), _number(tokens[5])
    fields: dict[str, Any] = {
        "length": scores[0],
        "score": scores[1],
        "opponent_score": scores[2],
        "player": _name(tokens[1]),
        "opponent": _name(tokens[2]),
        "points": points,
    }
    return fields, _counts_by_cells(points) if scores[0] > 0 <= scores[1] and scores[2] >= 0 else None


_latest: Final[list[tuple[str, dict[str, Any], _Counts | None]]] = [("\n", {}, None)]
"""The beginning of the last board, up to the colon after its cells, and what it says: the next board often has it."""


@lru_cache(8 * CACHED_ROWS)
def _ending(tokens: str) -> tuple[dict[str, Any], _Counts | None]:
    """Read the tokens after the cells, which repeat often: their fields, and the counts of checkers that they show.

    There are no counts if one is negative, or another token cannot be. The fields begin with those of the other tokens,
    without values: a copy is filled without growing.
    """
    if tokens.count(":") != LAST_TOKENS - 1:
        raise BoardError(f"expected {TOKENS} tokens, got {TOKENS - LAST_TOKENS + 1 + tokens.count(':')}")
    numbers = map(_number, tokens.split(":"))
    turn, a, b, c, d, cube, may_double, opponent_may_double, was_doubled, colour, *others = numbers
    if turn not in _TURNS:
        raise BoardError(f"expected the turn -1, 0 or 1, got {turn}")
    if colour not in _TURNS or not colour:
        raise BoardError(f"expected the colour -1 or 1, got {colour}")
    fields: dict[str, Any] = {
        **dict.fromkeys(_FIRST),
        "turn": _TURNS[turn],
        "dice": (a, b),
        "opponent_dice": (c, d),
        "cube": cube,
        "may_double": may_double != 0,
        "opponent_may_double": opponent_may_double != 0,
        "was_doubled": was_doubled != 0,
        "colour": _TURNS[colour],
    }
    fields |= zip(_OTHERS, others, strict=True)
    own, other = (fields["off"], fields["on_bar"]), (fields["opponent_off"], fields["opponent_on_bar"])
    counts = (*own, *other) if colour > 0 else (*other, *own)
    flaw = min(counts) < 0 or _flaw_beside((a, b), (c, d), cube, fields["direction"])
    return fields, None if flaw else counts


def fibs_moves(steps: Iterable[tuple[int, int]], direction: int) -> tuple[FibsMove, ...]:
    """Return a play as the `move` command wants it: bar first, checkers borne off last and from the highest.

    Any legal order of a play stays legal when it is sorted so (docs/reference/protocol.md, pitfall 22).

    Args:
        steps: Steps of single checkers, as the points left and reached in the player's own numbering, in which the
            player moves from 24 to 1; 25 is the bar, 0 off the board.
        direction: -1 or 1, as the field of `BoardState`.
    """
    entering: list[tuple[int, int]] = []
    others: list[tuple[int, int]] = []
    leaving: list[tuple[int, int]] = []
    for step in steps:
        (entering if step[0] == _BAR else leaving if step[1] == 0 else others).append(step)
    leaving.sort(reverse=True)
    ordered = entering + others + leaving
    if direction > 0:
        ordered = [(_BAR - source, _BAR - target) for source, target in ordered]
    bar, off = (_BAR, 0) if direction < 0 else (0, _BAR)
    return tuple([FibsMove(None if a == bar else a, None if b == off else b) for a, b in ordered])


@frozen
class BoardState:
    """A `board:` line. The fields have the order of its tokens and the names of the specification."""

    player: str
    """YOU in our own game, otherwise the name of the player we watch."""
    opponent: str
    length: int
    """Match length; UNLIMITED is 9999."""
    score: int
    opponent_score: int
    points: tuple[int, ...]
    """26 cells: 0 is X's bar, 1 to 24 the points, 25 O's bar; O's checkers are positive, X's negative."""
    turn: Colour | None
    """None after the end of a game and between two games. Unreliable while a double is pending."""
    dice: Dice
    """The player's dice; (0, 0) when there are none."""
    opponent_dice: Dice
    cube: int
    may_double: bool
    """True even in the Crawford game and when the cube is dead: see docs/reference/protocol.md, pitfall 13."""
    opponent_may_double: bool
    was_doubled: bool
    """True only on a board that was requested while the opponent's double is pending."""
    colour: Colour
    """The player's colour."""
    direction: int
    """-1 when the player moves from 24 to 1, 1 when from 1 to 24."""
    home: int
    bar: int
    off: int
    """The player's checkers borne off."""
    opponent_off: int
    on_bar: int
    """The player's checkers on the bar."""
    opponent_on_bar: int
    can_move: int
    """Outdated except directly after the player's own roll."""
    forced_move: int
    """Unreliable."""
    post_crawford: int
    """1 after the Crawford game was played ("did Crawford")."""
    redoubles: int
    """Instant redoubles allowed in unlimited matches."""

    @property
    def own_cells(self) -> tuple[int, ...]:
        """The cells as the player numbers them, who moves from 24 to 1: own checkers positive, 25 is the own bar."""
        cells = self.points if self.direction < 0 else self.points[::-1]
        return cells if self.colour > 0 else tuple(-count for count in cells)

    @property
    def double_pending(self) -> bool:
        """Whether the opponent's double waits for the player's answer, as far as a board shows it.

        `was_doubled` alone is not enough: there are servers that leave it set for the rest of the game. While a double
        is pending, the dice have not been rolled and neither player may double.
        """
        if not self.was_doubled or self.may_double or self.opponent_may_double:
            return False
        return self.dice == (0, 0) == self.opponent_dice

    @classmethod
    def from_line(cls, text: str) -> BoardState:
        """Read a `board:` line and check that it is consistent.

        Checked: the count of tokens, the ranges, both bars against cells 0 and 25, and 15 checkers a side.
        Not checked: the flags that servers do not update (may double, was doubled, can move, forced
        move) and the obsolete home and bar.

        Raises:
            BoardError: with the reason.
        """
        state, flaw = cls.read(text)
        if flaw is not None:
            raise BoardError(flaw)
        return state

    @classmethod
    def read(cls, text: str) -> tuple[BoardState, str | None]:
        """Read a `board:` line; return also its contradiction if there is one, and only one way to correct it.

        Raises:
            BoardError: with the reason, if the tokens are not those of a board, or contradict each other otherwise.
        """
        if not text.startswith(PREFIX):
            raise BoardError("not a board line")
        first, fields, counts = _latest[0]
        if not text.startswith(first):
            *tokens, ending = text.split(":", TOKENS - LAST_TOKENS)
            if len(tokens) < TOKENS - LAST_TOKENS:
                raise BoardError(f"expected {TOKENS} tokens, got {len(tokens) + 1}")
            first = text[: len(text) - len(ending)]
            fields, counts = _beginning(tokens)
            _latest[0] = first, fields, counts
        others, shown = _ending(text[len(first) :])
        values = others.copy()
        values.update(fields)
        state = cls._of_fields(values)
        if counts == shown is not None:
            return state, None
        if counts and shown and counts[1::2] == shown[1::2]:
            raise BoardError(_flaw_of_counts(counts, shown))
        flaw, repaired = state.flaw(), state.repaired()
        if repaired is None:
            raise BoardError(flaw)
        return repaired, flaw

    @classmethod
    def _of_fields(cls, fields: dict[str, Any]) -> BoardState:
        """Build a board in half the time that the constructor of a frozen class takes."""
        state = object.__new__(cls)
        object.__setattr__(state, "__dict__", fields)
        return state

    def to_line(self) -> str:
        """Write the `board:` line.

        Raises:
            LocalProtocolError: if the fields do not make a board that could be read back.
        """
        try:
            reason = self.flaw()
            tokens = [f"{number:d}" for number in self._numbers()]
            named = _NAME.fullmatch(self.player) and _NAME.fullmatch(self.opponent)
        except (AttributeError, TypeError, ValueError) as error:
            raise LocalProtocolError(f"expected what a board line can carry: {error}") from error
        if reason:
            raise LocalProtocolError(reason)
        if not named:
            raise LocalProtocolError("expected names without blanks and colons on a board")
        if not all(map(_NUMBER.fullmatch, tokens)):
            raise LocalProtocolError("expected numbers of at most four digits on a board")
        return f"{PREFIX}{self.player}:{self.opponent}:{':'.join(tokens)}"

    def _numbers(self) -> tuple[int, ...]:
        """Return the numbers after the names, in their order."""
        return (
            self.length,
            self.score,
            self.opponent_score,
            *self.points,
            self.turn or 0,
            *self.dice,
            *self.opponent_dice,
            self.cube,
            self.may_double,
            self.opponent_may_double,
            self.was_doubled,
            self.colour,
            self.direction,
            self.home,
            self.bar,
            self.off,
            self.opponent_off,
            self.on_bar,
            self.opponent_on_bar,
            self.can_move,
            self.forced_move,
            self.post_crawford,
            self.redoubles,
        )

    def flaw(self) -> str | None:
        """Return the first contradiction in this board, or None."""
        if len(self.points) != CELLS:
            return f"expected {CELLS} cells, got {len(self.points)}"
        if self.length < 1 or self.score < 0 or self.opponent_score < 0:
            return f"expected a length above 0 and scores, got {self.length}, {self.score}-{self.opponent_score}"
        if self.colour not in _COLOURS or self.turn not in _TURNS.values():
            return f"expected the turn of X, O or nobody and the colour X or O, got {self.turn!r} and {self.colour!r}"
        flaw = _flaw_beside(self.dice, self.opponent_dice, self.cube, self.direction)
        return flaw or _flaw_of_checkers(self.points, self._shown())

    def _shown(self) -> _Counts:
        """Return the counts of checkers beside the points."""
        own, other = (self.off, self.on_bar), (self.opponent_off, self.opponent_on_bar)
        return (*own, *other) if self.colour is Colour.O else (*other, *own)

    def repaired(self) -> BoardState | None:
        """Return the corrected board if the bars disagree and only the cells or only the counts can be right.

        JIBS writes X's bar with O's sign, or into O's cell, while the counts are right. None if neither or both make 15
        checkers a side.
        """
        x_cell, *between, o_cell = self.points
        o_off, o_bar, x_off, x_bar = shown = self._shown()
        if (o_cell, -x_cell) == (o_bar, x_bar):
            return None
        by_counts = (-x_bar, *between, o_bar)
        counts_are_right = _flaw_of_checkers(by_counts, shown) is None
        cells_are_right = _flaw_of_checkers(self.points, (o_off, o_cell, x_off, -x_cell)) is None
        if counts_are_right is cells_are_right:
            return None
        own, other = (o_cell, -x_cell) if self.colour is Colour.O else (-x_cell, o_cell)
        bars: dict[str, Any] = {"points": by_counts} if counts_are_right else {"on_bar": own, "opponent_on_bar": other}
        repaired = self._of_fields(vars(self) | bars)
        return repaired if repaired.flaw() is None else None


@lru_cache(8 * CACHED_ROWS)
def _flaw_beside(dice: Dice, opponent_dice: Dice, cube: int, direction: int) -> str | None:
    """Return the first contradiction between these tokens and the points, or None."""
    for pair in (dice, opponent_dice):
        first, second = pair
        if pair != (0, 0) and not (1 <= first <= 6 and 1 <= second <= 6):
            return f"expected two dice or none, got {first} and {second}"
    if cube < 1 or cube // (cube & -cube) not in CUBE_FACTORS:
        return f"expected a power of two on the cube, or 3 or 5 times one, got {cube}"
    if direction not in (-1, 1):
        return f"expected the direction -1 or 1, got {direction}"
    return None


def _counts_by_cells(points: tuple[int, ...]) -> _Counts:
    difference, checkers = sum(points), sum(map(abs, points))
    off = CHECKERS - (checkers + difference) // 2, CHECKERS - (checkers - difference) // 2
    return off[0], points[25], off[1], -points[0]


@lru_cache(CACHED_ROWS)
def _flaw_of_checkers(points: tuple[int, ...], shown: _Counts) -> str | None:
    """Return the first contradiction between the cells and the counts of checkers beside them."""
    return _flaw_of_counts(_counts_by_cells(points), shown)


def _flaw_of_counts(by_cells: _Counts, shown: _Counts) -> str | None:
    """Return the first contradiction between the counts that follow from the cells and those beside them."""
    o_off, o_bar, x_off, x_bar = shown
    if by_cells == shown and min(shown) >= 0:
        return None
    if (o_bar, x_bar) != by_cells[1::2]:
        return f"bars disagree: cells say O {by_cells[1]}, X {by_cells[3]}, the counts O {o_bar}, X {x_bar}"
    if min(shown) < 0:
        return "a bar or a count of checkers borne off is negative"
    o_total, x_total = o_off + CHECKERS - by_cells[0], x_off + CHECKERS - by_cells[2]
    return f"expected {CHECKERS} checkers a side, got O {o_total}, X {x_total}"
