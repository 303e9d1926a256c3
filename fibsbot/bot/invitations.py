"""Invitations: those that we send and those that we get.

See docs/reference/policy.md, and docs/reference/protocol.md, pitfalls 15 and 16.

Only one invitation is sent at a time, as the server keeps only the last. Each one that leads to nothing doubles the
wait before the next one to the same player, until that player comes back.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import Final

from attrs import define, evolve, field, frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.words import Setting
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, RecentTells
from fibsbot.bot.context import AgentContext, Feature, Timer, on
from fibsbot.bot.events_and_actions import Ask, InvitationKey
from fibsbot.bot.players import Players
from fibsbot.bot.timeouts import TIMEOUT_RULES, Awaited
from fibsbot.fibs_numbering import length_to_fibs
from fibsbot.policy import Direction, RefusalReason, reasons_to_refuse
from fibsbot.strategies.base import Opponent
from fibsbot.strategies.questions import AcceptAnswer, InvitationQuestion, StrategyAnswer

STUCK_MATCH_TEXT: Final = (
    "Our saved match is stuck on this server and can't be resumed. You can invite me to a new one."
)
"""The reply to an opponent who wants to resume a match that was given up."""
STUCK_MATCH_TEXTS: Final = frozenset(
    {
        STUCK_MATCH_TEXT,
        "Our saved match got stuck on this server, so I can't go on with it. You can invite me to a new one.",
    }
)
"""What other bots of this program say; the second is the older sentence."""
MAX_DOUBLINGS: Final = 7
"""The wait before inviting the same player again grows to 2 to the power of this many times the first one."""
MAX_FAILED_STARTS: Final = 5
"""Matches with a player that we have to leave at once before we neither invite that player nor accept in this run."""
STARTS_FAIL_TEXT: Final = "Each new match with you turns into one that I can't play, so I leave it. Please try later."
"""The reply to an invitation of a player with whom starts fail."""
MAX_TRIED: Final = 10_000
"""Players that are remembered, so as not to invite them again soon."""


class InvitationPurpose(enum.Enum):
    """The purpose of an invitation that we send."""

    RESUME = "resume"
    """To resume a saved match."""
    WANTED = "wanted"
    """The settings name the player."""
    ORDERED = "ordered"
    """An operator wants it."""
    SEEK = "seek"
    """To find an opponent when there is nothing else to do."""


@define
class SentInvitation:
    """An invitation that we have sent."""

    name: str
    length: int | None
    """Points, 0 for unlimited; None for a saved match."""
    purpose: InvitationPurpose
    until: float
    """How long we wait for an answer before we invite somebody else."""
    words: str | None = None
    """The player's last tell since the invitation."""
    open: bool = True
    """Whether we wait for an answer."""
    game: str | None = None
    """A game other than backgammon."""


@frozen
class InvitationAttempts:
    """How often a player was invited in vain."""

    count: int
    again: float
    """When the next invitation may go out."""


@define
class SentInvitations:
    """Our last invitation, and when players may be invited again."""

    _context: AgentContext
    _queue: CommandQueue
    _failed_starts: dict[str, InvitationAttempts]
    """How often a match with a player was one that we had to leave at once, since one with that player went on; over
    all connections."""
    _last: SentInvitation | None = None
    _attempts: dict[str, InvitationAttempts] = field(factory=dict)
    _announced_resumes: dict[str, float] = field(factory=dict)
    """When the server passed on our invitations to resume, by player, since the last match."""

    # -- making them --------------------------------------------------------------------------------------------

    def invite(
        self,
        name: str,
        length: int | None,
        purpose: InvitationPurpose,
        *,
        game: str | None = None,
        laws: str | None = None,
    ) -> None:
        """Invite somebody to a match of this length, None for a saved one; `game`, or else `laws`, if not the usual."""
        self.close()
        retry = self._context.settings.timings.retry
        count = self.attempts(name)
        if len(self._attempts) >= MAX_TRIED:
            del self._attempts[next(iter(self._attempts))]
        self._attempts[name] = InvitationAttempts(min(count + 1, MAX_DOUBLINGS), self._context.now + retry * 2**count)
        self._last = SentInvitation(name, length, purpose, self._context.now + retry, game=game)
        self._context.set_timer(Timer.ANSWER, retry)
        self._context.record("inviting", name=name, length=length, why=purpose.value)
        points = None if length is None else length_to_fibs(length)
        if points is None or (game is None and laws is None):
            self._queue.send(c.Invite(name, points))
        elif game is not None:
            self._queue.send(c.InviteToGame(name, points, game))
        elif laws is not None:
            self._queue.send(c.InviteByLaws(name, points, laws))

    def know_games(self) -> None:
        """Say to the server that we know other games, although the settings name none."""
        self._queue.send(c.SetCommand(Setting.GAMES, "on"))

    def attempts(self, name: str) -> int:
        """Return how often this player was invited in vain."""
        return self._attempts[name].count if name in self._attempts else 0

    def may_invite(self, name: str) -> bool:
        """Whether enough time has gone by since this player was invited last."""
        again = max(
            (attempts[name].again for attempts in (self._attempts, self._failed_starts) if name in attempts),
            default=0.0,
        )
        if self._context.now >= again:
            return True
        if Timer.RETRY not in self._context.timers and again < math.inf:
            self._context.set_timer(Timer.RETRY, again - self._context.now)
        return False

    def start_failed(self, name: str) -> None:
        """Note that we have left a match at once: the pauses until the next one grow, and after some there is none.

        There are servers that resume a saved match whatever we invite to, also one that cannot go on.
        """
        failed = self._failed_starts.pop(name, None)
        count = 1 if failed is None else failed.count + 1
        pause = math.inf if count >= MAX_FAILED_STARTS else self._context.settings.timings.retry * 2**count
        if len(self._failed_starts) >= MAX_TRIED:
            del self._failed_starts[next(iter(self._failed_starts))]
        self._failed_starts[name] = InvitationAttempts(count, self._context.now + pause)
        self._context.record("start_failed", opponent=name, count=count, pause=pause if pause < math.inf else None)

    def start_succeeded(self, name: str) -> None:
        """Note that a match with a player has gone on."""
        self._failed_starts.pop(name, None)

    def starts_fail(self, name: str) -> bool:
        """Whether it is too early for another match with a player with whom more than one had to be left at once."""
        failed = self._failed_starts.get(name)
        return failed is not None and failed.count > 1 and self._context.now < failed.again

    @property
    def given_up(self) -> tuple[str, ...]:
        """The players with whom no match is started any more in this run."""
        return tuple(sorted(name for name, failed in self._failed_starts.items() if failed.again == math.inf))

    def reset_attempts(self, name: str) -> None:
        """Forget how often this player was invited in vain."""
        self._attempts.pop(name, None)

    def on_came_back(self, name: str) -> None:
        """Note that a player has become free again, so that earlier invitations no longer count."""
        self.reset_attempts(name)
        if self._last and self._last.name == name:
            self.close()

    # -- what becomes of them -----------------------------------------------------------------------------------

    @property
    def waiting(self) -> SentInvitation | None:
        """The invitation whose answer we wait for."""
        return self._last if self._last and self._last.open else None

    def expire(self) -> None:
        """Stop waiting for an answer when its time is up."""
        if self._last and self._context.now >= self._last.until:
            self.close()

    def server_took_ours_first(self, name: str) -> bool:
        """Whether the server has recently passed on our invitation to resume to this player."""
        at = self._announced_resumes.get(name)
        return at is not None and self._context.now < at + 2 * self._context.settings.timings.retry

    def agreed_length(self, name: str) -> int | None:
        """Return the length to which we have invited this player; None for a saved match, or if we have not."""
        return self._last.length if self._last and self._last.name == name else None

    def agreed_game(self, name: str) -> str | None:
        """Return the game to which we have invited this player; None for backgammon."""
        if self._last and self._last.name == name:
            return self._last.game
        return self._context.settings.play.invite_game

    def match_started(self, opponent: str) -> None:
        """Forget our invitation because a match has started."""
        if self._last and self._last.name == opponent:
            self._last.open = False
        self.close()
        self._last = None
        self._announced_resumes.clear()
        self.reset_attempts(opponent)
        self._queue.drop(c.Invite, c.InviteByLaws, c.InviteToGame)

    @on(m.YouInvitedToResume)
    def _on_announced(self, message: m.YouInvitedToResume) -> None:
        self._announced_resumes[message.name] = self._context.now

    def on_says(self, message: m.Says) -> None:
        """Note what the player whom we have invited says: it may be a refusal."""
        if self._last and self._last.open and self._last.name == message.name:
            self._last.words = message.text

    def on_overdue(self, outcome: CommandOutcome) -> None:
        """Do not count an invitation that may have got lost."""
        match outcome.queued.command:
            case c.Invite(name=name) if name in self._attempts:
                attempts = self._attempts[name]
                again = self._context.now + self._context.settings.timings.retry
                self._attempts[name] = InvitationAttempts(attempts.count - 1, min(attempts.again, again))

    def on_refusal(self, outcome: CommandOutcome) -> None:
        """Give up an invitation that the server refused."""
        last = self._last
        match outcome.queued.command:
            case c.Join(name=str(name)):
                self._announced_resumes.pop(name, None)  # it is our turn to invite again
            case c.Invite(name=name) if last is not None and last.name == name:
                last.open = False
                if isinstance(outcome.message, m.RefusesGames):
                    self._refused(name, write(outcome.message))

    def close(self) -> None:
        """Stop waiting for an answer. A player who has told us something but has not joined has refused."""
        last = self._last
        if last and last.open:
            last.open = False
            if last.words is not None:
                self._refused(last.name, last.words)

    def _refused(self, name: str, text: str) -> None:
        self._context.memory.note_refusal(name, self._context.now)
        if self._last is not None and self._last.purpose is InvitationPurpose.RESUME and text in STUCK_MATCH_TEXTS:
            self._context.memory.note_stuck(name, self._context.now)  # another bot: only a new match helps
        self._context.record("refused_by", name=name, text=text)


MAX_INVITATIONS: Final = 100
"""Invitations that wait for our answer."""
STRATEGY_CODE: Final = "strategy"
"""The code of a refusal by the strategy and not by the policy."""


@define
class ReceivedInvitation:
    """An invitation to a new match."""

    number: int
    name: str
    length: int
    """Points, 0 for unlimited."""
    since: float
    """When it came, on the agent's clock."""
    complete: bool = False
    """Whether the time for the line that may follow an invitation is over."""
    awaits_saved_count: bool = False
    """Whether we wait for the number of saved matches of the inviter."""
    accepted: bool = False
    laws: str = ""
    """The words of other laws than those of FIBS."""
    game: str | None = None
    """A game other than backgammon."""


@define
class ReceivedInvitations:
    """Invitations to new matches."""

    _context: AgentContext
    _queue: CommandQueue
    _players: Players
    _numbers: Iterator[int]
    """Numbers that no invitation of the run has had yet."""
    _told: RecentTells
    """Players and the codes of the reasons that they were told."""
    _received: dict[str, ReceivedInvitation] = field(factory=dict)

    @property
    def waiting(self) -> int:
        """How many invitations wait for our answer."""
        return len(self._received)

    def clear(self) -> None:
        """Forget all invitations, as the server does when a match starts."""
        self._received.clear()
        self._context.timers.pop(Timer.INVITATION, None)

    def remove(self, name: str) -> None:
        """Forget the invitation of a player."""
        self._received.pop(name, None)

    def agreed_length(self, name: str) -> int | None:
        """Return the length of the invitation from this player that we have accepted; None if there is none."""
        invitation = self._received.get(name)
        return invitation.length if invitation else None

    def agreed_game(self, name: str) -> str | None:
        """Return the game of the invitation from this player that we have accepted; None for backgammon."""
        invitation = self._received.get(name)
        return invitation.game if invitation else None

    # -- deciding -----------------------------------------------------------------------------------------------

    def invited(self, name: str, length: int, game: str | None = None) -> None:
        """Consider an invitation to a new match."""
        if len(self._received) >= MAX_INVITATIONS and name not in self._received:
            return
        invitation = self._received[name] = ReceivedInvitation(
            next(self._numbers), name, length, self._context.now, game=game
        )
        self._context.set_timer(Timer.INVITATION, self._context.settings.timings.invitation)
        counts = self._context.settings.policy.max_saved_games is not None and not self._context.lacks(
            Feature.SAVED_COUNT
        )
        if not counts or self._against(invitation, None):
            self._consider(invitation, None)
        else:
            invitation.awaits_saved_count = True
            self._queue.send(c.Show(c.ShowTopic.SAVEDCOUNT, name))

    def note_laws(self, words: str) -> None:
        """Note the laws of the last invitation, whose line follows it, and refuse those that we do not play by."""
        invitation = self._received.get(self.last or "")
        if invitation is None or invitation.complete:
            return
        invitation.laws = words
        if found := self._against(invitation, None):
            del self._received[invitation.name]
            self.refuse(invitation.name, invitation.length, found)

    def on_count(self, name: str, count: int | None) -> None:
        """Continue with an invitation now that the number of saved matches is known, or cannot be (None)."""
        invitation = self._received.get(name)
        if invitation and invitation.awaits_saved_count:
            invitation.awaits_saved_count = False
            self._consider(invitation, count)

    @property
    def last(self) -> str | None:
        """The sender of the last invitation that still waits for our answer."""
        return max(self._received.values(), key=lambda invitation: invitation.number).name if self._received else None

    def _against(self, invitation: ReceivedInvitation, saved_games: int | None) -> tuple[RefusalReason, ...]:
        request = self._players.request(invitation.name, invitation.length, Direction.THEIRS, saved_games)
        offered = evolve(request, game=invitation.game, laws=invitation.laws)
        return reasons_to_refuse(self._context.settings.policy, offered)

    def _consider(self, invitation: ReceivedInvitation, saved_games: int | None) -> None:
        if found := self._against(invitation, saved_games):
            del self._received[invitation.name]
            self.refuse(invitation.name, invitation.length, found)
            return
        info = self._players.users.get(invitation.name)
        opponent = (
            Opponent(invitation.name, info.rating, info.experience, info.client) if info else Opponent(invitation.name)
        )
        key = InvitationKey(invitation.name, invitation.length, invitation.number)
        self._context.actions.append(Ask(key, InvitationQuestion(opponent, invitation.length)))
        self._context.set_timer(
            Timer.INVITATION_LOST, TIMEOUT_RULES[Awaited.STRATEGY].seconds(self._context.settings.timings)
        )

    def expire(self) -> None:
        """Accept invitations, as the policy does, about which the strategy's answer was lost."""
        wait = TIMEOUT_RULES[Awaited.STRATEGY].seconds(self._context.settings.timings)
        for invitation in self._received.values():
            if not invitation.accepted and self._context.now >= invitation.since + wait:
                invitation.accepted = invitation.complete = True
                self._context.record("invitation_accepted", by=invitation.name, length=invitation.length)

    def on_answer(self, key: InvitationKey, answer: StrategyAnswer | None) -> None:
        """Take the strategy's answer to an invitation; without one the policy, which has accepted it, decides."""
        invitation = self._received.get(key.name)
        if invitation is None or invitation.number != key.number:
            self._context.counters.late_answers += 1
            return
        if isinstance(answer, AcceptAnswer) and not answer.accepted:
            del self._received[invitation.name]
            self.refuse(
                invitation.name, invitation.length, (RefusalReason(STRATEGY_CODE, answer.reason or "Not now, sorry."),)
            )
        else:
            invitation.accepted = True
            self._context.record("invitation_accepted", by=invitation.name, length=invitation.length)

    def refuse(self, name: str, length: int | None, found: tuple[RefusalReason, ...]) -> None:
        """Refuse and tell the reason, but not the same to the same player again and again."""
        context, first = self._context, found[0]
        codes = [reason.code for reason in found]
        context.record(
            "invitation_refused", by=name, length=length, reason=first.sentence, code=first.code, codes=codes
        )
        told = name, first.code
        recently = self._told.contains(told, context.now, context.settings.chat.window)
        if not recently and self._queue.send_chat(c.Tell(name, first.sentence)):
            self._told.add(told, context.now)

    # -- going on -----------------------------------------------------------------------------------------------

    def on_complete(self) -> None:
        """Note that all lines of the invitations have come."""
        for invitation in self._received.values():
            invitation.complete = True

    def ready(self) -> str | None:
        """Return whose invitation has been accepted and can be joined now: people's come before those of bots."""
        ready = (invitation for invitation in self._received.values() if invitation.accepted and invitation.complete)
        return min((invitation.name for invitation in ready), key=self._players.is_bot, default=None)

    def on_unanswered(self, outcome: CommandOutcome) -> None:
        """Give up what the server refused, or gave no answer to."""
        match outcome.queued.command:
            case c.Join(name=str(name)):
                self.remove(name)
            case c.Chouette(argument=str(argument)):
                self.remove(argument.removeprefix("join "))
            case c.Show(c.ShowTopic.SAVEDCOUNT, str(name)):
                self.on_count(name, None)
