"""The schedule of faults, by the seed, and the times of recovery."""

from __future__ import annotations

import enum
import random
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Final, TypeVar

from attrs import define, field, frozen
from attrs.validators import ge, gt

_Card = TypeVar("_Card")


class FaultKind(enum.Enum):
    """Kinds of faults. The values are their names in reports."""

    DELAY = "delay"
    """Every chunk of one direction comes late for a while."""
    FRAGMENT = "fragment"
    """Every byte of both directions comes alone for a while."""
    CUT = "cut"
    """The connection ends after some bytes of one direction, usually within a line."""
    CUT_AT_LOGIN = "cut at login"
    """The connection ends; the next one ends at some byte of the login."""
    CUT_AT_OPENING = "cut at opening"
    """The connection ends at some byte of the lines that begin a game."""
    CUT_AT_MATCH_END = "cut at match end"
    """The connection ends at some byte of the line that ends a match, or behind it."""
    RESET = "reset"
    """The connection is reset, for both ends."""
    HALF_CLOSE_BY_SERVER = "half-close by server"
    """The direction to the bot ends; the other stays open."""
    HALF_CLOSE_BY_BOT = "half-close by bot"
    """The direction to the server ends; the other stays open."""
    DUPLICATE_BOARD = "duplicate board"
    """One `board:` line comes twice."""
    DROP_FROM_SERVER = "drop from server"
    """One line to the bot gets lost."""
    DROP_TO_SERVER = "drop to server"
    """One line to the server gets lost."""
    STALL = "stall"
    """Nothing arrives in either direction for minutes; then everything does."""
    BLACK_HOLE = "black hole"
    """Everything is dropped from now on, without an end: a half-open connection."""
    SERVER_RESTART = "server restart"
    """The server announces a restart, says goodbye to everybody, ends and is started again."""
    SERVER_CRASH = "server crash"
    """The server is killed (SIGKILL) and started again."""
    BOT_KILL = "bot kill"
    """The bot is killed (SIGKILL) and started again."""
    BOT_RESTART = "bot restart"
    """The bot gets two SIGTERM, which interrupt the match, and is started again."""
    OPPONENT_LEAVES = "opponent leaves"
    """The opponent says `leave`."""
    OPPONENT_DROPS = "opponent drops"
    """The opponent's connection is reset; it comes back."""
    REFUSED = "refused connections"
    """The connection is reset, and new ones are refused for a while."""
    GLUE = "glue"
    """Two lines to the bot come as one."""
    GARBAGE = "garbage"
    """The bot gets a line without a meaning."""


@frozen
class Fault:
    """A scheduled fault."""

    number: int
    at: float
    """Seconds after the faults begin."""
    kind: FaultKind
    pair: int
    """Number of the pair; faults of the server strike all pairs."""
    to_server: bool
    """The direction, for kinds that have one."""
    seconds: float
    """Duration on the bots' clock, for kinds that last."""
    position: int
    """Number of bytes that still pass, for kinds that count them."""
    choice: int
    """Random number for other choices of a kind."""


MIN_PAIRS: Final = 2
"""The bot of one pair is never ended, so there must be another."""


@frozen
class ChaosPlan:
    """The settings of a run."""

    minutes: float = field(validator=gt(0))
    """Duration of the faults; then the matches are finished."""
    seed: int
    pairs: int = field(default=6, validator=ge(MIN_PAIRS))
    """Bots, each with an opponent of its own."""
    length: int = field(default=3, validator=ge(1))
    """Points of each match."""
    speed: float = field(default=30.0, validator=gt(0))
    """Factor by which the bots' clock is faster: their timeouts and pauses are shortened by it."""
    rate: float = field(default=40.0, validator=gt(0))
    """Faults per minute, all pairs together."""

    @property
    def seconds(self) -> float:
        """Duration of the faults in seconds."""
        return 60 * self.minutes


_DURATIONS: Final[dict[FaultKind, tuple[float, float]]] = {
    FaultKind.DELAY: (20, 120),
    FaultKind.FRAGMENT: (20, 120),
    FaultKind.STALL: (60, 300),
    FaultKind.REFUSED: (10, 180),
}
"""Minimum and maximum duration of a kind, in seconds on the bots' clock."""
_MAX_BYTES: Final[dict[FaultKind, int]] = {
    FaultKind.CUT: 1500,
    FaultKind.CUT_AT_LOGIN: 1500,
    FaultKind.CUT_AT_OPENING: 250,
    FaultKind.CUT_AT_MATCH_END: 60,
}
"""Maximum number of bytes that still pass."""
_FIRST: Final = 0.5
"""Seconds without faults at the beginning."""
SPARED_PAIR: Final = 0
"""The first pair, the one whose bot process is never ended, so that its memory can be watched over the whole run."""
_OF_BOT: Final = frozenset({FaultKind.BOT_KILL, FaultKind.BOT_RESTART})


def make_schedule(plan: ChaosPlan) -> tuple[Fault, ...]:
    """Return the faults of a plan in their order.

    The kinds are dealt like cards, so that all are about equally frequent; so are the pairs, so that each has some time
    to recover.
    """
    chance = random.Random(plan.seed)
    count = max(int(plan.rate * plan.minutes), 1)
    step = max(plan.seconds - _FIRST, 0) / count
    kinds, pairs = _deal(list(FaultKind), chance), _deal(range(plan.pairs), chance)
    faults = []
    for number in range(count):
        kind, pair = next(kinds), next(pairs)
        if kind in _OF_BOT and pair == SPARED_PAIR:
            pair = 1 + chance.randrange(plan.pairs - 1)
        faults.append(
            Fault(
                number=number,
                at=_FIRST + (number + chance.random()) * step,
                kind=kind,
                pair=pair,
                to_server=chance.random() < 0.5,
                seconds=chance.uniform(*_DURATIONS.get(kind, (0, 0))),
                position=chance.randrange(_MAX_BYTES.get(kind, 1)),
                choice=chance.randrange(2**16),
            )
        )
    return tuple(faults)


def _deal(cards: Sequence[_Card], chance: random.Random) -> Iterator[_Card]:
    """Deal all cards in a random order, again and again."""
    while True:
        yield from chance.sample(cards, len(cards))


@define
class Incident:
    """A fault and its recovery. Times are seconds since the faults began."""

    fault: Fault
    struck: float | None = None
    """None if it found no target."""
    ended: float | None = None
    recovered: float | None = None
    waiting: set[str] = field(factory=set)
    """The accounts that have not recovered yet."""

    @property
    def seconds(self) -> float | None:
        """Duration of the recovery; None before its end."""
        return None if self.recovered is None or self.ended is None else self.recovered - self.ended


@define
class IncidentLog:
    """All incidents of a run."""

    incidents: list[Incident] = field(factory=list)
    _began: float = field(factory=time.monotonic)

    @property
    def now(self) -> float:
        """Seconds since the faults began."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()

    def expect(self, fault: Fault) -> Incident:
        """Add a fault that is about to strike."""
        incident = Incident(fault)
        self.incidents.append(incident)
        return incident

    def struck(self, incident: Incident) -> None:
        """Note that the fault has struck."""
        incident.struck = self.now

    def ended(self, incident: Incident, accounts: Collection[str]) -> None:
        """Note the end of a fault, and the accounts that must recover from it."""
        incident.ended = self.now
        incident.waiting = set(accounts)

    def progressed(self, account: str) -> None:
        """Note that an account has made progress."""
        for incident in self.incidents:
            if account in incident.waiting:
                incident.waiting.discard(account)
                if not incident.waiting:
                    incident.recovered = self.now
