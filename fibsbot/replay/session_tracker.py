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
from fibsbot.fibs import play_from_fibs, player_position
from fibsbot.transcript.reconstruction import find_play

_MATCH_LEFT: Final = frozenset([m.MatchWon, m.YouLeft, m.OpponentGone, m.YourGameSaved, m.NotPlaying, m.JoinWho])
"""What ends a match of our own."""
_MATCH_ENTERED: Final = frozenset([m.OpponentJoined, m.YouJoined, m.OpponentResumed, m.YouResumed, m.GameStarts])


class SessionTracker:
    """Follows one connection after the other as the agent does."""

    def __init__(self, user: str) -> None:
        """Know no match."""
        self.track = TrackedMatch(user)
        self._left = False
        """Whether a match was left on this connection, so that a board of our own may be a copy of its last one."""
        self._asked = False
        """Whether we have asked for a board, and none has come since."""
        self._moved = False
        """Whether the last command was a move."""
        self.speaks = False
        """Whether moves of our own were heard on this connection; else only boards show them."""

    def know(self, user: str) -> None:
        """Learn our own name."""
        self.track = evolve(self.track, user=user)

    def is_stray(self, message: m.Board) -> bool:
        """Whether a board is a copy of an old one after the match was over, which must not lead into a match."""
        return self._left and not self._asked and message.state.player == YOU

    def hear(self, message: Message) -> tuple[Difference, ...]:
        """Follow a message; return in what it contradicts what was known."""
        if isinstance(message, m.Board):
            if self.is_stray(message):
                return ()
            self._asked = False
            if not self.speaks:
                self._look_for_own_play(message.state)
        elif type(message) in _MATCH_LEFT:
            self._left = True
        elif type(message) in _MATCH_ENTERED:
            self._left = False
        elif isinstance(message, m.OpeningRoll):
            self._look_for_watched(message)
        elif self._moved and isinstance(message, Refusal):
            self.track = evolve(self.track, own_play=None)
        before = self.track
        self.track = track = apply_message(before, message)
        if track.differences and not self.speaks and self._is_untold_play(before, track):
            self.track = evolve(track, differences=())
            return ()
        return track.differences

    @staticmethod
    def _is_untold_play(before: TrackedMatch, after: TrackedMatch) -> bool:
        """Whether all that is missing is a play of our own: no server tells us that, and no board has shown it."""
        ours = before.player == YOU and before.turn is PlayerSide.PLAYER and before.dice is not None
        return ours and [it.what for it in after.differences] == ["turn"]

    def _look_for_watched(self, message: m.OpeningRoll) -> None:
        """Notice that the game which began is watched: a capture may begin after the line that says so."""
        track = self.track
        if track.player != YOU or track.state is not None or track.opponent != message.opponent:
            return
        if track.side_of(message.player) is None:
            self.track = evolve(track, player=message.player)

    def _look_for_own_play(self, board: BoardState) -> None:
        """Find our own play, which nobody told, in the board that shows the position after it."""
        track = self.track
        if (
            board.player != YOU
            or track.player != YOU
            or track.turn is not PlayerSide.PLAYER
            or track.own_play is not None
        ):
            return
        if track.state is None or track.dice is None or board.turn is board.colour:
            return
        play = find_play(track.state.position.points, track.dice, player_position(board).points)
        if play is not None:
            self.track = evolve(track, own_play=play)

    def say(self, command: Command) -> None:
        """Take note of what we have sent: our own plays are not repeated to us."""
        self._moved = isinstance(command, c.Move)
        self.speaks = self.speaks or self._moved
        self._asked = self._asked or isinstance(command, c.ShowBoard)
        if isinstance(command, c.Move) and self.track.direction is not None:
            play = play_from_fibs(command.moves, self.track.direction)
            self.track = evolve(self.track, own_play=play)

    def cut(self) -> None:
        """Forget the match: the connection is lost."""
        self.track = without_match(self.track)
        self._left = self._asked = self._moved = self.speaks = False
