"""Errors of the protocol.

Bytes from a peer never raise anything but RemoteProtocolError, and parsing never raises at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fibs_protocol.messages.base import Refusal


class ProtocolError(ValueError):
    """The base class of the protocol's errors."""


class LocalProtocolError(ProtocolError):
    """This program misused the protocol: a field that no line can carry, a command with a blank in a name."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol."""


class BoardError(RemoteProtocolError):
    """A `board:` line that contradicts itself; the text says how."""


class CommandError(ProtocolError):
    """A line from a client that is not a command the server can carry out."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(type(refusal).__name__)
        self.refusal = refusal
        """The answer of the server."""

    def __reduce__(self) -> tuple[type[CommandError], tuple[Refusal]]:
        """Pickle the refusal, of which the text is made."""
        return type(self), (self.refusal,)


class UnknownCommandError(CommandError):
    """The first word is neither the name nor a prefix of a command."""


class AmbiguousCommandError(UnknownCommandError):
    """The first word is the prefix of several commands; servers call that unknown, too."""


class BadArgumentError(CommandError):
    """The command is known; its arguments are missing or wrong."""
