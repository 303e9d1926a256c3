"""The agent's own tracking of a match, fed with the messages and commands of a recorded session."""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import YOU
from fibsbot.bot.match_tracker import apply_message
from fibsbot.bot.tracked_match import Difference, PlayerSide, TrackedMatch, without_match
from fibsbot.evolve import evolve
from fibsbot.fibs_numbering import play_from_fibs, player_position
from fibsbot.transcript.reconstruction import find_play

_MATCH_LEFT: Final = frozenset([m.MatchWon, m.YouLeft, m.OpponentGone, m.YourGameSaved, m.NotPlaying, m.JoinWho])
"""The messages that end a match of the user."""
_MATCH_ENTERED: Final = frozenset([m.OpponentJoined, m.YouJoined, m.OpponentResumed, m.YouResumed, m.GameStarts])
_NOTED: Final = _MATCH_LEFT | _MATCH_ENTERED | {m.OpeningRoll}
"""The messages other than boards that are noted before the agent's tracking gets them."""


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

    def set_user(self, user: str) -> None:
        """Set the user's name."""
        self.match = evolve(self.match, user=user)

    def receive(self, message: Message) -> tuple[Difference, ...] | None:
        """Process a message; return in what it contradicts the state known so far.

        None for a board that is a copy of an old one and came after the match was over, so that it must not lead into
        the match again.
        """
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
            return ()
        return match.differences

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
        if isinstance(command, c.Move) and self.match.direction is not None:
            play = play_from_fibs(command.moves, self.match.direction)
            self.match = evolve(self.match, own_play=play)

    def disconnect(self) -> None:
        """Forget the match, because the connection has ended."""
        self.match = without_match(self.match)
        self._has_left = self._board_requested = self._last_was_move = self.sees_own_moves = False
