"""Games and turns: dice, moves, boards, the cube, resignations, ends (specification: "Game Play")."""

from __future__ import annotations

from fibs_protocol.board import BoardState
from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message
from fibs_protocol.words import Departure, Dice, FibsMove

# -- games and turns --------------------------------------------------------------------------------------------------


@frozen
class GameStarts(Message):
    """`Starting a new game with X.`"""

    opponent: str


@frozen
class OpeningRoll(Message):
    """`You rolled 5, X rolled 1`: the opening roll, one die each."""

    player: str
    player_die: int
    opponent: str
    opponent_die: int


@frozen
class CubeRaised(Message):
    """`The number on the doubling cube is now 2`: an automatic double after equal opening dice."""

    cube: int


@frozen
class MayRethrow(Message):
    """`You may reject this roll: type 'rethrow', and the cube shows 2.` (only this project's server)"""

    cube: int


@frozen
class RollRejected(Message):
    """`You reject the roll. The cube shows 2.`: a new roll follows (only this project's server)."""

    player: str
    cube: int


@frozen
class FirstMove(Message):
    """`It's your turn to move.` (player is YOU) or `X makes the first move.`"""

    player: str


@frozen
class RollOrDouble(Message):
    """`It's your turn. Please roll or double`"""


@frozen
class Rolls(Message):
    """`You roll 6 and 4.` or `X rolls 3 and 1.`"""

    player: str
    dice: Dice


@frozen
class MovePrompt(Message):
    """`Please move 2 pieces.`"""

    pieces: int


@frozen
class OnlyMove(Message):
    """`The only possible move is bar-5 bar-4 .`: the server made it (automove)."""

    moves: tuple[FibsMove, ...]


@frozen
class BearsOff(Message):
    """`Bearing off: 6 o 5 o`: the server made it (greedy, or the `off` command)."""

    points: tuple[int, ...]


@frozen
class CannotMove(Message):
    """`You can't move.` or `X can't move.`"""

    player: str


@frozen
class Moves(Message):
    """`X moves 24-23 23-18 .`"""

    player: str
    moves: tuple[FibsMove, ...]


@frozen
class Board(Message):
    """`board:...`: the state of the game, board style 3."""

    state: BoardState
    repaired: str | None = None
    """The contradiction in the line, if there was one; `state` is then the only possible correction."""


@frozen
class RefusedBoard(Message):
    """A `board:` or `table:` line that contradicts itself."""

    text: str
    reason: str


# -- cube -------------------------------------------------------------------------------------------------------------


@frozen
class YouDouble(Message):
    """`You double. Please wait for X to accept or reject.`"""

    opponent: str
    may_redouble: bool = False
    """Whether the opponent may redouble at once: `... to accept, reject or redouble.`"""


@frozen
class OpponentDoubles(Message):
    """`X doubles. Type 'accept' or 'reject'.`"""

    player: str
    may_redouble: bool = False
    """Whether we may redouble at once."""


@frozen
class WatchedDouble(Message):
    """`X doubles.`, as a watcher sees it."""

    player: str


@frozen
class DoubleAccepted(Message):
    """`X accepts the double. The cube shows 2.`"""

    player: str
    cube: int | None
    """The cube's new value; None in the watcher's wording, which ends after the first sentence."""


@frozen
class YouRedouble(Message):
    """`You accept the double to 4 and redouble.`"""

    cube: int
    """The value accepted, half of the value now offered."""


@frozen
class RedoubleWait(Message):
    """`Please wait for X to accept, reject or redouble.`: second line after our redouble."""

    opponent: str
    may_redouble: bool = False


@frozen
class OpponentRedoubles(Message):
    """`X redoubles to 4. Type 'accept', 'reject' or 'redouble'.`"""

    player: str
    cube: int
    """The value offered."""
    may_redouble: bool = False


@frozen
class WatchedRedouble(Message):
    """`X redoubles.`, as a watcher sees it."""

    player: str


@frozen
class RedoubleAccepted(Message):
    """`X accepts the redouble. The cube shows 4.`"""

    player: str
    cube: int | None


# -- resignation, end of a game, end of a match -----------------------------------------------------------------------


@frozen
class ResignOffer(Message):
    """`X wants to resign. You will win 2 points. Type 'accept' or 'reject'.`"""

    player: str
    """The player who resigns."""
    winner: str
    points: int


@frozen
class ResignRejected(Message):
    """`X rejects. The game continues.`"""

    player: str


@frozen
class ResignAccepted(Message):
    """`You accept and win 1 point.`"""

    winner: str
    points: int


@frozen
class GameWon(Message):
    """`You win the game and get 1 point. Congratulations!`, `X wins the game and gets 2 points. Sorry.`"""

    winner: str
    points: int
    watched: bool = False
    """Whether this is the wording for watchers, which ends after the first sentence."""


@frozen
class GaveUp(Message):
    """`X gives up. You win 1 point.`: a double was refused."""

    loser: str
    winner: str
    points: int


@frozen
class Score(Message):
    """`score in 5 point match: A-4 B-0`. The players are in the order of the line."""

    length: int
    player1: str
    points1: int
    player2: str
    points2: int


@frozen
class JoinNextGame(Message):
    """`Type 'join' if you want to play the next game, type 'leave' if you don't.`"""


@frozen
class WaitForJoin(Message):
    """`** Please wait for X to join too.`"""

    name: str


@frozen
class MatchWon(Message):
    """`X wins the 5 point match 5-0 .`"""

    winner: str
    length: int
    winner_points: int
    loser_points: int


@frozen
class YouLeft(Message):
    """`** You terminated the game. The game was saved.`"""


@frozen
class OpponentGone(Message):
    """`X drops connection. The game was saved.` and similar lines: the match was broken off."""

    name: str
    how: Departure


@frozen
class YourGameSaved(Message):
    """`Your game with X was saved.`"""

    name: str
