"""The agent: a function from events to actions. It does no I/O and reads no clock; docs/agent.md explains it.

The same agent runs live and in tests; only what delivers the events and carries out the actions differs. A replay uses
its tracking of the match.
"""

from __future__ import annotations

from fibs_protocol.session import State
from fibsbot.bot.agent_connection import AgentConnection, Handover
from fibsbot.bot.context import AgentContext, AgentMemory, Counters
from fibsbot.bot.current_match import BotStatus
from fibsbot.bot.events_and_actions import Action, ConnectionLost, Event
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.tracked_match import TrackedMatch


class Agent:
    """The player of one account. Everything goes through `handle`; all other state is private."""

    def __init__(self, settings: AgentSettings, memory: AgentMemory | None = None) -> None:
        """Create an agent; `memory` is what is known of other players and the server from earlier runs."""
        self._connection = AgentConnection(AgentContext.of(settings, memory or AgentMemory()), Handover())
        """The connection that is on, or the next one."""

    @property
    def settings(self) -> AgentSettings:
        """The settings, with all changes since the start."""
        return self._connection.context.settings

    @property
    def counters(self) -> Counters:
        """Counts of what has happened in this run."""
        return self._connection.context.counters

    @property
    def tracked(self) -> TrackedMatch:
        """The match as the agent sees it."""
        return self._connection.context.tracked

    @property
    def state(self) -> State:
        """The state of the connection."""
        return self._connection.context.session.state

    @property
    def status(self) -> BotStatus:
        """A summary for operators."""
        return self._connection.status

    def handle(self, event: Event) -> list[Action]:
        """Return the actions that an event leads to, in the order in which they are to be done.

        Raises DifferenceError when the settings are strict, and nothing else.
        """
        self._connection.context.now = event.at
        if isinstance(event, ConnectionLost):
            self._connection = self._connection.end(event)
        return self._connection.handle(event)
