"""Saved matches: which there are, and when the next one is resumed (docs/protocol.md, pitfall 15).

A saved match is resumed by our own `invite`, even where the opponent has invited us: joining might begin another
match. So that two bots that do the same do not wait for each other, the one whose invitation the server took first
joins; both see which one that was from the order of the lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from attrs import define
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import Departure

from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext
from fibsbot.bot.invitations import STUCK_MATCH_TEXT, InvitationPurpose, SentInvitations
from fibsbot.bot.players import Players
from fibsbot.fibs import length_from_fibs
from fibsbot.policy import Direction, RefusalReason, reasons_not_to_resume, reasons_to_refuse
from fibsbot.text import format_duration

MAX_SAVED: Final = 1_000
"""Saved matches that we keep in mind; FIBS lets nobody have more than a few dozen."""
REPLY_MAX_AGE: Final = 60.0
"""Seconds in which it is of use to tell somebody why the match will not go on at once."""


@define
class SavedMatchState:
    """A match that was broken off."""

    length: int | None
    """Points, 0 for unlimited; None while it is not known."""
    since: float | None = None
    """When it broke off, on the agent's clock; None: before this run."""
    begun: bool = False
    """Whether points were played for in it, or were about to be: such a match is finished, whatever the policy says."""
    swapped: bool = False
    """Whether we have left it because it was not the match that we had agreed to."""
    wanted: bool = False
    """Whether the opponent waits for us to go on."""
    due: float | None = None
    """When the opponent may be invited; None: at any time."""
    left: bool = False
    """Whether the opponent left: then we invite once."""
    spent: bool = False
    """Whether an opponent who left was invited, and has to come by himself now."""

    def renew(self) -> None:
        """Take note that the opponent is back: nothing of how the match broke off matters any more."""
        self.due, self.left, self.spent = None, False, False


class SavedMatches:
    """Our saved matches, and whom we invite to go on with one."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue, people: Players, inviting: SentInvitations) -> None:
        """Have no saved match."""
        self._desk = desk
        self._outbox = outbox
        self._people = people
        self._inviting = inviting
        self.matches: dict[str, SavedMatchState] = {}
        """By opponent. Those that the server lists come first, in its order; then those that broke off since."""
        self._listing: list[str] | None = None
        """Opponents in the server's list, as far as it has come."""
        self._told: dict[str, float] = {}

    def disconnected(self) -> None:
        """Expect the server's list again."""
        self._listing = None
        for saved in self.matches.values():
            saved.wanted = False

    # -- which there are ----------------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Keep up with the list of saved matches, and with opponents who come back."""
        self._follow_list(message)
        match message:
            case m.SavedStart() | m.NoSavedGames():
                # What broke off in this run is kept: an invitation will show whether the server still has it.
                self.matches = {name: saved for name, saved in self.matches.items() if saved.since is not None}
            case m.SavedMatch():
                self._on_listed(message)
            case m.NoSavedMatch():
                self.matches.pop(message.name, None)
            case m.LoggedIn() | m.LoggedOut() if saved := self.matches.get(message.name):
                saved.renew()
                saved.wanted = False
            case m.SavedMatchCorrupt() if (ours := self._inviting.waiting) and ours.why is InvitationPurpose.RESUME:
                self.matches.pop(ours.name, None)

    def _follow_list(self, message: Message) -> None:
        """Tell which matches the server keeps, once its list is whole: no line says that it is, but the next does."""
        if isinstance(message, m.SavedMatch) and self._listing is not None and len(self._listing) < MAX_SAVED:
            self._listing.append(message.name)
        elif not isinstance(message, m.SavedMatch):
            listed = [] if isinstance(message, m.NoSavedGames) else self._listing
            if listed is not None:
                self._desk.record("saved_matches", opponents=listed)
            self._listing = [] if isinstance(message, m.SavedStart) else None

    def _on_listed(self, row: m.SavedMatch) -> None:
        self.note(row.name, length_from_fibs(row.length))
        saved = self.matches[row.name]
        saved.begun = saved.begun or row.own_points + row.opponent_points > 0

    def note(self, name: str, length: int) -> None:
        """Take note that there is a saved match with this player."""
        if name not in self.matches:
            self._keep(name, SavedMatchState(length))
        self.matches[name].length = length

    def _keep(self, name: str, saved: SavedMatchState) -> None:
        if len(self.matches) >= MAX_SAVED:
            unsure = (other for other, match in self.matches.items() if match.length is None)
            del self.matches[next(unsure, next(iter(self.matches)))]
        self.matches[name] = saved

    def broke_off(self, name: str, length: int | None, *, swapped: bool, how: Departure | None) -> None:
        """Keep a match that was broken off. `swapped`: we have left it; `how`: the opponent has gone."""
        timings, now = self._desk.settings.timings, self._desk.now
        old = self.matches.pop(name, None) or SavedMatchState(None)
        saved = SavedMatchState(old.length, now, old.begun, old.swapped)
        if length is not None:
            saved = SavedMatchState(length, now, begun=not swapped, swapped=swapped)
        self._keep(name, saved)
        saved.left = how in (Departure.LEFT, Departure.TERMINATED)
        if saved.left:
            saved.due = now + timings.left
            if not self._against(name, saved, Direction.OURS):
                self._say_when(name, timings.left)
        elif how is not None:
            saved.due = now + timings.invitation  # a last line may call him free before he is said to have logged out

    def _say_when(self, name: str, wait: float) -> None:
        """Tell an opponent who left how it goes on; but who leaves again and again knows."""
        now = self._desk.now
        self._told = {name: at for name, at in self._told.items() if now < at + wait}
        if name not in self._told and len(self._told) < MAX_SAVED:
            self._told[name] = now
            pause = format_duration(wait)
            said = f"You left our match, which is saved. I will invite you once, in {pause}, to go on with it."
            self._outbox.talk(c.Tell(name, said), fresh=REPLY_MAX_AGE)

    def finished(self, name: str) -> None:
        """Forget a match that is over."""
        self.matches.pop(name, None)

    def agreed_length(self, name: str) -> int | None:
        """Return the length of the saved match with this player, if it is known."""
        saved = self.matches.get(name)
        return saved.length if saved else None

    # -- which ones go on ---------------------------------------------------------------------------------------

    def goes_on(self, name: str) -> bool:
        """Whether there is a saved match with this player that we would go on with."""
        saved = self.matches.get(name)
        return saved is not None and not self._against(name, saved, Direction.THEIRS)

    @property
    def listing(self) -> bool:
        """Whether the server's list may not be whole yet."""
        return self._listing is not None

    def asked(self, name: str, *, joinable: bool = True) -> tuple[RefusalReason, ...]:
        """Go on with a match because the opponent wants to; return why not, if we don't.

        `joinable`: the opponent's last invitation was to this match; to join after another one would begin that.
        """
        if name not in self.matches:
            self._keep(name, SavedMatchState(None))
        saved = self.matches[name]
        if found := self._against(name, saved, Direction.THEIRS):
            return found
        saved.renew()
        saved.swapped = False
        self._inviting.try_anew(name)  # whoever invites us is there
        ours = self._inviting.waiting
        if joinable and self._inviting.was_first(name):
            self._outbox.say(c.Join(name))
        elif not self._outbox.has(c.Invite):
            self._invite(name, saved)
        else:
            saved.wanted = ours is None or ours.name != name or ours.length is not None
        return ()

    def answer(self) -> bool:
        """Invite the next opponent who waits for us to; return whether there was one."""
        return self._invite_first(name for name, saved in self.matches.items() if saved.wanted)

    def step(self, *, again: bool) -> bool:
        """Invite the next opponent, the oldest match first; return whether there was one.

        `again`: one whom we have invited in vain, the least often first.
        """
        ages = {name: self._broke_off(name, saved) for name, saved in self.matches.items()}
        tries = {name: self._inviting.tries(name) for name in ages}
        names = sorted(
            (name for name in ages if again is bool(tries[name])), key=lambda name: (tries[name], ages[name])
        )
        return self._invite_first(name for name in names if self._is_next(name, self.matches[name]))

    def _broke_off(self, name: str, saved: SavedMatchState) -> float:
        """Return since when a match waits; one of which nobody remembers that is older than all that we know."""
        since = self._desk.memory.of(name).broke_off if saved.since is None else saved.since
        return -math.inf if since is None else since

    def _invite_first(self, names: Iterator[str]) -> bool:
        name = next(names, None)
        if name is None:
            return False
        self._invite(name, self.matches[name])
        return True

    def _is_next(self, name: str, saved: SavedMatchState) -> bool:
        """Whether it is time to invite an opponent who has not asked us."""
        stuck = self._desk.memory.of(name).stuck is not None
        if saved.swapped or saved.spent or stuck or not self._people.is_free(name):
            return False
        if saved.due is not None and self._desk.now < saved.due:
            timer = "left" if saved.left else "gone"
            if not self._desk.is_set(timer):
                self._desk.wake(timer, saved.due - self._desk.now)
            return False
        return self._inviting.may_try(name) and not self._against(name, saved, Direction.OURS)

    def _invite(self, name: str, saved: SavedMatchState) -> None:
        saved.wanted = False
        saved.due, saved.spent = None, saved.left
        self._inviting.invite(name, None, InvitationPurpose.RESUME)

    def _against(self, name: str, saved: SavedMatchState, direction: Direction) -> tuple[RefusalReason, ...]:
        """Return what speaks against going on with a match.

        What we have begun is played to its end, whatever its length; only a match without an end needs the policy's
        consent.
        """
        policy = self._desk.settings.policy
        request = self._people.request(name, saved.length or 0, direction)
        found = reasons_not_to_resume(policy, request)
        if self._desk.memory.of(name).stuck is not None:
            return (*found, RefusalReason("stuck", STUCK_MATCH_TEXT))
        if saved.length is None or (saved.begun and saved.length):
            return found
        return found + tuple(it for it in reasons_to_refuse(policy, request) if it.code in {"length", "unlimited"})

    # -- what becomes of it -------------------------------------------------------------------------------------

    def on_refusal(self, answered: CommandOutcome) -> None:
        """Take note that an invitation did not reach the opponent, or that there is no match to go on with."""
        match answered.errand.command:
            case c.Join(name=str(name)) if isinstance(answered.message, m.SavedMatchCorrupt):
                self.matches.pop(name, None)
            case c.Invite(name=name, length=None) if isinstance(answered.message, m.NoSavedMatch):
                self.matches.pop(name, None)  # JIBS writes `{0}` for the name
            case c.Invite(name=name, length=None) if (saved := self.matches.get(name)) and saved.spent:
                saved.spent, saved.due = False, self._desk.now + self._desk.settings.timings.retry
