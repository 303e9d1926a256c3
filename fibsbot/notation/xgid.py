"""XGID, the position ID of eXtreme Gammon.

It has ten fields between colons. X is at the bottom and has capital letters, and the board is always X's view.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Self

from attrs import frozen

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation.position_ids import (
    CACHED_IDS,
    check_numbers,
    check_position,
    cube_logarithm,
    infer_post_crawford,
    notation_error,
)
from fibsbot.position import CHECKERS, Flaw, Position

XGID_PREFIX: Final = "XGID="
XGID_DOUBLED: Final = "D"
"""Instead of dice: the player on turn has doubled."""
XGID_BEAVERED: Final = "B"
"""Instead of dice: the player on turn has doubled, and the other has redoubled at once."""
XGID_RACCOONED: Final = "R"
"""Instead of dice: that redouble was redoubled at once, too."""
_XGID_DOUBLES: Final = (XGID_DOUBLED, XGID_BEAVERED, XGID_RACCOONED)
"""By the number of instant redoubles; the cube of the XGID is that before the first double."""
XGID_JACOBY: Final = 1
"""In `rules` of an unlimited match: the Jacoby rule is in force."""
XGID_BEAVER: Final = 2
"""In `rules` of an unlimited match: the doubled player may redouble at once."""
XGID_FIELDS: Final = (
    "board",
    "cube",
    "owner",
    "turn",
    "dice",
    "score of X",
    "score of O",
    "rules",
    "length",
    "maximum cube",
)
XGID_USUAL_MAX_CUBE: Final = 10
"""The logarithm of the largest cube where nothing else is known: 1024, as XG writes it."""
XGID_MAX_CUBE: Final = 20
"""The greatest logarithm of a cube that is accepted; XG itself stops at 10."""


@frozen
class Xgid:
    """The ten fields of an XGID, in their order."""

    board: Position
    """Always seen by X; the 26 letters have the order of `Position.points`."""
    cube: int
    """Logarithm of the cube's value to the base 2."""
    owner: int
    """The owner of the cube: 1 for X, -1 for O, 0 for a centred cube."""
    turn: int
    """The player on turn: 1 for X, -1 for O. A player who has doubled is still on turn."""
    dice: str
    """Two digits, `00` before the roll, or DOUBLED."""
    score_x: int
    score_o: int
    rules: int
    """In a match, 1 for the Crawford game; in an unlimited one, the sum of JACOBY and BEAVER."""
    length: int
    """Match length; 0 is unlimited."""
    max_cube: int = XGID_USUAL_MAX_CUBE
    """Logarithm of the cube's limit to the base 2."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an XGID, with or without its prefix. Raises NotationError."""
        fields = re.sub(rf"^{XGID_PREFIX}", "", text.strip(), flags=re.IGNORECASE).split(":")
        if len(fields) != len(XGID_FIELDS):
            raise notation_error(f"an XGID of {len(XGID_FIELDS)} fields between colons", text)
        cube, owner, turn, score_x, score_o, rules, length, max_cube = (
            _xgid_number(name, field, *limits)
            for name, field in zip(XGID_FIELDS, fields, strict=True)
            if (limits := _XGID_LIMITS.get(name))
        )
        dice = fields[4]
        if not turn:
            raise notation_error("turn 1 or -1 in field 4 of the XGID", turn)
        if not re.fullmatch(r"00|[1-6]{2}|[DBR]", dice):
            raise notation_error("dice 00, two digits from 1 to 6, D, B or R in field 5 of the XGID", dice)
        if dice in _XGID_DOUBLES and cube + _XGID_DOUBLES.index(dice) + 1 > max(max_cube, 1):
            raise notation_error(f"no double beyond the maximum cube, 2^{max_cube}, in field 5 of the XGID", dice)
        if length and max(score_x, score_o) >= length:
            raise notation_error(
                f"scores below the match length {length} in fields 6 and 7 of the XGID", (score_x, score_o)
            )
        away = (length - score_x, length - score_o)
        if length and rules and (rules > 1 or (away[0] == 1) == (away[1] == 1)):
            raise notation_error(
                "0 in field 8 of the XGID, as this cannot be the Crawford game: it is one where one player, not both, "
                f"needs a single point, and they need {away[0]} and {away[1]}",
                rules,
            )
        return cls(parse_xgid_board(fields[0]), cube, owner, turn, dice, score_x, score_o, rules, length, max_cube)

    def __str__(self) -> str:
        """Write the XGID."""
        numbers = f"{self.score_x}:{self.score_o}:{self.rules}:{self.length}:{self.max_cube}"
        board = format_xgid_board(self.board)
        return f"{XGID_PREFIX}{board}:{self.cube}:{self.owner}:{self.turn}:{self.dice}:{numbers}"

    @classmethod
    def of(cls, state: MatchState, side: int = 1) -> Self:
        """Return a state as an XGID; `side` is the side of the player who decides: 1 for X, -1 for O.

        Raises NotationError if a resignation is pending or the cube is not a power of two, which an XGID cannot
        express, or for what does not exist, such as a die of 7 or a side of 16 checkers.
        """
        check_position(state.position)
        check_numbers(side, (1, -1), state.dice, state.length, state.score)
        if state.phase is Phase.RESIGNED:
            raise notation_error("a roll, a play or a double to decide on for an XGID", state.phase.value)
        doubled = state.phase is Phase.DOUBLED
        beavered = doubled and bool(state.redoubled) and state.cube > 1
        cube = cube_logarithm(state.cube, XGID_MAX_CUBE)
        money = state.jacoby * XGID_JACOBY + (state.redoubles > 0) * XGID_BEAVER
        return cls(
            board=state.position if side == 1 else state.position.swapped(),
            cube=cube - beavered,
            owner=state.owner.value * side,
            turn=-side if doubled and not beavered else side,
            dice=_XGID_DOUBLES[beavered] if doubled else "{}{}".format(*state.dice or (0, 0)),
            score_x=state.score[side < 0],
            score_o=state.score[side > 0],
            rules=int(state.crawford) if state.length else money,
            length=state.length,
            max_cube=cube if state.cubeless else _max_cube(cube, state.cube_limit),
        )

    @property
    def side(self) -> int:
        """The player who has to decide: 1 for X, -1 for O."""
        return -self.turn if self.dice in {XGID_DOUBLED, XGID_RACCOONED} else self.turn

    def state(self) -> MatchState:
        """Return the decision, seen by the player who has to make it.

        A match in which a player is one point away outside the Crawford game is taken to be post-Crawford. BEAVER
        allows one instant redouble, also of one. A maximum of 1 is a match without a cube, the usual one no limit.
        """
        score = (self.score_x, self.score_o) if self.side == 1 else (self.score_o, self.score_x)
        crawford = bool(self.length) and bool(self.rules)
        money = 0 if self.length else self.rules
        redoubled = _XGID_DOUBLES.index(self.dice) if self.dice in _XGID_DOUBLES else None
        rolled = redoubled is None and self.dice != "00"
        cube = self.cube + (redoubled or 0)
        limit = 1 << self.max_cube if self.max_cube < _max_cube(cube) else None
        return MatchState(
            board=self.board if self.side == 1 else self.board.swapped(),
            length=self.length,
            score=score,
            cube=1 << cube,
            owner=Owner(self.owner * self.side),
            crawford=crawford,
            post_crawford=infer_post_crawford(self.length, score, crawford=crawford),
            phase=Phase.MOVE if rolled else Phase.ROLL if redoubled is None else Phase.DOUBLED,
            dice=(int(self.dice[0]), int(self.dice[1])) if rolled else None,
            jacoby=bool(money & XGID_JACOBY),
            redoubles=int(
                bool(money & XGID_BEAVER)
                and redoubled != len(_XGID_DOUBLES) - 1
                and (limit is None or 4 << cube <= limit)
            ),
            redoubled=self.dice == XGID_BEAVERED if redoubled else None,
            cubeless=not self.max_cube,
            cube_limit=limit if self.max_cube else None,
        )


def _max_cube(cube: int, limit: int | None = None) -> int:
    """Return the logarithm of the maximum for a cube, itself a logarithm; without a limit the usual one or above it."""
    usual = min(max(XGID_USUAL_MAX_CUBE, cube + 1), XGID_MAX_CUBE)
    return min(limit.bit_length() - 1, usual) if limit else usual


_XGID_LIMITS: Final = {
    "cube": (0, XGID_MAX_CUBE),
    "owner": (-1, 1),
    "turn": (-1, 1),
    "score of X": (0, 32767),
    "score of O": (0, 32767),
    "rules": (0, XGID_JACOBY + XGID_BEAVER),
    "length": (0, 32767),
    "maximum cube": (0, XGID_MAX_CUBE),
}
"""The least and the greatest value of each field that is a number."""


def _xgid_number(name: str, field: str, least: int, most: int) -> int:
    place = f"{name} from {least} to {most} in field {XGID_FIELDS.index(name) + 1} of the XGID"
    if not (re.fullmatch(r"-?[0-9]{1,5}", field) and least <= int(field) <= most):
        raise notation_error(place, field)
    return int(field)


_XGID_LETTERS: Final = dict(zip(range(-CHECKERS, CHECKERS + 1), "onmlkjihgfedcba-ABCDEFGHIJKLMNO", strict=True))
"""The letters for numbers of checkers."""


@lru_cache(CACHED_IDS)
def format_xgid_board(position: Position) -> str:
    """Write the 26 letters of a position in an XGID."""
    return "".join(map(_XGID_LETTERS.__getitem__, position.points))


def parse_xgid_board(letters: str) -> Position:
    """Parse the 26 letters of a position in an XGID. Raises NotationError."""
    if not re.fullmatch(r"[-a-oA-O]{26}", letters):
        raise notation_error("26 letters from A to O, a to o or - in field 1 of the XGID", letters)
    position = Position(tuple(_xgid_count(letter) for letter in letters))
    flaws = position.status()
    for flaw, what in _XGID_FLAWS.items():
        if flaw in flaws:
            raise notation_error(f"a possible board in field 1 of the XGID, not {what}", letters)
    return position


def _xgid_count(letter: str) -> int:
    if letter == "-":
        return 0
    return ord(letter) - ord("A") + 1 if letter.isupper() else ord("a") - ord(letter) - 1


_XGID_FLAWS: Final = {
    Flaw.BAR_SIGN: "a capital first or a small letter last (the bars)",
    Flaw.TOO_MANY_CHECKERS: "more than 15 checkers of X",
    Flaw.TOO_MANY_OPPONENT_CHECKERS: "more than 15 checkers of O",
    Flaw.BOTH_HAVE_WON: "an empty one",
}
