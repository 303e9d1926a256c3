"""The lobby: what is done between two matches, and in which order; whom we invite to a new match.

Saved matches come first, then invitations that we have accepted, then opponents of saved matches who have not answered
before, then our own invitations to new matches: to the player whom the settings name, or when idle to any suitable
player.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container
from typing import Final

from attrs import define, field, frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.session import LOGGED_IN, State
from fibs_protocol.words import Departure
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext, Timer, on
from fibsbot.bot.invitations import STARTS_FAIL_TEXT, InvitationPurpose, ReceivedInvitations, SentInvitations
from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.bot.players import Players
from fibsbot.bot.saved_matches import SavedMatches
from fibsbot.bot.settings import AgentSettings, PlaySettings, SeekSettings
from fibsbot.fibs_numbering import length_from_fibs
from fibsbot.policy import CHOUETTE, Direction, RefusalReason, reasons_to_refuse

HOUR: Final = 3_600.0
"""Seconds."""


ORDER_AGE: Final = HOUR
"""Seconds for which an ordered invitation waits until both are free."""
MAX_ORDERED: Final = 20
"""Ordered invitations that wait."""


@frozen
class OrderedInvitation:
    """An invitation that an operator has ordered."""

    length: int
    game: str | None
    until: float
    """When it is too late for it."""


@define
class SearchHistory:
    """Whom we have invited to new matches in the run, without being told whom."""

    recent: deque[tuple[float, str]] = field(factory=deque)
    """Times and names of those invited within the last hour."""
    last: str | None = None
    turns: Counter[InvitationPurpose] = field(factory=Counter)
    """Invitations of each purpose, which take the lengths in turn."""
    ordered: dict[str, OrderedInvitation] = field(factory=dict)
    """Invitations that an operator has ordered and that did not go out yet, by player."""


@define
class OpponentSearch:
    """Invites to new matches."""

    _context: AgentContext
    _players: Players
    _sent_invitations: SentInvitations
    _history: SearchHistory
    _idle_since: float | None = None

    @property
    def wants_to_invite(self) -> bool:
        """Whether we would like to invite somebody."""
        settings = self._context.settings
        return bool(self._history.ordered) or self._invites_unasked(settings)

    def _invites_unasked(self, settings: AgentSettings) -> bool:
        """Whether the settings want somebody to be invited."""
        return not self._context.paused and (settings.play.invite is not None or settings.seek.after is not None)

    def order(self, name: str, length: int, game: str | None) -> str:
        """Invite a player as soon as both are free, by an order; return the answer to the order."""
        if len(self._history.ordered) >= MAX_ORDERED and name not in self._history.ordered:
            return f"{MAX_ORDERED} invitations wait already."
        self._history.ordered[name] = OrderedInvitation(length, game, self._context.now + ORDER_AGE)
        self._sent_invitations.reset_attempts(name)
        points = f"a {length}-point match" if length else "an unlimited match"
        of_game = f" of {game}" if game else ""
        return f"{name} is invited to {points}{of_game} as soon as we are both free, within an hour."

    @property
    def ordered(self) -> tuple[str, ...]:
        """The players whom an operator wants to be invited."""
        return tuple(self._history.ordered)

    def reset_idle(self) -> None:
        """Restart the time without a match."""
        self._idle_since = None

    def match_started(self, name: str) -> None:
        """Note that a match started; its opponent may be invited again soon."""
        self.reset_idle()
        self._history.recent = deque((at, "" if sought == name else sought) for at, sought in self._history.recent)

    def step(self, saved: Container[str]) -> None:
        """Invite a player if it is time to, but none of those in `saved`, with whom there is a match to resume.

        Only if that match is stuck, the player named in the settings is invited to a new one.
        """
        if self._invite_ordered(saved):
            return
        if not self._invites_unasked(self._context.settings):
            self.reset_idle()
        elif not self._invite_wanted(saved):
            self._search_opponent(saved)

    def _invite_ordered(self, saved: Container[str]) -> bool:
        """Invite the next player whom an operator wants to be invited; return whether there was one."""
        ordered, now = self._history.ordered, self._context.now
        for name in [name for name, wanted in ordered.items() if now >= wanted.until]:
            del ordered[name]
            self._context.record("order_expired", name=name)
        for name, wanted in ordered.items():
            resumes = name in saved and self._context.memory.history_of(name).stuck is None
            if not resumes and self._players.is_free(name) and self._sent_invitations.may_invite(name):
                del ordered[name]
                if wanted.game is not None and not self._context.settings.knows_games:
                    self._sent_invitations.know_games()
                self._sent_invitations.invite(name, wanted.length, InvitationPurpose.ORDERED, game=wanted.game)
                return True
        return False

    def _invite_wanted(self, saved: Container[str]) -> bool:
        name, play = self._context.settings.play.invite, self._context.settings.play
        if name is None or not self._players.is_free(name):
            return False
        if name in saved and self._context.memory.history_of(name).stuck is None:
            return False
        length = next(
            (length for length in self._in_turn(InvitationPurpose.WANTED, play) if self._suits(name, length)), None
        )
        if length is None:
            self._wake_when_cool(name)
            return False
        if not self._sent_invitations.may_invite(name):
            return False
        self._history.turns[InvitationPurpose.WANTED] += 1
        self._sent_invitations.invite(
            name, length, InvitationPurpose.WANTED, game=play.invite_game, laws=play.invite_laws
        )
        return True

    def _in_turn(self, purpose: InvitationPurpose, settings: PlaySettings | SeekSettings) -> tuple[int, ...]:
        """Return the lengths to invite to, the one first whose turn it is."""
        lengths = settings.lengths_in_turn
        first = self._history.turns[purpose] % len(lengths)
        return (*lengths[first:], *lengths[:first])

    def _suits(self, name: str, length: int) -> bool:
        return not reasons_to_refuse(self._context.settings.policy, self._players.request(name, length, Direction.OURS))

    def _wake_when_cool(self, name: str) -> None:
        """Set a timer for the end of the cool-down after the last match with this player."""
        context = self._context
        since = context.memory.history_of(name).since_last(context.now)
        if since is not None and since < context.settings.policy.cool_down:
            context.set_timer(Timer.COOL, context.settings.policy.cool_down - since)

    # -- seeking ------------------------------------------------------------------------------------------------

    def _search_opponent(self, saved: Container[str]) -> None:
        context, seek = self._context, self._context.settings.seek
        if seek.after is None:
            return
        if self._idle_since is None:
            self._idle_since = context.now
        due = max(self._idle_since + seek.after, self._next_of_hour(seek.per_hour))
        if context.now < due:
            if Timer.SEEK not in context.timers:
                context.set_timer(Timer.SEEK, due - context.now)
        elif Timer.SEEK not in context.timers:
            self._invite_found(saved)
            context.set_timer(Timer.SEEK, context.settings.timings.retry)  # before everybody is looked at again

    def _next_of_hour(self, per_hour: int) -> float:
        """Return when the next invitation may go out, so that there are not too many within an hour."""
        recent = self._history.recent
        while recent and recent[0][0] <= self._context.now - HOUR:
            recent.popleft()
        return recent[-per_hour][0] + HOUR if len(recent) >= per_hour else 0.0

    def _invite_found(self, saved: Container[str]) -> None:
        seek = self._context.settings.seek
        length, found = 0, list[str]()
        for length in self._in_turn(InvitationPurpose.SEEK, seek):
            found = [name for name in self._players.users if name not in saved and self._is_eligible(name, length)]
            if found:
                break
        others = [name for name in found if name != self._history.last] or found
        if others:
            name = self._context.rng.choice(sorted(others))
            self._history.last = name
            self._history.recent.append((self._context.now, name))
            self.reset_idle()
            self._history.turns[InvitationPurpose.SEEK] += 1
            self._sent_invitations.invite(name, length, InvitationPurpose.SEEK)

    def _is_eligible(self, name: str, length: int) -> bool:
        """Whether a player may be invited to a new match of this length."""
        context, seek, info = self._context, self._context.settings.seek, self._players.users[name]
        if name == context.settings.name or info.away or not self._players.is_free(name):
            return False
        if not (seek.bots if self._players.is_bot(name) else context.settings.policy.people):
            return False
        refused = context.memory.history_of(name).refused
        if refused is not None and context.now < refused + seek.forgive:
            return False
        return all(name != sought for _, sought in self._history.recent) and self._suits(name, length)


@define
class Lobby:
    """Chooses the next match: saved matches, invitations, our own invitations."""

    _context: AgentContext
    _queue: CommandQueue
    players: Players
    _sent_invitations: SentInvitations
    _invitations: ReceivedInvitations
    _saved_matches: SavedMatches
    _search: OpponentSearch

    def __attrs_post_init__(self) -> None:
        self.players.on_free = self._sent_invitations.on_came_back

    # -- matches begin and end ------------------------------------------------------------------------------------

    def agreed_length(self, name: str, *, resumed: bool, ours: bool) -> int | None:
        """Return the length of the match that we have agreed to play with somebody; None if it is not known.

        `ours`: it begins because the other has accepted our invitation.
        """
        if resumed:
            return self._saved_matches.agreed_length(name)
        return (self._sent_invitations if ours else self._invitations).agreed_length(name)

    def agreed_game(self, name: str, *, ours: bool) -> str | None:
        """Return the game that we have agreed to play; None for backgammon. `ours` as above."""
        return (self._sent_invitations if ours else self._invitations).agreed_game(name)

    @property
    def ordered(self) -> tuple[str, ...]:
        """The players whom an operator wants to be invited."""
        return self._search.ordered

    def obey(self, given: GivenOrder) -> str:
        """Carry out an order about another player; return what the operator is answered."""
        context, name = self._context, given.name
        if name == context.settings.name:
            return "That is me."
        if given.order is Order.SAY:
            if context.session.state not in LOGGED_IN:
                return "I'm not logged in."
            sent = self._queue.send_chat(c.Tell(name, given.text))
            return f"I said that to {name}." if sent else "Not sent: too many commands are waiting."
        if given.order is Order.INVITE:
            if context.finishing:
                return "I'm about to log out."
            return self._search.order(name, given.length, given.game)
        blocked = given.order is Order.BLOCK
        answer = context.memory.block(name, blocked=blocked)
        context.record("player_blocked", name=name, blocked=blocked)
        if blocked:
            self._invitations.remove(name)
        return answer

    def note_laws(self, words: str) -> None:
        """Note the laws of the last invitation."""
        self._invitations.note_laws(words)

    def match_started(self, opponent: str) -> None:
        """Forget all other invitations."""
        self._invitations.clear()
        self._sent_invitations.match_started(opponent)
        self._search.match_started(opponent)

    def match_ended(self, opponent: str) -> None:
        """Note that a match was played to its end."""
        self._saved_matches.finished(opponent)
        self._sent_invitations.start_succeeded(opponent)
        self._context.memory.note_played(opponent, self._context.now, bot=self.players.is_bot(opponent))

    def match_saved(
        self, opponent: str, length: int | None, *, wrong_length: bool, unwanted: bool, how: Departure | None
    ) -> None:
        """Note that a match was interrupted.

        `wrong_length`: not the length agreed on; `unwanted`: given up before; `how`: how the opponent left.
        """
        if wrong_length or unwanted:
            self._sent_invitations.start_failed(opponent)
        else:
            self._sent_invitations.start_succeeded(opponent)
        self._context.memory.note_broken_off(opponent, self._context.now)
        self._saved_matches.broke_off(opponent, length, wrong_length=wrong_length, how=how)

    # -- what the server says -------------------------------------------------------------------------------------

    @on(m.LoggedIn)
    def _on_logged_in(self, message: m.LoggedIn) -> None:
        self.players.logged_in(message.name)
        self._saved_matches.logged_in_or_out(message.name)

    @on(m.LoggedOut)
    def _on_logged_out(self, message: m.LoggedOut) -> None:
        self.players.logged_out(message.name)
        self._saved_matches.logged_in_or_out(message.name)
        self._invitations.remove(message.name)

    @on(m.Says)
    def _on_says(self, message: m.Says) -> None:
        self._saved_matches.on_says(message)
        self._sent_invitations.on_says(message)

    @on(m.SavedCount)
    def _on_saved_count(self, message: m.SavedCount) -> None:
        self._invitations.on_count(message.name, message.count)

    @on(m.Invitation, m.ResumeInvitation)
    def _on_invitation(self, message: m.Invitation | m.ResumeInvitation) -> None:
        if self._context.session.state is not State.LOBBY:
            return
        length = length_from_fibs(message.length) if isinstance(message, m.Invitation) else None
        self._context.record("invited", by=message.name, length=length)
        if length is None:
            self._resume_for(message.name)
        else:
            self._consider(message.name, length)

    def _consider(self, name: str, length: int, game: str | None = None) -> None:
        if self._sent_invitations.starts_fail(name):
            self._invitations.refuse(name, length, (RefusalReason("stuck", STARTS_FAIL_TEXT),))
        else:
            self._invitations.invited(name, length, game)

    @on(m.GameInvitation, m.GameResumeInvitation)
    def _on_game_invitation(self, message: m.GameInvitation | m.GameResumeInvitation) -> None:
        if self._context.session.state is not State.LOBBY:
            return
        length = length_from_fibs(message.length) if isinstance(message, m.GameInvitation) else None
        self._context.record("invited", by=message.name, length=length, game=message.game)
        if length is None:
            self._resume_for(message.name)
        else:
            self._consider(message.name, length, message.game)

    @on(m.ChouetteInvitation)
    def _on_chouette_invitation(self, message: m.ChouetteInvitation) -> None:
        if self._context.session.state is State.LOBBY:
            self._context.record("invited", by=message.name, length=0, game=CHOUETTE)
            self._invitations.invited(message.name, 0, CHOUETTE)

    @on(m.SavedMatchWarning)
    def _on_saved_match_warning(self, message: m.SavedMatchWarning) -> None:
        if (name := self._invitations.last) is not None:
            self._saved_matches.note(name, length_from_fibs(message.length))
            self._go_on_instead(name)

    def _resume_for(self, name: str, *, joinable: bool = True) -> None:
        """Resume a saved match because the opponent wants to play; `joinable`: the invitation was to this match."""
        if found := self._saved_matches.resume_requested(name, joinable=joinable):
            self._invitations.refuse(name, None, found)
        else:
            self._context.record("invitation_accepted", by=name, length=None)

    def on_overdue(self, outcome: CommandOutcome) -> None:
        """Deal with a command that got no answer in time."""
        if outcome.queued.command == c.Rawwho():
            self.players.on_unanswered()
        self._invitations.on_unanswered(outcome)
        self._sent_invitations.on_overdue(outcome)

    def on_refusal(self, outcome: CommandOutcome) -> None:
        """Give up what the server refused."""
        match outcome.message:
            case m.NoSuchUser(name=name) | m.CantFindPlayer(name=name):
                self.players.remove(name)
            case m.RefusesGames(name=name) | m.AlreadyPlayingOther(name=name):
                self.players.note_busy(name)
        self._invitations.on_unanswered(outcome)
        self._saved_matches.on_refusal(outcome)
        self._sent_invitations.on_refusal(outcome)

    # -- what is done next ----------------------------------------------------------------------------------------

    def step(self) -> None:
        """Take the next step towards a match, if there is nothing else to do."""
        self._sent_invitations.expire()
        self._invitations.expire()
        if (
            self._context.session.state is not State.LOBBY
            or not self._queue.idle
            or self._saved_matches.listing is not None
        ):
            return  # before all saved matches are known, an invitation might delete one
        if self._saved_matches.answer():
            return
        if self.players.request_list(fresh=bool(self._saved_matches.matches) or self._search.wants_to_invite):
            return
        ours = self._sent_invitations.waiting
        if ours is not None and ours.purpose is InvitationPurpose.RESUME:
            return
        if ours is None and self._saved_matches.step(again=False):
            return
        if (name := self._invitations.ready()) is not None:
            if self._invitations.agreed_game(name) == CHOUETTE:
                self._queue.send(c.Chouette(f"join {name}"))
            elif not self._go_on_instead(name):
                self._queue.send(c.Join(name))
        elif ours is None and not self._invitations.waiting and not self._saved_matches.step(again=True):
            self._search.step(self._saved_matches.matches)

    def _go_on_instead(self, name: str) -> bool:
        """Resume the saved match, if there is one: joining another would delete it."""
        is_resumable = self._saved_matches.is_resumable(name)
        if is_resumable:
            self._invitations.remove(name)
            self._resume_for(name, joinable=False)
        return is_resumable
