"""Invitations: those that we send, those that we get, and the search for opponents.

See docs/policy.md, and docs/protocol.md, pitfalls 15 and 16.

Only one invitation is sent at a time, as the server keeps only the last. Each one that leads to nothing doubles the
wait before the next one to the same player, until that player comes back.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Container
from typing import Final

from attrs import define, frozen
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message

from fibsbot.bot.chat_text import chat_line
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext, Feature
from fibsbot.bot.interface import Ask, InvitationKey
from fibsbot.bot.players import Players
from fibsbot.fibs import length_to_fibs
from fibsbot.policy import Direction, RefusalReason, reasons_to_refuse
from fibsbot.strategies.base import Opponent
from fibsbot.strategies.questions import AcceptAnswer, InvitationQuestion, StrategyAnswer

STUCK_MATCH_TEXT: Final = (
    "Our saved match got stuck on this server, so I can't go on with it. You can invite me to a new one."
)
"""What an opponent is told who wants to go on with a match that was given up."""
MAX_DOUBLINGS: Final = 7
"""The wait before inviting the same player again grows to 2 to the power of this many times the first one."""
MAX_TRIED: Final = 10_000
"""Players whom we keep in mind, so as not to invite them again soon."""


class InvitationPurpose(enum.Enum):
    """What we invite somebody for."""

    RESUME = "resume"
    """To go on with a saved match."""
    WANTED = "wanted"
    """The settings name the player."""
    SEEK = "seek"
    """There was nothing else to do."""


@define
class SentInvitation:
    """An invitation that we have made."""

    name: str
    length: int | None
    """Points, 0 for unlimited; None for a saved match."""
    why: InvitationPurpose
    until: float
    """How long we wait for an answer before we invite somebody else."""
    words: str | None = None
    """What the player has told us since."""
    open: bool = True
    """Whether we wait for an answer."""


@frozen
class InvitationAttempts:
    """How often a player was invited in vain."""

    count: int
    again: float
    """When the next invitation may go out."""


class SentInvitations:
    """Our last invitation, and when whom may be invited again."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue) -> None:
        """Have invited nobody."""
        self._desk = desk
        self._outbox = outbox
        self._last: SentInvitation | None = None
        self._tries: dict[str, InvitationAttempts] = {}
        self._taken: dict[str, float] = {}
        """Whom the server has told since the last match that we want to go on with theirs, and when."""

    def disconnected(self) -> None:
        """Begin anew: the server forgets invitations, and nobody knows who waits for us."""
        self._close()
        self._last = None
        self._tries.clear()
        self._taken.clear()

    # -- making them --------------------------------------------------------------------------------------------

    def invite(self, name: str, length: int | None, why: InvitationPurpose) -> None:
        """Invite somebody to a match of this length, None for a saved one."""
        self._close()
        retry = self._desk.settings.timings.retry
        count = self.tries(name)
        if len(self._tries) >= MAX_TRIED:
            del self._tries[next(iter(self._tries))]
        self._tries[name] = InvitationAttempts(min(count + 1, MAX_DOUBLINGS), self._desk.now + retry * 2**count)
        self._last = SentInvitation(name, length, why, self._desk.now + retry)
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
    def waiting(self) -> SentInvitation | None:
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

    def on_overdue(self, answered: CommandOutcome) -> None:
        """Do not count an invitation that may have got lost."""
        match answered.errand.command:
            case c.Invite(name=name) if name in self._tries:
                tries = self._tries[name]
                again = self._desk.now + self._desk.settings.timings.retry
                self._tries[name] = InvitationAttempts(tries.count - 1, min(tries.again, again))

    def on_refusal(self, answered: CommandOutcome) -> None:
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
        if self._last is not None and self._last.why is InvitationPurpose.RESUME and text == STUCK_MATCH_TEXT:
            self._desk.memory.was_stuck(name, self._desk.now)  # another bot: only a new match helps
        self._desk.record("refused_by", name=name, text=text)


MAX_INVITATIONS: Final = 100
"""Invitations that wait for our answer."""
MAX_TOLD: Final = 2_000
"""Players who were told why we don't play, and are kept in mind so as not to tell them again."""
REPLY_MAX_AGE: Final = 60.0
"""Seconds in which an answer is still one."""
STRATEGY_CODE: Final = "strategy"
"""The code of a refusal that is the strategy's and not the policy's."""


@define
class ReceivedInvitation:
    """An invitation to a new match."""

    number: int
    name: str
    length: int
    """Points, 0 for unlimited."""
    ripe: bool = False
    """Whether the line that may follow an invitation has had its time."""
    counting: bool = False
    """Whether we wait to hear how many saved matches the inviter has."""
    accepted: bool = False


class ReceivedInvitations:
    """Invitations to new matches."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue, people: Players) -> None:
        """Have none."""
        self._desk = desk
        self._outbox = outbox
        self._people = people
        self._numbers = 0
        self._offers: dict[str, ReceivedInvitation] = {}
        self._told: dict[tuple[str, str], float] = {}
        """When whom was told which reason, by its code."""

    @property
    def waiting(self) -> int:
        """How many invitations wait for our answer."""
        return len(self._offers)

    def clear(self) -> None:
        """Forget all invitations: whoever plays has none."""
        self._offers.clear()
        self._desk.cancel("invitation")

    def withdraw(self, name: str) -> None:
        """Forget the invitation of a player."""
        self._offers.pop(name, None)

    def agreed_length(self, name: str) -> int | None:
        """Return the length of the invitation from this player that we have accepted; None if there is none."""
        offer = self._offers.get(name)
        return offer.length if offer else None

    # -- deciding -----------------------------------------------------------------------------------------------

    def invited(self, name: str, length: int) -> None:
        """Take an invitation to a new match."""
        if len(self._offers) >= MAX_INVITATIONS and name not in self._offers:
            return
        self._numbers += 1
        offer = self._offers[name] = ReceivedInvitation(self._numbers, name, length)
        self._desk.wake("invitation", self._desk.settings.timings.invitation)
        counts = self._desk.settings.policy.max_saved_games is not None and not self._desk.lacks(Feature.SAVED_COUNT)
        if not counts or self._against(offer, None):
            self._consider(offer, None)
        else:
            offer.counting = True
            self._outbox.say(c.Show(c.ShowWhat.SAVEDCOUNT, name))

    def on_count(self, name: str, count: int | None) -> None:
        """Take note how many saved matches a player has; None: the server does not say."""
        offer = self._offers.get(name)
        if offer and offer.counting:
            offer.counting = False
            self._consider(offer, count)

    @property
    def last(self) -> str | None:
        """Whose invitation came last, if it still waits for our answer."""
        return max(self._offers.values(), key=lambda offer: offer.number).name if self._offers else None

    def _against(self, offer: ReceivedInvitation, saved_games: int | None) -> tuple[RefusalReason, ...]:
        request = self._people.request(offer.name, offer.length, Direction.THEIRS, saved_games)
        return reasons_to_refuse(self._desk.settings.policy, request)

    def _consider(self, offer: ReceivedInvitation, saved_games: int | None) -> None:
        if found := self._against(offer, saved_games):
            del self._offers[offer.name]
            self.refuse(offer.name, offer.length, found)
            return
        info = self._people.who.get(offer.name)
        opponent = Opponent(offer.name, info.rating, info.experience, info.client) if info else Opponent(offer.name)
        key = InvitationKey(offer.name, offer.length, offer.number)
        self._desk.act(Ask(key, InvitationQuestion(opponent, offer.length)))

    def on_answer(self, key: InvitationKey, answer: StrategyAnswer) -> None:
        """Take the strategy's answer to an invitation."""
        offer = self._offers.get(key.name)
        if offer is None or offer.number != key.number:
            self._desk.counters.late_answers += 1
            return
        if isinstance(answer, AcceptAnswer) and not answer.accepted:
            del self._offers[offer.name]
            self.refuse(offer.name, offer.length, (RefusalReason(STRATEGY_CODE, answer.reason or "Not now, sorry."),))
        else:
            offer.accepted = True
            self._desk.record("invitation_accepted", by=offer.name, length=offer.length)

    def refuse(self, name: str, length: int | None, found: tuple[RefusalReason, ...]) -> None:
        """Say why, but not the same to the same player again and again."""
        desk, first = self._desk, found[0]
        codes = [reason.code for reason in found]
        desk.record("invitation_refused", by=name, length=length, reason=first.sentence, code=first.code, codes=codes)
        told = name, first.code
        last = self._told.get(told)
        if last is not None and desk.now < last + desk.settings.chat.window:
            return
        if self._outbox.talk(c.Tell(name, chat_line(first.sentence)), fresh=REPLY_MAX_AGE):
            self._told.pop(told, None)
            if len(self._told) >= MAX_TOLD:
                del self._told[next(iter(self._told))]
            self._told[told] = desk.now

    # -- going on -----------------------------------------------------------------------------------------------

    def on_ripe(self) -> None:
        """Take note that no more lines of the invitations are to be expected."""
        for offer in self._offers.values():
            offer.ripe = True

    def ready(self) -> str | None:
        """Return whose invitation has been accepted and can be joined now."""
        return next((offer.name for offer in self._offers.values() if offer.accepted and offer.ripe), None)

    def on_unanswered(self, answered: CommandOutcome) -> None:
        """Give up what the server refused, or gave no answer to."""
        match answered.errand.command:
            case c.Join(name=str(name)):
                self.withdraw(name)
            case c.Show(c.ShowWhat.SAVEDCOUNT, str(name)):
                self.on_count(name, None)


HOUR: Final = 3_600.0
"""Seconds."""


class OpponentSearch:
    """Invites to new matches."""

    def __init__(self, desk: AgentContext, people: Players, inviting: SentInvitations) -> None:
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
        return not self._desk.paused and (settings.play.invite is not None or settings.seek.after is not None)

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
        name, length = self._desk.settings.play.invite, self._desk.settings.play.invite_length
        if name is None or not self._people.is_free(name):
            return False
        if name in saved and self._desk.memory.of(name).stuck is None:
            return False
        if not self._suits(name, length):
            self._wake_when_cool(name)
            return False
        if not self._inviting.may_try(name):
            return False
        self._inviting.invite(name, length, InvitationPurpose.WANTED)
        return True

    def _suits(self, name: str, length: int) -> bool:
        return not reasons_to_refuse(self._desk.settings.policy, self._people.request(name, length, Direction.OURS))

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
            self._inviting.invite(name, self._desk.settings.seek.length, InvitationPurpose.SEEK)

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
