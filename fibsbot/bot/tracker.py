"""Follows a match from what the server says, ours or one that we watch.

What the server contradicts is told by the track's `missed`, so that somebody can log and count it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fibsbot.bot.boards import on_board
from fibsbot.bot.track import Ahead, Difference, Side, Track, cannot_move, doubled, make, new_match, turn_to
from fibsbot.evolving import evolve
from fibsbot.fibs import is_crawford, length_from_fibs, play_from_fibs
from fibsbot.match import Dice, MatchState, Owner
from fibsbot.position import Position
from protocol import messages as m
from protocol.messages import Message
from protocol.words import YOU, FibsMove

FIRST_TURN: Final = 2
"""The count of turns while the opening throw lies on the board."""
_OWNERS: Final = {Side.PLAYER: Owner.PLAYER, Side.OPPONENT: Owner.OPPONENT}


def follow(track: Track, message: Message) -> Track:
    """Return the match after a message; its `missed` tells what the message contradicted."""
    handler = _HANDLERS.get(type(message))
    track = evolve(track, missed=()) if track.missed else track
    if handler is None:
        return track
    return handler(track, message) if track.ahead is None else _caught_up(track, track.ahead, message, handler)


def _caught_up(track: Track, ahead: Ahead, message: Message, handler: Callable[[Track, Any], Track]) -> Track:
    """Hold the line after a board that was ahead of its line against what the board showed."""
    if isinstance(message, m.Moves) and track.side_of(message.player) is Side.OPPONENT and track.state is not None:
        before = evolve(track, ahead=None, state=evolve(track.state, position=ahead.position))
        said = _played(before, Side.OPPONENT, message.moves).state
        agrees = said is not None and said.position == track.state.position
        return evolve(track, ahead=None, missed=() if agrees else ahead.differences)
    after = handler(evolve(track, ahead=None), message)
    if isinstance(message, m.Board) and not after.missed and after.ahead is None:
        return evolve(after, ahead=ahead)  # the same board again
    return evolve(after, missed=ahead.differences + after.missed)


# -- the match ------------------------------------------------------------------------------------------------------


def _joined(track: Track, message: m.OpponentJoined | m.YouJoined) -> Track:
    state = MatchState(Position.start(), length=length_from_fibs(message.length))
    return new_match(track, message.name, state=state)


def _resumed(track: Track, message: m.OpponentResumed | m.YouResumed) -> Track:
    return new_match(track, message.name, running=True, game=1)


def _watch(track: Track, message: m.YouWatch) -> Track:
    return new_match(track, None, player=message.name)


def starts_late(track: Track, message: Message) -> bool:
    """Whether a line says that a game starts which has begun with its opening throw already, and has its board."""
    return isinstance(message, m.GameStarts) and track.unannounced and track.board_seen and track.turns <= FIRST_TURN


def _game_starts(track: Track, message: m.GameStarts) -> Track:
    if starts_late(track, message):
        return evolve(track, unannounced=False)
    if track.player == YOU and (track.opponent is None or _is_won(track)):
        track = new_match(track, message.opponent or None)
    return _begin_game(track, message.opponent or track.opponent)  # some servers leave the name out


def _is_won(track: Track) -> bool:
    """Whether somebody has all points of the match, so that only a new one can follow."""
    return track.state is not None and 0 < track.state.length <= max(track.state.score)


def _begin_game(track: Track, opponent: str | None) -> Track:
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
    return evolve(turn_to(track, None), turns=0, direction=None, opening={})


def _opening(track: Track, message: m.OpeningRoll) -> Track:
    before = track.game or track.state is not None  # a match that goes on has a board, and no game that was announced
    if before and not track.running and track.player == YOU and not _is_won(track):
        track = evolve(_begin_game(track, track.opponent), unannounced=True)
    sides = {track.side_of(message.player): message.player_die, track.side_of(message.opponent): message.opponent_die}
    return evolve(track, opening={side: die for side, die in sides.items() if side})


def _cube_raised(track: Track, message: m.CubeRaised) -> Track:
    return track if track.state is None else evolve(track, state=evolve(track.state, cube=max(message.cube, 1)))


def _first_move(track: Track, message: m.FirstMove) -> Track:
    side = track.side_of(message.player)
    if side is None:
        return track
    dice = (track.opening[side], track.opening[side.other]) if len(track.opening) == 2 else None
    return turn_to(_running(track), side, dice)


def _game_won(track: Track, message: m.GameWon | m.GaveUp | m.ResignAccepted) -> Track:
    side = track.side_of(message.winner)
    if not track.running or side is None:
        return track
    if isinstance(message, m.GameWon) and side is Side.PLAYER and track.own_play is not None:
        track = make(track, side, track.own_play)  # no board follows the last play, and our own is not repeated to us
    state = track.state
    if state is not None:
        mine, theirs = state.score
        score = (mine + message.points, theirs) if side is Side.PLAYER else (mine, theirs + message.points)
        track = evolve(track, state=evolve(state, score=score), crawford_played=track.crawford_played or state.crawford)
    return evolve(turn_to(track, None), running=False)


def _score(track: Track, message: m.Score) -> Track:
    sides = (track.side_of(message.player1), track.side_of(message.player2))
    if track.state is None or set(sides) != set(Side):
        return track
    points = (message.points1, message.points2)
    score = points if sides[0] is Side.PLAYER else points[::-1]
    missed = () if track.state.score == score else (Difference("score", track.state.score, score),)
    return evolve(track, state=evolve(track.state, score=score), missed=missed)


def _match_over(track: Track, _: Message) -> Track:
    return evolve(turn_to(track, None), running=False)


def _running(track: Track) -> Track:
    """Notice that a game is being played although nothing said that it began."""
    if track.running:
        return track
    missed = (Difference("game", "none", "running"),) if track.opponent else ()
    return evolve(track, running=True, game=track.game + 1, state=None, missed=missed)


# -- turns ----------------------------------------------------------------------------------------------------------


def _pass_turn(track: Track, side: Side, dice: Dice | None = None) -> Track:
    """Give the turn to a side whose message shows that it has it, although nothing told how the other side's ended."""
    before = track.turn
    if before is side.other:
        if track.own_play is not None:
            track = make(track, Side.PLAYER, track.own_play)
        elif not cannot_move(track):
            track = evolve(track, state=None, missed=(Difference("turn", before.name, side.name),))
    return turn_to(track, side, dice)


def _roll_prompt(track: Track, _: m.RollOrDouble) -> Track:
    track = _running(track)
    if track.turn is not Side.PLAYER or track.dice:
        track = _pass_turn(track, Side.PLAYER)
    return evolve(track, prompted=True, resigned_by=None, doubled_by=None)


def _rolls(track: Track, message: m.Rolls) -> Track:
    side = track.side_of(message.player)
    if side is None or (track.turn is side and track.dice == message.dice):
        return track  # somebody else's, or the same line twice
    return _pass_turn(_running(track), side, message.dice)


def _cannot_move_said(track: Track, message: m.CannotMove) -> Track:
    side = track.side_of(message.player)
    return turn_to(track, side.other) if side else track


def _moves(track: Track, message: m.Moves) -> Track:
    side = track.side_of(message.player)
    return _played(track, side, message.moves) if side else track


def _only_move(track: Track, message: m.OnlyMove) -> Track:
    return _played(track, track.turn, message.moves) if track.turn else track


def _played(track: Track, side: Side, moves: tuple[FibsMove, ...]) -> Track:
    direction = track.direction if side is Side.PLAYER or track.direction is None else -track.direction
    if direction is not None:
        track = make(track, side, play_from_fibs(moves, direction))
    return turn_to(track, side.other)


def _bears_off(track: Track, _: m.BearsOff) -> Track:
    # The specification does not say whether the line with the play that may follow repeats these moves.
    return evolve(track, state=None)


# -- doubles and resignations ---------------------------------------------------------------------------------------


def _doubles(track: Track, side: Side | None, *, may_redouble: bool = False) -> Track:
    """Let a side double at the beginning of its turn, which shows that it has the turn, and the other's is over.

    Where nobody has thrown, the turn is only the one that a board has shown: it is turned round while a double waits.
    """
    if side is not None and track.turn is not side:
        track = _running(track)
        track = _pass_turn(track, side) if track.dice else turn_to(track, side)
    return doubled(track, side, may_redouble=may_redouble)


def _opponent_doubles(track: Track, message: m.OpponentDoubles) -> Track:
    return _doubles(track, track.side_of(message.player), may_redouble=message.may_redouble)


def _you_double(track: Track, message: m.YouDouble) -> Track:
    return _doubles(track, Side.PLAYER, may_redouble=message.may_redouble)


def _watched_double(track: Track, message: m.WatchedDouble) -> Track:
    return _doubles(track, track.side_of(message.player))


def _you_redouble(track: Track, message: m.YouRedouble) -> Track:
    return doubled(track, Side.PLAYER, 2 * message.cube)


def _opponent_redoubles(track: Track, message: m.OpponentRedoubles) -> Track:
    return doubled(track, track.side_of(message.player), message.cube, may_redouble=message.may_redouble)


def _watched_redouble(track: Track, message: m.WatchedRedouble) -> Track:
    return doubled(track, track.side_of(message.player), 2 * track.offered)


def _accepted(track: Track, message: m.DoubleAccepted | m.RedoubleAccepted) -> Track:
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


def _resign_offer(track: Track, message: m.ResignOffer) -> Track:
    side = track.side_of(message.player)
    return evolve(track, resigned_by=side, resigned_points=message.points) if side else track


def _resign_pending(track: Track, _: m.AnswerResign) -> Track:
    if track.resigned_by is Side.OPPONENT:
        return track
    return evolve(track, resigned_by=Side.OPPONENT, resigned_points=0)


def _resign_rejected(track: Track, _: m.ResignRejected) -> Track:
    return evolve(track, resigned_by=None)


def _nothing_pending(track: Track, _: m.NothingToAnswer) -> Track:
    return evolve(track, resigned_by=None, doubled_by=None)


_HANDLERS: Final[Mapping[type[Message], Callable[[Track, Any], Track]]] = {
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
    m.Board: on_board,
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
