"""The search for opponents: the player whom the settings name, or when idle anybody who suits."""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from typing import Final

from attrs import define, field

from fibsbot.bot.context import AgentContext
from fibsbot.bot.invitations import InvitationPurpose, SentInvitations
from fibsbot.bot.players import Players
from fibsbot.policy import Direction, reasons_to_refuse

HOUR: Final = 3_600.0
"""Seconds."""


@define
class OpponentSearch:
    """Invites to new matches."""

    _context: AgentContext
    _players: Players
    _sent_invitations: SentInvitations
    _idle_since: float | None = None
    _recent_searches: deque[tuple[float, str]] = field(factory=deque)
    """Times and names of those invited within the last hour."""
    _last: str | None = None

    @property
    def wants_to_invite(self) -> bool:
        """Whether we would like to invite somebody."""
        settings = self._context.settings
        return not self._context.paused and (settings.play.invite is not None or settings.seek.after is not None)

    def reset_idle(self) -> None:
        """Restart the time without a match."""
        self._idle_since = None

    def match_started(self, name: str) -> None:
        """Note that a match started; its opponent may be invited again soon."""
        self.reset_idle()
        self._recent_searches = deque((at, "" if sought == name else sought) for at, sought in self._recent_searches)

    def step(self, saved: Container[str]) -> None:
        """Invite a player if it is time to, but none of those in `saved`, with whom there is a match to resume.

        Only if that match is stuck, the player named in the settings is invited to a new one.
        """
        if not self.wants_to_invite:
            self.reset_idle()
        elif not self._invite_wanted(saved):
            self._search_opponent(saved)

    def _invite_wanted(self, saved: Container[str]) -> bool:
        name, length = self._context.settings.play.invite, self._context.settings.play.invite_length
        if name is None or not self._players.is_free(name):
            return False
        if name in saved and self._context.memory.history_of(name).stuck is None:
            return False
        if not self._suits(name, length):
            self._wake_when_cool(name)
            return False
        if not self._sent_invitations.may_invite(name):
            return False
        self._sent_invitations.invite(name, length, InvitationPurpose.WANTED)
        return True

    def _suits(self, name: str, length: int) -> bool:
        return not reasons_to_refuse(self._context.settings.policy, self._players.request(name, length, Direction.OURS))

    def _wake_when_cool(self, name: str) -> None:
        """Set a timer for the end of the cool-down after the last match with this player."""
        context = self._context
        since = context.memory.history_of(name).since_last(context.now)
        if since is not None and since < context.settings.policy.cool_down:
            context.set_timer("cool", context.settings.policy.cool_down - since)

    # -- seeking ------------------------------------------------------------------------------------------------

    def _search_opponent(self, saved: Container[str]) -> None:
        context, seek = self._context, self._context.settings.seek
        if seek.after is None:
            return
        if self._idle_since is None:
            self._idle_since = context.now
        due = max(self._idle_since + seek.after, self._next_of_hour(seek.per_hour))
        if context.now < due:
            if "seek" not in context.timers:
                context.set_timer("seek", due - context.now)
        elif "seek" not in context.timers:
            self._invite_found(saved)
            context.set_timer("seek", context.settings.timings.retry)  # before everybody is looked at again

    def _next_of_hour(self, per_hour: int) -> float:
        """Return when the next invitation may go out, so that there are not too many within an hour."""
        while self._recent_searches and self._recent_searches[0][0] <= self._context.now - HOUR:
            self._recent_searches.popleft()
        return self._recent_searches[-per_hour][0] + HOUR if len(self._recent_searches) >= per_hour else 0.0

    def _invite_found(self, saved: Container[str]) -> None:
        found = [name for name in self._players.users if name not in saved and self._is_eligible(name)]
        others = [name for name in found if name != self._last] or found
        if others:
            name = self._context.rng.choice(sorted(others))
            self._last = name
            self._recent_searches.append((self._context.now, name))
            self.reset_idle()
            self._sent_invitations.invite(name, self._context.settings.seek.length, InvitationPurpose.SEEK)

    def _is_eligible(self, name: str) -> bool:
        """Whether a player may be invited to a new match."""
        context, seek, info = self._context, self._context.settings.seek, self._players.users[name]
        if name == context.settings.name or info.away or not self._players.is_free(name):
            return False
        if not (seek.bots if self._players.is_bot(name) else context.settings.policy.people):
            return False
        refused = context.memory.history_of(name).refused
        if refused is not None and context.now < refused + seek.forgive:
            return False
        return all(name != sought for _, sought in self._recent_searches) and self._suits(name, seek.length)
