"""Tables games other than backgammon: invitations, turns, ends, lists, refusals (docs/reference/protocol.md).

No server but ours sends these. What is the same in backgammon, such as a roll of two dice, has the same message.
"""

from __future__ import annotations

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message, Refusal
from fibs_protocol.table_state import TableState
from fibs_protocol.words import Colour, Dice, FibsMove, TableNaming

# -- invitations and the start of a match -----------------------------------------------------------------------------


@frozen
class GameInvitation(Message):
    """`X wants to play a 3 point match of Plakoto with you.`"""

    name: str
    length: int
    game: str
    """The game's name, with options after colons, here and below: `plakoto:exception` is `Plakoto (exception)`."""


@frozen
class GameResumeInvitation(Message):
    """`X wants to resume a saved match of Plakoto with you.`"""

    name: str
    game: str


@frozen
class InvitedWithoutGames(Message):
    """`X wants to play Plakoto, but your client has not asked for it. Type 'set games on'.`: nobody can join."""

    name: str
    game: str


@frozen
class WatchedWithoutGames(Message):
    """`X plays Plakoto, which your client has not asked for. Type 'set games on'.`: nothing of the game is shown."""

    name: str
    game: str


@frozen
class YouInvitedToGame(Message):
    """`** You invited X to a 3 point match of Plakoto.`"""

    name: str
    length: int
    game: str


@frozen
class OpponentJoinedGame(Message):
    """`** Player X has joined you for a 3 point match of Plakoto.`"""

    name: str
    length: int
    game: str


@frozen
class YouJoinedGame(Message):
    """`** You are now playing a 3 point match of Plakoto with X`"""

    name: str
    length: int
    game: str


@frozen
class ResumeGame(Message):
    """`game: Plakoto`: a line of a resumed match, before `turn: X.`"""

    game: str


# -- turns ------------------------------------------------------------------------------------------------------------


@frozen
class TableBoard(Message):
    """`table:...`: the state of the game."""

    state: TableState


@frozen
class RollsThree(Message):
    """`You roll 6, 4 and 1.` or `X rolls 6, 4 and 1.`"""

    player: str
    dice: tuple[int, ...]


@frozen
class NextPart(Message):
    """`You go on with 5 5 5 5.` or `X goes on with 5 5 5 5.`: the numbers of the turn's next part."""

    player: str
    numbers: tuple[int, ...]


@frozen
class RestLeft(Message):
    """`X leaves the rest of the turn to you.`: what X could not play."""

    player: str
    heir: str
    """Who plays it: YOU or a name."""


@frozen
class RollsAgain(Message):
    """`You have another roll.` or `X has another roll.`"""

    player: str


@frozen
class NamePrompt(Message):
    """`Please name the double to play: 1, 2, 5`"""

    naming: TableNaming
    choices: tuple[int, ...]


@frozen
class NumberNamed(Message):
    """`You name the double to play: 5` or `X names the point to open: 6`, in X's own numbering."""

    player: str
    naming: TableNaming
    number: int


@frozen
class ContestRolls(Message):
    """`For the point to open, you roll 5 and 3, X rolls 6 and 1.`: the higher total names it."""

    player: str
    dice: Dice
    opponent: str
    opponent_dice: Dice


# -- the end of a game ------------------------------------------------------------------------------------------------


@frozen
class GameWonBy(Message):
    """`You win 2 points, having borne off all checkers.` or `X wins 2 points, having ...`"""

    winner: str
    points: int
    reason: str


@frozen
class GameDrawn(Message):
    """`Nobody wins the game: the last checkers of both sides are pinned on their starts.`"""

    reason: str


# -- lists ------------------------------------------------------------------------------------------------------------


@frozen
class MovesGame(Message):
    """`The game is Plakoto.`: a line of a list of moves, before the score."""

    game: str


@frozen
class MovesPart(Message):
    """`O: (4 4 4 4) 24-20 24-20`, or `O: (4 4 4 4) can't move`: a part of a turn that is not of two numbers."""

    colour: Colour
    numbers: tuple[int, ...]
    """1, 3 or 4 numbers."""
    moves: tuple[FibsMove, ...]


@frozen
class GameReportStart(Message):
    """`A and B start a 5 point match of Plakoto.`"""

    player1: str
    player2: str
    length: int
    game: str


@frozen
class GameReportResume(Message):
    """`A and B are resuming their 5-point match of Plakoto.`"""

    player1: str
    player2: str
    length: int
    game: str


@frozen
class GameReportEnd(Message):
    """`A wins a 5 point match of Plakoto against B  5-2 .`"""

    winner: str
    loser: str
    length: int
    game: str
    winner_points: int
    loser_points: int


@frozen
class SavedGameMatch(Message):
    """`**X                3                1 -  2  Plakoto`: one saved match."""

    name: str
    stars: int
    """As in SavedMatch."""
    length: int
    own_points: int
    opponent_points: int
    game: str


@frozen
class WhoisGameRating(Message):
    """`  Rating in Plakoto: 1512.04 Experience: 12`"""

    game: str
    rating: float
    experience: int


# -- refusals ---------------------------------------------------------------------------------------------------------


@frozen
class UnknownGame(Refusal):
    """`** There is no game called 'x'. Type 'help games'.`"""

    game: str


@frozen
class GamesOff(Refusal):
    """`** Type 'set games on' if you want to play other games than backgammon.`"""


@frozen
class GamesNotWanted(Refusal):
    """`** X plays backgammon only.`"""

    name: str


@frozen
class GamesInUse(Refusal):
    """`** You can't turn games off while you play or watch one.`"""


@frozen
class IllegalPlay(Refusal):
    """`** You can't play that: no checker lands on a point where the opponent has one.`"""

    reason: str


@frozen
class NameFirst(Refusal):
    """`** Type 'name' and one of these numbers first: 1, 2, 5`"""

    choices: tuple[int, ...]


@frozen
class NothingToName(Refusal):
    """`** There is nothing to name.`"""


@frozen
class CantName(Refusal):
    """`** You can't name that. Choose one of 1, 2, 5.`"""

    choices: tuple[int, ...]
