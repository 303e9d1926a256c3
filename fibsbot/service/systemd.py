"""Notifications to systemd: datagrams to the socket that it names (sd_notify(3), systemd.service(5))."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from typing import Final

import structlog

from fibsbot.redaction import redact
from fibsbot.text import one_line

SOCKET: Final = "NOTIFY_SOCKET"
WATCHDOG: Final = "WATCHDOG_USEC"
WATCHDOG_PROCESS: Final = "WATCHDOG_PID"
MAX_STATUS_LENGTH: Final = 400

_log = structlog.get_logger(__name__)


class SystemdNotifier:
    """Notifies systemd about the state of this process, if it was started by systemd. Nothing here raises or blocks."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        """Read the address of systemd's socket and the watchdog's time from the environment."""
        address = environment.get(SOCKET, "")
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._warned = False
        self.watchdog = _watchdog(environment) if self._address else None
        """Seconds without `alive` after which systemd kills the process; None: never."""

    def ready(self, status: str = "") -> None:
        """Report that starting or reloading is complete."""
        self._send("READY=1", *_status(status))

    def reloading(self) -> None:
        """Report that settings are being reloaded; `ready` ends this."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """Report that the process is stopping, which may take as long as a match."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Report that everything is well."""
        if self.watchdog is not None:
            self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """Report what the process is doing, for `systemctl status`."""
        self._send(*_status(text))

    def _send(self, *lines: str) -> None:
        if not self._address or not lines:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sock:
                sock.sendto("\n".join(lines).encode(), self._address)
        except (OSError, ValueError) as error:
            if not self._warned:
                _log.warning("systemd cannot be notified", error=str(error))
            self._warned = True


def _status(text: str) -> tuple[str, ...]:
    return (f"STATUS={one_line(redact(text))[:MAX_STATUS_LENGTH]}",) if text else ()


def _watchdog(environment: Mapping[str, str]) -> float | None:
    """Return the watchdog's time if it is meant for this process."""
    process, microseconds = environment.get(WATCHDOG_PROCESS, ""), environment.get(WATCHDOG, "")
    if process not in ("", str(os.getpid())) or not microseconds.isdecimal() or not int(microseconds):
        return None
    return int(microseconds) / 1e6
