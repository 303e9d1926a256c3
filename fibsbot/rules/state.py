"""GameState: one game in a match between two players, immutable. game.py has the actions that change it.

MatchGame is what every tables game has: score, turn, cube, resignation. GameState adds the board of backgammon.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from attrs import Attribute, frozen

from fibsbot.match import Dice, Owner
from fibsbot.position import Position
from fibsbot.rules.laws import Laws, Level, point_game_score


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
    NAME = "name"
    """Games with such a law only: a player names a double or a point."""
    CONTEST = "contest"
    """Games with such a law only: both players roll for who names a point."""
    OVER = "over"


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
class MatchGame:
    """One game in a match, without its board."""

    laws: Laws
    length: int
    """Match length in points; 0 is unlimited."""
    scores: tuple[int, int]
    """Points of seat A and seat B, including this game once it is over."""
    crawford: bool
    """Whether this is the Crawford game."""
    post_crawford: bool
    """Whether the Crawford game has been played."""
    turn: Seat
    """The player on turn, also while the opponent has a double to answer; meaningless in OPENING."""
    stage: Stage
    dice: tuple[int, ...] | None = None
    """The dice in MOVE."""
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

    @property
    def rolls_again(self) -> bool:
        """Whether the player on turn rolls again in this turn, when it is too late to double."""
        return self.rejected

    def owner_for(self, seat: Seat) -> Owner:
        """Return who owns the cube, seen by one of the players."""
        return Owner.CENTRED if self.owner is None else Owner.PLAYER if self.owner is seat else Owner.OPPONENT

    def score_by_checkers(self, winner: Seat) -> int | None:
        """Return what the winner scores for the loser's checkers, before the cube; None if the level counts."""
        return self.point_game_score(winner) if self.laws.point_game else None

    def point_game_score(self, winner: Seat) -> int:
        """Return what the winner scores in the Point Game for the checkers that the loser has left."""
        raise NotImplementedError  # each kind of state has its own


def _order_of_files(_: type, attributes: list[Attribute[Any]]) -> list[Attribute[Any]]:
    """Move the fields that backgammon adds to where transcripts in JSON and the store have always had them."""
    by_name = {attribute.name: attribute for attribute in attributes}
    added = {"turn": by_name.pop("position"), "cube": by_name.pop("dice")}
    return [it for name, attribute in by_name.items() for it in (added.get(name), attribute) if it]


@frozen(slots=False, kw_only=True, field_transformer=_order_of_files)
class GameState(MatchGame):
    """One game of backgammon in a match."""

    position: Position
    """The position as seen by the player on `turn`."""
    dice: Dice | None = None
    """The two dice in MOVE; after the opening roll the winner's own die comes first."""

    def position_for(self, seat: Seat) -> Position:
        """Return the position seen by one of the players."""
        return self.position if seat is self.turn else self.position.swapped()

    def point_game_score(self, winner: Seat) -> int:
        """Return what the winner scores in the Point Game for the checkers that the loser has left."""
        return point_game_score(self.position_for(winner))
