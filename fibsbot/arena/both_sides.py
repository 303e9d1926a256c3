"""Displays of a match that both of its players see: the order in which they get the messages of both."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Observer
from fibsbot.draw.markup import clean

Handler: TypeAlias = Callable[[], None]


class _Step(enum.Enum):
    """What a message means for the order."""

    ACTION = "the player's own play, which the other side's connection reports"
    REPORT = "the opponent's play"
    END = "the end of a game, which both sides hear"
    OTHER = "anything else"


_ENDS: Final = (m.GameWon, m.GaveUp, m.ResignAccepted, m.GameWonBy, m.GameDrawn)


def _step(message: Message) -> _Step:
    if isinstance(message, _ENDS):
        return _Step.END
    if isinstance(message, m.CannotMove) and message.player == YOU:
        return _Step.ACTION
    return _Step.REPORT if isinstance(message, m.Moves | m.CannotMove) else _Step.OTHER


@define
class _Side:
    held: deque[tuple[_Step, Handler]] = field(factory=deque)
    reports: int = 0
    """Plays of the opponent that were handled, less those for which the opponent's side has waited."""


@define
class BothSides:
    """Handles the messages of both players in the order in which things happened.

    Each player hears only the opponent's plays, by a connection of its own, so that the answer to a play may arrive
    before the play. What follows a play waits until the other side has reported it, and the end of a game until both
    have heard of it.
    """

    _sides: tuple[_Side, _Side] = field(factory=lambda: (_Side(), _Side()))

    def handle(self, message: Message, handler: Handler, *, leads: bool) -> None:
        """Call the handler of a message of the side that leads or of the other one, at once unless it has to wait."""
        self._take(_step(message), handler, leads=leads)

    def played(self, *, leads: bool) -> None:
        """Note that a player has sent a play."""
        self._take(_Step.ACTION, lambda: None, leads=leads)

    def flush(self) -> None:
        """Call all handlers that still wait: nothing more comes."""
        for side in self._sides:
            while side.held:
                side.held.popleft()[1]()

    def _take(self, step: _Step, handler: Handler, *, leads: bool) -> None:
        self._sides[0 if leads else 1].held.append((step, handler))
        while self._handle_one():
            pass

    def _handle_one(self) -> bool:
        """Handle what can be handled next; return whether there was anything."""
        for side, other in (self._sides, self._sides[::-1]):
            if not side.held:
                continue
            step, handler = side.held[0]
            if step is _Step.ACTION:
                if not other.reports:
                    continue
                other.reports -= 1
            elif step is _Step.REPORT:
                side.reports += 1
            elif step is _Step.END and not (other.held and other.held[0][0] is _Step.END):
                continue
            side.held.popleft()
            handler()
            if step is _Step.END:
                other.held.popleft()[1]()
            return True
        return False


LONGEST_REASON: Final = 200
"""Characters of the reason why a strategy had no answer."""


class LiveDisplay(Protocol):
    """What shows a match by the messages of both players."""

    both_sides: BothSides

    def print(self, line: str) -> None:
        """Print a line."""


class PlayerCommentator(Observer):
    """Tells a display what one player does; the subclasses tell what the messages to the player mean."""

    display: LiveDisplay
    leads: bool
    """Whether the match is shown from this player's side."""

    def on_sent(self, command: Command, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Note a play of the player, which the opponent's commentator prints."""
        if isinstance(command, c.Move):
            self.display.both_sides.played(leads=self.leads)

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Print that the player's strategy had no answer."""
        if record.name == "fallback":
            reason = clean(str(record.fields.get("reason")), LONGEST_REASON)
            self.display.print(f"{reason}; the fallback decides")
