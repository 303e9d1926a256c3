"""Saved matches: which there are, and when the next one is resumed (docs/reference/protocol.md, pitfall 15).

A saved match is resumed by our own `invite`, even where the opponent has invited us: joining might begin another
match. So that two bots that do the same do not wait for each other, the one whose invitation the server took first
joins; both see which one that was from the order of the lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from attrs import define, evolve

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import Departure
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, RecentTells
from fibsbot.bot.context import AgentContext, Timer, on
from fibsbot.bot.invitations import STUCK_MATCH_TEXT, InvitationPurpose, SentInvitations
from fibsbot.bot.players import Players
from fibsbot.fibs_numbering import length_from_fibs
from fibsbot.policy import Direction, RefusalReason, reasons_not_to_resume, reasons_to_refuse
from fibsbot.text import format_duration

MAX_SAVED: Final = 1_000
"""Saved matches that are remembered; FIBS allows a few dozen."""
LONGEST_PAUSE: Final = 24 * 60
"""Minutes for which an opponent's word that they do not resume a match holds at most."""
_NOT_NOW: Final = re.compile(r"\bnot attempt to resume for (\d{1,4}) minutes?\b")
"""What GammonBot says to an opponent who has left: it refuses until then."""
_LISTED: Final = (m.SavedMatch, m.SavedGameMatch)
"""The lines of the server's list."""


@define
class SavedMatchState:
    """A saved match."""

    length: int | None
    """Points, 0 for unlimited; None while it is not known."""
    since: float | None = None
    """When it was interrupted, on the agent's clock; None: before this run."""
    begun: bool = False
    """Whether points were played for in it, or were about to be: such a match is finished, whatever the policy says."""
    wrong_length: bool = False
    """Whether we left it because it had another length than agreed."""
    opponent_waits: bool = False
    """Whether the opponent waits, on this connection, for us to resume it."""
    due: float | None = None
    """When the opponent may be invited; None: at any time."""
    not_before: float = 0.0
    """Until when the opponent does not resume it, by its own words."""
    left: bool = False
    """Whether the opponent left: then we invite once."""
    invited_after_leaving: bool = False
    """Whether an opponent who left was invited; the next invitation must be theirs."""

    def renew(self) -> None:
        """Reset the waits because the opponent is back."""
        self.due, self.left, self.invited_after_leaving = None, False, False


@define
class SavedMatches:
    """Our saved matches, and when each is resumed."""

    _context: AgentContext
    _queue: CommandQueue
    _players: Players
    _sent_invitations: SentInvitations
    matches: dict[str, SavedMatchState]
    """By opponent. Those that the server lists come first, in its order; then those that broke off since."""
    _told: RecentTells
    """Opponents who were told when we invite them."""
    listing: list[str] | None = None
    """Opponents in the server's list, as far as it has come; None while none comes."""

    def handed_over(self) -> dict[str, SavedMatchState]:
        """Return the matches for the next connection: there nobody waits for us yet, and the server lists them anew."""
        return {name: evolve(saved, opponent_waits=False) for name, saved in self.matches.items()}

    # -- which there are ----------------------------------------------------------------------------------------

    @on(m.SavedStart, m.NoSavedGames)
    def _on_list(self, message: m.SavedStart | m.NoSavedGames) -> None:
        # What broke off in this run is kept: an invitation will show whether the server still has it.
        self.matches = {name: saved for name, saved in self.matches.items() if saved.since is not None}
        if isinstance(message, m.SavedStart):
            self.listing = []
        else:
            self._context.record("saved_matches", opponents=[])

    def follow_list(self, listing: list[str], message: Message) -> None:
        """Add a line to the server's list, or record it as complete, which the next other line shows."""
        if not isinstance(message, _LISTED):
            self.listing = None
            if not isinstance(message, m.NoSavedGames):
                self._context.record("saved_matches", opponents=listing)
        elif len(listing) < MAX_SAVED:
            listing.append(message.name)

    @on(m.NoSavedMatch)
    def _on_no_match(self, message: m.NoSavedMatch) -> None:
        self.matches.pop(message.name, None)

    def logged_in_or_out(self, name: str) -> None:
        """Note that an opponent has come or gone."""
        if saved := self.matches.get(name):
            saved.renew()
            saved.opponent_waits = False

    def on_says(self, message: m.Says) -> None:
        """Invite an opponent who does not resume for some minutes when these are over, and not before."""
        saved, said = self.matches.get(message.name), _NOT_NOW.search(message.text)
        if saved is not None and said is not None:
            saved.not_before = self._context.now + 60.0 * min(int(said[1]), LONGEST_PAUSE)

    @on(m.SavedMatchCorrupt)
    def _on_corrupt(self, _: m.SavedMatchCorrupt) -> None:
        if (ours := self._sent_invitations.waiting) and ours.purpose is InvitationPurpose.RESUME:
            self.matches.pop(ours.name, None)

    @on(m.SavedMatch, m.SavedGameMatch)
    def _on_listed(self, row: m.SavedMatch | m.SavedGameMatch) -> None:
        self.note(row.name, length_from_fibs(row.length))
        saved = self.matches[row.name]
        saved.begun = saved.begun or row.own_points + row.opponent_points > 0

    def note(self, name: str, length: int) -> None:
        """Add a saved match with this player, or its length."""
        if name not in self.matches:
            self._keep(name, SavedMatchState(length))
        self.matches[name].length = length

    def _keep(self, name: str, saved: SavedMatchState) -> None:
        if len(self.matches) >= MAX_SAVED:
            unsure = (other for other, match in self.matches.items() if match.length is None)
            del self.matches[next(unsure, next(iter(self.matches)))]
        self.matches[name] = saved

    def broke_off(self, name: str, length: int | None, *, wrong_length: bool, how: Departure | None) -> None:
        """Add an interrupted match. `wrong_length`: we left it because of that; `how`: how the opponent left."""
        timings, now = self._context.settings.timings, self._context.now
        old = self.matches.pop(name, None) or SavedMatchState(None)
        saved = SavedMatchState(old.length, now, old.begun, old.wrong_length)
        if length is not None:
            saved = SavedMatchState(length, now, begun=not wrong_length, wrong_length=wrong_length)
        self._keep(name, saved)
        saved.left = how in (Departure.LEFT, Departure.TERMINATED)
        if saved.left:
            saved.due = now + timings.left
            if not self._against(name, saved, Direction.OURS):
                self._say_when(name, timings.left)
        elif how is not None:
            saved.due = now + timings.invitation  # a `5` line may call them free just before they log out

    def _say_when(self, name: str, wait: float) -> None:
        """Tell an opponent who left when we invite them; not again to one who leaves repeatedly."""
        now = self._context.now
        if not self._told.contains(name, now, wait):
            self._told.add(name, now)
            pause = format_duration(wait)
            said = f"You left our match; it is saved. I'll invite you once to resume it, in {pause}."
            self._queue.send_chat(c.Tell(name, said))

    def finished(self, name: str) -> None:
        """Remove a match that has ended."""
        self.matches.pop(name, None)

    def agreed_length(self, name: str) -> int | None:
        """Return the length of the saved match with this player, if it is known."""
        saved = self.matches.get(name)
        return saved.length if saved else None

    # -- which ones go on ---------------------------------------------------------------------------------------

    def is_resumable(self, name: str) -> bool:
        """Whether there is a saved match with this player that we would resume."""
        saved = self.matches.get(name)
        return saved is not None and not self._against(name, saved, Direction.THEIRS)

    def resume_requested(self, name: str, *, joinable: bool = True) -> tuple[RefusalReason, ...]:
        """Resume a match because the opponent wants to; return the reasons if we do not.

        `joinable`: the opponent's last invitation was to this match; to join after another one would begin that.
        """
        if name not in self.matches:
            self._keep(name, SavedMatchState(None))
        saved = self.matches[name]
        if found := self._against(name, saved, Direction.THEIRS):
            return found
        saved.renew()
        saved.not_before = 0.0
        saved.wrong_length = False
        self._sent_invitations.reset_attempts(name)  # a player who invites us is logged in
        ours = self._sent_invitations.waiting
        if joinable and self._sent_invitations.server_took_ours_first(name):
            self._queue.send(c.Join(name))
        elif not self._queue.has_kind(c.Invite):
            self._invite(name, saved)
        else:
            saved.opponent_waits = ours is None or ours.name != name or ours.length is not None
        return ()

    def answer(self) -> bool:
        """Invite the next opponent who waits for us; return whether there was one."""
        return self._invite_first(name for name, saved in self.matches.items() if saved.opponent_waits)

    def step(self, *, again: bool) -> bool:
        """Invite the next opponent, the oldest match first; return whether there was one.

        `again`: one whom we have invited in vain, the least often first.
        """
        ages = {name: self._broke_off(name, saved) for name, saved in self.matches.items()}
        attempts = {name: self._sent_invitations.attempts(name) for name in ages}
        names = sorted(
            (name for name in ages if again is bool(attempts[name])), key=lambda name: (attempts[name], ages[name])
        )
        return self._invite_first(name for name in names if self._is_next(name, self.matches[name]))

    def _broke_off(self, name: str, saved: SavedMatchState) -> float:
        """Return when a match broke off; one for which that is unknown counts as older than all others."""
        since = self._context.memory.history_of(name).broke_off if saved.since is None else saved.since
        return -math.inf if since is None else since

    def _invite_first(self, names: Iterator[str]) -> bool:
        name = next(names, None)
        if name is None:
            return False
        self._invite(name, self.matches[name])
        return True

    def _is_next(self, name: str, saved: SavedMatchState) -> bool:
        """Whether it is time to invite an opponent who has not asked us."""
        stuck = self._context.memory.history_of(name).stuck is not None
        if saved.wrong_length or saved.invited_after_leaving or stuck or not self._players.is_free(name):
            return False
        due = max(saved.not_before, saved.due or 0.0)
        if self._context.now < due:
            timer = Timer.NOT_BEFORE if due == saved.not_before else Timer.LEFT if saved.left else Timer.GONE
            if timer not in self._context.timers:
                self._context.set_timer(timer, due - self._context.now)
            return False
        return self._sent_invitations.may_invite(name) and not self._against(name, saved, Direction.OURS)

    def _invite(self, name: str, saved: SavedMatchState) -> None:
        saved.opponent_waits = False
        saved.due, saved.invited_after_leaving = None, saved.left
        self._sent_invitations.invite(name, None, InvitationPurpose.RESUME)

    def _against(self, name: str, saved: SavedMatchState, direction: Direction) -> tuple[RefusalReason, ...]:
        """Return what speaks against going on with a match.

        What we have begun is played to its end, whatever its length; only a match without an end needs the policy's
        consent.
        """
        policy = self._context.settings.policy
        request = self._players.request(name, saved.length or 0, direction)
        found = reasons_not_to_resume(policy, request)
        if self._context.memory.history_of(name).stuck is not None:
            return (*found, RefusalReason("stuck", STUCK_MATCH_TEXT))
        if saved.length is None or (saved.begun and saved.length):
            return found
        return found + tuple(
            reason for reason in reasons_to_refuse(policy, request) if reason.code in {"length", "unlimited"}
        )

    # -- what becomes of it -------------------------------------------------------------------------------------

    def on_refusal(self, outcome: CommandOutcome) -> None:
        """Handle a refused invitation, or a match that does not exist any more."""
        match outcome.queued.command:
            case c.Join(name=str(name)) if isinstance(outcome.message, m.SavedMatchCorrupt):
                self.matches.pop(name, None)
            case c.Invite(name=name, length=None) if isinstance(outcome.message, m.NoSavedMatch):
                self.matches.pop(name, None)  # JIBS writes `{0}` for the name
            case c.Invite(name=name, length=None) if (saved := self.matches.get(name)) and saved.invited_after_leaving:
                saved.invited_after_leaving, saved.due = False, self._context.now + self._context.settings.timings.retry
