"""Timeouts: a rule for everything that the agent waits for (docs/explanation/agent.md).

Every wait ends. When one has expired as often as its rule allows, its consequence follows; see `recovery.py`.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Final

from attrs import define, frozen

from fibs_protocol import commands as c
from fibs_protocol.commands import Command
from fibsbot.bot.context import AgentContext
from fibsbot.bot.settings import Timings


class Awaited(enum.Enum):
    """Something that the agent waits for; the value describes it."""

    PROMPT = "the login prompt, then the answer to the login"
    TOGGLES = "the values of the toggles"
    LOGIN_DONE = "the answers to what is asked after the login"
    QUESTION = "the answer to a request"
    REPLY = "the answer to any other command"
    LEAVE = "the answer to `leave`"
    ANY_LINE = "any line at all, while commands are unanswered"
    REQUESTED_BOARD = "a board that was asked for"
    DECISION = "a decision of ours to be taken"
    STRATEGY = "the strategy's answer"
    BOARD = "a board, or a line that says what is open"
    ROLL = "the dice, or the question whether we double"
    GAME = "the next game"
    END = "the line that says that the match is over"
    OPPONENT = "the opponent's next step"
    MATCH = "a match that we are in, according to the server"
    CHOUETTE = "what happens next at a chouette"


class Consequence(enum.Enum):
    """The consequence when a wait has expired for the last time."""

    GO_ON = "go on without it"
    RECONNECT = "a new connection"
    LAST_RESORT = "the last resort decides"
    REJOIN = "the match: leave and rejoin; then a new connection; then the match is given up"
    """The first of these that was not tried for this match since it last made progress."""
    RECONNECT_MATCH = "the match: a new connection; then the match is given up"
    LEAVE_TABLE = "`chouette leave`; a new connection if that is refused again and again, or changes nothing"


@frozen
class TimeoutRule:
    """One row of the table."""

    timing: str
    """The field of Timings with the length of the wait."""
    factor: float
    """The factor of that time."""
    retries: int
    """The number of further waits."""
    ask: str
    """What is sent before each further wait."""
    then: Consequence

    def seconds(self, timings: Timings) -> float:
        """Return the seconds of one wait."""
        return self.factor * float(getattr(timings, self.timing))

    def bound(self, timings: Timings) -> float:
        """Return the seconds until the consequence at most."""
        return (1 + self.retries) * self.seconds(timings)


TIMEOUT_RULES: Final[Mapping[Awaited, TimeoutRule]] = {
    Awaited.PROMPT: TimeoutRule("watchdog", 4, 0, "", Consequence.RECONNECT),
    Awaited.TOGGLES: TimeoutRule("watchdog", 1, 1, "`show saved`, `set`, `toggle`", Consequence.GO_ON),
    Awaited.LOGIN_DONE: TimeoutRule("watchdog", 2.5, 0, "", Consequence.GO_ON),
    Awaited.QUESTION: TimeoutRule("watchdog", 0.5, 1, "the same again", Consequence.GO_ON),
    Awaited.REPLY: TimeoutRule("watchdog", 1, 0, "", Consequence.GO_ON),
    Awaited.LEAVE: TimeoutRule("watchdog", 1, 1, "`leave`", Consequence.RECONNECT),
    Awaited.ANY_LINE: TimeoutRule("watchdog", 1, 2, "", Consequence.RECONNECT),
    Awaited.REQUESTED_BOARD: TimeoutRule("watchdog", 1, 4, "`board`", Consequence.REJOIN),
    Awaited.DECISION: TimeoutRule("watchdog", 3, 2, "`board`", Consequence.REJOIN),
    Awaited.STRATEGY: TimeoutRule("deadline", 6, 0, "", Consequence.LAST_RESORT),
    Awaited.BOARD: TimeoutRule("watchdog", 1, 4, "`board`; once `move` alone where we cannot move", Consequence.REJOIN),
    Awaited.ROLL: TimeoutRule("watchdog", 1, 4, "`board`, then `roll`", Consequence.REJOIN),
    Awaited.GAME: TimeoutRule("watchdog", 1, 4, "`join`", Consequence.REJOIN),
    Awaited.END: TimeoutRule("watchdog", 1, 0, "", Consequence.GO_ON),
    Awaited.OPPONENT: TimeoutRule(
        "patience",
        1,
        29,
        "`board`, from the fifth time on `rawwho OPPONENT`; see below for one who plays with nobody",
        Consequence.RECONNECT_MATCH,
    ),
    Awaited.MATCH: TimeoutRule("watchdog", 0.25, 3, "`board`, or `rawwho OURSELVES`", Consequence.RECONNECT),
    Awaited.CHOUETTE: TimeoutRule("patience", 1, 29, "`chouette`", Consequence.LEAVE_TABLE),
}
"""All waits. Those for people and for the next invitation have their times in the settings."""


REPEATED_COMMANDS: Final[tuple[type[Command], ...]] = (c.SetCommand, c.ToggleCommand, c.Show)
"""Commands that are sent again when no answer comes, but for `show savedcount`."""


def awaited_of(command: Command) -> Awaited:
    """Return what is waited for after a command that carries out no decision."""
    if isinstance(command, c.Leave):
        return Awaited.LEAVE
    counts = isinstance(command, c.Show) and command.what is c.ShowTopic.SAVEDCOUNT
    return Awaited.QUESTION if isinstance(command, REPEATED_COMMANDS) and not counts else Awaited.REPLY


@define
class _OpenWait:
    """A wait in progress."""

    subject: object
    expired_count: int = 0
    """The number of times that it has expired."""


class Timeouts:
    """The waits that are open now."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._open: dict[Awaited, _OpenWait] = {}
        self._missed: defaultdict[tuple[Awaited, Hashable], float] = defaultdict(float)
        """Answers that did not come in time, by wait and subject."""

    def start(self, awaited: Awaited, subject: object = None, *, divisor: float = 1) -> None:
        """Start a wait unless the same one is open; its length is divided by `divisor`."""
        known = self._open.get(awaited)
        if known is None or known.subject != subject:
            self._open[awaited] = _OpenWait(subject)
            self._context.set_timer(awaited, TIMEOUT_RULES[awaited].seconds(self._context.settings.timings) / divisor)

    def stop(self, awaited: Awaited) -> None:
        """Stop a wait, if it is open."""
        self._missed.pop((awaited, None), None)
        if self._open.pop(awaited, None) is not None:
            self._context.timers.pop(awaited, None)

    def switch(self, among: frozenset[Awaited], awaited: Awaited | None, subject: object, *, divisor: float) -> bool:
        """Let one of these waits be open, or none; return whether one is that was not."""
        before = among & self._open.keys()
        for other in before - {awaited}:
            self.stop(other)
        if awaited is not None:
            self.start(awaited, subject, divisor=divisor)
        return awaited is not None and awaited not in before

    def is_waiting_for(self, awaited: Awaited) -> bool:
        """Whether this wait is open."""
        return awaited in self._open

    def expired_count(self, awaited: Awaited) -> int:
        """Return how often this wait has expired."""
        return self._open[awaited].expired_count if awaited in self._open else 0

    def on_time(self, awaited: Awaited) -> bool:
        """Note that a wait has expired; return whether it was the last time, else restart it."""
        known = self._open[awaited]
        row = TIMEOUT_RULES[awaited]
        known.expired_count += 1
        if known.expired_count > row.retries:
            self.stop(awaited)
            return True
        self._context.set_timer(awaited, row.seconds(self._context.settings.timings))
        return False

    def note_missed(self, awaited: Awaited, subject: Hashable = None, *, weight: float = 1) -> bool:
        """Count an answer that did not come in time; return whether that was the last attempt.

        `weight`: how many of the rule's waits have passed.
        """
        self._missed[awaited, subject] += weight
        if self._missed[awaited, subject] > TIMEOUT_RULES[awaited].retries:
            del self._missed[awaited, subject]
            return True
        return False
