"""Settings of a connection, without slow imports: the server, TLS, the pauses between attempts to connect."""

from __future__ import annotations

import os
import socket
import ssl
from pathlib import Path

from attrs import frozen

from fibsbot.setting import seconds, setting
from fibsbot.text import one_line


@frozen
class TlsSettings:
    """How to verify a server's identity by TLS."""

    ca_file: Path | None = None
    """Certificates of the authorities to trust; None: those of this machine."""

    def context(self) -> ssl.SSLContext:
        """Return an SSL context. Raises OSError, with one line, if the file cannot be used."""
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:
            raise OSError(f"cannot use the certificates in {self.ca_file}: {connection_error_text(error)}") from error


def connection_error_text(error: BaseException) -> str:
    """Return one line that says why a connection failed."""
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


def _is_host(text: str) -> bool:
    """Whether a text may be a host, and neither an address with a port nor a URL."""
    return text.count(":") != 1 and "/" not in text and not text.startswith("[")


@frozen
class ServerSettings:
    """The server to play on."""

    host: str = setting(
        "127.0.0.1",
        "Host name or address of the server; FIBS is fibs.com.",
        expected="a host name or address alone, such as fibs.com: the port is server.port",
        check=_is_host,
        needs_restart=True,
    )
    port: int = setting(4321, "TCP port of the server.", minimum=1, maximum=65535, needs_restart=True)
    register: bool = setting(
        default=False, help="Whether to create the account first if it does not exist.", needs_restart=True
    )
    tls: bool = setting(
        default=False,
        help="Whether to connect with TLS. FIBS offers none: telnet sends the password in clear text.",
        needs_restart=True,
    )
    tls_ca: Path | None = setting(
        None,
        "File with the certificates that must have signed the server's, instead of those of this machine.",
        example="server.pem",
        needs_restart=True,
    )

    @property
    def address(self) -> str:
        """Host and port, as `host:port`."""
        return f"{self.host}:{self.port}"

    @property
    def tls_settings(self) -> TlsSettings | None:
        """How to recognise the server, or None without TLS."""
        return TlsSettings(self.tls_ca) if self.tls else None


@frozen
class BackoffSettings:
    """Pauses between attempts to connect again."""

    first: float = seconds(10.0, "The first pause.", above=0, needs_restart=True)
    longest: float = seconds(900.0, "Upper limit of the pauses.", above=0, needs_restart=True)
    factor: float = setting(
        2.0, "Factor by which each pause is longer than the one before.", minimum=1, needs_restart=True
    )
    jitter: float = setting(
        0.25,
        "Each pause is lengthened by a random part of itself, up to this, so that not all bots return at once.",
        minimum=0,
        needs_restart=True,
    )
    restart: float = seconds(
        300.0,
        "Shortest pause after the server has announced a restart or a shutdown; never above `longest`.",
        above=0,
        needs_restart=True,
    )
    healthy: float = seconds(
        600.0,
        "After a connection that lasted this long the pauses start again with the first.",
        above=0,
        needs_restart=True,
    )
