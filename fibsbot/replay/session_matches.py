"""Which match of a session is on, and which may be resumed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from fibs_protocol.words import YOU
from fibsbot.replay.match_builder import MatchBuilder

MatchKey: TypeAlias = tuple[int, frozenset[str]]
"""Number of the user's account and the opponent's name; 0 and both names for a match that is watched."""
MAX_INTERRUPTED: Final = 16
"""Interrupted matches that are kept because they may be resumed."""


def match_key(account: int, player: str, opponent: str) -> MatchKey:
    """Return the key of a match; `player` is YOU in one of the user's."""
    return (account, frozenset([opponent])) if player == YOU else (0, frozenset([player, opponent]))


class SessionMatches:
    """The current match of a session, and the interrupted ones that may be resumed."""

    def __init__(self) -> None:
        """Start without matches."""
        self.current: MatchBuilder | None = None
        self._key: MatchKey | None = None
        self._interrupted: dict[MatchKey, MatchBuilder] = {}

    def select(self, key: MatchKey, make: Callable[[], MatchBuilder], *, new: bool = False) -> MatchBuilder:
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
