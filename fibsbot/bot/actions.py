"""What the agent wants done. The edges do it: live, in a replay or in a test."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from fibsbot.bot.questions import AnyKey, Question
from protocol.commands import Command


@frozen
class Send:
    """Send this command now."""

    command: Command


@frozen
class SendSecret:
    """Send this line now; it answers a password prompt and is shown nowhere."""

    line: str = field(repr=False)


@frozen
class SendLine:
    """Send this line now; it answers a prompt that takes no command."""

    line: str


@frozen
class Ask:
    """Put this question to the strategy and come back with StrategyAnswered."""

    key: AnyKey
    question: Question


@frozen
class Record:
    """Something worth remembering: for the session log, the match store and whoever watches."""

    name: str
    """What happened, such as `match_started`; docs/agent.md lists them all."""
    fields: Mapping[str, Any] = field(factory=dict)
    """Names and values that JSON can write."""


@frozen
class WakeAt:
    """Send Woken at this time; it replaces what an earlier WakeAt asked for."""

    at: float


class End(enum.Enum):
    """Why connecting again is of no use."""

    FINISHED = "finished"
    """Everything that was to be done is done."""
    REFUSED = "refused"
    """The server does not take name and password."""
    REPLACED = "replaced"
    """Somebody else logged in under our name; two who come back would put each other out for ever (pitfall 4)."""


@frozen
class Disconnect:
    """Close the connection."""

    reason: str
    end: End | None = None
    """None: connect again."""
    restarting: bool = False
    """Whether the server has said that it goes away: it needs time before it can be connected to again."""


Action: TypeAlias = Send | SendSecret | SendLine | Ask | Record | WakeAt | Disconnect
