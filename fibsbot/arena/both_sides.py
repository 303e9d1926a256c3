"""The order in which the messages of both players of a match are handled: that in which things happened."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU

Handler: TypeAlias = Callable[[], None]


class _Step(enum.Enum):
    """What a message means for the order."""

    ACTION = "the player's own play, or the rest of a turn left, which the other side's connection reports"
    REPORT = "the opponent's play, or the rest of a turn that the opponent leaves"
    END = "the end of a game, which both sides hear"
    OTHER = "anything else"


_ENDS: Final = (m.GameWon, m.GaveUp, m.ResignAccepted, m.GameWonBy, m.GameDrawn)


def _step(message: Message) -> _Step:
    if isinstance(message, _ENDS):
        return _Step.END
    if isinstance(message, m.CannotMove | m.RestLeft) and message.player == YOU:
        return _Step.ACTION
    return _Step.REPORT if isinstance(message, m.Moves | m.CannotMove | m.RestLeft) else _Step.OTHER


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
