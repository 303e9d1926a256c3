"""A session as it is read: the agent's own tracking of a match, which match is on, and which may be resumed.

The tracking is fed with the messages and commands of a recorded session. Nearly all messages belong to regular turns:
the player on turn rolls, a legal play follows, and each board shows just that. The game that is being built
(game_builder.py) then knows all that the tracked match would know, and compares the boards with it, so that tracking
would find nothing. Such messages are deferred: a board that shows the built game takes the place of those before it,
and the first message of another kind brings the tracked match up to date.

`SessionMatches` keeps matches of either kind. `TableMatches` also finds out when a match of a game other than
backgammon begins, breaks off and ends; the transcriber does so for backgammon.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import YOU, FibsMove
from fibsbot.bot.match_tracker import TRACKED_MESSAGES, apply_message
from fibsbot.bot.tracked_match import (
    Difference,
    LastPlay,
    PlayerSide,
    TrackedMatch,
    give_turn,
    shows_tracked_state,
    without_match,
)
from fibsbot.evolve import evolve
from fibsbot.fibs_numbering import play_from_fibs, player_position
from fibsbot.position import BAR, OFF
from fibsbot.replay.board_view import board_shows_state
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.replay.table_match import TableMatch
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Player, Throw
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
        self.match = evolve(self.match, user=user)

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
        state = match.state and evolve(match.state, position=player_position(board))
        match = evolve(match, state=state, board_seen=True, last_play=regular.play_before_board)
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
            self.match = evolve(self.match, own_play=None)
        before = self.match
        self.match = match = apply_message(before, message)
        if match.differences and not self.sees_own_moves and self._only_own_play_missing(before, match):
            self.match = evolve(match, differences=())
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
        return ours and [it.what for it in after.differences] == ["turn"]

    def _detect_watched_game(self, message: m.OpeningRoll) -> None:
        """Notice that a game is watched, as a capture may begin after the line that says so."""
        match = self.match
        if match.player != YOU or match.state is not None or match.opponent != message.opponent:
            return
        if match.side_of(message.player) is None:
            self.match = evolve(match, player=message.player)

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
        if match.state is None or match.dice is None or board.turn is board.colour:
            return
        play = find_play(match.state.position.points, match.dice, player_position(board).points)
        if play is not None:
            self.match = evolve(match, own_play=play)

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
        return evolve(match, own_play=play_from_fibs(command.moves, match.direction))

    def disconnect(self) -> None:
        """Forget the match, because the connection has ended."""
        self.match, self.regular = without_match(self.match), None
        self._has_left = self._board_requested = self._last_was_move = self.sees_own_moves = False


MatchKey: TypeAlias = tuple[int, frozenset[str]]
"""Number of the user's account and the opponent's name; 0 and both names for a match that is watched."""
MAX_INTERRUPTED: Final = 16
"""Interrupted matches that are kept because they may be resumed."""


def match_key(account: int, player: str, opponent: str) -> MatchKey:
    """Return the key of a match; `player` is YOU in one of the user's."""
    return (account, frozenset([opponent])) if player == YOU else (0, frozenset([player, opponent]))


class RecordedMatch(Protocol):
    """A match that is being built."""

    @property
    def number(self) -> int:
        """Its number among the matches of the session."""
        ...

    @property
    def is_won(self) -> bool:
        """Whether a player has all points of it."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether no more games are added to it, so that another one is begun in its place."""
        ...

    def interrupt(self) -> None:
        """Note that it broke off."""
        ...

    def resume(self) -> None:
        """Note that it goes on."""
        ...

    def close(self) -> None:
        """Finish it, as nothing more of it will be seen."""
        ...


_Match = TypeVar("_Match", bound=RecordedMatch)


class SessionMatches(Generic[_Match]):
    """The current match of a session, and the interrupted ones that may be resumed."""

    def __init__(self) -> None:
        """Start without matches."""
        self.current: _Match | None = None
        self._key: MatchKey | None = None
        self._interrupted: dict[MatchKey, _Match] = {}

    def select(self, key: MatchKey, make: Callable[[], _Match], *, new: bool = False) -> _Match:
        """Make a match current: the current or a resumed one, unless it is `new`, else one that `make` returns."""
        match = self.current
        if match is not None and key == self._key and not new and not match.is_full:
            return match
        self.interrupt()
        match = self._interrupted.pop(key, None)
        if match is not None and (new or match.is_won or match.is_full):
            match.close()
            match = None
        if match is not None:
            match.resume()
        self.current, self._key = match or make(), key
        return self.current

    def interrupt(self) -> None:
        """Put the current match aside, as it may be resumed."""
        match, key = self.current, self._key
        if match is None or key is None:
            return
        self.current = self._key = None
        match.interrupt()
        if match.is_won:
            match.close()
            return
        self._interrupted[key] = match
        if len(self._interrupted) > MAX_INTERRUPTED:
            self._interrupted.pop(next(iter(self._interrupted))).close()

    def close_current(self) -> None:
        """Finish the current match, which is over."""
        if self.current is not None:
            self.current.close()
        self.current = self._key = None

    def close(self) -> None:
        """Finish every match, as nothing more will come."""
        self.interrupt()
        for match in sorted(self._interrupted.values(), key=lambda match: match.number):
            match.close()
        self._interrupted.clear()


ENTERED: Final = frozenset([m.OpponentJoinedGame, m.YouJoinedGame, m.TableBoard, m.ChouetteSeat])
"""The messages that show that a match of another game is on, or a chouette."""
_LEFT: Final = frozenset(
    {
        *(m.OpponentJoined, m.YouJoined, m.OpponentResumed, m.YouResumed, m.YouWatch, m.YouStopWatching, m.WatchedGone),
        *(m.YouLeft, m.YourGameSaved, m.NotPlaying, m.JoinWho),
        *(m.LoginPrompt, m.Goodbye, m.ConnectionTimedOut),
    }
)
"""The messages after which a match is not on any more."""

_OF_THE_SESSION: Final = frozenset([m.Welcome, m.OwnInfo, m.WhoInfo])
"""Messages that say something about the user or the players, whatever is played."""


class TableMatches(SessionMatches[TableMatch]):
    """The matches of games other than backgammon of one or more sessions."""

    def __init__(
        self,
        emit: Callable[[MatchEvent], None],
        next_number: Callable[[], int],
        player_of: Callable[[str], Player] = Player,
    ) -> None:
        """Start without matches; `next_number` counts the matches of all games, `player_of` knows players by name."""
        super().__init__()
        self._emit = emit
        self._next_number = next_number
        self._player_of = player_of
        self.site = ""
        """The server of new matches."""

    def enter(self, message: Message, user: str, account: int, watched: str | None) -> bool:
        """Make the match of a message current, if it is one of the user's, or of the player who is watched."""
        if isinstance(message, m.TableBoard):
            line = message.state
            if line.player not in {YOU, watched}:
                return False
            self._select(line.player, line.opponent, user, account, new=False)
            return True
        if isinstance(message, m.OpponentJoinedGame | m.YouJoinedGame):
            match = self._select(YOU, message.name, user, account, new=True)
            match.set_game(message.game, message.length)
            return True
        return False

    def _select(self, player: str, opponent: str, user: str, account: int, *, new: bool) -> TableMatch:
        key = match_key(account, player, opponent)
        interrupted = self._interrupted.get(key)
        if interrupted is not None and interrupted.players[1] != opponent:
            new = True  # the other player is watched now
        own, name = player == YOU, (user or YOU) if player == YOU else player

        def make() -> TableMatch:
            players = (self._player_of(name), self._player_of(opponent))
            return TableMatch(self._next_number(), players, self._emit, own=own, site=self.site)

        return self.select(key, make, new=new)

    def receive(self, message: Message, at: dt.datetime | None, offset: int) -> bool:
        """Process a message while a match is on; return whether it belongs to that match or means nothing else."""
        match = self.current
        if match is None or type(message) in _OF_THE_SESSION:
            return False
        if _breaks_off(match, message):
            self.interrupt()
            return False
        match.receive(message, at, offset)
        if isinstance(message, m.MatchWon):
            self.close_current()
        return True

    def send(self, command: Command) -> None:
        """Process a command of the user's."""
        if self.current is not None:
            self.current.send(command)


def _breaks_off(match: TableMatch, message: Message) -> bool:
    """Whether a match is not on any more after a message."""
    match message:
        case m.OpponentGone(name=name):
            return match.seat_of(name) is not None
        case m.OpponentJoinedGame() | m.YouJoinedGame():
            return match.is_under_way
        case m.Board(state=board):
            return not match.own or board.player == YOU  # else it is the answer to `look`
    return type(message) in _LEFT
