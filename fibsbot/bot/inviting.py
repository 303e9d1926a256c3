"""Our own invitations: one at a time, as the server keeps only the last (docs/protocol.md, pitfall 15).

Nobody is invited again and again: each invitation that leads to nothing doubles the wait before the next one to the
same player, until that player comes back.
"""

from __future__ import annotations

import enum
from typing import Final

from attrs import define, frozen

from fibsbot.bot.desk import Desk
from fibsbot.bot.outbox import Answered, Outbox
from fibsbot.fibs import length_to_fibs
from protocol import commands as c
from protocol import messages as m
from protocol.grammar import write
from protocol.messages import Message

STUCK: Final = "Our saved match got stuck on this server, so I can't go on with it. You can invite me to a new one."
"""What an opponent is told who wants to go on with a match that was given up."""
MOST_DOUBLINGS: Final = 7
"""The wait before inviting the same player again grows to 2 to the power of this many times the first one."""
MOST_TRIED: Final = 10_000
"""Players whom we keep in mind, so as not to invite them again soon."""


class Why(enum.Enum):
    """What we invite somebody for."""

    RESUME = "resume"
    """To go on with a saved match."""
    WANTED = "wanted"
    """The settings name the player."""
    SEEK = "seek"
    """There was nothing else to do."""


@define
class OurInvitation:
    """An invitation that we have made."""

    name: str
    length: int | None
    """Points, 0 for unlimited; None for a saved match."""
    why: Why
    until: float
    """How long we wait for an answer before we invite somebody else."""
    words: str | None = None
    """What the player has told us since."""
    open: bool = True
    """Whether we wait for an answer."""


@frozen
class Tries:
    """How often a player was invited in vain."""

    count: int
    again: float
    """When the next invitation may go out."""


class Inviting:
    """Our last invitation, and when whom may be invited again."""

    def __init__(self, desk: Desk, outbox: Outbox) -> None:
        """Have invited nobody."""
        self._desk = desk
        self._outbox = outbox
        self._last: OurInvitation | None = None
        self._tries: dict[str, Tries] = {}
        self._taken: dict[str, float] = {}
        """Whom the server has told since the last match that we want to go on with theirs, and when."""

    def disconnected(self) -> None:
        """Begin anew: the server forgets invitations, and nobody knows who waits for us."""
        self._close()
        self._last = None
        self._tries.clear()
        self._taken.clear()

    # -- making them --------------------------------------------------------------------------------------------

    def invite(self, name: str, length: int | None, why: Why) -> None:
        """Invite somebody to a match of this length, None for a saved one."""
        self._close()
        retry = self._desk.settings.timings.retry
        count = self.tries(name)
        if len(self._tries) >= MOST_TRIED:
            del self._tries[next(iter(self._tries))]
        self._tries[name] = Tries(min(count + 1, MOST_DOUBLINGS), self._desk.now + retry * 2**count)
        self._last = OurInvitation(name, length, why, self._desk.now + retry)
        self._desk.wake("answer", retry)
        self._desk.record("inviting", name=name, length=length, why=why.value)
        self._outbox.say(c.Invite(name, None if length is None else length_to_fibs(length)))

    def tries(self, name: str) -> int:
        """Return how often this player was invited in vain."""
        return self._tries[name].count if name in self._tries else 0

    def may_try(self, name: str) -> bool:
        """Whether enough time has gone by since this player was invited last."""
        tries, now = self._tries.get(name), self._desk.now
        if tries is None or now >= tries.again:
            return True
        if not self._desk.is_set("retry"):
            self._desk.wake("retry", tries.again - now)
        return False

    def try_anew(self, name: str) -> None:
        """Forget how often this player was invited in vain."""
        self._tries.pop(name, None)

    def came_back(self, name: str) -> None:
        """Take note that a player who was not free is so again: what we have asked him before is over."""
        self.try_anew(name)
        if self._last and self._last.name == name:
            self._close()

    # -- what becomes of them -----------------------------------------------------------------------------------

    @property
    def waiting(self) -> OurInvitation | None:
        """The invitation whose answer we wait for."""
        return self._last if self._last and self._last.open else None

    def expire(self) -> None:
        """Wait no longer than we wanted to."""
        if self._last and self._desk.now >= self._last.until:
            self._close()

    def was_first(self, name: str) -> bool:
        """Whether the server has told this player lately that we want to go on with our match."""
        at = self._taken.get(name)
        return at is not None and self._desk.now < at + 2 * self._desk.settings.timings.retry

    def agreed_length(self, name: str) -> int | None:
        """Return the length to which we have invited this player; None for a saved match, or if we have not."""
        return self._last.length if self._last and self._last.name == name else None

    def match_started(self, opponent: str) -> None:
        """Take note who has accepted."""
        if self._last and self._last.name == opponent:
            self._last.open = False
        self._close()
        self._last = None
        self._taken.clear()
        self.try_anew(opponent)
        self._outbox.drop(c.Invite)

    def on_message(self, message: Message) -> None:
        """Follow what becomes of our invitation."""
        match message:
            case m.YouInvitedToResume():
                self._taken[message.name] = self._desk.now
            case m.Says() if self._last and self._last.open and self._last.name == message.name:
                self._last.words = message.text

    def on_overdue(self, answered: Answered) -> None:
        """Do not count an invitation that may have got lost."""
        match answered.errand.command:
            case c.Invite(name=name) if name in self._tries:
                tries = self._tries[name]
                again = self._desk.now + self._desk.settings.timings.retry
                self._tries[name] = Tries(tries.count - 1, min(tries.again, again))

    def on_refusal(self, answered: Answered) -> None:
        """Give up what the server refused."""
        last = self._last
        match answered.errand.command:
            case c.Join(name=str(name)):
                self._taken.pop(name, None)  # it is our turn to invite again
            case c.Invite(name=name) if last is not None and last.name == name:
                last.open = False
                if isinstance(answered.message, m.RefusesGames):
                    self._refused(name, write(answered.message))

    def _close(self) -> None:
        """Wait no longer. Who has told us something, but has not joined us, has refused."""
        last = self._last
        if last and last.open:
            last.open = False
            if last.words is not None:
                self._refused(last.name, last.words)

    def _refused(self, name: str, text: str) -> None:
        self._desk.memory.was_refused(name, self._desk.now)
        if self._last is not None and self._last.why is Why.RESUME and text == STUCK:
            self._desk.memory.was_stuck(name, self._desk.now)  # another bot: only a new match helps
        self._desk.record("refused_by", name=name, text=text)
