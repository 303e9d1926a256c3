"""Conversion between the server's numbering and our own: points, moves, cells of a `board:` line, match states.

The server numbers the points 1 to 24 once for both players: one moves from 24 to 1 (direction -1), the other from 1 to
24 (direction 1). Our own numbers are always those of the player who moves. Which colour goes which way is read from the
board (field "direction"), never assumed. Nothing else in the project translates between the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import neg
from typing import Final

from fibs_protocol.board import BoardState, fibs_moves
from fibs_protocol.words import UNLIMITED, Colour, FibsMove
from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.position import BAR, OFF, Move, Play, Position

POSITION_CACHE_SIZE: Final = 8
"""Boards whose positions are cached: each is used several times in a row."""
DIRECTIONS: Final = {Colour.X: 1, Colour.O: -1}
"""The direction in which each colour moves on FIBS (docs/reference/protocol.md: all 431 recorded boards)."""


# -- points and moves -----------------------------------------------------------------------------------------------


def to_fibs(move: Move, direction: int) -> FibsMove:
    """Return one move in the server's numbering for a player who moves in this direction (-1 or 1)."""
    return fibs_moves([(move.source, move.target)], direction)[0]


def from_fibs(move: FibsMove, direction: int) -> Move:
    """Return one of the server's moves in the numbering of the player who makes it."""
    return _moves[move.source, move.target, direction < 0]


def play_to_fibs(play: Play, direction: int) -> tuple[FibsMove, ...]:
    """Return a whole play as the `move` command wants it, see `fibs_moves`."""
    return fibs_moves([(move.source, move.target) for move in play.moves], direction)


def play_from_fibs(moves: Iterable[FibsMove], direction: int) -> Play:
    """Return the moves of a whole turn as a play of the player who made them."""
    downward = direction < 0
    return Play(tuple([_moves[move.source, move.target, downward] for move in moves]))


def play_of_server_moves(moves: Iterable[FibsMove]) -> Play:
    """Return the server's moves as a play; the moves themselves show the player's direction."""
    moves = tuple(moves)
    return play_from_fibs(moves, _direction(moves[0]) if moves else -1)


def _direction(move: FibsMove) -> int:
    if move.source is None:
        return -1 if (move.target or 0) > 12 else 1
    if move.target is None:
        return -1 if move.source <= 12 else 1
    return -1 if move.target < move.source else 1


class _Moves(dict[tuple[int | None, int | None, bool], Move]):
    """Moves by source, target and whether the player goes from 24 to 1, each built once if a board has its points."""

    def __missing__(self, key: tuple[int | None, int | None, bool]) -> Move:
        source, target, downward = key
        move = Move(
            BAR if source is None else source if downward else BAR - source,
            OFF if target is None else target if downward else BAR - target,
        )
        if 0 <= move.target <= BAR and 0 <= move.source <= BAR:
            self[key] = move
        return move


_moves: Final = _Moves()


# -- cells ----------------------------------------------------------------------------------------------------------


@lru_cache(POSITION_CACHE_SIZE)
def _position(cells: tuple[int, ...], is_positive: bool, is_downward: bool) -> Position:  # noqa: FBT001 - a cache's keys
    ordered = cells if is_downward else cells[::-1]
    return Position(ordered if is_positive else tuple(map(neg, ordered)))


def cells_from_position(position: Position, colour: int, direction: int) -> tuple[int, ...]:
    """Return the 26 cells of a `board:` line; `position` is seen by the player of this Colour and direction."""
    ordered = position.points if direction < 0 else position.points[::-1]
    return ordered if colour > 0 else tuple(map(neg, ordered))


def player_position(board: BoardState) -> Position:
    """Return the position seen by the board's player (us, or a player we watch), no matter who is on turn."""
    return _position(board.points, board.colour > 0, board.direction < 0)


# -- the match ------------------------------------------------------------------------------------------------------


def length_from_fibs(length: int) -> int:
    """Return a match length as MatchState has it: 0 for an unlimited match."""
    return 0 if length == UNLIMITED else length


def length_to_fibs(length: int) -> int:
    """Return a match length as messages and commands have it: UNLIMITED for 0."""
    return length or UNLIMITED


def dice_to_fibs(dice: Dice | None) -> tuple[int, int]:
    """Return two dice as messages and boards have them, (0, 0) for none. Raises ValueError for more or fewer."""
    a, b = dice or (0, 0)
    return a, b


def cube_owner(board: BoardState) -> Owner | None:
    """Return who may turn the cube, seen by the board's player; None where the board does not tell.

    It does not while a double is pending: then neither may double (docs/reference/protocol.md, tokens 38, 39).
    """
    if board.may_double:
        return Owner.CENTRED if board.opponent_may_double else Owner.PLAYER
    if board.opponent_may_double:
        return Owner.OPPONENT
    return Owner.CENTRED if board.cube == 1 else None


def is_crawford(length: int, score: tuple[int, int], *, post_crawford: bool) -> bool:
    """Whether the Crawford game is being played in a match of `length` points (0 is unlimited) at this score.

    The server's fields "may double" do not tell (docs/reference/protocol.md, pitfall 13).
    """
    return length > 1 and not post_crawford and length - 1 in score


def match_state(  # noqa: PLR0913 - what a board does not tell, one argument each
    board: BoardState,
    *,
    phase: Phase = Phase.ROLL,
    dice: Dice | None = None,
    owner: Owner | None = None,
    resignation: int = 0,
    redoubles: int = 0,
) -> MatchState:
    """Return the decision that the board's player has to make in this phase.

    `dice` and `owner` default to what the board shows; `owner` must be given where the board does not tell. A cube that
    nobody seems to own while its value is above 1 is taken to be the opponent's in phase DOUBLED, else centred.
    """
    length = length_from_fibs(board.length)
    score = (board.score, board.opponent_score)
    post_crawford = bool(board.post_crawford)
    if dice is None and phase is Phase.MOVE and board.dice != (0, 0):
        dice = board.dice
    if owner is None:
        owner = cube_owner(board) or (Owner.OPPONENT if phase is Phase.DOUBLED else Owner.CENTRED)
    return MatchState(
        board=player_position(board),
        length=length,
        score=score,
        cube=board.cube,
        owner=owner,
        crawford=is_crawford(length, score, post_crawford=post_crawford),
        post_crawford=post_crawford,
        phase=phase,
        dice=dice,
        resignation=resignation,
        redoubles=redoubles,
    )


def board_of(state: MatchState, player: str, opponent: str) -> BoardState:
    """Return the board of a decision as the player who makes it sees it: O, who moves from 24 to 1.

    What a match state does not tell has its initial value. While a double is pending it is the opponent's turn.
    """
    position = state.position
    pending = state.phase is Phase.DOUBLED
    return BoardState(
        player=player,
        opponent=opponent,
        length=length_to_fibs(state.length),
        score=state.score[0],
        opponent_score=state.score[1],
        points=cells_from_position(position, Colour.O, DIRECTIONS[Colour.O]),
        turn=Colour.X if pending else Colour.O,
        dice=dice_to_fibs(state.dice),
        opponent_dice=(0, 0),
        cube=state.cube,
        may_double=state.owner is not Owner.OPPONENT,
        opponent_may_double=state.owner is not Owner.PLAYER,
        was_doubled=pending,
        colour=Colour.O,
        direction=DIRECTIONS[Colour.O],
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
