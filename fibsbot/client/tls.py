"""How a server that offers TLS is known, and what is said when a connection fails."""

from __future__ import annotations

import os
import socket
import ssl
from pathlib import Path

from attrs import frozen


@frozen
class Tls:
    """How to make sure who the server is, where it offers TLS."""

    ca_file: Path | None = None
    """Certificates of the authorities to trust; None: those of this machine."""

    def context(self) -> ssl.SSLContext:
        """Return what a connection needs. Raises OSError, with one line, when the file cannot be used."""
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:
            raise OSError(f"cannot use the certificates in {self.ca_file}: {reason(error)}") from error


def reason(error: BaseException) -> str:
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
    return " ".join(str(error).split()) or type(error).__name__
