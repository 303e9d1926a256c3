"""Errors of the protocol.

Bytes from a peer never raise anything but RemoteProtocolError, and parsing never raises at all.
"""

from __future__ import annotations


class ProtocolError(ValueError):
    """Something does not fit the protocol."""


class LocalProtocolError(ProtocolError):
    """This program misused the protocol: a field that no line can carry, a command with a blank in a name."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol."""
