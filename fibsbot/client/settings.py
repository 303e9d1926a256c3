"""Settings of a connection, without slow imports: TLS, and the growing pauses between attempts to connect."""

from __future__ import annotations

import os
import random
import socket
import ssl
from pathlib import Path

from attrs import define, field, frozen
from attrs.validators import ge, gt

from fibsbot.text import one_line


@frozen
class TlsSettings:
    """How to make sure who the server is, where it offers TLS."""

    ca_file: Path | None = None
    """Certificates of the authorities to trust; None: those of this machine."""

    def context(self) -> ssl.SSLContext:
        """Return what a connection needs. Raises OSError, with one line, when the file cannot be used."""
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:
            raise OSError(f"cannot use the certificates in {self.ca_file}: {connection_error_text(error)}") from error


def connection_error_text(error: BaseException) -> str:
    """Say in one line what went wrong."""
    match error:
        case ssl.SSLCertVerificationError():
            return f"the server's certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"TLS failed: {(error.reason or 'no reason given').lower().replace('_', ' ')}"
        case socket.gaierror():
            return error.strerror or "unknown host"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
    return one_line(error)


@frozen
class BackoffSettings:
    """How pauses grow, in seconds."""

    first: float = field(default=10.0, validator=gt(0))
    longest: float = field(default=900.0, validator=gt(0))
    factor: float = field(default=2.0, validator=ge(1))
    jitter: float = field(default=0.25, validator=ge(0))
    """Each pause is made longer by a random part of itself, up to this, so that not all come back at once."""
    healthy: float = field(default=600.0, validator=gt(0))
    """A connection that lasted so long starts the pauses anew."""
    restart: float = field(default=300.0, validator=gt(0))
    """The least pause after the server has said that it restarts or shuts down; never above `longest`."""


@define
class Backoff:
    """The pauses of one run."""

    pauses: BackoffSettings = field(factory=BackoffSettings)
    _random: random.Random = field(factory=random.Random)
    _next: float = 0.0

    def next_pause(self, lasted: float = 0.0, *, restarting: bool = False) -> float:
        """Return how long to wait now, after a connection that lasted so many seconds (0: none was made).

        `restarting`: the server has said that it goes away.
        """
        pauses = self.pauses
        pause = pauses.first if lasted >= pauses.healthy or not self._next else self._next
        if restarting:
            pause = max(pause, pauses.restart)
        pause = min(pause, pauses.longest / (1 + pauses.jitter))  # so that no random part makes it longer than that
        self._next = pause * pauses.factor
        return pause * (1 + pauses.jitter * self._random.random())
