"""Decisions as `board:` lines, which is how engines are asked, and back.

The lines are those of FIBS (docs/protocol.md). We are always O there, who moves from 24 to 1, so that points and cells
are our own. What such a line cannot say: the Jacoby rule, that a match is played without a cube, and how much the
opponent wants to resign.
"""

from __future__ import annotations

from attrs import evolve

from fibsbot.fibs import cells_from_position, length_to_fibs, match_state
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.strategies.foreign.errors import DeclinedError
from protocol.board import BoardState
from protocol.errors import BoardError, LocalProtocolError
from protocol.words import Colour

NAMES = ("You", "Opponent")


def board_line(state: MatchState) -> str:
    """Return the decision as a `board:` line; raise DeclinedError where none can say it.

    While the opponent's double or resignation is pending it is the opponent's turn. The score of an unlimited match
    plays no part and is left out.
    """
    waiting = state.phase in {Phase.DOUBLED, Phase.RESIGNED}
    position = state.position
    dice = (state.dice if state.phase is Phase.MOVE else None) or (0, 0)
    board = BoardState(
        player=NAMES[0],
        opponent=NAMES[1],
        length=length_to_fibs(state.length),
        score=state.score[0] if state.length else 0,
        opponent_score=state.score[1] if state.length else 0,
        points=cells_from_position(position, Colour.O, -1),
        turn=Colour.X if waiting else Colour.O,
        dice=dice,
        opponent_dice=(0, 0),
        cube=state.cube,
        may_double=state.owner is not Owner.OPPONENT,
        opponent_may_double=state.owner is not Owner.PLAYER,
        was_doubled=state.phase is Phase.DOUBLED,
        colour=Colour.O,
        direction=-1,
        home=0,
        bar=25,
        off=position.off,
        opponent_off=position.opponent_off,
        on_bar=position.bar,
        opponent_on_bar=position.opponent_bar,
        can_move=0,
        forced_move=0,
        post_crawford=int(state.post_crawford),
        redoubles=state.redoubles,
    )
    try:
        return board.to_line()
    except LocalProtocolError as error:
        raise DeclinedError(f"cannot be asked: {error}") from None


def state_of_line(line: str) -> MatchState:
    """Return the decision that the player of a `board:` line has to make; raise ValueError where there is none."""
    try:
        return decision(BoardState.from_line(line))
    except BoardError as error:
        raise ValueError(str(error)) from None


def decision(board: BoardState) -> MatchState:
    """Return the decision that a board's player has to make: a play, whether to double, or whether to take.

    Raises ValueError where it is not for this player to decide anything.
    """
    if board.dice != (0, 0):
        phase = Phase.MOVE
    elif board.opponent_dice == (0, 0) and board.was_doubled and (board.turn is not board.colour or _is_moot(board)):
        phase = Phase.DOUBLED
    else:
        phase = Phase.ROLL
    if phase is not Phase.DOUBLED and board.turn is not board.colour:
        raise ValueError("expected a board on which it is the player's turn, or a double to be answered")
    state = match_state(board, phase=phase, redoubles=board.redoubles)
    if state.position.over:
        raise ValueError("expected a board on which the game is not over")
    return evolve(state, redoubles=0 if state.length else state.redoubles)


def _is_moot(board: BoardState) -> bool:
    """Whether neither may double: so it is on FIBS while a double is pending."""
    return not (board.may_double or board.opponent_may_double)
