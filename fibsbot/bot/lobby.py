"""Between two matches: what is done first, and by whom.

Saved matches come first, then invitations that we have accepted, then opponents of saved matches who have not answered
before, then our own invitations to new matches.
"""

from __future__ import annotations

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibs_protocol.words import Departure

from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext
from fibsbot.bot.interface import InvitationKey
from fibsbot.bot.invitations import InvitationPurpose, OpponentSearch, ReceivedInvitations, SentInvitations
from fibsbot.bot.players import Players
from fibsbot.bot.saved_matches import SavedMatches, SavedMatchState
from fibsbot.fibs import length_from_fibs
from fibsbot.strategies.questions import StrategyAnswer


class Lobby:
    """Whom we know, who wants to play, and whom we invite."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue) -> None:
        """Know nobody."""
        self._desk = desk
        self._outbox = outbox
        self._people = Players(desk, outbox)
        self._inviting = SentInvitations(desk, outbox)
        self._resuming = SavedMatches(desk, outbox, self._people, self._inviting)
        self._invitations = ReceivedInvitations(desk, outbox, self._people)
        self._seeking = OpponentSearch(desk, self._people, self._inviting)

    @property
    def who(self) -> dict[str, m.WhoInfo]:
        """Who is logged in, as far as we know."""
        return self._people.who

    @property
    def saved(self) -> dict[str, SavedMatchState]:
        """Our saved matches, by opponent."""
        return self._resuming.matches

    @property
    def waiting(self) -> int:
        """How many invitations wait for our answer."""
        return self._invitations.waiting

    # -- matches begin and end ------------------------------------------------------------------------------------

    def disconnected(self) -> None:
        """Forget who was there."""
        self._people.disconnected()
        self._inviting.disconnected()
        self._resuming.disconnected()
        self._invitations.clear()
        self._seeking.busy()

    def agreed_length(self, name: str, *, resumed: bool, ours: bool) -> int | None:
        """Return the length of the match that we have agreed to play with somebody; None if it is not known.

        `ours`: it begins because the other has accepted our invitation.
        """
        if resumed:
            return self._resuming.agreed_length(name)
        return (self._inviting if ours else self._invitations).agreed_length(name)

    def match_started(self, opponent: str) -> None:
        """Forget all other invitations."""
        self._invitations.clear()
        self._inviting.match_started(opponent)
        self._seeking.met(opponent)

    def match_ended(self, opponent: str) -> None:
        """Take note that a match was played to its end."""
        self._resuming.finished(opponent)
        self._desk.memory.played(opponent, self._desk.now)

    def match_saved(self, opponent: str, length: int | None, *, swapped: bool, how: Departure | None) -> None:
        """Take note that a match broke off. `swapped`: it was not the one agreed on; `how`: the opponent has gone."""
        self._desk.memory.was_broken_off(opponent, self._desk.now)
        self._resuming.broke_off(opponent, length, swapped=swapped, how=how)

    # -- what the server says -------------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Keep up with who is there and who invites whom."""
        came_free = self._people.on_message(message)
        if came_free is not None:
            self._inviting.came_back(came_free)
        self._resuming.on_message(message)
        self._inviting.on_message(message)
        match message:
            case m.LoggedOut():
                self._invitations.withdraw(message.name)
            case m.SavedCount():
                self._invitations.on_count(message.name, message.count)
            case m.Invitation() | m.ResumeInvitation() if self._desk.session.state is State.LOBBY:
                self._on_invitation(message)
            case m.SavedMatchWarning() if (name := self._invitations.last) is not None:
                self._resuming.note(name, length_from_fibs(message.length))
                self._go_on_instead(name)

    def _on_invitation(self, message: m.Invitation | m.ResumeInvitation) -> None:
        length = length_from_fibs(message.length) if isinstance(message, m.Invitation) else None
        self._desk.record("invited", by=message.name, length=length)
        if length is None:
            self._resume_for(message.name)
        else:
            self._invitations.invited(message.name, length)

    def _resume_for(self, name: str, *, joinable: bool = True) -> None:
        """Go on with a saved match because the opponent wants to, or wanted another; that one is not `joinable`."""
        if found := self._resuming.asked(name, joinable=joinable):
            self._invitations.refuse(name, None, found)
        else:
            self._desk.record("invitation_accepted", by=name, length=None)

    def on_answer(self, key: InvitationKey, answer: StrategyAnswer) -> None:
        """Take the strategy's answer to an invitation."""
        self._invitations.on_answer(key, answer)

    def on_invitation_ripe(self) -> None:
        """Take note that no more lines of the invitations are to be expected."""
        self._invitations.on_ripe()

    def on_overdue(self, answered: CommandOutcome) -> None:
        """Deal with a command that got no answer in time."""
        if answered.errand.command == c.Rawwho():
            self._people.on_unanswered()
        self._invitations.on_unanswered(answered)
        self._inviting.on_overdue(answered)

    def on_unusual(self, answered: CommandOutcome) -> None:
        """Deal with a command that was answered in a form that is not known."""
        self._invitations.on_unanswered(answered)

    def on_refusal(self, answered: CommandOutcome) -> None:
        """Give up what the server refused."""
        match answered.message:
            case m.NoSuchUser(name=name) | m.CantFindPlayer(name=name):
                self._people.note_gone(name)
            case m.RefusesGames(name=name) | m.AlreadyPlayingOther(name=name):
                self._people.note_busy(name)
        self._invitations.on_unanswered(answered)
        self._resuming.on_refusal(answered)
        self._inviting.on_refusal(answered)

    # -- what is done next ----------------------------------------------------------------------------------------

    def step(self) -> None:
        """Go on to the next match, if there is nothing else to do."""
        self._inviting.expire()
        if self._desk.session.state is not State.LOBBY or not self._outbox.idle or self._resuming.listing:
            return  # whoever does not know all saved matches might throw one away by an invitation
        if self._resuming.answer():
            return
        if self._people.ask(fresh=bool(self.saved) or self._seeking.wishes):
            return
        ours = self._inviting.waiting
        if ours is not None and ours.why is InvitationPurpose.RESUME:
            return
        if ours is None and self._resuming.step(again=False):
            return
        if (name := self._invitations.ready()) is not None:
            if not self._go_on_instead(name):
                self._outbox.say(c.Join(name))
        elif ours is None and not self._invitations.waiting and not self._resuming.step(again=True):
            self._seeking.step(self.saved)

    def _go_on_instead(self, name: str) -> bool:
        """Go on with the saved match, if there is one: to join another would throw it away."""
        goes_on = self._resuming.goes_on(name)
        if goes_on:
            self._invitations.withdraw(name)
            self._resume_for(name, joinable=False)
        return goes_on
