"""Checks a board against what is known of a match, and takes it over: the server's word is the truth."""

from __future__ import annotations

from fibsbot.bot.track import Ahead, Difference, Side, Track, cannot_move, doubled, make, new_match, turn_to
from fibsbot.evolving import evolve
from fibsbot.fibs import cube_owner, is_crawford, length_from_fibs, match_state, player_position
from fibsbot.match import Dice, MatchState
from protocol import messages as m
from protocol.board import BoardState
from protocol.words import YOU


def on_board(track: Track, message: m.Board) -> Track:
    """Return the match after a board; its `missed` tells what the board contradicted."""
    board = message.state
    if board.player != track.player:
        if track.player == YOU and track.opponent is not None:
            return track  # somebody else's board, by `look`
        track = new_match(track, board.opponent, player=board.player)
    if board.turn is None or (not track.running and track.game):
        return track  # between two games, or a copy of the last board
    if track.opponent is None and track.player == YOU:
        track = new_match(track, board.opponent)
    foreseen = _foreseen(track, board)
    if foreseen is not None:
        return foreseen
    # Our own play is not repeated to us, and not every server tells that the opponent cannot move.
    after = track
    if track.own_play is not None:
        after = turn_to(make(track, Side.PLAYER, track.own_play), Side.OPPONENT)
    elif track.turn is not None and cannot_move(track):
        after = turn_to(track, track.turn.other)
    shown = match_state(board)
    differences = _differences(track, board, shown)
    if after is not track and len(others := _differences(after, board, shown)) < len(differences):
        track, differences = after, others
    if _comes_first(track, differences) and track.state is not None:
        return evolve(_adopted(track, board, shown, ()), ahead=Ahead(track.state.position, differences))
    return _adopted(track, board, shown, differences)


def _foreseen(track: Track, board: BoardState) -> Track | None:
    """Return the match after a board that shows what is known, or that our own play was made; None for any other."""
    if _as_known(track, board):
        return track if track.board_seen else evolve(track, board_seen=True)
    if track.own_play is None or track.turn is not Side.PLAYER or track.doubled_by is not None:
        return None
    after = turn_to(make(track, Side.PLAYER, track.own_play), Side.OPPONENT)
    return evolve(after, board_seen=True) if _as_known(after, board) else None


def _as_known(track: Track, board: BoardState) -> bool:
    """Whether a board shows just what is known, as most do, so that there is nothing to take over."""
    ours = track.state
    if ours is None or not track.running or track.doubled_by is not None or board.was_doubled:
        return False
    if board.turn is board.colour:
        turn, dice = Side.PLAYER, board.dice
    else:
        turn, dice = Side.OPPONENT, board.opponent_dice
    known = track.dice or (0, 0)
    post_crawford = track.crawford_played
    return (
        turn is track.turn
        and (dice == known or dice == known[::-1])
        and board.cube == ours.cube
        and cube_owner(board) is ours.owner
        and ours.score == (board.score, board.opponent_score)
        and ours.length == length_from_fibs(board.length)
        and track.opponent == board.opponent
        and track.direction == board.direction
        and not track.missed
        and bool(board.post_crawford) is post_crawford is ours.post_crawford
        and (ours.length > 1 or not post_crawford)
        and ours.crawford is is_crawford(ours.length, ours.score, post_crawford=post_crawford)
        and player_position(board).points == ours.position.points
    )


def _comes_first(track: Track, differences: tuple[Difference, ...]) -> bool:
    """Whether a board shows that the opponent has played the dice on the board, which no line has said yet."""
    if track.turn is not Side.OPPONENT or track.dice is None:
        return False
    shown = {it.what: it.theirs for it in differences}
    return shown.pop("position", None) is not None and shown == {"turn": Side.PLAYER, "dice": []}


def _differences(track: Track, board: BoardState, theirs: MatchState) -> tuple[Difference, ...]:
    """Return in what a board contradicts the match; nothing where the match is not known yet."""
    ours = track.state
    if ours is None or not track.running:
        return ()
    pairs = [
        ("opponent", track.opponent or board.opponent, board.opponent),
        ("length", ours.length, theirs.length),
        ("score", ours.score, theirs.score),
        ("position", ours.position.points, theirs.position.points),
        ("direction", track.direction or board.direction, board.direction),
    ]
    if track.doubled_by is None:
        # The server turns the board round while a double waits for its answer.
        turn, dice = _turn_of(board)
        owner = cube_owner(board) or ours.owner
        pairs += [
            ("turn", track.turn or turn, turn),
            ("dice", sorted(track.dice or ()), sorted(dice or ())),
            ("cube", ours.cube, theirs.cube),
            ("owner", ours.owner, owner),
        ]
    return tuple(Difference(what, one, other) for what, one, other in pairs if one != other)


def _turn_of(board: BoardState) -> tuple[Side, Dice | None]:
    if board.turn == board.colour:
        return Side.PLAYER, _thrown(board.dice)
    return Side.OPPONENT, _thrown(board.opponent_dice)


def _thrown(dice: Dice) -> Dice | None:
    return None if dice == (0, 0) else dice


def _adopted(track: Track, board: BoardState, shown: MatchState, differences: tuple[Difference, ...]) -> Track:
    """Take over what a board shows, and in what it differs from what was known."""
    missed = track.missed + differences
    if board.double_pending and track.doubled_by is None:
        track = doubled(evolve(track, turn=Side.OPPONENT), Side.OPPONENT, 2 * board.cube)
    old = track.state
    state = shown if old is None or cube_owner(board) else evolve(shown, owner=old.owner)
    if track.doubled_by is None:
        turn, dice = _turn_of(board)
        if (turn, sorted(dice or ())) != (track.turn, sorted(track.dice or ())):
            track = turn_to(track, turn, dice)
    elif old is not None:
        state = evolve(state, cube=old.cube, owner=old.owner)
    if track.crawford_played:
        state = evolve(state, crawford=False, post_crawford=state.length > 1)
    return evolve(
        track,
        opponent=board.opponent,
        running=True,
        state=state,
        direction=board.direction,
        board_seen=True,
        crawford_played=track.crawford_played or state.post_crawford,
        missed=missed,
    )
