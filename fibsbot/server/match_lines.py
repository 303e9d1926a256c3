"""MatchLines: what clients see of a match: backgammon in the lines of FIBS, other games in lines of their own.

The course of a game is the same for both (game_flow.py). What differs is which boards, numbers of points and messages a
client gets, and when it gets boards (docs/reference/protocol.md, "Other games").

Specification: "Move", "Player's Turn".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar, Final

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import Colour, FibsMove
from fibsbot import fibs_numbering
from fibsbot.fibs_numbering import DIRECTIONS
from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Move, Play, Position
from fibsbot.rules.errors import PlayError
from fibsbot.rules.plays import most_moves
from fibsbot.rules.ruleset import Numbers
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table_lines import MOST_SHOWN, moves_to_fibs, play_of_moves, table_state

CRAWFORD_OFF: Final = 3
"""The token "forced move" in a match without the Crawford rule (docs/reference/protocol.md, token 50)."""
FIBS_BAR_NUMBERS: Final = {1: 0, -1: BAR}
"""The server's number for the bar of a player who moves in this direction."""


class MatchLines(ABC):
    """The lines of a match, without a state: methods take the game, and the colour of the player they are about."""

    boards_at_once: ClassVar[bool]
    """Whether boards follow each roll and play; else one follows each command that has changed the game."""
    plays_at_start: ClassVar[bool]
    """Whether the server goes on by itself after the opening roll and in a resumed match, as after other rolls."""

    @abstractmethod
    def on_turn(self, state: GameState) -> Seat:
        """Return the player who is on turn according to the server."""

    @abstractmethod
    def board(  # noqa: PLR0913 - what a board shows
        self,
        state: GameState,
        seat: Seat,
        names: tuple[str, str],
        colour: Colour,
        *,
        can_move: int,
        requested: bool,
    ) -> m.Board | m.TableBoard:
        """Return the board from a seat's side, with the names to show, that of the seat first.

        `can_move` is how many checkers the seat could move after its last roll; `requested` is whether the user has
        asked for this board.
        """

    @abstractmethod
    def moves(self, play: Play, colour: Colour) -> tuple[FibsMove, ...]:
        """Return the moves of a player's play in the numbers of commands and messages."""

    @abstractmethod
    def play(self, moves: Iterable[FibsMove], colour: Colour) -> Play:
        """Return the play that a player's command names."""

    @abstractmethod
    def listed_play(self, numbers: Numbers, play: Play, colour: Colour) -> Message:
        """Return the play of some numbers as the list of moves has it."""

    @abstractmethod
    def game_won(self, state: GameState, winner: str, *, is_watcher: bool) -> Message:
        """Return the message that a game has been won by playing it to its end."""

    @abstractmethod
    def refusal(self, state: GameState, moves: tuple[FibsMove, ...], colour: Colour, error: PlayError) -> Refusal:
        """Return what a player reads whose play has raised this error."""


class BackgammonLines(MatchLines):
    """The lines of backgammon, as on FIBS: `board:` lines, and points that are numbered once for both players."""

    boards_at_once = True
    plays_at_start = False

    def on_turn(self, state: GameState) -> Seat:
        """Return the player on turn; while a double waits, the one who answers."""
        return state.turn if state.answering is None else state.answering

    def board(  # noqa: PLR0913 - as above
        self,
        state: GameState,
        seat: Seat,
        names: tuple[str, str],
        colour: Colour,
        *,
        can_move: int,
        requested: bool,
    ) -> m.Board:
        """Return the board from a seat's side (docs/reference/protocol.md).

        While a double waits, it is the answering player's turn and neither may double; `was_doubled` is only set on a
        board that the doubled player has requested.
        """
        direction, position = DIRECTIONS[colour], state.position_for(seat)
        doubled, own_turn = state.stage is Stage.DOUBLED, self.on_turn(state) is seat
        dice = fibs_numbering.dice_to_fibs(state.dice)
        board = BoardState(
            player=names[0],
            opponent=names[1],
            length=fibs_numbering.length_to_fibs(state.length),
            score=min(state.scores[seat], MOST_SHOWN),
            opponent_score=min(state.scores[seat.other], MOST_SHOWN),
            points=fibs_numbering.cells_from_position(position, colour, direction),
            turn=None if state.stage in {Stage.OPENING, Stage.OVER} else colour if own_turn else Colour(-colour),
            dice=dice if own_turn else (0, 0),
            opponent_dice=(0, 0) if own_turn else dice,
            cube=state.cube,
            may_double=not doubled and state.owner is not seat.other,
            opponent_may_double=not doubled and state.owner is not seat,
            was_doubled=requested and doubled and own_turn,
            colour=colour,
            direction=direction,
            home=0 if direction < 0 else 25,
            bar=25 if direction < 0 else 0,
            off=position.off,
            opponent_off=position.opponent_off,
            on_bar=position.bar,
            opponent_on_bar=position.opponent_bar,
            can_move=can_move,
            forced_move=0 if state.laws.crawford else CRAWFORD_OFF,
            post_crawford=state.post_crawford,
            redoubles=0 if state.length else state.laws.redoubles,
        )
        return m.Board(board)

    def moves(self, play: Play, colour: Colour) -> tuple[FibsMove, ...]:
        """Return the moves of a player's play, bar first, checkers borne off last."""
        return fibs_numbering.play_to_fibs(play, DIRECTIONS[colour])

    def play(self, moves: Iterable[FibsMove], colour: Colour) -> Play:
        """Return the play that a player's command names."""
        return fibs_numbering.play_from_fibs(moves, DIRECTIONS[colour])

    def listed_play(self, numbers: Numbers, play: Play, colour: Colour) -> Message:
        """Return the play of a roll, whose two dice come first among the numbers of a double."""
        return m.MovesPlay(colour, (numbers[0], numbers[1]), self.moves(play, colour))

    def game_won(self, state: GameState, winner: str, *, is_watcher: bool) -> Message:
        """Return the message that a player has borne off all checkers."""
        return m.GameWon(winner, 0 if state.result is None else state.result.points, is_watcher)

    def refusal(self, state: GameState, moves: tuple[FibsMove, ...], colour: Colour, error: PlayError) -> Refusal:  # noqa: ARG002 - FIBS has reasons of its own
        """Return the reason that FIBS gives."""
        dice = fibs_numbering.dice_to_fibs(state.dice)
        return refusal_of_play(state.position, dice, moves, DIRECTIONS[colour])


class RulesetLines(MatchLines):
    """The lines of other games: `table:` lines, and points in each player's own numbers.

    The board follows once the game waits for somebody, so that a client can act on the last line alone.
    """

    boards_at_once = False
    plays_at_start = True

    def on_turn(self, state: GameState) -> Seat:
        """Return the player who has to act, or who is on turn while nobody has to."""
        return state.turn if state.decides is None else state.decides

    def board(  # noqa: PLR0913 - as above
        self,
        state: GameState,
        seat: Seat,
        names: tuple[str, str],
        colour: Colour,
        *,
        can_move: int,  # noqa: ARG002 - a client finds the plays
        requested: bool,  # noqa: ARG002 - offers are always shown
    ) -> m.TableBoard:
        """Return the board from a seat's side."""
        return m.TableBoard(table_state(state, seat, *names, colour))

    def moves(self, play: Play, colour: Colour) -> tuple[FibsMove, ...]:  # noqa: ARG002 - numbers are the player's own
        """Return the moves of a play in the player's own numbers."""
        return moves_to_fibs(play)

    def play(self, moves: Iterable[FibsMove], colour: Colour) -> Play:  # noqa: ARG002 - as above
        """Return the play that a player's command names."""
        return play_of_moves(moves)

    def listed_play(self, numbers: Numbers, play: Play, colour: Colour) -> Message:
        """Return the play of a part of a turn, with all its numbers."""
        if len(numbers) == 2:
            return m.MovesPlay(colour, (numbers[0], numbers[1]), moves_to_fibs(play))
        return m.MovesPart(colour, numbers, moves_to_fibs(play))

    def game_won(self, state: GameState, winner: str, *, is_watcher: bool) -> Message:  # noqa: ARG002 - all read the same
        """Return the message that says how the game was won."""
        return m.GameWonBy(winner, 0 if state.result is None else state.result.points, state.reason)

    def refusal(self, state: GameState, moves: tuple[FibsMove, ...], colour: Colour, error: PlayError) -> Refusal:  # noqa: ARG002 - as above
        """Return the law that forbids the play."""
        return m.IllegalPlay(str(error))


BACKGAMMON_LINES: Final = BackgammonLines()
RULESET_LINES: Final = RulesetLines()


# -- refused plays of backgammon ------------------------------------------------------------------------------------


def refusal_of_play(position: Position, dice: Dice, moves: tuple[FibsMove, ...], direction: int) -> Refusal:
    """Return the reason why an illegal play is refused.

    The number of moves is checked first, then the moves in the given order: each must be possible after those before
    it. What remains is a play that uses the wrong number, where only one of the two can be played.
    """
    count = most_moves(position.points, dice)
    if len(moves) < count:
        return m.TooFewMoves(count)
    if len(moves) > count:
        return m.TooManyMoves(count)
    left = [dice[0]] * 4 if dice[0] == dice[1] else list(dice)
    which, move = 0, Move(0, 0)
    for which, fibs_move in enumerate(moves, 1):
        move = fibs_numbering.from_fibs(fibs_move, direction)
        reason = _refusal_of_one(position, left, move, which, direction)
        if reason is not None:
            return reason
        left.remove(_die_used(left, move))
        position = position.after(move)
    return m.CantMovePoints(move.pips, which)


def _refusal_of_one(position: Position, left: list[int], move: Move, which: int, direction: int) -> Refusal | None:
    fibs_move = fibs_numbering.to_fibs(move, direction)
    source = FIBS_BAR_NUMBERS[direction] if fibs_move.source is None else fibs_move.source
    off = move.target == OFF
    reasons = (
        (m.BarFirst(which), position.bar and move.source != BAR),
        (m.CantMoveFrom(source, which), position.points[move.source] <= 0),
        (m.CantMoveHome(source, which), move.target >= move.source),
        (m.CantBearOff(which), off and not (position.all_home and _bears_off(position, left, move.source))),
        (m.CantMovePoints(move.pips, which), not off and move.pips not in left),
        (m.CantMoveTo(fibs_move.target or 0, which), not off and position.points[move.target] < -1),
    )
    return next((reason for reason, holds in reasons if holds), None)


def _bears_off(position: Position, left: list[int], source: int) -> bool:
    highest = not any(n > 0 for n in position.points[source + 1 :])
    return source in left or (highest and max(left) > source)


def _die_used(left: list[int], move: Move) -> int:
    if move.pips in left:
        return move.pips
    return min(number for number in left if number > move.pips)
