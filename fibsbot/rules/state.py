"""GameState: one game in a match between two seats, immutable. What changes it stands in game.py."""

from __future__ import annotations

import enum

from attrs import frozen

from fibsbot.match import Dice
from fibsbot.position import Position
from fibsbot.rules.laws import Laws, Level


class Seat(enum.IntEnum):
    """The two players; the value is the place in a row of two, such as `scores`."""

    A = 0
    B = 1

    @property
    def other(self) -> Seat:
        """The opponent."""
        return Seat.B if self is Seat.A else Seat.A


class Stage(enum.Enum):
    """Where the game stands. A resignation may wait for its answer in any of them but the last."""

    OPENING = "opening"
    """Each player throws one die."""
    ROLL = "roll"
    """The player on turn doubles or rolls."""
    MOVE = "move"
    """The dice lie on the board."""
    DOUBLED = "doubled"
    """Somebody has to answer a double."""
    OVER = "over"


class Ending(enum.Enum):
    """How a game ended."""

    BORNE_OFF = "borne off"
    DROPPED = "dropped"
    RESIGNED = "resigned"


@frozen
class Result:
    """How a game ended, and what it counted."""

    winner: Seat
    points: int
    level: Level
    how: Ending


@frozen
class Resignation:
    """An offer to resign."""

    seat: Seat
    """Who wants to resign."""
    level: Level
    points: int
    """What the opponent gets."""


@frozen(slots=False)
class GameState:
    """One game in a match."""

    laws: Laws
    length: int
    """Match length in points; 0 is unlimited."""
    scores: tuple[int, int]
    """Points of seat A and seat B; those of this game are in it once it is over."""
    crawford: bool
    """Whether this is the Crawford game."""
    post_crawford: bool
    """Whether the Crawford game has been played."""
    position: Position
    """Seen by the player on `turn`."""
    turn: Seat
    """Whose turn it is, also while the opponent has a double to answer; in OPENING it means nothing."""
    stage: Stage
    dice: Dice | None = None
    """In MOVE; after the opening throw the winner's own die comes first."""
    cube: int = 1
    """What the game is played for now."""
    owner: Seat | None = None
    """Who may turn the cube; None while it lies in the middle."""
    offered: int = 0
    """In DOUBLED, what the game will be played for if it is taken; else 0."""
    answering: Seat | None = None
    """In DOUBLED, who has to answer."""
    redoubles: int = 0
    """In DOUBLED, instant redoubles so far in this exchange."""
    turns: int = 0
    """Turns completed in this game."""
    rejected: bool = False
    """Whether the first throw of this turn was rejected (`Laws.reject_first_throw`)."""
    resignation: Resignation | None = None
    """The offer that waits for an answer."""
    result: Result | None = None
    """In OVER."""

    def position_for(self, seat: Seat) -> Position:
        """Return the position as one of the players sees it."""
        return self.position if seat is self.turn else self.position.swapped()
