"""Which match of a session is on, and which may be resumed.

`SessionMatches` keeps matches of either kind. `TableMatches` also finds out when a match of a game other than
backgammon begins, breaks off and ends; the transcriber does so for backgammon.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.table_match import TableMatch
from fibsbot.transcript import Player

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
