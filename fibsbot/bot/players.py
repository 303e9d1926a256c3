"""The players who are logged in, as the server's `5` lines describe them (docs/protocol.md, pitfall 6)."""

from __future__ import annotations

from typing import Final

from attrs import evolve
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message

from fibsbot.bot.command_queue import CommandQueue
from fibsbot.bot.context import AgentContext, Feature
from fibsbot.policy import Direction, MatchRequest, is_bot

MAX_USERS: Final = 10_000
"""Users that we keep in mind; a server has a few hundred."""
LIST_MAX_AGE: Final = 10
"""The list of users is asked for again after so many times the wait before inviting somebody again."""
MAX_MISSED: Final = 1
"""How often the list of users is asked for again when it does not come."""


class Players:
    """The users of the server, as its `5` lines describe them."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue) -> None:
        """Know nobody."""
        self._desk = desk
        self._outbox = outbox
        self.who: dict[str, m.WhoInfo] = {}
        self._listed: float | None = None
        """When a whole list came last; not every login brings one, and lines get lost."""
        self._seen: set[str] | None = None
        """Who is on the list that we have asked for."""
        self._missed = 0
        """How often the list has not come."""
        self._announced: set[str] = set()
        """Who has logged in, but was not described yet."""

    def disconnected(self) -> None:
        """Forget who was there."""
        self.who.clear()
        self._listed = None
        self._missed = 0
        self._seen = None
        self._announced.clear()

    def on_message(self, message: Message) -> str | None:
        """Keep up with who is there; return the name of somebody who has just become free to play."""
        match message:
            case m.WhoInfo():
                return self._on_who(message)
            case m.WhoEnd():
                self._on_end()
            case m.LoggedIn() if message.name not in self.who and len(self._announced) < MAX_USERS:
                self._announced.add(message.name)
                self._desk.wake("who", self._desk.settings.timings.invitation)
            case m.LoggedOut():
                self.who.pop(message.name, None)
                self._announced.discard(message.name)
        return None

    def _on_who(self, info: m.WhoInfo) -> str | None:
        if info.name == self._desk.settings.name:
            self._desk.rated(info.rating, info.experience)
        self._announced.discard(info.name)
        if self._seen is not None:
            self._seen.add(info.name)
        if info.name not in self.who and len(self.who) >= MAX_USERS:
            return None
        was_free = self.is_free(info.name)
        self.who[info.name] = info
        return info.name if self.is_free(info.name) and not was_free else None

    def _on_end(self) -> None:
        """Forget who is not on the list that we asked for. Some servers end each single `5` line as a list, too."""
        self._listed = self._desk.now
        self._missed = 0
        if self._seen is not None and self._desk.settings.name in self._seen:
            self.who = {name: info for name, info in self.who.items() if name in self._seen}
            self._seen = None

    def is_free(self, name: str) -> bool:
        """Whether somebody else is there, ready to play, and plays with nobody."""
        info = self.who.get(name)
        return info is not None and info.ready and info.opponent is None and name != self._desk.settings.name

    def ask(self, *, fresh: bool) -> bool:
        """Ask for the list of users if it is not complete; return whether it was asked for.

        `fresh`: there is somebody whom we would like to play, so that it must not be old either.
        """
        if self._desk.lacks(Feature.RAWWHO):
            return False
        now, age = self._desk.now, LIST_MAX_AGE * self._desk.settings.timings.retry
        missing = self._listed is None or (self._announced and not self._desk.is_set("who"))
        if not missing and self._listed is not None and not (fresh and now >= self._listed + age):
            if fresh and not self._desk.is_set("list"):
                self._desk.wake("list", self._listed + age - now)
            return False
        self._announced.clear()
        self._seen = set()
        self._outbox.say(c.Rawwho())
        return True

    def on_unanswered(self) -> None:
        """Ask for the list once more; then go on with whom we know, and ask again later."""
        self._seen = None
        if self._missed < MAX_MISSED:
            self._missed += 1
            self._listed = None
        else:
            self._missed = 0
            self._listed = self._desk.now

    def note_busy(self, name: str) -> None:
        """Take note that a player is not free, whatever the last line about him said."""
        if info := self.who.get(name):
            self.who[name] = evolve(info, ready=False)

    def note_gone(self, name: str) -> None:
        """Take note that a player is not there, whatever we have heard."""
        self.who.pop(name, None)

    def is_bot(self, name: str) -> bool:
        """Whether a player seems to be a program."""
        info = self.who.get(name)
        return is_bot(name, info.client if info else None)

    def request(self, name: str, length: int, direction: Direction, saved_games: int | None = None) -> MatchRequest:
        """Put together what is known of a match that could be played."""
        desk, info = self._desk, self.who.get(name)
        known = desk.memory.of(name)
        return MatchRequest(
            name=name,
            length=length,
            direction=direction,
            rating=info.rating if info else None,
            experience=info.experience if info else None,
            client=info.client if info else None,
            saved_games=saved_games,
            since_last=known.since_last(desk.now),
            matches_today=known.matches_today(desk.now),
            paused=desk.paused,
            finishing=desk.finishing,
        )
