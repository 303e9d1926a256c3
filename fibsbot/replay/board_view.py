"""The view that a `board:` line gives of a game, with the players as seats."""

from __future__ import annotations

from typing import Final, Self

from attrs import frozen

from fibs_protocol.board import BoardState
from fibsbot.bot.tracked_match import Difference
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import (
    cells_from_position,
    cube_owner,
    is_crawford,
    length_from_fibs,
    length_to_fibs,
    player_position,
)
from fibsbot.match import Dice, Owner
from fibsbot.position import Position
from fibsbot.rules.laws import FIBS, AutomaticRaise, Laws
from fibsbot.rules.state import GameState, Seat, Stage

CRAWFORD_OFF: Final = 3
"""What the token "forced move" holds where the Crawford rule is off (docs/reference/protocol.md, token 50)."""
START_POSITION: Final = Position.start()


def board_shows_state(board: BoardState, seat: Seat, state: GameState) -> bool:
    """Whether a board can show a state; `seat` is the seat of the board's player.

    Nearly every board is checked here, so this needs no BoardView, and first compares what differs most often.
    """
    shown_on_turn, on_turn = board.turn is board.colour, state.turn is seat
    dice = board.dice if shown_on_turn else board.opponent_dice
    doubled = state.stage is Stage.DOUBLED  # then the server turns the board round, and shows no owner
    known = (0, 0) if doubled else state.dice or (0, 0)
    if (shown_on_turn is not on_turn or board.turn is None) and not doubled:
        return False
    if dice != known and dice != known[::-1]:
        return False
    score = (board.score, board.opponent_score) if seat is Seat.A else (board.opponent_score, board.score)
    if score != state.scores or board.cube != state.cube or board.length != length_to_fibs(state.length):
        return False
    colour, direction = (board.colour, board.direction) if on_turn else (-board.colour, -board.direction)
    if board.points != cells_from_position(state.position, colour, direction):
        return False
    owner = None if doubled else cube_owner(board)
    return owner is None or owner is state.owner_for(seat)


@frozen(slots=False)
class BoardView:
    """The parts of a board that can be trusted."""

    board: BoardState
    seat: Seat
    """Of the board's player."""
    length: int
    scores: tuple[int, int]
    position: Position
    """As the board's player sees it."""
    turn: Seat | None
    """Whose turn it is; None between two games."""
    dice: Dice | None
    owner: Owner | None
    """As the board's player sees it; None if the board does not show it, as while a double is pending."""

    @classmethod
    def from_board(cls, board: BoardState, seat: Seat) -> Self:
        """Return the view of a board; `seat` is the seat of its player."""
        turn = None if board.turn is None else seat if board.turn is board.colour else seat.other
        dice = board.dice if turn is seat else board.opponent_dice
        scores = (board.score, board.opponent_score)
        return cls(
            board=board,
            seat=seat,
            length=length_from_fibs(board.length),
            scores=scores if seat is Seat.A else scores[::-1],
            position=player_position(board),
            turn=turn,
            dice=None if dice == (0, 0) else dice,
            owner=cube_owner(board),
        )

    def shows(self, state: GameState) -> bool:
        """Whether the board can show a state."""
        return board_shows_state(self.board, self.seat, state)

    def differences(self, _: GameState) -> tuple[Difference, ...]:
        """Return nothing: the agent's tracking compares these boards (session_tracker.py)."""
        return ()

    def position_for(self, seat: Seat) -> Position:
        """Return the position as one of the players sees it."""
        return self.position if seat is self.seat else self.position.swapped()

    @property
    def shows_opening_roll(self) -> bool:
        """Whether this is the opening roll: no checker has moved, and two different dice are on the board."""
        dice = self.dice
        return dice is not None and dice[0] != dice[1] and self.position == START_POSITION

    @property
    def _owner_seat(self) -> Seat | None:
        if self.owner is Owner.PLAYER:
            return self.seat
        return self.seat.other if self.owner is Owner.OPPONENT else None

    def opening_state(self) -> GameState:
        """Return the state before the opening roll, with the score and the cube of the board."""
        centred = self.owner is Owner.CENTRED
        laws = FIBS if self.board.cube == 1 or not centred else fast_evolve(FIBS, automatic=AutomaticRaise.DOUBLE)
        return self._state(laws=laws, turn=Seat.A, stage=Stage.OPENING)

    def state(self, before: GameState | None = None) -> GameState | None:
        """Return the state that the board shows; None if it does not show enough.

        `before` is the state known so far, for the parts that no board shows.
        """
        doubled = self._doubling_seat(before)
        turn = self.turn if doubled is None else doubled
        owner = self._owner_seat
        if self.owner is None and doubled is None:
            if before is None or before.cube != self.board.cube:
                return None
            owner = before.owner
        if turn is None:
            return None
        if doubled is not None:
            held = None if self.board.cube == 1 else doubled
            state = self._state(turn=turn, stage=Stage.DOUBLED, owner=before.owner if before else held)
            state = fast_evolve(state, offered=2 * state.cube, answering=doubled.other)
        else:
            stage = Stage.MOVE if self.dice else Stage.ROLL
            state = self._state(turn=turn, stage=stage, dice=self.dice, owner=owner)
        if before is None:
            return state
        turns = before.turns + (turn is not before.turn)
        return fast_evolve(
            state, laws=before.laws, crawford=before.crawford, post_crawford=before.post_crawford, turns=turns
        )

    def _doubling_seat(self, before: GameState | None) -> Seat | None:
        """Return who has doubled, if the board shows a double that has not been answered."""
        board = self.board
        if board.double_pending:
            return self.seat.other
        closed = not (board.may_double or board.opponent_may_double or self.dice)
        if before is None and closed and self.turn is not None:
            return self.turn.other  # the server turns the board round
        if before is None or before.stage is not Stage.ROLL or not closed or self.turn is not before.turn.other:
            return None
        return before.turn if self.position_for(before.turn).points == before.position.points else None

    def _state(
        self,
        *,
        turn: Seat,
        stage: Stage,
        laws: Laws = FIBS,
        dice: Dice | None = None,
        owner: Seat | None = None,
    ) -> GameState:
        board = self.board
        crawford_off = board.forced_move == CRAWFORD_OFF
        post_crawford = bool(board.post_crawford)
        score = (board.score, board.opponent_score)
        return GameState(
            laws=fast_evolve(laws, crawford=not crawford_off, redoubles=0 if self.length else board.redoubles),
            length=self.length,
            scores=self.scores,
            crawford=is_crawford(self.length, score, post_crawford=post_crawford) and not crawford_off,
            post_crawford=post_crawford,
            board=START_POSITION if stage is Stage.OPENING else self.position_for(turn),
            turn=turn,
            stage=stage,
            dice=dice,
            cube=board.cube,
            owner=owner,
        )
