"""Whom we invite to a new match: the player whom the settings name, or anybody when there is nothing else to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from typing import Final

from fibsbot.bot.desk import Desk
from fibsbot.bot.inviting import Inviting, Why
from fibsbot.bot.people import People
from fibsbot.policy import Direction, reasons

HOUR: Final = 3_600.0
"""Seconds."""


class Seeking:
    """Invites to new matches."""

    def __init__(self, desk: Desk, people: People, inviting: Inviting) -> None:
        """Have sought nobody."""
        self._desk = desk
        self._people = people
        self._inviting = inviting
        self._idle_since: float | None = None
        self._sought: deque[tuple[float, str]] = deque()
        """Whom we have sought within the last hour, and when."""
        self._last: str | None = None

    @property
    def wishes(self) -> bool:
        """Whether we would like to invite somebody."""
        settings = self._desk.settings
        return not self._desk.paused and (settings.invite is not None or settings.seek.after is not None)

    def busy(self) -> None:
        """Take note that there is something else to do."""
        self._idle_since = None

    def met(self, name: str) -> None:
        """Take note that a match with this player began: who plays us may be sought again soon."""
        self.busy()
        self._sought = deque((at, "" if sought == name else sought) for at, sought in self._sought)

    def step(self, saved: Container[str]) -> None:
        """Invite somebody, if it is time to. With those in `saved` there is a match to go on with, and no other.

        Only where that match got stuck, the player whom the settings name is invited to a new one.
        """
        if not self.wishes:
            self.busy()
        elif not self._invite_wanted(saved):
            self._seek(saved)

    def _invite_wanted(self, saved: Container[str]) -> bool:
        name, length = self._desk.settings.invite, self._desk.settings.length
        if name is None or not self._people.is_free(name):
            return False
        if name in saved and self._desk.memory.of(name).stuck is None:
            return False
        if not self._suits(name, length):
            self._wake_when_cool(name)
            return False
        if not self._inviting.may_try(name):
            return False
        self._inviting.invite(name, length, Why.WANTED)
        return True

    def _suits(self, name: str, length: int) -> bool:
        return not reasons(self._desk.settings.policy, self._people.request(name, length, Direction.OURS))

    def _wake_when_cool(self, name: str) -> None:
        """Look again when the break after the last match with this player is over: nothing else may happen then."""
        desk = self._desk
        since = desk.memory.of(name).since_last(desk.now)
        if since is not None and since < desk.settings.policy.cool_down:
            desk.wake("cool", desk.settings.policy.cool_down - since)

    # -- seeking ------------------------------------------------------------------------------------------------

    def _seek(self, saved: Container[str]) -> None:
        desk, seek = self._desk, self._desk.settings.seek
        if seek.after is None:
            return
        if self._idle_since is None:
            self._idle_since = desk.now
        due = max(self._idle_since + seek.after, self._next_of_hour(seek.per_hour))
        if desk.now < due:
            if not desk.is_set("seek"):
                desk.wake("seek", due - desk.now)
        elif not desk.is_set("seek"):
            self._seek_now(saved)
            desk.wake("seek", desk.settings.timings.retry)  # before everybody is looked at again

    def _next_of_hour(self, per_hour: int) -> float:
        """Return when the next invitation may go out, so that there are not too many within an hour."""
        while self._sought and self._sought[0][0] <= self._desk.now - HOUR:
            self._sought.popleft()
        return self._sought[-per_hour][0] + HOUR if len(self._sought) >= per_hour else 0.0

    def _seek_now(self, saved: Container[str]) -> None:
        found = [name for name in self._people.who if name not in saved and self._is_sought(name)]
        others = [name for name in found if name != self._last] or found
        if others:
            name = self._desk.chance.choice(sorted(others))
            self._last = name
            self._sought.append((self._desk.now, name))
            self.busy()
            self._inviting.invite(name, self._desk.settings.seek.length, Why.SEEK)

    def _is_sought(self, name: str) -> bool:
        """Whether a player is one whom we invite of our own accord."""
        desk, seek, info = self._desk, self._desk.settings.seek, self._people.who[name]
        if name == desk.settings.name or info.away or not self._people.is_free(name):
            return False
        if not (seek.bots if self._people.is_bot(name) else desk.settings.policy.people):
            return False
        refused = desk.memory.of(name).refused
        if refused is not None and desk.now < refused + seek.forgive:
            return False
        return all(name != sought for _, sought in self._sought) and self._suits(name, seek.length)
