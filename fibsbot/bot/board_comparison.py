"""Boards, compared with what is known of the match, and adopted.

The server's board is the truth. What it contradicts is kept in `TrackedMatch.differences`, to be logged and counted.
"""

from __future__ import annotations

from attrs import frozen

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.words import YOU
from fibsbot.bot.tracked_match import (
    Difference,
    EarlyBoard,
    LastPlay,
    PlayerSide,
    TrackedMatch,
    cannot_move,
    give_turn,
    next_match,
    note_double,
    play_on_board,
)
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import (
    cube_owner,
    is_crawford,
    length_from_fibs,
    match_state,
    play_from_fibs,
    player_position,
)
from fibsbot.match import Dice, MatchState, Owner
from fibsbot.rules.plays import check_play


@frozen
class ShownBoard:
    """A board, and what it shows of the match as the player sees it."""

    board: BoardState
    state: MatchState
    owner: Owner | None
    """Who may turn the cube; None where the board does not tell, and `state` assumes something."""
    turn: PlayerSide
    """Whose turn it is. While a double waits for an answer it is the other side's: the server turns the board round."""
    dice: Dice | None


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
    if shows_tracked_state(tracked, board):
        return tracked if tracked.board_seen else fast_evolve(tracked, board_seen=True)
    if tracked.shown_whole:
        tracked = fast_evolve(tracked, state=None)  # it was of another game, of which no such board is shown
    after = tracked
    if tracked.own_play is not None:  # it is not repeated to us
        after = give_turn(play_on_board(tracked, PlayerSide.PLAYER, tracked.own_play), PlayerSide.OPPONENT)
        expected = tracked.turn is PlayerSide.PLAYER and tracked.doubled_by is None
        if expected and shows_tracked_state(after, board):
            return fast_evolve(after, board_seen=True)
    shown = _shown_board(board)
    return _apply_older_board(tracked, shown) or _compare_board(tracked, after, shown)


def _compare_board(tracked: TrackedMatch, after: TrackedMatch, shown: ShownBoard) -> TrackedMatch:
    """Return the match after a board that shows something new; `after`: the match after the play that we have sent."""
    differences = _differences(tracked, shown)
    if differences and tracked.own_play is None and tracked.turn is not None and cannot_move(tracked):
        after = give_turn(tracked, tracked.turn.other)  # not every server says that somebody cannot move
    if after is not tracked and len(others := _differences(after, shown)) < len(differences):
        tracked, differences = after, others
    return _adopt_board(tracked, shown, differences)


def turn_of_board(board: BoardState) -> PlayerSide:
    """Return whose turn a board of a running game shows."""
    return PlayerSide.PLAYER if board.turn == board.colour else PlayerSide.OPPONENT


def _shown_board(board: BoardState) -> ShownBoard:
    """Return what a board of a running game shows."""
    owner, turn = cube_owner(board), turn_of_board(board)
    dice = board.dice if turn is PlayerSide.PLAYER else board.opponent_dice
    return ShownBoard(board, match_state(board, owner=owner), owner, turn, None if dice == (0, 0) else dice)


def is_older_board(tracked: TrackedMatch, last: LastPlay, board: BoardState) -> bool:
    """Whether a board, taken already, is older than the last play, so that it does not show who is on turn now."""
    return (
        board.player == tracked.player
        and board.turn is not None
        and not board.double_pending
        and turn_of_board(board) is last.side
        and tracked.turn is last.side.other
        and tracked.doubled_by is None
    )


def _apply_older_board(tracked: TrackedMatch, shown: ShownBoard) -> TrackedMatch | None:
    """Return the match after a board that was on its way before the last play was said; None if it is no such board.

    It shows the roll with which that play was made. If it is the first board of a match that was resumed, the play is
    made on it.
    """
    last, ours, position = tracked.last_play, tracked.state, shown.state.position
    if last is None or shown.turn is not last.side or shown.dice is None or shown.board.double_pending:
        return None
    play = play_from_fibs(last.moves, shown.board.direction * last.side.value)
    try:
        check_play(position if last.side is PlayerSide.PLAYER else position.swapped(), shown.dice, play)
    except ValueError:
        return None
    if tracked.direction is None:  # no board of this game has come yet
        tracked = _adopt_board(tracked, shown, ())
        after = give_turn(play_on_board(tracked, last.side, play), last.side.other)
        return fast_evolve(after, last_play=last)
    if ours is None or (ours.score, ours.cube) != (shown.state.score, shown.state.cube):
        return None
    before = fast_evolve(tracked, state=fast_evolve(ours, board=position))
    after = play_on_board(before, last.side, play)
    return tracked if after.state is not None and after.state.position == ours.position else None


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
        and player_position(board) == ours.board
    )


def _early_board(tracked: TrackedMatch, differences: tuple[Difference, ...]) -> EarlyBoard | None:
    """Return an early board if these differences show that the opponent has played, which no line has said yet."""
    if tracked.state is None or tracked.turn is not PlayerSide.OPPONENT or tracked.dice is None:
        return None
    shown = {difference.what: difference.theirs for difference in differences}
    if shown.pop("position", None) is None or shown != {"turn": PlayerSide.PLAYER, "dice": []}:
        return None
    return EarlyBoard(tracked.state.position, differences)


def _differences(tracked: TrackedMatch, shown: ShownBoard) -> tuple[Difference, ...]:
    """Return the differences between a board and the match; none where the match is not known yet."""
    ours, theirs, board = tracked.state, shown.state, shown.board
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
        pairs += [
            ("turn", tracked.turn or shown.turn, shown.turn),
            ("dice", sorted(tracked.dice or ()), sorted(shown.dice or ())),
            ("cube", ours.cube, theirs.cube),
            ("owner", ours.owner, shown.owner or ours.owner),
        ]
    return tuple(Difference(what, one, other) for what, one, other in pairs if one != other)


def _adopt_board(tracked: TrackedMatch, shown: ShownBoard, differences: tuple[Difference, ...]) -> TrackedMatch:
    """Take over what a board shows, and note how it differs from what was known."""
    board = shown.board
    early_board = _early_board(tracked, differences) if differences else None
    differences = tracked.differences if early_board else tracked.differences + differences
    if board.double_pending and tracked.doubled_by is None:
        tracked = note_double(fast_evolve(tracked, turn=PlayerSide.OPPONENT), PlayerSide.OPPONENT, 2 * board.cube)
    old = tracked.state
    state = shown.state if old is None or shown.owner else fast_evolve(shown.state, owner=old.owner)
    if tracked.doubled_by is None:
        if (shown.turn, sorted(shown.dice or ())) != (tracked.turn, sorted(tracked.dice or ())):
            # What was offered before the first board, as in a match that is resumed, is no older than it.
            offered_by = tracked.resigned_by if tracked.turn is None else None
            tracked = fast_evolve(give_turn(tracked, shown.turn, shown.dice), resigned_by=offered_by)
    elif old is not None:
        state = fast_evolve(state, cube=old.cube, owner=old.owner)
    if tracked.crawford_played:
        state = fast_evolve(state, crawford=False, post_crawford=state.length > 1)
    return fast_evolve(
        tracked,
        opponent=board.opponent,
        running=True,
        state=state,
        direction=board.direction,
        board_seen=True,
        crawford_played=tracked.crawford_played or state.post_crawford,
        early_board=early_board,
        differences=differences,
    )
