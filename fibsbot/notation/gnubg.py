"""GNU Backgammon's Position ID (14 characters) and Match ID (12 characters).

The manual of GNU Backgammon describes both ("Technical notes"). What it leaves out was found by asking version 1.07:
the Position ID begins with the player who is not on roll, and the Match ID has one bit more than the manual says.
"""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from typing import Final, Self

from attrs import frozen

from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.notation.cubes import infer_post_crawford, log_of_cube
from fibsbot.notation.errors import expected
from fibsbot.position import Flaw, Position

REMEMBERED: Final = 8
"""Positions whose IDs are kept in mind: a player decides about doubling and about the play in the same one."""
POSITION_BITS: Final = 80
POSITION_LETTERS: Final = 14
"""How long a Position ID is."""
MATCH_BITS: Final = 72
PLAYING: Final = 1
"""Value of `MatchKey.game` while a game is being played; 0 none yet, 2 over, 3 resigned, 4 dropped."""
CENTRED: Final = 3
"""Value of `MatchKey.owner` for a cube in the middle."""


@lru_cache(REMEMBERED)
def position_id(position: Position) -> str:
    """Return the Position ID of a position seen by the player on roll.

    For the opponent, then for the player on roll: as many ones as there are checkers on each point from the ace point
    to the bar, as that side sees them, and a zero after each point. The first bit is the lowest of the first byte.
    """
    cells = position.points
    own = "0".join(["1" * n for n in cells[:0:-1]])
    opponent = "0".join(["1" * -n for n in cells[:25]])
    return _encode(int(f"{own}0{opponent}", 2), POSITION_BITS)


def parse_position_id(text: str) -> Position:
    """Read a Position ID; the position is seen by the player on roll. Raises NotationError."""
    bits = f"{_decode(text, POSITION_BITS, 'Position ID'):0{POSITION_BITS}b}"[::-1]
    counts = [len(ones) for ones in bits.split("0")[:50]]
    if len(counts) < 50:
        raise expected("a Position ID with 50 points", text)
    position = Position.from_sides(own=counts[25:], opponent=counts[:25])
    # Written again it differs if both sides stood on one point, or if ones followed the last point.
    if position.status() is not Flaw.VALID or position_id(position) != text:
        raise expected("a Position ID with at most 15 checkers a side, each point held by one side", text)
    return position


@frozen
class MatchKey:
    """The fields of a Match ID, in the order and with the names of the manual; the players have the numbers 0 and 1."""

    cube: int
    """Logarithm of the cube's value to the base 2."""
    owner: int
    """The number of the player who owns the cube, or CENTRED."""
    on_roll: int
    """Who is on roll, or has rolled; while a double is pending, who doubled."""
    crawford: int
    game: int
    turn: int
    """Who has to decide: differs from `on_roll` while a double or a resignation is pending."""
    doubled: int
    resigned: int
    """0 nobody resigns, else 1 to 3."""
    die1: int
    die2: int
    """The dice, the higher first; 0 when they have not been thrown."""
    length: int
    score0: int
    score1: int
    no_jacoby: int
    """The bit that the manual does not know: 0 where the Jacoby rule is in force."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a Match ID. Raises NotationError."""
        key = _decode(text, MATCH_BITS, "Match ID")
        fields = {}
        for name, width in _WIDTHS.items():
            fields[name] = key & ((1 << width) - 1)
            key >>= width
        return cls(**fields)

    def __str__(self) -> str:
        """Write the Match ID."""
        key = place = 0
        for name, width in _WIDTHS.items():
            key |= getattr(self, name) << place
            place += width
        return _encode(key, MATCH_BITS)


_WIDTHS: Final = {
    "cube": 4,
    "owner": 2,
    "on_roll": 1,
    "crawford": 1,
    "game": 3,
    "turn": 1,
    "doubled": 1,
    "resigned": 2,
    "die1": 3,
    "die2": 3,
    "length": 15,
    "score0": 15,
    "score1": 15,
    "no_jacoby": 1,
}
"""Each field of a Match ID with its number of bits, the lowest first."""


def format_gnubg_id(state: MatchState, player: int = 1) -> str:
    """Write a state as `PositionID:MatchID`; `player` is the number, 0 or 1, of the player who decides.

    Raises NotationError for a cube that is no power of two or a number that its bits cannot hold.
    """
    doubled = state.phase is Phase.DOUBLED
    on_roll = 1 - player if doubled else player
    die1, die2 = sorted(state.dice, reverse=True) if state.dice else (0, 0)
    owner = CENTRED if state.owner is Owner.CENTRED else player if state.owner is Owner.PLAYER else 1 - player
    score0, score1 = state.score if player == 0 else state.score[::-1]
    key = MatchKey(
        cube=log_of_cube(state.cube, 15),
        owner=owner,
        on_roll=on_roll,
        crawford=int(state.crawford),
        game=PLAYING,
        turn=player,
        doubled=int(doubled),
        resigned=state.resignation,
        die1=die1,
        die2=die2,
        length=state.length,
        score0=score0,
        score1=score1,
        no_jacoby=int(not state.jacoby),
    )
    if max(state.length, *state.score) >= 1 << 15:
        raise expected("length and scores below 32768", max(state.length, *state.score))
    position = state.position.swapped() if doubled else state.position
    return f"{position_id(position)}:{key}"


def parse_gnubg_id(text: str) -> MatchState:
    """Read `PositionID:MatchID`; the state is seen by the player who decides.

    The ID does not tell how many instant redoubles are allowed, so there are none. Raises NotationError.
    """
    first, _, second = text.strip().partition(":")
    position = parse_position_id(first)
    key = MatchKey.parse(second)
    if key.game != PLAYING:
        raise expected("a Match ID of a game that is being played (1)", key.game)
    player = key.turn
    if player != key.on_roll:
        position = position.swapped()
    score = (key.score0, key.score1) if player == 0 else (key.score1, key.score0)
    if key.length and max(score) >= key.length:
        raise expected(f"scores below the match length {key.length} in the Match ID", score)
    return MatchState(
        position=position,
        length=key.length,
        score=score,
        cube=1 << key.cube,
        owner=_owner(key.owner, player),
        crawford=bool(key.crawford),
        post_crawford=infer_post_crawford(key.length, score, crawford=bool(key.crawford)),
        phase=_phase(key),
        dice=_dice(key) if _phase(key) is Phase.MOVE else None,
        resignation=key.resigned,
        jacoby=not key.no_jacoby and not key.length,
    )


def _owner(number: int, player: int) -> Owner:
    if number == CENTRED:
        return Owner.CENTRED
    if number not in {0, 1}:
        raise expected("cube owner 0, 1 or 3 in the Match ID", number)
    return Owner.PLAYER if number == player else Owner.OPPONENT


def _phase(key: MatchKey) -> Phase:
    if key.resigned:
        return Phase.RESIGNED
    if key.doubled:
        return Phase.DOUBLED
    return Phase.MOVE if key.die1 else Phase.ROLL


def _dice(key: MatchKey) -> Dice:
    dice = (key.die1, key.die2)
    if not all(1 <= number <= 6 for number in dice):
        raise expected("two dice, each 1 to 6, in the Match ID", dice)
    return dice


def _encode(key: int, bits: int) -> str:
    return base64.b64encode(key.to_bytes(bits // 8, "little")).decode("ascii").rstrip("=")


def _decode(text: str, bits: int, name: str) -> int:
    """Return the number that an ID stands for, of which `text` has to be the only way to write it."""
    length = (bits + 5) // 6
    if len(text) != length:
        raise expected(f"a {name} of {length} characters", text)
    try:
        key = int.from_bytes(base64.b64decode(text + "=" * (-length % 4), validate=True), "little")
    except (binascii.Error, ValueError) as error:
        raise expected(f"a {name} of letters, digits, + and /", text) from error
    if _encode(key, bits) != text:
        raise expected(f"a {name} without stray bits at its end", text)
    return key
