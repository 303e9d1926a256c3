"""Follows a game from what the server says, ours or one that we watch, and checks every board against it.

The server's word is the truth: whatever a board shows is taken over. What differs from what we had is told, so that
somebody can log and count it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import evolve, frozen

from fibsbot.fibs import cube_owner, is_crawford, length_from_fibs, match_state, play_from_fibs
from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.plays import legal_plays
from protocol import messages as m
from protocol.board import BoardState
from protocol.messages import Message
from protocol.words import YOU, FibsMove


class Side(enum.Enum):
    """The two players of a board, whichever colours they have."""

    PLAYER = 1
    """Ourselves, or whom we watch."""
    OPPONENT = -1

    @property
    def other(self) -> Side:
        """The other side."""
        return Side(-self.value)


_OWNERS: Final = {Side.PLAYER: Owner.PLAYER, Side.OPPONENT: Owner.OPPONENT}


@frozen
class Difference:
    """Something in which the server and our own state did not agree."""

    what: str
    """Which part of the state."""
    ours: object
    theirs: object


@frozen
class Track:
    """A match, as far as it is known."""

    user: str
    """Our own account's name, which some lines use instead of `You`."""
    player: str = YOU
    """YOU, or the name of the player whom we watch."""
    opponent: str | None = None
    match: int = 0
    """Number of the match, counted from 1 over the whole run."""
    game: int = 0
    """Number of the game in the match, as far as we were there."""
    running: bool = False
    """Whether a game is being played."""
    state: MatchState | None = None
    """The game as the player sees it; None until it is known. Phase, dice and offers stand beside it."""
    direction: int | None = None
    """The player's; unknown until the game's first board."""
    turn: Side | None = None
    dice: Dice | None = None
    """What the side on turn has thrown."""
    turns: int = 0
    """Counts throws and changes of turn, so that no two decisions look the same."""
    prompted: bool = False
    """Whether the server waits for the player's `roll` or `double`."""
    board_seen: bool = False
    """Whether a board came since the last throw."""
    own_play: Play | None = None
    """The play that we have sent; the server does not repeat it."""
    opening: Mapping[Side, int] = {}
    """The opening throw, one die each."""
    doubled_by: Side | None = None
    offered: int = 0
    """What the cube shows when the double is accepted."""
    may_redouble: bool = False
    """Whether the side that was doubled may redouble at once."""
    resigned_by: Side | None = None
    resigned_points: int = 0
    """What the offer to resign is worth; 0 when we missed the line that says it."""
    crawford_played: bool = False
    missed: tuple[Difference, ...] = ()
    """What the last message contradicted."""

    def side_of(self, name: str) -> Side | None:
        """Return which side a name in a message means; None for somebody else."""
        if name == self.player or (self.player == YOU and name == self.user):
            return Side.PLAYER
        return Side.OPPONENT if name == self.opponent else None

    def position_of(self, side: Side) -> Position:
        """Return the position as this side sees it; the state must be known."""
        if self.state is None:
            raise ValueError("expected a known state")
        return self.state.position if side is Side.PLAYER else self.state.position.swapped()

    def decision(self, phase: Phase) -> MatchState:
        """Return one of the player's decisions as a strategy wants to see it; the state must be known."""
        if self.state is None:
            raise ValueError("expected a known state")
        level = min(max(self.resigned_points // self.state.cube, 1), 3) if phase is Phase.RESIGNED else 0
        return evolve(
            self.state,
            phase=phase,
            dice=self.dice if phase is Phase.MOVE else None,
            resignation=level,
            redoubles=int(self.may_redouble) if phase is Phase.DOUBLED else 0,
        )


def follow(track: Track, message: Message) -> Track:
    """Return the match after a message; its `missed` tells what the message contradicted."""
    handler = _HANDLERS.get(type(message))
    track = evolve(track, missed=()) if track.missed else track
    return handler(track, message) if handler else track


def forget(track: Track) -> Track:
    """Return a track that knows no match: after it has ended, or the connection."""
    return Track(user=track.user, match=track.match)


# -- the match ------------------------------------------------------------------------------------------------------


def _new_match(track: Track, opponent: str | None, **known: Any) -> Track:
    return Track(user=track.user, match=track.match + 1, opponent=opponent, **known)


def _joined(track: Track, message: m.OpponentJoined | m.YouJoined) -> Track:
    state = MatchState(Position.start(), length=length_from_fibs(message.length))
    return _new_match(track, message.name, state=state)


def _resumed(track: Track, message: m.OpponentResumed | m.YouResumed) -> Track:
    return _new_match(track, message.name, running=True, game=1)


def _watch(track: Track, message: m.YouWatch) -> Track:
    return _new_match(track, None, player=message.name)


def _game_starts(track: Track, message: m.GameStarts) -> Track:
    if track.opponent is None and track.player == YOU:
        track = _new_match(track, message.opponent)
    state = track.state
    if state is not None:
        state = MatchState(
            Position.start(),
            length=state.length,
            score=state.score,
            crawford=is_crawford(state.length, state.score, post_crawford=track.crawford_played),
            post_crawford=track.crawford_played,
        )
    track = evolve(track, opponent=message.opponent, game=track.game + 1, running=True, state=state)
    return evolve(_turn_to(track, None), turns=0, direction=None, opening={})


def _opening(track: Track, message: m.OpeningRoll) -> Track:
    sides = {track.side_of(message.player): message.player_die, track.side_of(message.opponent): message.opponent_die}
    return evolve(track, opening={side: die for side, die in sides.items() if side})


def _cube_raised(track: Track, message: m.CubeRaised) -> Track:
    return track if track.state is None else evolve(track, state=evolve(track.state, cube=message.cube))


def _first_move(track: Track, message: m.FirstMove) -> Track:
    side = track.side_of(message.player)
    if side is None:
        return track
    dice = (track.opening[side], track.opening[side.other]) if len(track.opening) == 2 else None
    return evolve(_turn_to(_running(track), side), dice=dice)


def _game_won(track: Track, message: m.GameWon | m.GaveUp | m.ResignAccepted) -> Track:
    side = track.side_of(message.winner)
    if not track.running or side is None:
        return track
    state = track.state
    if state is not None:
        mine, theirs = state.score
        score = (mine + message.points, theirs) if side is Side.PLAYER else (mine, theirs + message.points)
        track = evolve(track, state=evolve(state, score=score), crawford_played=track.crawford_played or state.crawford)
    return evolve(_turn_to(track, None), running=False)


def _score(track: Track, message: m.Score) -> Track:
    sides = (track.side_of(message.player1), track.side_of(message.player2))
    if track.state is None or set(sides) != set(Side):
        return track
    points = (message.points1, message.points2)
    score = points if sides[0] is Side.PLAYER else points[::-1]
    missed = () if track.state.score == score else (Difference("score", track.state.score, score),)
    return evolve(track, state=evolve(track.state, score=score), missed=missed)


def _match_over(track: Track, _: Message) -> Track:
    return evolve(_turn_to(track, None), running=False)


def _running(track: Track) -> Track:
    """Notice that a game is being played although nothing said that it began."""
    if track.running:
        return track
    missed = (Difference("game", "none", "running"),) if track.opponent else ()
    return evolve(track, running=True, game=track.game + 1, state=None, missed=missed)


# -- turns ----------------------------------------------------------------------------------------------------------


def _turn_to(track: Track, side: Side | None) -> Track:
    return evolve(
        track,
        turn=side,
        turns=track.turns + 1,
        dice=None,
        prompted=False,
        board_seen=False,
        own_play=None,
        doubled_by=None,
        resigned_by=None,
    )


def _pass_turn(track: Track, side: Side) -> Track:
    """Give the turn to a side whose message shows that it has it, although nothing told how the other side's ended."""
    before = track.turn
    if before is side.other:
        if track.own_play is not None:
            track = _make(track, Side.PLAYER, track.own_play)
        elif not _cannot_move(track):
            track = evolve(track, state=None, missed=(Difference("turn", before.name, side.name),))
    return _turn_to(track, side)


def _cannot_move(track: Track) -> bool:
    if track.state is None or track.dice is None or track.turn is None:
        return False
    return not legal_plays(track.position_of(track.turn), track.dice)


def _roll_prompt(track: Track, _: m.RollOrDouble) -> Track:
    track = _running(track)
    if track.turn is not Side.PLAYER or track.dice:
        track = _pass_turn(track, Side.PLAYER)
    return evolve(track, prompted=True, resigned_by=None, doubled_by=None)


def _rolls(track: Track, message: m.Rolls) -> Track:
    side = track.side_of(message.player)
    if side is None or (track.turn is side and track.dice == message.dice):
        return track  # somebody else's, or the same line twice
    return evolve(_pass_turn(_running(track), side), dice=message.dice)


def _cannot_move_said(track: Track, message: m.CannotMove) -> Track:
    side = track.side_of(message.player)
    return _turn_to(track, side.other) if side else track


def _moves(track: Track, message: m.Moves) -> Track:
    side = track.side_of(message.player)
    return _played(track, side, message.moves) if side else track


def _only_move(track: Track, message: m.OnlyMove) -> Track:
    return _played(track, track.turn, message.moves) if track.turn else track


def _played(track: Track, side: Side, moves: tuple[FibsMove, ...]) -> Track:
    direction = track.direction if side is Side.PLAYER or track.direction is None else -track.direction
    if direction is not None:
        track = _make(track, side, play_from_fibs(moves, direction))
    return _turn_to(track, side.other)


def _bears_off(track: Track, _: m.BearsOff) -> Track:
    # The specification does not say whether the line with the play that may follow repeats these moves.
    return evolve(track, state=None)


def _make(track: Track, side: Side, play: Play) -> Track:
    """Make a play if the position allows it at all; whether it was legal is the server's concern."""
    if track.state is None:
        return track
    position = track.position_of(side)
    for move in play.moves:
        possible = OFF <= move.target < move.source <= BAR and position.points[move.source] > 0
        if not possible or (move.target != OFF and position.points[move.target] < -1):
            return evolve(track, state=None, missed=(Difference("moves", position.points, play.moves),))
        position = position.after(move)
    return evolve(track, state=evolve(track.state, position=position if side is Side.PLAYER else position.swapped()))


# -- doubles and resignations ---------------------------------------------------------------------------------------


def _doubled(track: Track, side: Side | None, offered: int = 0, *, may_redouble: bool = False) -> Track:
    if side is None:
        return track
    state = track.state
    if state is not None:
        offered = offered or 2 * state.cube
        state = evolve(state, cube=offered // 2)  # who redoubles has accepted what was offered before
    return evolve(track, state=state, doubled_by=side, offered=offered, may_redouble=may_redouble, prompted=False)


def _opponent_doubles(track: Track, message: m.OpponentDoubles) -> Track:
    return _doubled(track, track.side_of(message.player), may_redouble=message.may_redouble)


def _you_double(track: Track, message: m.YouDouble) -> Track:
    return _doubled(track, Side.PLAYER, may_redouble=message.may_redouble)


def _watched_double(track: Track, message: m.WatchedDouble) -> Track:
    return _doubled(track, track.side_of(message.player))


def _you_redouble(track: Track, message: m.YouRedouble) -> Track:
    return _doubled(track, Side.PLAYER, 2 * message.cube)


def _opponent_redoubles(track: Track, message: m.OpponentRedoubles) -> Track:
    return _doubled(track, track.side_of(message.player), message.cube, may_redouble=message.may_redouble)


def _watched_redouble(track: Track, message: m.WatchedRedouble) -> Track:
    return _doubled(track, track.side_of(message.player), 2 * track.offered)


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


# -- boards ---------------------------------------------------------------------------------------------------------


def _board(track: Track, message: m.Board) -> Track:
    board = message.state
    if board.player != track.player:
        if track.player == YOU and track.opponent is not None:
            return track  # somebody else's board, by `look`
        track = _new_match(track, board.opponent, player=board.player)
    if board.turn is None or (not track.running and track.game):
        return track  # between two games, or a copy of the last board
    if track.opponent is None and track.player == YOU:
        track = _new_match(track, board.opponent)
    if track.own_play is not None:
        after = _turn_to(_make(track, Side.PLAYER, track.own_play), Side.OPPONENT)
        track = min((track, after), key=lambda candidate: len(_differences(candidate, board)))
    return _adopted(track, board)


def _differences(track: Track, board: BoardState) -> tuple[Difference, ...]:
    """Return in what a board contradicts the match; nothing where the match is not known yet."""
    ours, theirs = track.state, match_state(board)
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


def _adopted(track: Track, board: BoardState) -> Track:
    """Take over what a board shows."""
    missed = track.missed + _differences(track, board)
    if board.was_doubled and track.doubled_by is None:
        track = _doubled(evolve(track, turn=Side.OPPONENT), Side.OPPONENT, 2 * board.cube)
    old = track.state
    owner = cube_owner(board) or (old.owner if old else None)
    state = match_state(board, owner=owner)
    if track.doubled_by is None:
        turn, dice = _turn_of(board)
        if (turn, sorted(dice or ())) != (track.turn, sorted(track.dice or ())):
            track = evolve(_turn_to(track, turn), dice=dice)
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
    m.Board: _board,
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
}
