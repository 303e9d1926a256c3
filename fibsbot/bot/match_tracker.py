"""Tracks a match, ours or one that we watch, from the server's messages and boards.

The server's board is the truth: it is compared with the tracked state and then adopted. `TrackedMatch.missed` has the
differences, so that they can be logged and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU, FibsMove

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
from fibsbot.fibs import cube_owner, is_crawford, length_from_fibs, match_state, play_from_fibs, player_position
from fibsbot.match import Dice, MatchState, Owner
from fibsbot.position import Position


def apply_board(track: TrackedMatch, message: m.Board) -> TrackedMatch:
    """Return the match after a board; its `missed` tells what the board contradicted."""
    board = message.state
    if board.player != track.player:
        if track.player == YOU and track.opponent is not None:
            return track  # somebody else's board, by `look`
        track = next_match(track, board.opponent, player=board.player)
    if board.turn is None or (not track.running and track.game):
        return track  # between two games, or a copy of the last board
    if track.opponent is None and track.player == YOU:
        track = next_match(track, board.opponent)
    foreseen = _apply_expected_board(track, board)
    if foreseen is not None:
        return foreseen
    # Our own play is not repeated to us, and not every server tells that the opponent cannot move.
    after = track
    if track.own_play is not None:
        after = give_turn(play_on_board(track, PlayerSide.PLAYER, track.own_play), PlayerSide.OPPONENT)
    elif track.turn is not None and cannot_move(track):
        after = give_turn(track, track.turn.other)
    shown = match_state(board)
    differences = _differences(track, board, shown)
    if after is not track and len(others := _differences(after, board, shown)) < len(differences):
        track, differences = after, others
    if _is_early_board(track, differences) and track.state is not None:
        return evolve(_adopt_board(track, board, shown, ()), ahead=EarlyBoard(track.state.position, differences))
    return _adopt_board(track, board, shown, differences)


def _apply_expected_board(track: TrackedMatch, board: BoardState) -> TrackedMatch | None:
    """Return the match after a board that shows what is known, or that our own play was made; None for any other."""
    if _shows_tracked_state(track, board):
        return track if track.board_seen else evolve(track, board_seen=True)
    if track.own_play is None or track.turn is not PlayerSide.PLAYER or track.doubled_by is not None:
        return None
    after = give_turn(play_on_board(track, PlayerSide.PLAYER, track.own_play), PlayerSide.OPPONENT)
    return evolve(after, board_seen=True) if _shows_tracked_state(after, board) else None


def _shows_tracked_state(track: TrackedMatch, board: BoardState) -> bool:
    """Whether a board shows just what is known, as most do, so that there is nothing to take over."""
    ours = track.state
    if ours is None or not track.running or track.doubled_by is not None or board.was_doubled:
        return False
    if board.turn is board.colour:
        turn, dice = PlayerSide.PLAYER, board.dice
    else:
        turn, dice = PlayerSide.OPPONENT, board.opponent_dice
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


def _is_early_board(track: TrackedMatch, differences: tuple[Difference, ...]) -> bool:
    """Whether a board shows that the opponent has played the dice on the board, which no line has said yet."""
    if track.turn is not PlayerSide.OPPONENT or track.dice is None:
        return False
    shown = {it.what: it.theirs for it in differences}
    return shown.pop("position", None) is not None and shown == {"turn": PlayerSide.PLAYER, "dice": []}


def _differences(track: TrackedMatch, board: BoardState, theirs: MatchState) -> tuple[Difference, ...]:
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


def _turn_of(board: BoardState) -> tuple[PlayerSide, Dice | None]:
    if board.turn == board.colour:
        return PlayerSide.PLAYER, _thrown(board.dice)
    return PlayerSide.OPPONENT, _thrown(board.opponent_dice)


def _thrown(dice: Dice) -> Dice | None:
    return None if dice == (0, 0) else dice


def _adopt_board(
    track: TrackedMatch, board: BoardState, shown: MatchState, differences: tuple[Difference, ...]
) -> TrackedMatch:
    """Take over what a board shows, and in what it differs from what was known."""
    missed = track.missed + differences
    if board.double_pending and track.doubled_by is None:
        track = note_double(evolve(track, turn=PlayerSide.OPPONENT), PlayerSide.OPPONENT, 2 * board.cube)
    old = track.state
    state = shown if old is None or cube_owner(board) else evolve(shown, owner=old.owner)
    if track.doubled_by is None:
        turn, dice = _turn_of(board)
        if (turn, sorted(dice or ())) != (track.turn, sorted(track.dice or ())):
            track = give_turn(track, turn, dice)
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


FIRST_TURN: Final = 2
"""The count of turns while the opening throw lies on the board."""
_OWNERS: Final = {PlayerSide.PLAYER: Owner.PLAYER, PlayerSide.OPPONENT: Owner.OPPONENT}


def apply_message(track: TrackedMatch, message: Message) -> TrackedMatch:
    """Return the match after a message; its `missed` tells what the message contradicted."""
    handler = _HANDLERS.get(type(message))
    track = evolve(track, missed=()) if track.missed else track
    if handler is None:
        return track
    return (
        handler(track, message)
        if track.ahead is None
        else _apply_after_early_board(track, track.ahead, message, handler)
    )


def _apply_after_early_board(
    track: TrackedMatch, ahead: EarlyBoard, message: Message, handler: Callable[[TrackedMatch, Any], TrackedMatch]
) -> TrackedMatch:
    """Hold the line after a board that was ahead of its line against what the board showed."""
    if (
        isinstance(message, m.Moves)
        and track.side_of(message.player) is PlayerSide.OPPONENT
        and track.state is not None
    ):
        before = evolve(track, ahead=None, state=evolve(track.state, position=ahead.position))
        said = _played(before, PlayerSide.OPPONENT, message.moves).state
        agrees = said is not None and said.position == track.state.position
        return evolve(track, ahead=None, missed=() if agrees else ahead.differences)
    after = handler(evolve(track, ahead=None), message)
    if isinstance(message, m.Board) and not after.missed and after.ahead is None:
        return evolve(after, ahead=ahead)  # the same board again
    return evolve(after, missed=ahead.differences + after.missed)


# -- the match ------------------------------------------------------------------------------------------------------


def _joined(track: TrackedMatch, message: m.OpponentJoined | m.YouJoined) -> TrackedMatch:
    state = MatchState(Position.start(), length=length_from_fibs(message.length))
    return next_match(track, message.name, state=state)


def _resumed(track: TrackedMatch, message: m.OpponentResumed | m.YouResumed) -> TrackedMatch:
    return next_match(track, message.name, running=True, game=1)


def _watch(track: TrackedMatch, message: m.YouWatch) -> TrackedMatch:
    return next_match(track, None, player=message.name)


def is_late_start(track: TrackedMatch, message: Message) -> bool:
    """Whether a line says that a game starts which has begun with its opening throw already, and has its board."""
    return isinstance(message, m.GameStarts) and track.unannounced and track.board_seen and track.turns <= FIRST_TURN


def _game_starts(track: TrackedMatch, message: m.GameStarts) -> TrackedMatch:
    if is_late_start(track, message):
        return evolve(track, unannounced=False)
    if track.player == YOU and (track.opponent is None or _is_won(track)):
        track = next_match(track, message.opponent or None)
    return _begin_game(track, message.opponent or track.opponent)  # some servers leave the name out


def _is_won(track: TrackedMatch) -> bool:
    """Whether somebody has all points of the match, so that only a new one can follow."""
    return track.state is not None and 0 < track.state.length <= max(track.state.score)


def _begin_game(track: TrackedMatch, opponent: str | None) -> TrackedMatch:
    state = track.state
    if state is not None:
        state = MatchState(
            Position.start(),
            length=state.length,
            score=state.score,
            crawford=is_crawford(state.length, state.score, post_crawford=track.crawford_played),
            post_crawford=track.crawford_played,
        )
    track = evolve(track, opponent=opponent, game=track.game + 1, running=True, state=state, unannounced=False)
    return evolve(give_turn(track, None), turns=0, direction=None, opening={})


def _opening(track: TrackedMatch, message: m.OpeningRoll) -> TrackedMatch:
    before = track.game or track.state is not None  # a match that goes on has a board, and no game that was announced
    if before and not track.running and track.player == YOU and not _is_won(track):
        track = evolve(_begin_game(track, track.opponent), unannounced=True)
    sides = {track.side_of(message.player): message.player_die, track.side_of(message.opponent): message.opponent_die}
    return evolve(track, opening={side: die for side, die in sides.items() if side})


def _cube_raised(track: TrackedMatch, message: m.CubeRaised) -> TrackedMatch:
    return track if track.state is None else evolve(track, state=evolve(track.state, cube=max(message.cube, 1)))


def _first_move(track: TrackedMatch, message: m.FirstMove) -> TrackedMatch:
    side = track.side_of(message.player)
    if side is None:
        return track
    dice = (track.opening[side], track.opening[side.other]) if len(track.opening) == 2 else None
    return give_turn(_running(track), side, dice)


def _game_won(track: TrackedMatch, message: m.GameWon | m.GaveUp | m.ResignAccepted) -> TrackedMatch:
    side = track.side_of(message.winner)
    if not track.running or side is None:
        return track
    if isinstance(message, m.GameWon) and side is PlayerSide.PLAYER and track.own_play is not None:
        track = play_on_board(
            track, side, track.own_play
        )  # no board follows the last play, and our own is not repeated to us
    state = track.state
    if state is not None:
        mine, theirs = state.score
        score = (mine + message.points, theirs) if side is PlayerSide.PLAYER else (mine, theirs + message.points)
        track = evolve(track, state=evolve(state, score=score), crawford_played=track.crawford_played or state.crawford)
    return evolve(give_turn(track, None), running=False)


def _score(track: TrackedMatch, message: m.Score) -> TrackedMatch:
    sides = (track.side_of(message.player1), track.side_of(message.player2))
    if track.state is None or set(sides) != set(PlayerSide):
        return track
    points = (message.points1, message.points2)
    score = points if sides[0] is PlayerSide.PLAYER else points[::-1]
    missed = () if track.state.score == score else (Difference("score", track.state.score, score),)
    return evolve(track, state=evolve(track.state, score=score), missed=missed)


def _match_over(track: TrackedMatch, _: Message) -> TrackedMatch:
    return evolve(give_turn(track, None), running=False)


def _running(track: TrackedMatch) -> TrackedMatch:
    """Notice that a game is being played although nothing said that it began."""
    if track.running:
        return track
    missed = (Difference("game", "none", "running"),) if track.opponent else ()
    return evolve(track, running=True, game=track.game + 1, state=None, missed=missed)


# -- turns ----------------------------------------------------------------------------------------------------------


def _pass_turn(track: TrackedMatch, side: PlayerSide, dice: Dice | None = None) -> TrackedMatch:
    """Give the turn to a side whose message shows that it has it, although nothing told how the other side's ended."""
    before = track.turn
    if before is side.other:
        if track.own_play is not None:
            track = play_on_board(track, PlayerSide.PLAYER, track.own_play)
        elif not cannot_move(track):
            track = evolve(track, state=None, missed=(Difference("turn", before.name, side.name),))
    return give_turn(track, side, dice)


def _roll_prompt(track: TrackedMatch, _: m.RollOrDouble) -> TrackedMatch:
    track = _running(track)
    if track.turn is not PlayerSide.PLAYER or track.dice:
        track = _pass_turn(track, PlayerSide.PLAYER)
    return evolve(track, prompted=True, resigned_by=None, doubled_by=None)


def _rolls(track: TrackedMatch, message: m.Rolls) -> TrackedMatch:
    side = track.side_of(message.player)
    if side is None or (track.turn is side and track.dice == message.dice):
        return track  # somebody else's, or the same line twice
    return _pass_turn(_running(track), side, message.dice)


def _cannot_move_said(track: TrackedMatch, message: m.CannotMove) -> TrackedMatch:
    side = track.side_of(message.player)
    return give_turn(track, side.other) if side else track


def _moves(track: TrackedMatch, message: m.Moves) -> TrackedMatch:
    side = track.side_of(message.player)
    return _played(track, side, message.moves) if side else track


def _only_move(track: TrackedMatch, message: m.OnlyMove) -> TrackedMatch:
    return _played(track, track.turn, message.moves) if track.turn else track


def _played(track: TrackedMatch, side: PlayerSide, moves: tuple[FibsMove, ...]) -> TrackedMatch:
    direction = track.direction if side is PlayerSide.PLAYER or track.direction is None else -track.direction
    if direction is not None:
        track = play_on_board(track, side, play_from_fibs(moves, direction))
    return give_turn(track, side.other)


def _bears_off(track: TrackedMatch, _: m.BearsOff) -> TrackedMatch:
    # The specification does not say whether the line with the play that may follow repeats these moves.
    return evolve(track, state=None)


# -- doubles and resignations ---------------------------------------------------------------------------------------


def _doubles(track: TrackedMatch, side: PlayerSide | None, *, may_redouble: bool = False) -> TrackedMatch:
    """Let a side double at the beginning of its turn, which shows that it has the turn, and the other's is over.

    Where nobody has thrown, the turn is only the one that a board has shown: it is turned round while a double waits.
    """
    if side is not None and track.turn is not side:
        track = _running(track)
        track = _pass_turn(track, side) if track.dice else give_turn(track, side)
    return note_double(track, side, may_redouble=may_redouble)


def _opponent_doubles(track: TrackedMatch, message: m.OpponentDoubles) -> TrackedMatch:
    return _doubles(track, track.side_of(message.player), may_redouble=message.may_redouble)


def _you_double(track: TrackedMatch, message: m.YouDouble) -> TrackedMatch:
    return _doubles(track, PlayerSide.PLAYER, may_redouble=message.may_redouble)


def _watched_double(track: TrackedMatch, message: m.WatchedDouble) -> TrackedMatch:
    return _doubles(track, track.side_of(message.player))


def _you_redouble(track: TrackedMatch, message: m.YouRedouble) -> TrackedMatch:
    return note_double(track, PlayerSide.PLAYER, 2 * message.cube)


def _opponent_redoubles(track: TrackedMatch, message: m.OpponentRedoubles) -> TrackedMatch:
    return note_double(track, track.side_of(message.player), message.cube, may_redouble=message.may_redouble)


def _watched_redouble(track: TrackedMatch, message: m.WatchedRedouble) -> TrackedMatch:
    return note_double(track, track.side_of(message.player), 2 * track.offered)


def _accepted(track: TrackedMatch, message: m.DoubleAccepted | m.RedoubleAccepted) -> TrackedMatch:
    side = track.side_of(message.player)
    if side is None:
        return track
    track = evolve(track, doubled_by=None)
    if track.state is None:
        return track
    cube = message.cube or track.offered or 2 * track.state.cube
    # Who beavers keeps the cube, whatever follows: it is always the opponent of the side on turn who has it.
    owner = _OWNERS[track.turn.other if track.turn else side]
    return evolve(track, state=evolve(track.state, cube=cube, owner=owner))


def _resign_offer(track: TrackedMatch, message: m.ResignOffer) -> TrackedMatch:
    side = track.side_of(message.player)
    return evolve(track, resigned_by=side, resigned_points=message.points) if side else track


def _resign_pending(track: TrackedMatch, _: m.AnswerResign) -> TrackedMatch:
    if track.resigned_by is PlayerSide.OPPONENT:
        return track
    return evolve(track, resigned_by=PlayerSide.OPPONENT, resigned_points=0)


def _resign_rejected(track: TrackedMatch, _: m.ResignRejected) -> TrackedMatch:
    return evolve(track, resigned_by=None)


def _nothing_pending(track: TrackedMatch, _: m.NothingToAnswer) -> TrackedMatch:
    return evolve(track, resigned_by=None, doubled_by=None)


_HANDLERS: Final[Mapping[type[Message], Callable[[TrackedMatch, Any], TrackedMatch]]] = {
    m.OpponentJoined: _joined,
    m.YouJoined: _joined,
    m.OpponentResumed: _resumed,
    m.YouResumed: _resumed,
    m.YouWatch: _watch,
    m.GameStarts: _game_starts,
    m.OpeningRoll: _opening,
    m.CubeRaised: _cube_raised,
    m.FirstMove: _first_move,
    m.RollOrDouble: _roll_prompt,
    m.Rolls: _rolls,
    m.CannotMove: _cannot_move_said,
    m.Moves: _moves,
    m.OnlyMove: _only_move,
    m.BearsOff: _bears_off,
    m.Board: apply_board,
    m.YouDouble: _you_double,
    m.OpponentDoubles: _opponent_doubles,
    m.WatchedDouble: _watched_double,
    m.YouRedouble: _you_redouble,
    m.OpponentRedoubles: _opponent_redoubles,
    m.WatchedRedouble: _watched_redouble,
    m.DoubleAccepted: _accepted,
    m.RedoubleAccepted: _accepted,
    m.ResignOffer: _resign_offer,
    m.ResignRejected: _resign_rejected,
    m.AnswerResign: _resign_pending,
    m.NothingToAnswer: _nothing_pending,
    m.GameWon: _game_won,
    m.GaveUp: _game_won,
    m.ResignAccepted: _game_won,
    m.Score: _score,
    m.MatchWon: _match_over,
    m.YouLeft: _match_over,
    m.OpponentGone: _match_over,
    m.YourGameSaved: _match_over,
    m.NotPlaying: _match_over,
    m.NobodyToLeave: _match_over,
    m.JoinWho: _match_over,
}
