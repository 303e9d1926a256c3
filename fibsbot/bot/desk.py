"""What the parts of the agent share: the time, the connection's state, the match, timers, actions to be done."""

from __future__ import annotations

import math
import random
from typing import Any

from attrs import asdict, define, field

from fibsbot.bot.actions import Action, Disconnect, End, Record, WakeAt
from fibsbot.bot.features import Feature
from fibsbot.bot.memory import Memory
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.track import Track
from protocol.session import Session


@define
class Counters:
    """What happened in a run, counted over all its connections."""

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
    """Matches that were given up: the server could not go on with them."""
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
class Desk:
    """The shared part of the agent's state."""

    settings: AgentSettings
    session: Session = field(factory=Session)
    track: Track = field(init=False)
    counters: Counters = field(factory=Counters)
    memory: Memory = field(factory=Memory)
    chance: random.Random = field(init=False)
    rating: tuple[float, int] | None = None
    """Our own rating and experience, as the server told them last."""
    hung_up: bool = False
    """Whether we have closed the connection: nothing more is said on it."""
    ended: bool = False
    """Whether the run is over."""
    finishing: bool = False
    """Whether to log out once the match is over."""
    paused: bool = False
    """Whether to begin no new match."""
    now: float = 0.0
    actions: list[Action] = field(factory=list)
    _timers: dict[str, float] = field(factory=dict)
    _asked: float | None = None

    def __attrs_post_init__(self) -> None:
        self.track = Track(user=self.settings.name)
        self.chance = random.Random(self.settings.seed)

    def act(self, action: Action) -> None:
        """Have something done."""
        self.actions.append(action)

    def record(self, name: str, /, **fields: Any) -> None:
        """Have something remembered."""
        self.act(Record(name, fields))

    def rated(self, rating: float, experience: int) -> None:
        """Take note of our own rating; a new one is remembered."""
        if self.rating != (rating, experience):
            self.rating = rating, experience
            self.record("rating", rating=rating, experience=experience)

    def disconnect(self, reason: str, end: End | None = None, *, restarting: bool = False) -> None:
        """Have the connection closed; for good if this is the end of the run. `restarting`: the server goes away."""
        self.record("disconnecting", reason=reason, end=end.value if end else None)
        self.act(Disconnect(reason, end, restarting))
        self.hung_up = True
        self.ended = self.ended or end is not None

    # -- the server's features ------------------------------------------------------------------------------------

    def lacks(self, feature: Feature) -> bool:
        """Whether the server is known to lack something."""
        return feature in self.memory.lacking

    def note_lack(self, feature: Feature) -> None:
        """Remember that the server lacks something; what is new is recorded."""
        self._note(feature, lacking=True)

    def note_feature(self, feature: Feature) -> None:
        """Remember that the server does not lack something after all."""
        self._note(feature, lacking=False)

    def _note(self, feature: Feature, *, lacking: bool) -> None:
        if lacking is not self.lacks(feature):
            known = self.memory.lacking
            (known.add if lacking else known.discard)(feature)
            self.record("server_feature", feature=feature.value, lacking=lacking)

    # -- timers -------------------------------------------------------------------------------------------------

    def wake(self, name: str, delay: float) -> None:
        """Set a timer by its name; it replaces the one that has this name."""
        self._timers[name] = self.now + delay

    def hasten(self, name: str, delay: float) -> None:
        """Let a timer that runs run out after this delay at the latest."""
        if name in self._timers:
            self._timers[name] = min(self._timers[name], self.now + delay)

    def is_set(self, name: str) -> bool:
        """Whether this timer runs."""
        return name in self._timers

    def cancel(self, name: str) -> None:
        """Stop a timer, if it runs."""
        self._timers.pop(name, None)

    def cancel_all(self) -> None:
        """Stop all timers."""
        self._timers.clear()

    def woken(self) -> None:
        """Take note that the wake-up that was asked for has come, perhaps a little early."""
        self._asked = None

    def take_due(self) -> list[str]:
        """Return the timers whose time has come, the earliest first; they run no more."""
        if min(self._timers.values(), default=math.inf) > self.now:
            return []  # as after most messages
        due = sorted((at, name) for name, at in self._timers.items() if at <= self.now)
        for _, name in due:
            del self._timers[name]
        return [name for _, name in due]

    def take_actions(self) -> list[Action]:
        """Return what is to be done now, with a WakeAt if the next timer is another than before."""
        earliest = min(self._timers.values(), default=None)
        if earliest is not None and earliest != self._asked:
            self.act(WakeAt(earliest))
        self._asked = earliest
        actions, self.actions = self.actions, []
        return actions
