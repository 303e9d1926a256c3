"""Between two matches: who is there, whom we invite, whose invitation we accept (docs/protocol.md, pitfalls 15 and 16).

Saved matches come first. A saved match is resumed by our own `invite`, even where the opponent has invited us: what is
joined may be another match than the one that was looked at. So that two who do the same do not wait for each other,
the one whose invitation the server took first joins; both see which one that was from the order of the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import define

from fibsbot.bot.actions import Ask
from fibsbot.bot.desk import Desk
from fibsbot.bot.outbox import Answered, Outbox
from fibsbot.bot.questions import AcceptInvitation, Answer, InvitationKey, Verdict
from fibsbot.fibs import length_from_fibs, length_to_fibs
from fibsbot.policy import Request, reasons
from fibsbot.strategies.base import Opponent
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message
from protocol.session import State

MOST_USERS: Final = 10_000
"""Users that we keep in mind; a server has a few hundred."""
MOST_INVITATIONS: Final = 100
"""Invitations that wait for our answer."""


@define
class Offer:
    """An invitation that we got."""

    number: int
    name: str
    length: int
    """Points, 0 for unlimited."""
    ripe: bool = False
    """Whether the line that may follow an invitation has had its time."""
    verdict: Verdict | None = None


class Lobby:
    """Whom we know, and who wants to play."""

    def __init__(self, desk: Desk, outbox: Outbox) -> None:
        """Know nobody."""
        self._desk = desk
        self._outbox = outbox
        self._numbers = 0
        self._told: dict[str, float] = {}
        self._tried: dict[str, float] = {}
        self.saved: dict[str, int | None] = {}
        """Opponents of our saved matches, with the length (0 is unlimited) if it is known."""
        self.who: dict[str, m.WhoInfo] = {}
        self._listed = False
        """Whether a whole list of users has come since the login: not every login brings one (pitfall 6)."""
        self._offers: dict[str, Offer] = {}
        self._invited: str | None = None
        """Whose answer to our invitation we wait for; the server has taken the invitation."""

    def disconnected(self) -> None:
        """Forget who was there."""
        self.who.clear()
        self._listed = False
        self._tried.clear()
        self.match_started()

    def match_started(self) -> None:
        """Forget all invitations: whoever plays has none."""
        self._offers.clear()
        self._invited = None
        self._outbox.drop(c.Invite)
        self._desk.cancel("invitation")

    # -- what the server says -----------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Keep up with who is there and who invites whom."""
        match message:
            case m.WhoInfo():
                self._on_who(message)
            case m.WhoEnd():
                self._listed = True
            case m.LoggedOut():
                self.who.pop(message.name, None)
                self._offers.pop(message.name, None)
            case m.SavedMatch() if len(self.saved) < MOST_USERS:
                self.saved[message.name] = length_from_fibs(message.length)
            case m.NoSavedMatch():
                self.saved.pop(message.name, None)
            case m.Invitation():
                self._on_offer(message.name, length_from_fibs(message.length))
            case m.ResumeInvitation():
                self._on_offer(message.name, None)
            case m.SavedMatchWarning():
                self._on_warning(length_from_fibs(message.length))
            case m.YouInvited() | m.YouInvitedToResume():
                self._invited = message.name

    def _on_who(self, info: m.WhoInfo) -> None:
        if info.name == self._desk.settings.name:
            self._desk.rated(info.rating, info.experience)
        before = self.who.get(info.name)
        if before is None and len(self.who) >= MOST_USERS:
            return
        self.who[info.name] = info
        if _is_free(info) and (before is None or not _is_free(before)):
            self._tried.pop(info.name, None)

    def _on_offer(self, name: str, length: int | None) -> None:
        if self._desk.session.state is not State.LOBBY or len(self._offers) >= MOST_INVITATIONS:
            return
        self._desk.record("invited", by=name, length=length)
        if length is None:
            self._resume(name)
            return
        self._numbers += 1
        self._offers[name] = Offer(self._numbers, name, length)
        self._desk.wake("invitation", self._desk.settings.timings.invitation)
        self._consider(self._offers[name])

    def _on_warning(self, length: int) -> None:
        """Resume instead: to accept the invitation before would throw the saved match away."""
        if self._offers:
            offer = max(self._offers.values(), key=lambda offer: offer.number)
            del self._offers[offer.name]
            self.saved[offer.name] = length
            self._resume(offer.name)

    def _resume(self, name: str) -> None:
        if self._desk.finishing:
            return
        if self._invited == name:
            self._outbox.say(c.Join(name))
        elif not self._outbox.has(c.Invite):
            self._outbox.say(c.Invite(name))

    @property
    def waiting(self) -> int:
        """How many invitations wait for our answer."""
        return len(self._offers)

    # -- accepting ----------------------------------------------------------------------------------------------

    def _consider(self, offer: Offer) -> None:
        info = self.who.get(offer.name)
        desk = self._desk
        request = Request(offer.name, offer.length, paused=desk.paused, finishing=desk.finishing)
        if found := reasons(desk.settings.policy, request):
            self._refuse(offer, found[0].sentence)
        else:
            opponent = Opponent(offer.name, info.rating, info.experience, info.client) if info else Opponent(offer.name)
            key = InvitationKey(offer.name, offer.length, offer.number)
            self._desk.act(Ask(key, AcceptInvitation(opponent, offer.length)))

    def on_answer(self, key: InvitationKey, answer: Answer) -> None:
        """Take the strategy's answer to an invitation."""
        offer = self._offers.get(key.name)
        if offer is None or offer.number != key.number:
            self._desk.counters.late_answers += 1
            return
        verdict = answer if isinstance(answer, Verdict) else Verdict(accepted=True)
        if verdict.accepted:
            offer.verdict = verdict
        else:
            self._refuse(offer, verdict.reason or "Not now, sorry.")

    def _refuse(self, offer: Offer, sentence: str) -> None:
        """Say why, but not to the same user again and again."""
        del self._offers[offer.name]
        self._desk.record("invitation_refused", by=offer.name, length=offer.length, reason=sentence)
        last = self._told.get(offer.name)
        if last is None or self._desk.now >= last + 10 * self._desk.settings.timings.retry:
            if len(self._told) >= MOST_USERS:
                self._told.clear()
            self._told[offer.name] = self._desk.now
            self._outbox.say(c.Tell(offer.name, sentence))

    def on_invitation_ripe(self) -> None:
        """Take note that no more lines of the invitations are to be expected."""
        for offer in self._offers.values():
            offer.ripe = True

    def agreed_length(self, name: str) -> int | None:
        """Return the length of the invitation from this player that we have accepted; None if there is none."""
        offer = self._offers.get(name)
        return offer.length if offer else None

    # -- inviting -----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Go on to the next match, if there is nothing else to do."""
        if self._desk.session.state is not State.LOBBY or not self._outbox.idle:
            return
        for offer in self._offers.values():
            if offer.verdict and offer.ripe:
                self._outbox.say(c.Invite(offer.name) if offer.name in self.saved else c.Join(offer.name))
                return
        if not self._offers:
            self._invite()

    def _invite(self) -> None:
        settings, now = self._desk.settings, self._desk.now
        if not self._listed and (self.saved or settings.invite):
            self._outbox.say(c.Rawwho())
            return
        for name, length in self._candidates():
            again = self._tried.get(name, now)
            if now < again:
                if not self._desk.is_set("retry"):
                    self._desk.wake("retry", again - now)
                continue
            if (info := self.who.get(name)) and _is_free(info):
                self._tried[name] = now + settings.timings.retry
                self._outbox.say(c.Invite(name, length and length_to_fibs(length)))
                return

    def _candidates(self) -> Iterator[tuple[str, int | None]]:
        """Yield whom we would like to play, with the length of the match; None to resume."""
        settings = self._desk.settings
        for name, saved_length in self.saved.items():
            if saved_length is None or saved_length in settings.policy.lengths:
                yield name, None
        if settings.invite and settings.invite not in self.saved:
            yield settings.invite, settings.length

    def on_overdue(self, answered: Answered) -> None:
        """Forget what we hoped for when its answer got lost."""
        if isinstance(answered.errand.command, c.Join):
            self._offers.pop(answered.errand.command.name or "", None)

    def on_refusal(self, answered: Answered) -> None:
        """Give up what the server refused."""
        match answered.errand.command:
            case c.Join(name=str(name)):
                self._offers.pop(name, None)
            case c.Invite():
                self._invited = None


def _is_free(info: m.WhoInfo) -> bool:
    return info.ready and info.opponent is None
