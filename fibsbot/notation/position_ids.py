"""GNU Backgammon's Position ID and Match ID.

The manual of GNU Backgammon describes them ("Technical notes"). What it leaves out was found by testing version 1.07:
the Position ID begins with the player who is not on roll, and the Match ID has one bit more than the manual says.
"""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from typing import Final, Self

from attrs import frozen

from fibsbot.match import ROLLS, Dice, MatchState, Owner, Phase
from fibsbot.position import Position


class NotationError(ValueError):
    """A text is not an ID, or a state cannot be written as one; the message is one line, `expected X, got Y`."""


def notation_error(what: str, got: object) -> NotationError:
    """Return the error for an invalid part of an ID."""
    return NotationError(f"expected {what}, got {got!r}")


def cube_logarithm(cube: int, most: int) -> int:
    """Return the logarithm to the base 2 of the cube's value; raise NotationError unless it is 0 to `most`."""
    if cube < 1 or cube & (cube - 1) or cube > 1 << most:
        raise notation_error(f"a cube that is a power of two up to {1 << most}", cube)
    return cube.bit_length() - 1


def infer_post_crawford(length: int, score: tuple[int, int], *, crawford: bool) -> bool:
    """Return whether the Crawford game has been played: a player is a point away, and this is not the Crawford game."""
    return length > 1 and length - 1 in score and not crawford


CACHED_IDS: Final = 8
"""Number of cached positions: a player decides about the double and about the play in the same one."""
CACHED_MATCH_IDS: Final = 128
"""Number of cached Match IDs: those of a game differ in the dice and the player alone, until somebody doubles."""
POSITION_BITS: Final = 80
POSITION_LETTERS: Final = 14
"""The length of a Position ID."""
MATCH_BITS: Final = 72
GAME_PLAYING: Final = 1
"""Value of `MatchKey.game` while a game is being played; 0 none yet, 2 over, 3 resigned, 4 dropped."""
CUBE_CENTRED: Final = 3
"""Value of `MatchKey.owner` for a cube in the middle."""


@lru_cache(CACHED_IDS)
def position_id(position: Position) -> str:
    """Return the Position ID of a position seen by the player on roll.

    For the opponent, then for the player on roll: as many ones as there are checkers on each point from the ace point
    to the bar, as that side sees them, and a zero after each point. The first bit is the lowest of the first byte.
    Raises NotationError for an impossible position.
    """
    check_position(position)
    cells = position.points
    own = "0".join(["1" * n for n in cells[:0:-1]])
    opponent = "0".join(["1" * -n for n in cells[:25]])
    return _encode(int(f"{own}0{opponent}", 2), POSITION_BITS)


def parse_position_id(text: str) -> Position:
    """Parse a Position ID; the position is seen by the player on roll. Raises NotationError."""
    bits = f"{_decode(text, POSITION_BITS, 'Position ID'):0{POSITION_BITS}b}"[::-1]
    counts = [len(ones) for ones in bits.split("0")[:50]]
    if len(counts) < 50:
        raise notation_error("a Position ID with 50 points", text)
    position = Position.from_sides(own=counts[25:], opponent=counts[:25])
    # The text differs if both sides have a point, or if ones follow the last point.
    if position.status() or position_id(position) != text:
        raise notation_error("a Position ID with at most 15 checkers a side, each point held by one side", text)
    return position


@frozen
class MatchKey:
    """The fields of a Match ID, in the order and with the names of the manual; the players have the numbers 0 and 1."""

    cube: int
    """Logarithm of the cube's value to the base 2."""
    owner: int
    """The number of the player who owns the cube, or CENTRED."""
    on_roll: int
    """The player who is on roll or has rolled; while a double is pending, the one who doubled."""
    crawford: int
    game: int
    turn: int
    """The player who has to decide: differs from `on_roll` while a double or a resignation is pending."""
    doubled: int
    resigned: int
    """The level of the resignation offered, 1 to 3; 0 if there is none."""
    die1: int
    die2: int
    """The dice, the higher first; 0 before the roll."""
    length: int
    score0: int
    score1: int
    no_jacoby: int
    """The bit that the manual does not mention: 0 if the Jacoby rule is in force."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a Match ID. Raises NotationError."""
        key = _decode(text, MATCH_BITS, "Match ID")
        fields = {}
        for name, width in _MATCH_KEY_WIDTHS.items():
            fields[name] = key & ((1 << width) - 1)
            key >>= width
        return cls(**fields)

    def __str__(self) -> str:
        """Write the Match ID."""
        key = place = 0
        for name, width in _MATCH_KEY_WIDTHS.items():
            value = getattr(self, name)
            if value >> width:
                raise notation_error(f"{name} from 0 to {(1 << width) - 1} in a Match ID", value)
            key |= value << place
            place += width
        return _encode(key, MATCH_BITS)


_MATCH_KEY_WIDTHS: Final = {
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


def check_numbers(side: int, sides: tuple[int, int], dice: Dice | None, length: int, score: tuple[int, int]) -> None:
    """Raise NotationError for numbers that an ID must not hold: it could not be read again, or as something else."""
    if side not in sides:
        raise notation_error(f"the player who decides as {sides[0]} or {sides[1]}", side)
    if dice and dice not in _DICE:
        raise notation_error("two dice, each 1 to 6", dice)
    if min(length, *score) < 0 or max(length, *score) >> 15:
        raise notation_error("length and scores from 0 to 32767", (length, *score))
    if 0 < length <= max(score):
        raise notation_error(f"scores below the match length {length}", score)


_DICE: Final = frozenset(ROLLS) | {(low, high) for high, low in ROLLS}


@lru_cache(CACHED_IDS)
def check_position(position: Position) -> None:
    """Raise NotationError for an impossible position."""
    try:
        position.check()
    except ValueError as error:
        raise NotationError(str(error)) from None


def format_gnubg_id(state: MatchState, player: int = 1) -> str:
    """Write a state as `PositionID:MatchID`; `player` is the number, 0 or 1, of the player who decides.

    Raises NotationError for a cube that is not a power of two, or what does not exist or fit, such as a die of 7.
    """
    doubled = state.phase is Phase.DOUBLED
    held = state.owner
    owner = 0 if held is Owner.CENTRED else 1 if held is Owner.PLAYER else -1  # quicker keys than members of an Enum
    cube = state.cube, owner, state.crawford, state.jacoby
    match_id = _match_id(player, doubled, state.dice, state.resignation, state.length, *state.score, *cube)
    position = state.position.swapped() if doubled else state.position
    return f"{position_id(position)}:{match_id}"


@lru_cache(CACHED_MATCH_IDS)
def _match_id(  # noqa: PLR0913, PLR0917 - the fields of MatchKey
    player: int,
    doubled: bool,  # noqa: FBT001 - a cache's keys
    dice: Dice | None,
    resignation: int,
    length: int,
    own_score: int,
    other_score: int,
    cube: int,
    owner: int,
    crawford: bool,  # noqa: FBT001
    jacoby: bool,  # noqa: FBT001
) -> str:
    """Return the Match ID of a player's decision; `owner` is 1 if that player has the cube, -1 if the other has it."""
    score = own_score, other_score
    check_numbers(player, (0, 1), dice, length, score)
    die1, die2 = sorted(dice, reverse=True) if dice else (0, 0)
    key = MatchKey(
        cube=cube_logarithm(cube, 15),
        owner=CUBE_CENTRED if not owner else player if owner > 0 else 1 - player,
        on_roll=1 - player if doubled else player,
        crawford=int(crawford),
        game=GAME_PLAYING,
        turn=player,
        doubled=int(doubled),
        resigned=resignation,
        die1=die1,
        die2=die2,
        length=length,
        score0=score[player],
        score1=score[1 - player],
        no_jacoby=int(not jacoby),
    )
    return str(key)


def parse_gnubg_id(text: str) -> MatchState:
    """Parse `PositionID:MatchID`; the state is seen by the player who decides.

    The ID does not contain the number of instant redoubles allowed, so there are none. Raises NotationError.
    """
    first, _, second = text.strip().partition(":")
    position = parse_position_id(first)
    key = MatchKey.parse(second)
    if key.game != GAME_PLAYING:
        raise notation_error("a Match ID of a game that is being played (1)", key.game)
    player = key.turn
    if player != key.on_roll:
        position = position.swapped()
    score = (key.score0, key.score1) if player == 0 else (key.score1, key.score0)
    if key.length and max(score) >= key.length:
        raise notation_error(f"scores below the match length {key.length} in the Match ID", score)
    return MatchState(
        board=position,
        length=key.length,
        score=score,
        cube=1 << key.cube,
        owner=_gnubg_owner(key.owner, player),
        crawford=bool(key.crawford),
        post_crawford=infer_post_crawford(key.length, score, crawford=bool(key.crawford)),
        phase=_gnubg_phase(key),
        dice=_gnubg_dice(key) if _gnubg_phase(key) is Phase.MOVE else None,
        resignation=key.resigned,
        jacoby=not key.no_jacoby and not key.length,
    )


def _gnubg_owner(number: int, player: int) -> Owner:
    if number == CUBE_CENTRED:
        return Owner.CENTRED
    if number not in {0, 1}:
        raise notation_error("cube owner 0, 1 or 3 in the Match ID", number)
    return Owner.PLAYER if number == player else Owner.OPPONENT


def _gnubg_phase(key: MatchKey) -> Phase:
    if key.resigned:
        return Phase.RESIGNED
    if key.doubled:
        return Phase.DOUBLED
    return Phase.MOVE if key.die1 else Phase.ROLL


def _gnubg_dice(key: MatchKey) -> Dice:
    dice = (key.die1, key.die2)
    if not all(1 <= number <= 6 for number in dice):
        raise notation_error("two dice, each 1 to 6, in the Match ID", dice)
    return dice


def _encode(key: int, bits: int) -> str:
    return base64.b64encode(key.to_bytes(bits // 8, "little")).decode("ascii").rstrip("=")


def _decode(text: str, bits: int, name: str) -> int:
    """Return the number that an ID encodes; `text` has to be its canonical form."""
    length = (bits + 5) // 6
    if len(text) != length:
        raise notation_error(f"a {name} of {length} characters", text)
    try:
        key = int.from_bytes(base64.b64decode(text + "=" * (-length % 4), validate=True), "little")
    except (binascii.Error, ValueError) as error:
        raise notation_error(f"a {name} of letters, digits, + and /", text) from error
    if _encode(key, bits) != text:
        raise notation_error(f"a {name} without stray bits at its end", text)
    return key
