"""GameState: one game in a match between two players, immutable. game.py has the actions that change it."""

from __future__ import annotations

import enum
from typing import Final

from attrs import frozen

from fibsbot.match import Dice
from fibsbot.position import Position
from fibsbot.rules.laws import Laws, Level


class Seat(enum.IntEnum):
    """The two players; the value is the index in pairs such as `scores`."""

    A = 0
    B = 1

    @property
    def other(self) -> Seat:
        """The opponent."""
        return _OTHERS[self]


_OTHERS: Final = (Seat.B, Seat.A)
"""The opponent of each seat."""


class Stage(enum.Enum):
    """The stages of a game. A resignation may wait for its answer in any of them but the last."""

    OPENING = "opening"
    """Each player rolls one die."""
    ROLL = "roll"
    """The player on turn doubles or rolls."""
    MOVE = "move"
    """The player on turn plays the dice."""
    DOUBLED = "doubled"
    """A double waits for its answer."""
    OVER = "over"


class Ending(enum.Enum):
    """How a game ended."""

    BORNE_OFF = "borne off"
    DROPPED = "dropped"
    RESIGNED = "resigned"


@frozen
class Result:
    """The result of a game."""

    winner: Seat
    points: int
    level: Level
    how: Ending


@frozen
class Resignation:
    """An offer to resign."""

    seat: Seat
    """The player who wants to resign."""
    level: Level
    points: int
    """The points that the opponent would win."""


@frozen(slots=False)
class GameState:
    """One game in a match."""

    laws: Laws
    length: int
    """Match length in points; 0 is unlimited."""
    scores: tuple[int, int]
    """Points of seat A and seat B, including this game once it is over."""
    crawford: bool
    """Whether this is the Crawford game."""
    post_crawford: bool
    """Whether the Crawford game has been played."""
    position: Position
    """The position as seen by the player on `turn`."""
    turn: Seat
    """The player on turn, also while the opponent has a double to answer; meaningless in OPENING."""
    stage: Stage
    dice: Dice | None = None
    """The dice in MOVE; after the opening roll the winner's own die comes first."""
    cube: int = 1
    """The current value of the cube."""
    owner: Seat | None = None
    """The owner of the cube; None while it is centred."""
    offered: int = 0
    """In DOUBLED, the value of the cube if the double is taken; else 0."""
    answering: Seat | None = None
    """In DOUBLED, the player who has to answer."""
    redoubles: int = 0
    """In DOUBLED, the number of instant redoubles so far in this exchange."""
    turns: int = 0
    """Number of turns completed in this game."""
    rejected: bool = False
    """Whether the first roll of this turn was rejected (`Laws.reject_first_throw`)."""
    resignation: Resignation | None = None
    """The offer that waits for an answer."""
    result: Result | None = None
    """The result in OVER."""

    def position_for(self, seat: Seat) -> Position:
        """Return the position seen by one of the players."""
        return self.position if seat is self.turn else self.position.swapped()
