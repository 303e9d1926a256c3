"""XGID, the position format of eXtreme Gammon: ten fields between colons.

X sits at the bottom of the diagram and has capital letters, O sits at the top; the board is always X's view.
"""

from __future__ import annotations

import re
from typing import Final, Self

from attrs import frozen

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation.cubes import infer_post_crawford, log_of_cube
from fibsbot.notation.errors import expected
from fibsbot.position import CHECKERS, Flaw, Position

PREFIX: Final = "XGID="
DOUBLED: Final = "D"
"""In the place of the dice: the player on turn has doubled."""
JACOBY: Final = 1
"""In `rules` of an unlimited match: the Jacoby rule is in force."""
BEAVER: Final = 2
"""In `rules` of an unlimited match: the one who is doubled may redouble at once."""
FIELDS: Final = (
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
MAX_CUBE: Final = 20
"""The greatest logarithm of a cube that we read; XG itself stops at 10."""


@frozen
class Xgid:
    """The ten fields of an XGID, in their order."""

    board: Position
    """Seen by X, whoever is on turn; the field's 26 letters stand in the order of `Position.points`."""
    cube: int
    """Logarithm of the cube's value to the base 2."""
    owner: int
    """Of the cube: 1 X, -1 O, 0 nobody."""
    turn: int
    """Who is on turn: 1 X, -1 O. Who has doubled is still on turn."""
    dice: str
    """Two digits, `00` before the throw, or DOUBLED."""
    score_x: int
    score_o: int
    rules: int
    """In a match, 1 for the Crawford game; in an unlimited one, the sum of JACOBY and BEAVER."""
    length: int
    """Match length; 0 is unlimited."""
    max_cube: int = 10
    """Logarithm of the cube's limit to the base 2."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an XGID, with or without its prefix. Raises NotationError.

        XG's letters for a pending beaver and raccoon (B, R) are refused: what the other fields mean then is not
        documented.
        """
        fields = text.strip().removeprefix(PREFIX).split(":")
        if len(fields) != len(FIELDS):
            raise expected(f"an XGID of {len(FIELDS)} fields between colons", text)
        cube, owner, turn, score_x, score_o, rules, length, max_cube = (
            _number(name, field, *limits)
            for name, field in zip(FIELDS, fields, strict=True)
            if (limits := _LIMITS.get(name))
        )
        dice = fields[4]
        if not turn:
            raise expected("turn 1 or -1 in field 4 of the XGID", turn)
        if not re.fullmatch(r"00|[1-6]{2}|D", dice):
            raise expected("dice 00, two digits from 1 to 6, or D in field 5 of the XGID", dice)
        if length and max(score_x, score_o) >= length:
            raise expected(f"scores below the match length {length} in fields 6 and 7 of the XGID", (score_x, score_o))
        return cls(_board(fields[0]), cube, owner, turn, dice, score_x, score_o, rules, length, max_cube)

    def __str__(self) -> str:
        """Write the XGID."""
        board = "".join([_LETTERS[n] for n in self.board.points])
        numbers = (self.score_x, self.score_o, self.rules, self.length, self.max_cube)
        return f"{PREFIX}{board}:{self.cube}:{self.owner}:{self.turn}:{self.dice}:{':'.join(map(str, numbers))}"

    @classmethod
    def of(cls, state: MatchState, side: int = 1) -> Self:
        """Return a state as an XGID; `side` is what the player who decides is in it: 1 X, -1 O.

        Raises NotationError when a resignation is pending or the cube is no power of two: no XGID can say that.
        """
        if state.phase is Phase.RESIGNED:
            raise expected("a roll, a play or a double to decide on for an XGID", state.phase.value)
        doubled = state.phase is Phase.DOUBLED
        money = state.jacoby * JACOBY + (state.redoubles > 0) * BEAVER
        player, opponent = state.score
        return cls(
            board=state.position if side == 1 else state.position.swapped(),
            cube=log_of_cube(state.cube, MAX_CUBE),
            owner=state.owner.value * side,
            turn=-side if doubled else side,
            dice=DOUBLED if doubled else "{}{}".format(*state.dice or (0, 0)),
            score_x=player if side == 1 else opponent,
            score_o=opponent if side == 1 else player,
            rules=int(state.crawford) if state.length else money,
            length=state.length,
        )

    @property
    def side(self) -> int:
        """Who has to decide: 1 X, -1 O."""
        return -self.turn if self.dice == DOUBLED else self.turn

    def state(self) -> MatchState:
        """Return the decision, seen by the player who has to make it.

        A match in which somebody is a point away outside the Crawford game is taken to be past it. BEAVER allows one
        instant redouble.
        """
        score = (self.score_x, self.score_o) if self.side == 1 else (self.score_o, self.score_x)
        crawford = bool(self.length) and bool(self.rules)
        money = 0 if self.length else self.rules
        thrown = self.dice not in {DOUBLED, "00"}
        return MatchState(
            position=self.board if self.side == 1 else self.board.swapped(),
            length=self.length,
            score=score,
            cube=1 << self.cube,
            owner=Owner(self.owner * self.side),
            crawford=crawford,
            post_crawford=infer_post_crawford(self.length, score, crawford=crawford),
            phase=Phase.DOUBLED if self.dice == DOUBLED else Phase.MOVE if thrown else Phase.ROLL,
            dice=(int(self.dice[0]), int(self.dice[1])) if thrown else None,
            jacoby=bool(money & JACOBY),
            redoubles=int(bool(money & BEAVER)),
        )


_LIMITS: Final = {
    "cube": (0, MAX_CUBE),
    "owner": (-1, 1),
    "turn": (-1, 1),
    "score of X": (0, 32767),
    "score of O": (0, 32767),
    "rules": (0, JACOBY + BEAVER),
    "length": (0, 32767),
    "maximum cube": (0, MAX_CUBE),
}
"""The least and the greatest value of each field that is a number."""


def _number(name: str, field: str, least: int, most: int) -> int:
    place = f"{name} from {least} to {most} in field {FIELDS.index(name) + 1} of the XGID"
    if not re.fullmatch(r"-?[0-9]{1,5}", field):
        raise expected(place, field)
    if not least <= int(field) <= most:
        raise expected(place, field)
    return int(field)


_LETTERS: Final = dict(zip(range(-CHECKERS, CHECKERS + 1), "onmlkjihgfedcba-ABCDEFGHIJKLMNO", strict=True))
"""What stands for so many checkers."""


def _board(letters: str) -> Position:
    if not re.fullmatch(r"[-a-oA-O]{26}", letters):
        raise expected("26 letters from A to O, a to o or - in field 1 of the XGID", letters)
    position = Position(tuple(_count(letter) for letter in letters))
    flaws = position.status()
    for flaw, what in _FLAWS.items():
        if flaw in flaws:
            raise expected(f"a possible board in field 1 of the XGID, not {what}", letters)
    return position


def _count(letter: str) -> int:
    if letter == "-":
        return 0
    return ord(letter) - ord("A") + 1 if letter.isupper() else ord("a") - ord(letter) - 1


_FLAWS: Final = {
    Flaw.BAR_SIGN: "a capital first or a small letter last (the bars)",
    Flaw.TOO_MANY_CHECKERS: "more than 15 checkers of X",
    Flaw.TOO_MANY_OPPONENT_CHECKERS: "more than 15 checkers of O",
    Flaw.BOTH_HAVE_WON: "an empty one",
}
