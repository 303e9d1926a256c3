"""The matches of games other than backgammon in a session: which one is on, and when it begins, breaks off and ends."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, TypeAlias

from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.table_match import TableMatch

_Key: TypeAlias = tuple[int, frozenset[str]]

MAX_INTERRUPTED: Final = 16
"""Interrupted matches that are kept because they may be resumed."""
ENTERED: Final = frozenset([m.OpponentJoinedGame, m.YouJoinedGame, m.TableBoard])
"""The messages that show that a match of another game is on."""
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


class TableMatches:
    """The matches of games other than backgammon of one or more sessions."""

    def __init__(self, emit: Callable[[MatchEvent], None], next_number: Callable[[], int]) -> None:
        """Start without matches; `next_number` counts the matches of all games."""
        self.current: TableMatch | None = None
        self._key: _Key | None = None
        self._interrupted: dict[_Key, TableMatch] = {}
        self._emit = emit
        self._next_number = next_number

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
        own = player == YOU
        self._key = (account, frozenset([opponent])) if own else (0, frozenset([player, opponent]))
        match = self._interrupted.pop(self._key, None)
        if match is not None and (new or match.players[1] != opponent):
            match.close()
            match = None
        if match is None:
            names = ((user or YOU) if own else player, opponent)
            match = TableMatch(self._next_number(), names, self._emit, own=own)
        self.current = match
        return match

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
            match.close()
            self.current = self._key = None
        return True

    def send(self, command: Command) -> None:
        """Process a command of the user's."""
        if self.current is not None:
            self.current.send(command)

    def interrupt(self) -> None:
        """Put the current match aside, as it may be resumed."""
        match, key = self.current, self._key
        if match is None or key is None:
            return
        self.current = self._key = None
        match.interrupt()
        self._interrupted[key] = match
        if len(self._interrupted) > MAX_INTERRUPTED:
            self._interrupted.pop(next(iter(self._interrupted))).close()

    def close(self) -> None:
        """Finish every match."""
        self.interrupt()
        for match in sorted(self._interrupted.values(), key=lambda it: it.number):
            match.close()
        self._interrupted.clear()


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
