"""Tracks a match, ours or one that we watch, from the server's messages; tracked_match.py takes its boards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU, FibsMove
from fibsbot.bot.board_comparison import apply_board
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
    show_table,
)
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import (
    is_crawford,
    length_from_fibs,
    play_from_fibs,
)
from fibsbot.match import Dice, MatchState, Owner
from fibsbot.position import Position
from fibsbot.rules.backgammon import first_board
from fibsbot.rules.law_words import LawWordsError, parse_law_words

FIRST_TURN: Final = 2
"""The turn count while the opening roll is shown."""
_OWNERS: Final = {PlayerSide.PLAYER: Owner.PLAYER, PlayerSide.OPPONENT: Owner.OPPONENT}


def apply_message(tracked: TrackedMatch, message: Message) -> TrackedMatch:
    """Return the match after a message; its `differences` are what the message contradicted."""
    handler = _HANDLERS.get(type(message))
    tracked = fast_evolve(tracked, differences=()) if tracked.differences else tracked
    if handler is None or (type(message) in _SHOWN_BY_LINES and tracked.shown_whole):
        return tracked
    return (
        handler(tracked, message)
        if tracked.early_board is None
        else _apply_after_early_board(tracked, tracked.early_board, message, handler)
    )


def _apply_after_early_board(
    tracked: TrackedMatch,
    early_board: EarlyBoard,
    message: Message,
    handler: Callable[[TrackedMatch, Any], TrackedMatch],
) -> TrackedMatch:
    """Compare the message that follows an early board with what the board showed."""
    if (
        isinstance(message, m.Moves)
        and tracked.side_of(message.player) is PlayerSide.OPPONENT
        and tracked.state is not None
    ):
        before = fast_evolve(tracked, early_board=None, state=fast_evolve(tracked.state, board=early_board.position))
        said = _played(before, PlayerSide.OPPONENT, message.moves).state
        agrees = said is not None and said.position == tracked.state.position
        return fast_evolve(tracked, early_board=None, differences=() if agrees else early_board.differences)
    after = handler(fast_evolve(tracked, early_board=None), message)
    if isinstance(message, m.Board) and not after.differences and after.early_board is None:
        return fast_evolve(after, early_board=early_board)  # the same board again
    return fast_evolve(after, differences=early_board.differences + after.differences)


# -- the match ------------------------------------------------------------------------------------------------------


def _joined(tracked: TrackedMatch, message: m.OpponentJoined | m.YouJoined) -> TrackedMatch:
    state = MatchState(Position.start(), length=length_from_fibs(message.length))
    return next_match(tracked, message.name, state=state)


def _joined_game(tracked: TrackedMatch, message: m.OpponentJoinedGame | m.YouJoinedGame) -> TrackedMatch:
    return next_match(tracked, message.name)


def _table_shown(tracked: TrackedMatch, message: m.TableBoard) -> TrackedMatch:
    return show_table(tracked, message.state)


def _resumed(tracked: TrackedMatch, message: m.OpponentResumed | m.YouResumed) -> TrackedMatch:
    return next_match(tracked, message.name, running=True, game=1)


def _watch(tracked: TrackedMatch, message: m.YouWatch) -> TrackedMatch:
    return next_match(tracked, None, player=message.name)


def is_late_start(tracked: TrackedMatch, message: Message) -> bool:
    """Whether a line announces a game that has already started, with its opening roll and its board."""
    return (
        isinstance(message, m.GameStarts)
        and tracked.opening_before_start
        and tracked.board_seen
        and tracked.turn_count <= FIRST_TURN
    )


def _game_starts(tracked: TrackedMatch, message: m.GameStarts) -> TrackedMatch:
    if is_late_start(tracked, message):
        return fast_evolve(tracked, opening_before_start=False)
    if tracked.player == YOU and (tracked.opponent is None or _is_won(tracked)):
        tracked = next_match(tracked, message.opponent or None)
    return _begin_game(tracked, message.opponent or tracked.opponent)  # some servers leave the name out


def _is_won(tracked: TrackedMatch) -> bool:
    """Whether somebody has all points of the match, so that only a new one can follow."""
    return tracked.state is not None and 0 < tracked.state.length <= max(tracked.state.score)


def _begin_game(tracked: TrackedMatch, opponent: str | None) -> TrackedMatch:
    state = tracked.state
    if state is not None:
        state = MatchState(
            first_board(state.rules),
            rules=state.rules,
            length=state.length,
            score=state.score,
            crawford=is_crawford(state.length, state.score, post_crawford=tracked.crawford_played),
            post_crawford=tracked.crawford_played,
        )
    tracked = fast_evolve(
        tracked,
        opponent=opponent,
        game=tracked.game + 1,
        running=True,
        state=state,
        opening_before_start=False,
        due_scores=frozenset(),
    )
    return fast_evolve(give_turn(tracked, None), turn_count=0, direction=None, opening={})


def _opening(tracked: TrackedMatch, message: m.OpeningRoll) -> TrackedMatch:
    before = (
        tracked.game or tracked.state is not None
    )  # a match that goes on has a board, and no game that was announced
    if before and not tracked.running and tracked.player == YOU and not _is_won(tracked):
        tracked = fast_evolve(_begin_game(tracked, tracked.opponent), opening_before_start=True)
    sides = {
        tracked.side_of(message.player): message.player_die,
        tracked.side_of(message.opponent): message.opponent_die,
    }
    return fast_evolve(tracked, opening={side: die for side, die in sides.items() if side})


def _cube_raised(tracked: TrackedMatch, message: m.CubeRaised) -> TrackedMatch:
    if tracked.state is None:
        return tracked
    return fast_evolve(tracked, state=fast_evolve(tracked.state, cube=max(message.cube, 1)))


def _match_laws(tracked: TrackedMatch, message: m.MatchLaws) -> TrackedMatch:
    """Note the laws of a match that has begun; with an invitation they belong to a match that is yet to begin."""
    begun = tracked.opponent is not None or tracked.player != YOU
    if not begun or (tracked.running and tracked.state is not None):
        return tracked
    try:
        return fast_evolve(tracked, laws=parse_law_words(message.words))
    except LawWordsError:
        return tracked


def _may_rethrow(tracked: TrackedMatch, _: m.MayRethrow) -> TrackedMatch:
    return fast_evolve(tracked, may_reject=True)


def _roll_rejected(tracked: TrackedMatch, message: m.RollRejected) -> TrackedMatch:
    """The cube is raised and stays in the middle; the same player rolls again."""
    side = tracked.side_of(message.player)
    if side is None:
        return tracked
    state = tracked.state
    return give_turn(fast_evolve(tracked, state=state and fast_evolve(state, cube=max(message.cube, 1))), side)


def _first_move(tracked: TrackedMatch, message: m.FirstMove) -> TrackedMatch:
    side = tracked.side_of(message.player)
    if side is None:
        return tracked
    dice = (tracked.opening[side], tracked.opening[side.other]) if len(tracked.opening) == 2 else None
    return give_turn(tracked if tracked.running else _begin_unseen_game(tracked), side, dice)


def _game_won(tracked: TrackedMatch, message: m.GameWon | m.GaveUp | m.ResignAccepted | m.GameWonBy) -> TrackedMatch:
    side = tracked.side_of(message.winner)
    if not tracked.running or side is None:
        return tracked
    due = _due_scores(tracked, message)
    own_play_ends = isinstance(message, m.GameWon) and side is PlayerSide.PLAYER and not tracked.shown_whole
    if own_play_ends and tracked.own_play is not None:
        tracked = play_on_board(
            tracked, side, tracked.own_play
        )  # no board follows the last play, and our own is not repeated to us
    state = tracked.state
    if state is not None:
        mine, theirs = state.score
        score = (mine + message.points, theirs) if side is PlayerSide.PLAYER else (mine, theirs + message.points)
        tracked = fast_evolve(
            tracked, state=fast_evolve(state, score=score), crawford_played=tracked.crawford_played or state.crawford
        )
    return fast_evolve(give_turn(tracked, None), running=False, due_scores=due)


def _last_position(tracked: TrackedMatch) -> Position | None:
    """Return the position at the end of a game: no board follows our own last play, which is not repeated to us."""
    if tracked.own_play is not None:
        tracked = play_on_board(tracked, PlayerSide.PLAYER, tracked.own_play)
    return None if tracked.state is None else tracked.state.position


def _due_scores(
    tracked: TrackedMatch, message: m.GameWon | m.GaveUp | m.ResignAccepted | m.GameWonBy
) -> frozenset[tuple[int, int]]:
    """Return the scores to which a game that ends like this can lead; none if the game is not known well enough."""
    state = tracked.state
    if state is None:
        return frozenset()
    mine, theirs = state.score
    winner: PlayerSide | None = None
    points: tuple[int, ...] = ()
    if isinstance(message, m.ResignAccepted):
        if tracked.resigned_by is not None and tracked.resigned_points:
            winner, points = tracked.resigned_by.other, (tracked.resigned_points,)
    elif tracked.laws is not None or tracked.shown_whole:
        pass  # they may count otherwise
    elif isinstance(message, m.GaveUp):
        winner, points = tracked.doubled_by, (state.cube,)
    elif (last := _last_position(tracked)) is not None and last.over:
        winner = PlayerSide.PLAYER if last.off > last.opponent_off else PlayerSide.OPPONENT
        points = (state.cube, 2 * state.cube, 3 * state.cube)
    if winner is None:
        return frozenset()
    own = winner is PlayerSide.PLAYER
    return frozenset((mine + won, theirs) if own else (mine, theirs + won) for won in points)


def _score(tracked: TrackedMatch, message: m.Score) -> TrackedMatch:
    sides = (tracked.side_of(message.player1), tracked.side_of(message.player2))
    if tracked.state is None or set(sides) != set(PlayerSide):
        return tracked
    points = (message.points1, message.points2)
    score = points if sides[0] is PlayerSide.PLAYER else points[::-1]
    differences = () if tracked.state.score == score else (Difference("score", tracked.state.score, score),)
    return fast_evolve(tracked, state=fast_evolve(tracked.state, score=score), differences=differences)


def _match_over(tracked: TrackedMatch, _: Message) -> TrackedMatch:
    return fast_evolve(give_turn(tracked, None), running=False)


def _begin_unseen_game(tracked: TrackedMatch) -> TrackedMatch:
    """Note a game that is being played although nothing said that it began."""
    differences = (Difference("game", "none", "running"),) if tracked.opponent else ()
    return fast_evolve(tracked, running=True, game=tracked.game + 1, state=None, differences=differences)


# -- turns ----------------------------------------------------------------------------------------------------------


def _pass_turn(tracked: TrackedMatch, side: PlayerSide, dice: Dice | None = None) -> TrackedMatch:
    """Give the turn to a side whose message shows that it has it, although no line ended the other side's turn."""
    before = tracked.turn
    if before is not None and before is not side:
        if tracked.own_play is not None:
            tracked = play_on_board(tracked, PlayerSide.PLAYER, tracked.own_play)
        elif not cannot_move(tracked):
            tracked = fast_evolve(tracked, state=None, differences=(Difference("turn", before.name, side.name),))
    return give_turn(tracked, side, dice)


def _roll_prompt(tracked: TrackedMatch, _: m.RollOrDouble) -> TrackedMatch:
    if not tracked.running:
        tracked = _begin_unseen_game(tracked)
    if tracked.turn is not PlayerSide.PLAYER or tracked.dice:
        tracked = _pass_turn(tracked, PlayerSide.PLAYER)
    return fast_evolve(tracked, roll_prompted=True, resigned_by=None, doubled_by=None)


def _rolls(tracked: TrackedMatch, message: m.Rolls) -> TrackedMatch:
    side = tracked.side_of(message.player)
    if side is None or (tracked.turn is side and tracked.dice == message.dice):
        return tracked  # somebody else's, or the same line twice
    return _pass_turn(tracked if tracked.running else _begin_unseen_game(tracked), side, message.dice)


def _cannot_move_said(tracked: TrackedMatch, message: m.CannotMove) -> TrackedMatch:
    side = tracked.side_of(message.player)
    return give_turn(tracked, side.other) if side else tracked


def _moves(tracked: TrackedMatch, message: m.Moves) -> TrackedMatch:
    side = tracked.side_of(message.player)
    return _played(tracked, side, message.moves) if side else tracked


def _only_move(tracked: TrackedMatch, message: m.OnlyMove) -> TrackedMatch:
    return _played(tracked, tracked.turn, message.moves) if tracked.turn else tracked


def _played(tracked: TrackedMatch, side: PlayerSide, moves: tuple[FibsMove, ...]) -> TrackedMatch:
    direction = tracked.direction if side is PlayerSide.PLAYER or tracked.direction is None else -tracked.direction
    if direction is not None:
        tracked = play_on_board(tracked, side, play_from_fibs(moves, direction))
    return fast_evolve(give_turn(tracked, side.other), last_play=LastPlay(side, moves))


def _bears_off(tracked: TrackedMatch, _: m.BearsOff) -> TrackedMatch:
    # The specification does not say whether the line with the play that may follow repeats these moves.
    return fast_evolve(tracked, state=None)


# -- doubles and resignations ---------------------------------------------------------------------------------------


def _doubles(tracked: TrackedMatch, message: m.OpponentDoubles | m.YouDouble | m.WatchedDouble) -> TrackedMatch:
    """Let a side double at the beginning of its turn, which shows that it has the turn, and the other's is over.

    Where nobody has rolled, the turn is only that of a board, which is reversed while a double waits.
    """
    side = PlayerSide.PLAYER if isinstance(message, m.YouDouble) else tracked.side_of(message.player)
    may_redouble = not isinstance(message, m.WatchedDouble) and message.may_redouble
    if side is not None and tracked.turn is not side:
        if not tracked.running:
            tracked = _begin_unseen_game(tracked)
        tracked = _pass_turn(tracked, side) if tracked.dice else give_turn(tracked, side)
    return note_double(tracked, side, may_redouble=may_redouble)


def _you_redouble(tracked: TrackedMatch, message: m.YouRedouble) -> TrackedMatch:
    return note_double(tracked, PlayerSide.PLAYER, 2 * message.cube)


def _opponent_redoubles(tracked: TrackedMatch, message: m.OpponentRedoubles) -> TrackedMatch:
    return note_double(tracked, tracked.side_of(message.player), message.cube, may_redouble=message.may_redouble)


def _watched_redouble(tracked: TrackedMatch, message: m.WatchedRedouble) -> TrackedMatch:
    return note_double(tracked, tracked.side_of(message.player), 2 * tracked.offered_cube)


def _accepted(tracked: TrackedMatch, message: m.DoubleAccepted | m.RedoubleAccepted) -> TrackedMatch:
    side = tracked.side_of(message.player)
    if side is None:
        return tracked
    tracked = fast_evolve(tracked, doubled_by=None)
    if tracked.state is None:
        return tracked
    if tracked.turn is None and isinstance(message, m.RedoubleAccepted):
        return fast_evolve(tracked, state=None)  # after a new connection only the next board shows who has the cube
    cube = message.cube or tracked.offered_cube or 2 * tracked.state.cube
    # A player who beavers keeps the cube, whatever follows: the owner is always the opponent of the side on turn.
    owner = _OWNERS[tracked.turn.other if tracked.turn else side]
    return fast_evolve(tracked, state=fast_evolve(tracked.state, cube=cube, owner=owner))


def _resign_offer(tracked: TrackedMatch, message: m.ResignOffer) -> TrackedMatch:
    side = tracked.side_of(message.player)
    return fast_evolve(tracked, resigned_by=side, resigned_points=message.points) if side else tracked


def _resign_pending(tracked: TrackedMatch, _: m.AnswerResign) -> TrackedMatch:
    if tracked.resigned_by is PlayerSide.OPPONENT:
        return tracked
    return fast_evolve(tracked, resigned_by=PlayerSide.OPPONENT, resigned_points=0)


def _resign_rejected(tracked: TrackedMatch, _: m.ResignRejected) -> TrackedMatch:
    # The prompt to roll was before the offer: in a match that was resumed since, we have not seen it.
    to_roll = tracked.turn is PlayerSide.PLAYER and tracked.dice is None and tracked.board_seen
    return fast_evolve(tracked, resigned_by=None, roll_prompted=tracked.roll_prompted or to_roll)


def _nothing_pending(tracked: TrackedMatch, _: m.NothingToAnswer) -> TrackedMatch:
    return fast_evolve(tracked, resigned_by=None, doubled_by=None)


_HANDLERS: Final[Mapping[type[Message], Callable[[TrackedMatch, Any], TrackedMatch]]] = {
    m.OpponentJoined: _joined,
    m.YouJoined: _joined,
    m.OpponentResumed: _resumed,
    m.YouResumed: _resumed,
    m.YouWatch: _watch,
    m.OpponentJoinedGame: _joined_game,
    m.YouJoinedGame: _joined_game,
    m.TableBoard: _table_shown,
    m.GameWonBy: _game_won,
    m.GameDrawn: _match_over,
    m.GameStarts: _game_starts,
    m.OpeningRoll: _opening,
    m.CubeRaised: _cube_raised,
    m.MatchLaws: _match_laws,
    m.MayRethrow: _may_rethrow,
    m.RollRejected: _roll_rejected,
    m.FirstMove: _first_move,
    m.RollOrDouble: _roll_prompt,
    m.Rolls: _rolls,
    m.CannotMove: _cannot_move_said,
    m.Moves: _moves,
    m.OnlyMove: _only_move,
    m.BearsOff: _bears_off,
    m.Board: apply_board,
    m.YouDouble: _doubles,
    m.OpponentDoubles: _doubles,
    m.WatchedDouble: _doubles,
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
TRACKED_MESSAGES: Final = frozenset(_HANDLERS)
"""The messages that can change a tracked match."""
_SHOWN_BY_LINES: Final = frozenset(
    {
        *(m.OpeningRoll, m.CubeRaised, m.FirstMove, m.RollOrDouble, m.Rolls, m.CannotMove, m.Moves, m.OnlyMove),
        *(m.BearsOff, m.YouDouble, m.OpponentDoubles, m.WatchedDouble, m.YouRedouble, m.OpponentRedoubles),
        *(m.WatchedRedouble, m.DoubleAccepted, m.RedoubleAccepted, m.ResignOffer, m.ResignRejected, m.AnswerResign),
        *(m.NothingToAnswer, m.Score),
    }
)
"""Messages that say nothing new where each line shows the whole game, and so what they change."""
