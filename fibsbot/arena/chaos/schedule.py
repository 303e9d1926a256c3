"""Which fault strikes when and where: everything that a seed decides."""

from __future__ import annotations

import enum
import random
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from attrs import field, frozen
from attrs.validators import ge, gt

_Card = TypeVar("_Card")


class Kind(enum.Enum):
    """What can happen. Each value is the kind's name in reports, each docstring what it does."""

    DELAY = "delay"
    """Every chunk of one direction comes late for a while."""
    FRAGMENT = "fragment"
    """Every byte of both directions comes alone for a while."""
    CUT = "cut"
    """The connection ends so many bytes after the strike, counted in one direction: in mid-line as a rule."""
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
    """Everything vanishes from now on, and neither end is told: a connection half open."""
    SERVER_RESTART = "server restart"
    """The server announces a restart, says goodbye to everybody, ends and is started again."""
    SERVER_CRASH = "server crash"
    """The server is killed (SIGKILL) and started again."""
    BOT_KILL = "bot kill"
    """The bot is killed (SIGKILL) and started again."""
    BOT_RESTART = "bot restart"
    """The bot is told to end by two SIGTERM, which breaks the match off, and started again."""
    OPPONENT_LEAVES = "opponent leaves"
    """The opponent says `leave`."""
    OPPONENT_DROPS = "opponent drops"
    """The opponent's connection is reset; it comes back."""
    REFUSED = "refused connections"
    """The connection is reset, and new ones are refused for a while."""
    GLUE = "glue"
    """Two lines to the bot come as one."""
    GARBAGE = "garbage"
    """The bot gets a line that nobody has ever heard of."""


@frozen
class Fault:
    """One fault, as the schedule has it."""

    number: int
    at: float
    """Seconds after the faults begin."""
    kind: Kind
    pair: int
    """Which pair it strikes; faults of the server strike all."""
    to_server: bool
    """The direction, where a kind leaves it open."""
    seconds: float
    """How long it lasts, by the bots' clock, where a kind lasts."""
    position: int
    """Bytes that still pass, where a kind counts them."""
    choice: int
    """Chooses among what else a kind leaves open."""


LEAST_PAIRS: Final = 2
"""One bot is spared what others suffer."""


@frozen
class Plan:
    """What to run."""

    minutes: float = field(validator=gt(0))
    """So long faults strike; then matches are played to their end."""
    seed: int
    pairs: int = field(default=6, validator=ge(LEAST_PAIRS))
    """Bots, each with an opponent of its own."""
    length: int = field(default=3, validator=ge(1))
    """Points of each match."""
    speed: float = field(default=30.0, validator=gt(0))
    """So many times faster than usual the bots' clock goes: all their waits are so much shorter."""
    rate: float = field(default=40.0, validator=gt(0))
    """Faults a minute, all pairs together."""

    @property
    def seconds(self) -> float:
        """How long faults strike."""
        return 60 * self.minutes


_LASTS: Final[dict[Kind, tuple[float, float]]] = {
    Kind.DELAY: (20, 120),
    Kind.FRAGMENT: (20, 120),
    Kind.STALL: (60, 300),
    Kind.REFUSED: (10, 180),
}
"""How many seconds of the bots' clock a kind lasts, at least and at most."""
_REACHES: Final[dict[Kind, int]] = {
    Kind.CUT: 1500,
    Kind.CUT_AT_LOGIN: 1500,
    Kind.CUT_AT_OPENING: 250,
    Kind.CUT_AT_MATCH_END: 60,
}
"""How many bytes a kind lets pass at most."""
_FIRST: Final = 0.5
"""Seconds in which nothing strikes at the beginning."""
SPARED: Final = 0
"""The first pair, the one whose bot process is never ended, so that its memory can be watched over the whole run."""
_OF_BOT: Final = frozenset({Kind.BOT_KILL, Kind.BOT_RESTART})


def schedule(plan: Plan) -> tuple[Fault, ...]:
    """Return the faults of a plan in their order.

    The kinds are dealt like cards, so that all of them come about equally often; so are the pairs, so that each has
    some time to recover.
    """
    chance = random.Random(plan.seed)
    count = max(int(plan.rate * plan.minutes), 1)
    step = max(plan.seconds - _FIRST, 0) / count
    kinds, pairs = _dealt(list(Kind), chance), _dealt(range(plan.pairs), chance)
    faults = []
    for number in range(count):
        kind, pair = next(kinds), next(pairs)
        if kind in _OF_BOT and pair == SPARED:
            pair = 1 + chance.randrange(plan.pairs - 1)
        faults.append(
            Fault(
                number=number,
                at=_FIRST + (number + chance.random()) * step,
                kind=kind,
                pair=pair,
                to_server=chance.random() < 0.5,
                seconds=chance.uniform(*_LASTS.get(kind, (0, 0))),
                position=chance.randrange(_REACHES.get(kind, 1)),
                choice=chance.randrange(2**16),
            )
        )
    return tuple(faults)


def _dealt(cards: Sequence[_Card], chance: random.Random) -> Iterator[_Card]:
    """Deal all cards in a random order, again and again."""
    while True:
        yield from chance.sample(cards, len(cards))
