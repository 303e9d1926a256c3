"""GameState: one game of any ruleset in a match, immutable. game.py has the actions that change it."""

from __future__ import annotations

import enum
from typing import Final

from attrs import frozen

from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON, Board, sides_of
from fibsbot.rules.errors import RollFirstError
from fibsbot.rules.laws import Laws, Level, point_game_score
from fibsbot.rules.ruleset import Part, Ruleset, Turn
from fibsbot.rules.sides import OFF, Sides


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


class Owner(enum.Enum):
    """Who may turn the cube."""

    CENTRED = 0
    PLAYER = 1
    OPPONENT = -1


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
    NAME = "name"
    """Games with such a law only: a player names a double or a point."""
    CONTEST = "contest"
    """Games with such a law only: both players roll for who names a point."""
    OVER = "over"


class Naming(enum.Enum):
    """What a player may have to name."""

    DOUBLE = "the double to play"
    POINT = "the point to open"


class Ending(enum.Enum):
    """How a game ended."""

    BORNE_OFF = "borne off"
    DROPPED = "dropped"
    RESIGNED = "resigned"
    OTHER = "otherwise"
    """By a law that only some games have."""


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


@frozen(slots=False, kw_only=True)
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
    board: Board
    """The checkers as seen by the player on `turn`: a `Position` in backgammon, else `Sides`."""
    turn: Seat
    """The player on turn, also while the opponent has a double to answer; meaningless in OPENING."""
    stage: Stage
    dice: tuple[int, ...] | None = None
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
    """The result in OVER; None if the game was drawn, which backgammon never is."""
    rules: Ruleset = BACKGAMMON
    todo: Turn = ()
    """In MOVE and NAME, what is left of a turn that may have several parts; in MOVE a part comes first.

    Empty in backgammon, whose turns are the dice."""
    naming: Naming | None = None
    """In NAME, what has to be named."""
    namer: Seat | None = None
    """In NAME, who names it."""
    passed: bool = False
    """Whether `todo` was left by the opponent; the player's own roll follows."""
    throws: int = 0
    """How often the player on turn has rolled in this turn; not counted in backgammon."""
    drawn: bool = False
    """In OVER, whether nobody has won."""
    reason: str = ""
    """In OVER, how a game that was played to its end ended; see `Outcome.reason`."""

    @property
    def position(self) -> Position:
        """The board of backgammon, seen by the player on `turn`. Raises TypeError in games that are not backgammon."""
        board = self.board
        if isinstance(board, Position):
            return board
        raise TypeError(f"expected a game of backgammon, got one of {self.rules.name}")

    @property
    def sides(self) -> Sides:
        """The board as two sides, that of the player on `turn` first."""
        return sides_of(self.board)

    def position_for(self, seat: Seat) -> Position:
        """Return the position seen by one of the players. Raises TypeError in games that are not backgammon."""
        return self.position if seat is self.turn else self.position.swapped()

    def sides_for(self, seat: Seat) -> Sides:
        """Return the board seen by one of the players."""
        return self.sides if seat is self.turn else self.sides.swapped()

    @property
    def part(self) -> Part:
        """The numbers to be played in MOVE. Raises RollFirstError in other stages."""
        if self.stage is Stage.MOVE and self.turn_left and isinstance(self.turn_left[0], Part):
            return self.turn_left[0]
        raise RollFirstError("the dice have to be rolled first")

    @property
    def turn_left(self) -> Turn:
        """What is left of the turn, in every game: `todo`, or the dice of backgammon."""
        if self.dice is not None and self.stage is Stage.MOVE and isinstance(self.board, Position):
            return _PARTS[self.dice]
        return self.todo

    @property
    def rolls_made(self) -> int:
        """How often the player on turn has rolled in this turn, in every game."""
        return int(self.stage is Stage.MOVE) if isinstance(self.board, Position) else self.throws

    @property
    def rolls_again(self) -> bool:
        """Whether the player on turn rolls again in this turn, when it is too late to double."""
        return self.rejected or (self.stage is Stage.ROLL and self.throws > 0)

    @property
    def decides(self) -> Seat | None:
        """Who has to act; None in OPENING, CONTEST and OVER."""
        if self.resignation:
            return self.resignation.seat.other
        match self.stage:
            case Stage.ROLL | Stage.MOVE:
                return self.turn
            case Stage.DOUBLED:
                return self.answering
            case Stage.NAME:
                return self.namer
        return None

    def owner_for(self, seat: Seat) -> Owner:
        """Return who owns the cube, seen by one of the players."""
        return Owner.CENTRED if self.owner is None else Owner.PLAYER if self.owner is seat else Owner.OPPONENT

    def score_by_checkers(self, winner: Seat) -> int | None:
        """Return what the winner scores for the loser's checkers, before the cube; None if the level counts.

        In the Point Game by where they are, in a game that counts checkers for each that is left.
        """
        if not (self.laws.point_game or self.rules.counts_checkers):
            return None
        loser = self.sides_for(winner.other).own
        return loser.checkers - loser.row[OFF] if self.rules.counts_checkers else point_game_score(loser.row)


_PARTS: Final[dict[tuple[int, ...], Turn]] = {
    (a, b): (Part((a, a, a, a) if a == b else (a, b)),) for a in range(1, 7) for b in range(1, 7)
}
"""What each roll of backgammon is to be played as."""
