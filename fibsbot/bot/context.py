"""State that the parts of the agent share.

Settings, time, timers, counters, the connection, the match, pending actions, and what is remembered of other players
and of the server's features.
"""

from __future__ import annotations

import enum
import math
import random
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from attrs import asdict, define, field

from fibs_protocol import commands as c
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibs_protocol.session import Session
from fibs_protocol.words import Setting
from fibsbot.bot.events_and_actions import Action, Disconnect, End, Record, WakeAt
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.tracked_match import TrackedMatch, without_match
from fibsbot.policy import is_bot
from fibsbot.policy.name_lists import PlayerLists

_Method = TypeVar("_Method", bound=Callable[..., None])


def on(*types: type[Message]) -> Callable[[_Method], _Method]:
    """Register a method of one of the agent's parts for messages of these types."""

    def register(method: _Method) -> _Method:
        method.__dict__["handles"] = types
        return method

    return register


def registered_handlers(parts: Iterable[object]) -> dict[type, list[Callable[[Any], None]]]:
    """Return the handlers of each type of message, in the order of the parts and of the methods in them."""
    handlers: dict[type, list[Callable[[Any], None]]] = {}
    for part in parts:
        for name, method in vars(type(part)).items():
            for kind in getattr(method, "handles", ()):
                handlers.setdefault(kind, []).append(getattr(part, name))
    return handlers


class Feature(enum.Enum):
    """A feature of FIBS that other servers may lack."""

    RAWWHO = "rawwho"
    """Lists its users when asked to."""
    TIME = "time"
    """Answers `time` in a form that is known."""
    SAVED = "show saved"
    """Lists our saved matches in a form that is known."""
    SAVED_COUNT = "show savedcount"
    """Says how many saved matches somebody has."""
    BOARDSTYLE = "set boardstyle"
    """Answers `set boardstyle`."""
    SWITCHES = "toggle"
    """Answers `toggle`."""
    LEAVE = "leave"
    """Lets us leave a match."""
    ROLL = "roll"
    """Rolls by itself where nobody can double."""


_SHOWN: Final = {c.ShowTopic.SAVED: Feature.SAVED, c.ShowTopic.SAVEDCOUNT: Feature.SAVED_COUNT}
_KINDS: Final[dict[type[Command], Feature]] = {
    c.Rawwho: Feature.RAWWHO,
    c.Time: Feature.TIME,
    c.SetCommand: Feature.BOARDSTYLE,
    c.ToggleCommand: Feature.SWITCHES,
    c.Leave: Feature.LEAVE,
}


def feature_of(command: Command) -> Feature | None:
    """Return the feature that a command needs; None for what every server must have."""
    if isinstance(command, c.SetCommand) and command.setting is Setting.GAMES:
        return None  # only our own server has it, and every other one may refuse it
    return _SHOWN.get(command.what) if isinstance(command, c.Show) else _KINDS.get(type(command))


def features_named(names: Iterable[str]) -> set[Feature]:
    """Return features by their names; those that this program does not know are left out."""
    known = set(names)
    return {feature for feature in Feature if feature.value in known}


DAY: Final = 86_400.0
"""Seconds."""
MAX_PLAYERS: Final = 10_000
"""Players that are remembered; the one met longest ago is forgotten first."""


class Timer(enum.Enum):
    """What may become due, besides the waits of timeouts.py; the value says what is done then."""

    ANSWER = "give up waiting for the answer to our invitation"
    COOL = "invite after the cool-down"
    FINISH = "log out although the match is not over"
    GONE = "invite the opponent of a saved match who was gone"
    INVITATION = "answer an invitation whose details have not come"
    INVITATION_LOST = "answer an invitation of which the strategy's answer was lost"
    KEEP_ALIVE = "send a command, so that the connection stays open"
    LEFT = "invite the opponent of a match that we have left"
    LIST = "ask who is there"
    NOT_BEFORE = "invite an opponent who asked us to wait"
    PAUSE = "send the next command"
    REPLY = "give up waiting for the answer to a command"
    RESTART = "log out before the server restarts"
    RETRY = "invite again"
    SEEK = "look for an opponent"
    THINK = "send a decision that was made too quickly"
    WHO = "ask who is there after somebody was announced"


@define
class PlayerHistory:
    """Times of events with one player, in seconds on the agent's clock; negative before its start."""

    matches: list[float] = field(factory=list)
    """Ends of matches that we played to their end: those of the last day, and the last one however old it is."""
    refused: float | None = None
    """When the player last refused an invitation of ours."""
    broke_off: float | None = None
    """When our match broke off, if it is still to be resumed."""
    stuck: float | None = None
    """When our match was given up, because the server could not continue it."""

    def note_match(self, now: float) -> None:
        """Remember the end of a match."""
        self.matches = [*(at for at in self.matches if at > now - DAY), now]

    def since_last(self, now: float) -> float | None:
        """Return the seconds since the last match ended; None if there was none."""
        return now - self.matches[-1] if self.matches else None

    def matches_today(self, now: float) -> int:
        """Count the matches that ended within the last day."""
        return sum(at > now - DAY for at in self.matches)


@define
class AgentMemory:
    """What is remembered of other players and of the server."""

    _known: dict[str, PlayerHistory] = field(factory=dict)
    lacking: set[Feature] = field(factory=set)
    """Features of FIBS that the server is known to lack."""
    bots: PlayerHistory = field(factory=PlayerHistory)
    """The ends of matches with bots, whichever."""
    lists: PlayerLists = field(factory=PlayerLists)
    """What lists outside of the configuration say."""
    blocked: set[str] = field(factory=set)
    """Players whom an operator's order has blocked."""

    def history_of(self, name: str) -> PlayerHistory:
        """Return the history of a player, which may be empty."""
        return self._known.get(name) or PlayerHistory()

    def load(
        self,
        name: str,
        matches: Iterable[float] = (),
        refused: float | None = None,
        broke_off: float | None = None,
        stuck: float | None = None,
    ) -> None:
        """Add what was known before the run started."""
        known, matches = self._keep(name), tuple(matches)
        known.matches = sorted([*matches, *known.matches])
        if is_bot(name):
            self.bots.matches = sorted([*matches, *self.bots.matches])
        known.refused = max((at for at in (refused, known.refused) if at is not None), default=None)
        known.broke_off = broke_off if known.broke_off is None else known.broke_off
        known.stuck = stuck if known.stuck is None else known.stuck

    def note_played(self, name: str, now: float, *, bot: bool = False) -> None:
        """Remember the end of a match; `bot`: the player is a program."""
        known = self._keep(name)
        known.note_match(now)
        if bot:
            self.bots.note_match(now)
        known.broke_off = None

    def note_broken_off(self, name: str, now: float) -> None:
        """Remember when a match broke off that is to be resumed."""
        self._keep(name).broke_off = now

    def note_stuck(self, name: str, at: float | None) -> None:
        """Remember when a match with a player was given up; None: there is no such match any more."""
        if at is not None or self.history_of(name).stuck is not None:
            self._keep(name).stuck = at

    def note_refusal(self, name: str, now: float) -> None:
        """Remember that a player refused to play us."""
        self._keep(name).refused = now

    def block(self, name: str, *, blocked: bool) -> str:
        """Block a player, or undo it; return what an operator is answered."""
        if blocked is (name in self.blocked):
            return f"{name} {'is blocked already' if blocked else 'was not blocked by an order'}."
        (self.blocked.add if blocked else self.blocked.discard)(name)
        return f"{name} {'is blocked now' if blocked else 'is no longer blocked'}."

    def _keep(self, name: str) -> PlayerHistory:
        known = self._known.pop(name, None) or PlayerHistory()
        if len(self._known) >= MAX_PLAYERS:
            del self._known[next(iter(self._known))]
        self._known[name] = known
        return known


@define
class Counters:
    """Counters of a run, over all its connections."""

    connections: int = 0
    messages: int = 0
    unknown: int = 0
    """Lines that the grammar does not know."""
    commands: int = 0
    refusals: int = 0
    """`**` lines which say that a command was not carried out."""
    boards: int = 0
    differences: int = 0
    """Parts of our own state that the server contradicted."""
    decisions: int = 0
    """Decisions made, forced plays included."""
    fallbacks: int = 0
    """Decisions for which the strategy had no answer."""
    late_answers: int = 0
    """Answers of the strategy to decisions that were no longer open."""
    timeouts: int = 0
    """Steps of the server that did not come in time."""
    stalls: int = 0
    """Times that a match was left, or the connection given up, because a match made no progress."""
    stuck: int = 0
    """Matches that were given up because the server could not continue them."""
    corrected: int = 0
    """Boards that contradicted themselves, and could be read all the same."""
    games: int = 0
    matches: int = 0
    """Matches played to their end."""
    wins: int = 0
    interruptions: int = 0
    """Matches that broke off and were saved."""

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


@define(slots=False)
class AgentContext:
    """The shared part of the agent's state. It lives as long as a connection: `renewed` is that of the next one."""

    settings: AgentSettings
    memory: AgentMemory
    rng: random.Random
    tracked: TrackedMatch
    counters: Counters = field(factory=Counters)
    rating: tuple[float, int] | None = None
    """Our own rating and experience, as last reported by the server."""
    paused: bool = False
    """Whether no new match is to be started."""
    finishing: bool = False
    """Whether to log out once the match is over."""
    ended: bool = False
    """Whether the run is over."""
    now: float = 0.0
    actions: list[Action] = field(factory=list)
    """Actions for the driver, which takes them after each event."""
    session: Session = field(factory=Session)
    going_down: bool = False
    """Whether the server has announced that it restarts or shuts down."""
    disconnecting: bool = False
    """Whether we have closed the connection, so that nothing more is sent on it."""
    timers: dict[enum.Enum, float] = field(factory=dict)
    """When each timer that runs expires: a `Timer`, or something that is awaited (timeouts.py)."""
    _asked: float | None = None

    @classmethod
    def of(cls, settings: AgentSettings, memory: AgentMemory) -> AgentContext:
        """Return the context of the first connection."""
        return cls(settings, memory, random.Random(settings.seed), TrackedMatch(user=settings.name))

    def renewed(self) -> AgentContext:
        """Return the context of the next connection, with what outlives this one."""
        return AgentContext(
            self.settings,
            self.memory,
            self.rng,
            without_match(self.tracked),
            self.counters,
            self.rating,
            paused=self.paused,
            finishing=self.finishing,
            ended=self.ended,
            now=self.now,
            actions=self.actions,
        )

    def record(self, name: str, /, **fields: Any) -> None:
        """Add a record."""
        self.actions.append(Record(name, fields))

    def note_rating(self, rating: float, experience: int) -> None:
        """Store our own rating, and record a change."""
        if self.rating != (rating, experience):
            self.rating = rating, experience
            self.record("rating", rating=rating, experience=experience)

    def disconnect(self, reason: str, end: End | None = None, *, restarting: bool = False) -> None:
        """Close the connection, for good if there is an `end`. `restarting`: the server restarts or shuts down."""
        self.record("disconnecting", reason=reason, end=end.value if end else None)
        self.actions.append(Disconnect(reason, end, restarting))
        self.disconnecting = True
        self.ended = self.ended or end is not None

    @property
    def ending(self) -> bool:
        """Whether no new match is started any more on this connection."""
        return self.finishing or self.going_down

    # -- the server's features ------------------------------------------------------------------------------------

    def lacks(self, feature: Feature) -> bool:
        """Whether the server is known to lack a feature."""
        return feature in self.memory.lacking

    def note_lack(self, feature: Feature) -> None:
        """Remember that the server lacks a feature; a change is recorded."""
        self._note(feature, lacking=True)

    def note_feature(self, feature: Feature) -> None:
        """Remember that the server has a feature; a change is recorded."""
        self._note(feature, lacking=False)

    def _note(self, feature: Feature, *, lacking: bool) -> None:
        if lacking is not self.lacks(feature):
            known = self.memory.lacking
            (known.add if lacking else known.discard)(feature)
            self.record("server_feature", feature=feature.value, lacking=lacking)

    # -- timers -------------------------------------------------------------------------------------------------

    def set_timer(self, timer: enum.Enum, delay: float) -> None:
        """Set a timer, also one that runs."""
        self.timers[timer] = self.now + delay

    def shorten_timer(self, timer: enum.Enum, delay: float) -> None:
        """Make a running timer expire after this delay at the latest."""
        if timer in self.timers:
            self.timers[timer] = min(self.timers[timer], self.now + delay)

    def on_woken(self) -> None:
        """Note that the requested wake-up has come, perhaps a little early."""
        self._asked = None

    def pop_due_timers(self) -> list[enum.Enum]:
        """Remove and return the timers whose time has come, the earliest first."""
        if min(self.timers.values(), default=math.inf) > self.now:
            return []  # as after most messages
        due = [timer for timer, at in self.timers.items() if at <= self.now]
        due.sort(key=lambda timer: (self.timers[timer], not isinstance(timer, Timer), timer.name))
        for timer in due:
            del self.timers[timer]
        return due

    def pop_actions(self) -> list[Action]:
        """Remove and return the pending actions, with a WakeAt if the next timer has changed."""
        earliest = min(self.timers.values(), default=None)
        if earliest is not None and earliest != self._asked:
            self.actions.append(WakeAt(earliest))
        self._asked = earliest
        actions, self.actions = self.actions, []
        return actions
