"""Invitations that we get, and whether we accept them (docs/policy.md; docs/protocol.md, pitfalls 15 and 16)."""

from __future__ import annotations

from typing import Final

from attrs import define

from fibsbot.bot.actions import Ask
from fibsbot.bot.desk import Desk
from fibsbot.bot.features import Feature
from fibsbot.bot.outbox import Answered, Outbox
from fibsbot.bot.people import People
from fibsbot.bot.questions import AcceptInvitation, Answer, InvitationKey, Verdict
from fibsbot.bot.sayings import line
from fibsbot.policy import Direction, Reason, reasons
from fibsbot.strategies.base import Opponent
from protocol import commands as c

MOST_INVITATIONS: Final = 100
"""Invitations that wait for our answer."""
MOST_TOLD: Final = 2_000
"""Players who were told why we don't play, and are kept in mind so as not to tell them again."""
FRESH: Final = 60.0
"""Seconds in which an answer is still one."""
STRATEGY: Final = "strategy"
"""The code of a refusal that is the strategy's and not the policy's."""


@define
class Offer:
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


class Invitations:
    """Invitations to new matches."""

    def __init__(self, desk: Desk, outbox: Outbox, people: People) -> None:
        """Have none."""
        self._desk = desk
        self._outbox = outbox
        self._people = people
        self._numbers = 0
        self._offers: dict[str, Offer] = {}
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
        if len(self._offers) >= MOST_INVITATIONS and name not in self._offers:
            return
        self._numbers += 1
        offer = self._offers[name] = Offer(self._numbers, name, length)
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

    def _against(self, offer: Offer, saved_games: int | None) -> tuple[Reason, ...]:
        request = self._people.request(offer.name, offer.length, Direction.THEIRS, saved_games)
        return reasons(self._desk.settings.policy, request)

    def _consider(self, offer: Offer, saved_games: int | None) -> None:
        if found := self._against(offer, saved_games):
            del self._offers[offer.name]
            self.refuse(offer.name, offer.length, found)
            return
        info = self._people.who.get(offer.name)
        opponent = Opponent(offer.name, info.rating, info.experience, info.client) if info else Opponent(offer.name)
        key = InvitationKey(offer.name, offer.length, offer.number)
        self._desk.act(Ask(key, AcceptInvitation(opponent, offer.length)))

    def on_answer(self, key: InvitationKey, answer: Answer) -> None:
        """Take the strategy's answer to an invitation."""
        offer = self._offers.get(key.name)
        if offer is None or offer.number != key.number:
            self._desk.counters.late_answers += 1
            return
        if isinstance(answer, Verdict) and not answer.accepted:
            del self._offers[offer.name]
            self.refuse(offer.name, offer.length, (Reason(STRATEGY, answer.reason or "Not now, sorry."),))
        else:
            offer.accepted = True
            self._desk.record("invitation_accepted", by=offer.name, length=offer.length)

    def refuse(self, name: str, length: int | None, found: tuple[Reason, ...]) -> None:
        """Say why, but not the same to the same player again and again."""
        desk, first = self._desk, found[0]
        codes = [reason.code for reason in found]
        desk.record("invitation_refused", by=name, length=length, reason=first.sentence, code=first.code, codes=codes)
        told = name, first.code
        last = self._told.get(told)
        if last is not None and desk.now < last + desk.settings.chat.window:
            return
        if self._outbox.talk(c.Tell(name, line(first.sentence)), fresh=FRESH):
            self._told.pop(told, None)
            if len(self._told) >= MOST_TOLD:
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

    def on_unanswered(self, answered: Answered) -> None:
        """Give up what the server refused, or gave no answer to."""
        match answered.errand.command:
            case c.Join(name=str(name)):
                self.withdraw(name)
            case c.Show(c.ShowWhat.SAVEDCOUNT, str(name)):
                self.on_count(name, None)
