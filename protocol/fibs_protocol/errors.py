"""Errors of the protocol.

Bytes from a peer never raise anything but RemoteProtocolError, and parsing never raises at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fibs_protocol.messages.base import Refusal


class ProtocolError(ValueError):
    """Something does not fit the protocol."""


class LocalProtocolError(ProtocolError):
    """This program misused the protocol: a field that no line can carry, a command with a blank in a name."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol."""


class BoardError(RemoteProtocolError):
    """A `board:` line that cannot be true; the text says why."""


class CommandError(ProtocolError):
    """A line from a client that is no command which the server could carry out."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(type(refusal).__name__)
        self.refusal = refusal
        """The answer of the server."""


class UnknownCommandError(CommandError):
    """The first word is no command's name and no command's prefix."""


class AmbiguousCommandError(UnknownCommandError):
    """The first word is the prefix of several commands; servers call that unknown, too."""


class BadArgumentError(CommandError):
    """The command is known; its arguments are missing or wrong."""
