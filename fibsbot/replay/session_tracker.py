"""The agent's own tracking of the matches of a session that is read.

It is fed with the messages and commands of a recorded session. Nearly all messages belong to regular turns:
the player on turn rolls, a legal play follows, and each board shows just that. The game that is being built
(game_builder.py) then knows all that the tracked match would know, and compares the boards with it, so that tracking
would find nothing. Such messages are deferred: a board that shows the built game takes the place of those before it,
and the first message of another kind brings the tracked match up to date.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import YOU, FibsMove
from fibsbot.bot.board_comparison import shows_tracked_state
from fibsbot.bot.match_tracker import TRACKED_MESSAGES, apply_message
from fibsbot.bot.tracked_match import (
    Difference,
    LastPlay,
    PlayerSide,
    TrackedMatch,
    give_turn,
    without_match,
)
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import play_from_fibs, player_position
from fibsbot.position import BAR, OFF
from fibsbot.replay.board_view import board_shows_state
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Throw
from fibsbot.transcript.reconstruction import find_play

_MATCH_LEFT: Final = frozenset([m.MatchWon, m.YouLeft, m.OpponentGone, m.YourGameSaved, m.NotPlaying, m.JoinWho])
"""The messages that end a match of the user."""
_MATCH_ENTERED: Final = frozenset([m.OpponentJoined, m.YouJoined, m.OpponentResumed, m.YouResumed, m.GameStarts])
_NOTED: Final = _MATCH_LEFT | _MATCH_ENTERED | {m.OpeningRoll}
"""The messages other than boards that are noted before the agent's tracking gets them."""
REGULAR_MESSAGES: Final = frozenset([m.Board, m.Rolls, m.Moves, m.CannotMove, m.RollOrDouble])
"""The messages of regular turns."""
MAX_DEFERRED: Final = 16
"""Messages that are deferred without a board that takes their place."""
_ENTERED: Final = 13
"""The first point beyond the half of the board in which checkers are borne off; they enter there."""


@define
class RegularTurns:
    """Regular turns of the user's game, which the tracked match does not know of yet."""

    game: GameBuilder
    board: BoardState
    """The last board that showed the state of the game, with no play sent and unconfirmed."""
    turn: Seat
    """Who is on turn."""
    since: list[Message | c.Move] = field(factory=list)
    """The messages and plays since that board."""
    play_before_board: LastPlay | None = None
    """The play that ended the turn before that board."""
    last_play: LastPlay | None = field(init=False)
    """The play that ended the last turn."""

    def __attrs_post_init__(self) -> None:
        """Begin with a board that shows the position after the last play."""
        self.last_play = self.play_before_board

    def goes_on(self, board: BoardState) -> bool:
        """Whether a board is of this game, and shows nothing but a turn."""
        last = self.board
        return (
            board.player == YOU
            and board.opponent == last.opponent
            and board.direction == last.direction
            and board.post_crawford == last.post_crawford
            and board.turn is not None
            and not (board.was_doubled and board.double_pending)
        )

    def take_board(self, message: m.Board) -> bool:
        """Take a board that shows the built game; return whether it is regular."""
        board, game = message.state, self.game
        self.turn = game.settled_state.turn
        if game.sent_play is None:
            self.board = board
            self.play_before_board = self.last_play
            self.since.clear()
            return True
        self.since.append(message)
        return len(self.since) <= MAX_DEFERRED

    def take(self, message: Message, entries: int) -> bool:
        """Take another message, which the built game has got; return whether it is regular.

        `entries` is how many entries the game had before it.
        """
        game, turn = self.game, self.turn
        if isinstance(message, m.RollOrDouble):
            regular = turn is Seat.A and game.rolled is None
        elif isinstance(message, m.Rolls):
            regular = game.rolled is not None and game.rolled.seat is turn
        else:
            last = game.entries[-1] if len(game.entries) == entries + 1 else None
            regular = isinstance(last, Throw) and last.seat is turn
            if isinstance(message, m.Moves):
                regular = regular and self.is_in_order(message.moves)
            self.turn = turn.other
        if regular and len(self.since) < MAX_DEFERRED:
            self.since.append(message)
            if not isinstance(message, m.RollOrDouble):
                side = PlayerSide.PLAYER if turn is Seat.A else PlayerSide.OPPONENT
                self.last_play = LastPlay(side, message.moves) if isinstance(message, m.Moves) else None
            return True
        return False

    def is_in_order(self, moves: Iterable[FibsMove]) -> bool:
        """Whether the player on turn makes these moves in their direction, the farthest checker first.

        The tracked match makes moves in the order in which they were written, which may not be possible in another one.
        """
        downward = (self.board.direction < 0) is (self.turn is Seat.A)
        last = BAR
        for move in moves:
            source, target = move.source, move.target
            far = BAR if source is None else source if downward else BAR - source
            near = OFF if target is None else target if downward else BAR - target
            if not near < far <= last or (source is None and near < _ENTERED) or (target is None and far >= _ENTERED):
                return False
            last = far
        return True


class SessionTracker:
    """Tracks the matches of one connection after another as the agent does."""

    def __init__(self, user: str) -> None:
        """Start outside of any match; `user` is empty while the user is unknown."""
        self.match = TrackedMatch(user)
        self.sees_own_moves = False
        """Whether the user's moves were seen on this connection; else only boards show them."""
        self._has_left = False
        """Whether a match was left on this connection, so that a board of the user's may be a copy of its last one."""
        self._board_requested = False
        """Whether a board was requested and none has come since."""
        self._last_was_move = False
        """Whether the last command was a move."""
        self.regular: RegularTurns | None = None
        """The regular turns since the tracked match was up to date, if it is not."""

    def set_user(self, user: str) -> None:
        """Set the user's name."""
        self._catch_up()
        self.match = fast_evolve(self.match, user=user)

    def begin_regular_turns(self, board: BoardState, game: GameBuilder) -> None:
        """Defer the tracking from here on, if a board has shown both the built game and the tracked match."""
        match, state = self.match, game.state
        if (
            (self.sees_own_moves or game.silent_seat is Seat.A)
            and game.is_known
            and game.sent_play is None
            and state.stage in (Stage.ROLL, Stage.MOVE)
            and match.player == YOU
            and match.own_play is None
            and match.early_board is None
            and shows_tracked_state(match, board)
            and board_shows_state(board, Seat.A, state)
        ):
            self.regular = RegularTurns(game, board, state.turn, play_before_board=match.last_play)

    def _catch_up(self) -> tuple[Difference, ...]:
        """Bring the tracked match up to date; return how deferred messages contradict it: not at all, as a rule."""
        regular, self.regular = self.regular, None
        if regular is None:
            return ()
        board, match = regular.board, self.match
        own_turn = board.turn is board.colour
        dice = board.dice if own_turn else board.opponent_dice
        side = PlayerSide.PLAYER if own_turn else PlayerSide.OPPONENT
        match = give_turn(match, side, None if dice == (0, 0) else dice)
        state = match.state and fast_evolve(match.state, board=player_position(board))
        match = fast_evolve(match, state=state, board_seen=True, last_play=regular.play_before_board)
        differences: tuple[Difference, ...] = ()
        for event in regular.since:
            match = self._with_own_play(match, event) if isinstance(event, c.Move) else apply_message(match, event)
            differences += match.differences
        self.match = match
        return differences

    def receive(self, message: Message) -> tuple[Difference, ...] | None:
        """Process a message; return how it contradicts the state known so far.

        None for a board that is a copy of an old one and came after the match was over, so that it must not lead into
        the match again.
        """
        late: tuple[Difference, ...] = ()
        if self.regular is not None:
            if type(message) not in TRACKED_MESSAGES and not isinstance(message, Refusal):
                return ()
            late = self._catch_up()
        if isinstance(message, m.Board):
            if self._has_left and not self._board_requested and message.state.player == YOU:
                return None
            self._board_requested = False
            if not self.sees_own_moves:
                self._infer_own_play(message.state)
        elif type(message) in _NOTED:
            self._note(message)
        elif self._last_was_move and isinstance(message, Refusal):
            self.match = fast_evolve(self.match, own_play=None)
        before = self.match
        self.match = match = apply_message(before, message)
        if match.differences and not self.sees_own_moves and self._only_own_play_missing(before, match):
            self.match = fast_evolve(match, differences=())
            return late
        return late + match.differences if late else match.differences

    def _note(self, message: Message) -> None:
        """Note that a match was left or entered, or which one is watched."""
        if isinstance(message, m.OpeningRoll):
            self._detect_watched_game(message)
        else:
            self._has_left = type(message) in _MATCH_LEFT

    @staticmethod
    def _only_own_play_missing(before: TrackedMatch, after: TrackedMatch) -> bool:
        """Whether only a play of the user's is missing, which no server reports and no board has shown."""
        ours = before.player == YOU and before.turn is PlayerSide.PLAYER and before.dice is not None
        return ours and [difference.what for difference in after.differences] == ["turn"]

    def _detect_watched_game(self, message: m.OpeningRoll) -> None:
        """Notice that a game is watched, as a capture may begin after the line that says so."""
        match = self.match
        if match.player != YOU or match.state is not None or match.opponent != message.opponent:
            return
        if match.side_of(message.player) is None:
            self.match = fast_evolve(match, player=message.player)

    def _infer_own_play(self, board: BoardState) -> None:
        """Infer the user's play, which was not reported, from the board after it."""
        match = self.match
        if (
            board.player != YOU
            or match.player != YOU
            or match.turn is not PlayerSide.PLAYER
            or match.own_play is not None
        ):
            return
        if match.state is None or match.shown_whole or match.dice is None or board.turn is board.colour:
            return
        play = find_play(match.state.position.points, match.dice, player_position(board).points)
        if play is not None:
            self.match = fast_evolve(match, own_play=play)

    def send(self, command: Command) -> None:
        """Process a command of the user's; the server does not repeat the user's own plays."""
        self._last_was_move = isinstance(command, c.Move)
        self.sees_own_moves = self.sees_own_moves or self._last_was_move
        self._board_requested = self._board_requested or isinstance(command, c.ShowBoard)
        if isinstance(command, c.Move):
            regular = self.regular
            if regular is not None and regular.turn is Seat.A and regular.is_in_order(command.moves):
                regular.since.append(command)
            else:
                self._catch_up()
                self.match = self._with_own_play(self.match, command)

    @staticmethod
    def _with_own_play(match: TrackedMatch, command: c.Move) -> TrackedMatch:
        if match.direction is None:
            return match
        return fast_evolve(match, own_play=play_from_fibs(command.moves, match.direction))

    def disconnect(self) -> None:
        """Forget the match, because the connection has ended."""
        self.match, self.regular = without_match(self.match), None
        self._has_left = self._board_requested = self._last_was_move = self.sees_own_moves = False
