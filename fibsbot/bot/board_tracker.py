"""Compares the server's boards with the tracked match, and adopts them.

The server's board is the truth. Differences are kept in `TrackedMatch.differences`, to be logged and counted.
"""

from __future__ import annotations

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.words import YOU
from fibsbot.bot.tracked_match import (
    Difference,
    EarlyBoard,
    PlayerSide,
    TrackedMatch,
    cannot_move,
    give_turn,
    next_match,
    note_double,
    play_on_board,
)
from fibsbot.evolve import evolve
from fibsbot.fibs_numbering import cube_owner, is_crawford, length_from_fibs, match_state, shows_points
from fibsbot.match import Dice, MatchState


def apply_board(tracked: TrackedMatch, message: m.Board) -> TrackedMatch:
    """Return the match after a board; its `differences` are what the board contradicted."""
    board = message.state
    if board.player != tracked.player:
        if tracked.player == YOU and tracked.opponent is not None:
            return tracked  # somebody else's board, by `look`
        tracked = next_match(tracked, board.opponent, player=board.player)
    if board.turn is None or (not tracked.running and tracked.game):
        return tracked  # between two games, or a copy of the last board
    if tracked.opponent is None and tracked.player == YOU:
        tracked = next_match(tracked, board.opponent)
    foreseen = _apply_expected_board(tracked, board)
    if foreseen is not None:
        return foreseen
    # Our own play is not repeated to us, and not every server tells that the opponent cannot move.
    after = tracked
    if tracked.own_play is not None:
        after = give_turn(play_on_board(tracked, PlayerSide.PLAYER, tracked.own_play), PlayerSide.OPPONENT)
    elif tracked.turn is not None and cannot_move(tracked):
        after = give_turn(tracked, tracked.turn.other)
    shown = match_state(board)
    differences = _differences(tracked, board, shown)
    if after is not tracked and len(others := _differences(after, board, shown)) < len(differences):
        tracked, differences = after, others
    if _is_early_board(tracked, differences) and tracked.state is not None:
        return evolve(
            _adopt_board(tracked, board, shown, ()), early_board=EarlyBoard(tracked.state.position, differences)
        )
    return _adopt_board(tracked, board, shown, differences)


def _apply_expected_board(tracked: TrackedMatch, board: BoardState) -> TrackedMatch | None:
    """Return the match after a board that shows what is known, or that our own play was made; None for any other."""
    if shows_tracked_state(tracked, board):
        return tracked if tracked.board_seen else evolve(tracked, board_seen=True)
    if tracked.own_play is None or tracked.turn is not PlayerSide.PLAYER or tracked.doubled_by is not None:
        return None
    after = give_turn(play_on_board(tracked, PlayerSide.PLAYER, tracked.own_play), PlayerSide.OPPONENT)
    return evolve(after, board_seen=True) if shows_tracked_state(after, board) else None


def shows_tracked_state(tracked: TrackedMatch, board: BoardState) -> bool:
    """Whether a board shows just what is known, as most do, so that there is nothing to take over."""
    ours = tracked.state
    if ours is None or not tracked.running or tracked.doubled_by is not None or board.double_pending:
        return False
    if board.turn is board.colour:
        turn, dice = PlayerSide.PLAYER, board.dice
    else:
        turn, dice = PlayerSide.OPPONENT, board.opponent_dice
    known = tracked.dice or (0, 0)
    post_crawford = tracked.crawford_played
    return (
        turn is tracked.turn
        and (dice == known or dice == known[::-1])
        and board.cube == ours.cube
        and cube_owner(board) is ours.owner
        and ours.score == (board.score, board.opponent_score)
        and ours.length == length_from_fibs(board.length)
        and tracked.opponent == board.opponent
        and tracked.direction == board.direction
        and not tracked.differences
        and bool(board.post_crawford) is post_crawford is ours.post_crawford
        and (ours.length > 1 or not post_crawford)
        and ours.crawford is is_crawford(ours.length, ours.score, post_crawford=post_crawford)
        and shows_points(board, ours.position.points, own=True)
    )


def _is_early_board(tracked: TrackedMatch, differences: tuple[Difference, ...]) -> bool:
    """Whether a board shows that the opponent has played the dice on the board, which no line has said yet."""
    if tracked.turn is not PlayerSide.OPPONENT or tracked.dice is None:
        return False
    shown = {it.what: it.theirs for it in differences}
    return shown.pop("position", None) is not None and shown == {"turn": PlayerSide.PLAYER, "dice": []}


def _differences(tracked: TrackedMatch, board: BoardState, theirs: MatchState) -> tuple[Difference, ...]:
    """Return in what a board contradicts the match; nothing where the match is not known yet."""
    ours = tracked.state
    if ours is None or not tracked.running:
        return ()
    pairs = [
        ("opponent", tracked.opponent or board.opponent, board.opponent),
        ("length", ours.length, theirs.length),
        ("score", ours.score, theirs.score),
        ("position", ours.position.points, theirs.position.points),
        ("direction", tracked.direction or board.direction, board.direction),
    ]
    if tracked.doubled_by is None:
        # The server turns the board round while a double waits for its answer.
        turn, dice = _turn_of(board)
        owner = cube_owner(board) or ours.owner
        pairs += [
            ("turn", tracked.turn or turn, turn),
            ("dice", sorted(tracked.dice or ()), sorted(dice or ())),
            ("cube", ours.cube, theirs.cube),
            ("owner", ours.owner, owner),
        ]
    return tuple(Difference(what, one, other) for what, one, other in pairs if one != other)


def _turn_of(board: BoardState) -> tuple[PlayerSide, Dice | None]:
    if board.turn == board.colour:
        side, dice = PlayerSide.PLAYER, board.dice
    else:
        side, dice = PlayerSide.OPPONENT, board.opponent_dice
    return side, None if dice == (0, 0) else dice


def _adopt_board(
    tracked: TrackedMatch, board: BoardState, shown: MatchState, differences: tuple[Difference, ...]
) -> TrackedMatch:
    """Take over what a board shows, and in what it differs from what was known."""
    differences = tracked.differences + differences
    if board.double_pending and tracked.doubled_by is None:
        tracked = note_double(evolve(tracked, turn=PlayerSide.OPPONENT), PlayerSide.OPPONENT, 2 * board.cube)
    old = tracked.state
    state = shown if old is None or cube_owner(board) else evolve(shown, owner=old.owner)
    if tracked.doubled_by is None:
        turn, dice = _turn_of(board)
        if (turn, sorted(dice or ())) != (tracked.turn, sorted(tracked.dice or ())):
            tracked = give_turn(tracked, turn, dice)
    elif old is not None:
        state = evolve(state, cube=old.cube, owner=old.owner)
    if tracked.crawford_played:
        state = evolve(state, crawford=False, post_crawford=state.length > 1)
    return evolve(
        tracked,
        opponent=board.opponent,
        running=True,
        state=state,
        direction=board.direction,
        board_seen=True,
        crawford_played=tracked.crawford_played or state.post_crawford,
        differences=differences,
    )
