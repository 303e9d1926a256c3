"""What was said on a connection, by either side, and what else a capture tells: one class a kind, in their order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from protocol.commands import Command
from protocol.messages import Message


@frozen(slots=False)
class Heard:
    """A message of the server."""

    at: dt.datetime | None
    """When, UTC; None in a raw capture."""
    message: Message
    offset: int = 0
    """Where the line begins, in bytes from the beginning of the capture; in a session log, where its record does."""


@frozen(slots=False)
class Said:
    """A command of the client."""

    at: dt.datetime | None
    command: Command
    offset: int = 0


@frozen
class Cut:
    """A connection ended."""

    at: dt.datetime | None
    offset: int
    reason: str


@frozen
class Known:
    """Whose session it is."""

    user: str
    """The account's name; empty where only the server is known."""
    site: str = ""
    """The server's name or address; empty where it is not known."""


@frozen(slots=False)
class Noted:
    """Something that a session log tells besides: an event, such as a decision with its equity."""

    at: dt.datetime | None
    name: str
    fields: Mapping[str, Any] = field(factory=dict)
    offset: int = 0


Spoken: TypeAlias = Heard | Said | Cut | Known | Noted
