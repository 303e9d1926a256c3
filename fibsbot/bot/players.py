"""The players who are logged in, as the server's `5` lines describe them (docs/reference/protocol.md, pitfall 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from attrs import define, evolve, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibsbot.bot.command_queue import CommandQueue
from fibsbot.bot.context import AgentContext, Feature, Timer, on
from fibsbot.policy import Direction, MatchRequest, is_bot

MAX_USERS: Final = 10_000
"""Users that are remembered; a server has a few hundred."""
LIST_MAX_AGE: Final = 10
"""Age after which the list of users is requested again, as a multiple of `timings.retry`."""
MAX_MISSED: Final = 1
"""Further requests of the list of users when it does not come."""


@define
class Players:
    """The users of the server, as its `5` lines describe them."""

    _context: AgentContext
    _queue: CommandQueue
    users: dict[str, m.WhoInfo] = field(factory=dict)
    on_free: Callable[[str], None] = lambda _: None
    """Called with the name of a player who has just become free to play."""
    _listed: float | None = None
    """When a whole list came last; not every login brings one, and lines get lost."""
    _seen: set[str] | None = None
    """Names on the list that we have requested, as far as it has come."""
    _missed: int = 0
    """How often the list has not come."""
    _announced: set[str] = field(factory=set)
    """Players who have logged in and whose `5` line has not come yet."""

    def logged_in(self, name: str) -> None:
        """Note that a player has logged in, whose `5` line follows."""
        if name not in self.users and len(self._announced) < MAX_USERS:
            self._announced.add(name)
            self._context.set_timer(Timer.WHO, self._context.settings.timings.invitation)

    def logged_out(self, name: str) -> None:
        """Note that a player has logged out."""
        self.users.pop(name, None)
        self._announced.discard(name)

    @on(m.WhoInfo)
    def _on_who(self, info: m.WhoInfo) -> None:
        if info.name == self._context.settings.name:
            self._context.note_rating(info.rating, info.experience)
        self._announced.discard(info.name)
        if self._seen is not None:
            self._seen.add(info.name)
        if info.name not in self.users and len(self.users) >= MAX_USERS:
            return
        was_free = self.is_free(info.name)
        self.users[info.name] = info
        if self.is_free(info.name) and not was_free:
            self.on_free(info.name)

    @on(m.WhoEnd)
    def _on_end(self, _: m.WhoEnd) -> None:
        """Forget players who are not on the requested list. Some servers end even a single `5` line as a list."""
        self._listed = self._context.now
        self._missed = 0
        if self._seen is not None and self._context.settings.name in self._seen:
            self.users = {name: info for name, info in self.users.items() if name in self._seen}
            self._seen = None

    def is_free(self, name: str) -> bool:
        """Whether another player is logged in, ready and not in a match."""
        info = self.users.get(name)
        return info is not None and info.ready and info.opponent is None and name != self._context.settings.name

    def request_list(self, *, fresh: bool) -> bool:
        """Request the list of users if it is incomplete or too old; return whether it was requested.

        `fresh`: there is somebody whom we would like to play, so that it must not be old either.
        """
        if self._context.lacks(Feature.RAWWHO):
            return False
        now, age = self._context.now, LIST_MAX_AGE * self._context.settings.timings.retry
        missing = self._listed is None or (self._announced and Timer.WHO not in self._context.timers)
        if not missing and self._listed is not None and not (fresh and now >= self._listed + age):
            if fresh and Timer.LIST not in self._context.timers:
                self._context.set_timer(Timer.LIST, self._listed + age - now)
            return False
        self._announced.clear()
        self._seen = set()
        self._queue.send(c.Rawwho())
        return True

    def on_unanswered(self) -> None:
        """Request the list once more; after that use the users known so far, and request it again later."""
        self._seen = None
        if self._missed < MAX_MISSED:
            self._missed += 1
            self._listed = None
        else:
            self._missed = 0
            self._listed = self._context.now

    def note_busy(self, name: str) -> None:
        """Note that a player is not free, whatever the last line about them said."""
        if info := self.users.get(name):
            self.users[name] = evolve(info, ready=False)

    def remove(self, name: str) -> None:
        """Note that a player is not logged in."""
        self.users.pop(name, None)

    def is_bot(self, name: str) -> bool:
        """Whether a player seems to be a program."""
        info = self.users.get(name)
        return is_bot(name, info.client if info else None)

    def request(self, name: str, length: int, direction: Direction, saved_games: int | None = None) -> MatchRequest:
        """Return what the policy needs to know of a possible match."""
        context, info = self._context, self.users.get(name)
        known, lists = context.memory.history_of(name), context.memory.lists
        return MatchRequest(
            name=name,
            length=length,
            direction=direction,
            rating=info.rating if info else None,
            experience=info.experience if info else None,
            client=info.client if info else None,
            saved_games=saved_games,
            since_last=known.since_last(context.now),
            matches_today=known.matches_today(context.now),
            own_rating=context.rating[0] if context.rating else None,
            since_bot=context.memory.bots.since_last(context.now),
            bots_today=context.memory.bots.matches_today(context.now),
            on_block_list=name in context.memory.blocked or lists.block.has(name, direction),
            on_allow_list=None if lists.allow is None else lists.allow.has(name, direction),
            paused=context.paused,
            finishing=context.finishing,
        )
