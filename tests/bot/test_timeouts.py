"""Servers that send nothing, or nothing of one kind: no state lasts longer than its bound without progress.

Progress is defined in docs/explanation/agent.md: a new situation of the match, a new connection, or a lobby in which
the bot waits for nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fibs_protocol.session import State
from fibsbot.bot.events_and_actions import Event
from fibsbot.bot.settings import Timings
from fibsbot.bot.timeouts import TIMEOUT_RULES, Awaited, Consequence
from fibsbot.client.settings import BackoffSettings
from tests.bot.simulation import Passing, Simulation
from tests.bot.test_lost_lines import DoublingStrategy, kind_of

TIMINGS: Final = Timings()
PAUSES: Final = BackoffSettings(first=1, longest=5)
SLACK: Final = 20.0
"""Seconds for the command before a wait, and for our own pauses between commands."""
OTHERS: Final = {Awaited.OPPONENT, Awaited.CHOUETTE, Awaited.STRATEGY}
"""Waits for which the server is not to blame."""
LONGEST: Final = max(row.bound(TIMINGS) for row in TIMEOUT_RULES.values())
SERVER: Final = max(row.bound(TIMINGS) for awaited, row in TIMEOUT_RULES.items() if awaited not in OTHERS)
"""Maximum seconds without progress if it is not the opponent's turn to act."""
NAME: Final = "marvin"
KINDS: Final = (
    *("welcome", "own_info", "who_info", "who_end", "motd_start", "no_saved_games", "setting_changed", "server_time"),
    *("saved_start", "saved_match", "you_invited", "you_invited_to_resume", "opponent_joined", "opponent_resumed"),
    *(
        "game_starts",
        "opening_roll",
        "first_move",
        "board",
        "roll_or_double",
        "move_prompt",
        "rolls",
        "moves",
        "cannot_move",
    ),
    *("you_double", "opponent_doubles", "double_accepted", "resign_offer", "resign_rejected", "resign_accepted"),
    *("game_won", "gave_up", "score", "match_won", "join_next_game", "wait_for_join", "you_left", "logged_out"),
)
"""The kinds of lines that a server may omit."""


class Silent:
    """A server that sends nothing, or nothing of some kinds, to one bot."""

    def __init__(self) -> None:
        """Send everything."""
        self.mute = False
        self.kinds: set[str] = set()
        self.dropped = 0

    def __call__(self, line: Passing) -> list[tuple[float, str]]:
        """Deliver a line or drop it."""
        lost = line.bot == NAME and line.down and (self.mute or (self.kinds and kind_of(line) in self.kinds))
        self.dropped += bool(lost)
        return [] if lost else [(0.0, line.text)]


class Watched(Simulation):
    """A world that measures how long a bot makes no progress."""

    def __init__(self, seed: int, silent: Silent) -> None:
        """Start marvin, who plays match after match with ford."""
        super().__init__(seed, fault=silent)
        self.longest = {True: 0.0, False: 0.0}
        """The longest time without progress, by whether it was the opponent's turn to act."""
        self._since = 0.0
        self._link = 0
        self._seen: set[Hashable] = set()
        self._theirs = False
        self._free = True
        self.watched = self.add(
            NAME, DoublingStrategy(seed), PAUSES, invite="ford", length=1, matches=2, timings=TIMINGS
        )
        self.add("ford", DoublingStrategy(seed + 1), PAUSES, matches=2, timings=TIMINGS)

    def handle(self, bot: Any, event: Event) -> None:
        """Pass an event to a bot, and update the times."""
        super().handle(bot, event)
        if bot.name == NAME:
            self.measure()

    def measure(self) -> None:
        """Check for progress."""
        bot = self.watched
        agent, waited = bot.agent, 0.0 if self._free else self.now - self._since
        self.longest[self._theirs] = max(self.longest[self._theirs], waited)
        track, state = agent.tracked, agent.state
        situation = track.match, track.game, track.state, track.turn
        self._free = state is State.LOBBY and agent._connection.login.done and not agent._connection._match_search.is_on
        if bot.link != self._link or self._free or situation not in self._seen or not bot.up:
            self._since, self._link = self.now, bot.link
        self._seen.add(situation)
        self._theirs = agent._connection._timeouts.is_waiting_for(Awaited.OPPONENT)

    def check(self) -> None:
        """Check that no wait exceeded its bound."""
        assert self.longest[False] <= SERVER + SLACK, self.watched.agent.state
        assert self.longest[True] <= LONGEST + SERVER + SLACK


def world(silent: Silent, seed: int) -> Watched:
    """Return a world in which marvin and ford play."""
    return Watched(seed, silent)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "at"), [("own_info", 0), ("who_info", 0), ("opponent_joined", 0), ("board", 40), ("rolls", 40)]
)
def test_a_server_that_omits_one_kind_of_message_does_not_stop_the_bot(kind: str, at: float) -> None:
    """From the login on, or in the middle of the match."""
    silent = Silent()
    watched = world(silent, seed=15)  # short matches
    counters = watched.watched.agent.counters
    watched.run(at)
    silent.kinds.add(kind)
    watched.run(3600, until=lambda: counters.matches > 0)
    assert silent.dropped
    silent.kinds.clear()
    before = counters.matches
    watched.run(3600, until=lambda: counters.matches > before)
    watched.close()
    watched.check()
    bot = watched.watched
    assert counters.matches > before or bot.named("match_stuck"), (bot.agent.state, bot.reasons[-5:])


class Falling(RuleBasedStateMachine):
    """A server that stops sending anything, or one kind of line, at any time, and resumes."""

    @initialize(seed=st.integers(0, 1000))
    def begin(self, seed: int) -> None:
        """Start a match."""
        self.silent = Silent()
        self.world = world(self.silent, seed)

    @rule(seconds=st.floats(0.05, 120))
    def wait(self, seconds: float) -> None:
        """Advance the clock."""
        self.world.run(seconds)

    @rule(minutes=st.integers(5, 45))
    def wait_long(self, minutes: int) -> None:
        """Advance the clock by a long time."""
        self.world.run(60.0 * minutes)

    @rule(kind=st.sampled_from(KINDS))
    def keep_back(self, kind: str) -> None:
        """Stop sending one kind of line."""
        self.silent.kinds.add(kind)

    @rule()
    def fall_silent(self) -> None:
        """Stop sending anything."""
        self.silent.mute = True

    @rule()
    def speak(self) -> None:
        """Send everything again."""
        self.silent.mute = False
        self.silent.kinds.clear()

    @rule()
    def lose(self) -> None:
        """Break the connection."""
        self.world.lose(NAME)

    @invariant()
    def no_wait_exceeds_its_bound(self) -> None:
        """No wait exceeds its bound."""
        if hasattr(self, "world"):
            self.world.check()

    def teardown(self) -> None:
        """Close the world."""
        if hasattr(self, "world"):
            self.world.close()


Falling.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
TestFalling = pytest.mark.slow(Falling.TestCase)


def test_every_wait_has_a_timeout_and_a_next_step() -> None:
    assert set(Awaited) == set(TIMEOUT_RULES)
    assert all(0 < row.bound(TIMINGS) <= 1800 for row in TIMEOUT_RULES.values())
    assert all(row.bound(TIMINGS) <= 72 for awaited, row in TIMEOUT_RULES.items() if awaited not in OTHERS)
    matches = {
        awaited
        for awaited, row in TIMEOUT_RULES.items()
        if row.then in (Consequence.REJOIN, Consequence.RECONNECT_MATCH)
    }
    assert {
        Awaited.DECISION,
        Awaited.BOARD,
        Awaited.ROLL,
        Awaited.GAME,
        Awaited.OPPONENT,
        Awaited.REQUESTED_BOARD,
    } == matches


def markdown_table() -> str:
    """Return the table as docs/explanation/agent.md shows it."""
    rows = ["| For | How long | Again | Before that | Then |", "|---|---|---|---|---|"]
    for awaited, row in TIMEOUT_RULES.items():
        times = f"{row.factor:g} " if row.factor != 1 else ""
        rows.append(f"| {awaited.value} | {times}`{row.timing}` | {row.retries or ''} | {row.ask} | {row.then.value} |")
    return "\n".join(rows)


def test_the_table_in_the_documentation_is_that_of_the_program() -> None:
    document = Path(__file__).parents[2] / "docs" / "explanation" / "agent.md"
    assert f"<!-- waits -->\n\n{markdown_table()}\n\n<!-- /waits -->" in document.read_text("utf-8")
