"""What systemd is told, seen from systemd's end of the socket."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from fibsbot.service.systemd import MAX_STATUS_LENGTH, SystemdNotifier
from tests.patience import SOON


@pytest.fixture(params=["path", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """Listen as systemd does; yield the value of the variable, and the socket."""
    name = f"@fibsbot-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(name.replace("@", "\0", 1) if request.param == "abstract" else name)
        sock.settimeout(SOON)
        yield name, sock


def test_each_notification_reaches_systemd(systemd: tuple[str, socket.socket]) -> None:
    name, sock = systemd
    notifier = SystemdNotifier({"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())})
    assert 30 == notifier.watchdog
    notifier.ready("playing ford,\n3-2 of 5")
    notifier.alive()
    notifier.status("x" * 1000)
    notifier.reloading()
    notifier.ready()
    notifier.stopping()
    heard = [sock.recv(4096).decode() for _ in range(6)]
    assert ["READY=1\nSTATUS=playing ford, 3-2 of 5", "WATCHDOG=1", f"STATUS={'x' * MAX_STATUS_LENGTH}"] == heard[:3]
    assert heard[3].startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert heard[3].rpartition("=")[2].isdecimal()
    assert ["READY=1", "STOPPING=1"] == heard[4:]


@pytest.mark.parametrize(
    "environment",
    [{}, {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "abc"}, {"WATCHDOG_USEC": "9", "WATCHDOG_PID": "1"}],
)
def test_the_watchdog_of_another_process_is_ignored(
    systemd: tuple[str, socket.socket], environment: dict[str, str]
) -> None:
    name, sock = systemd
    notifier = SystemdNotifier({"NOTIFY_SOCKET": name, **environment})
    assert notifier.watchdog is None
    notifier.alive()
    notifier.stopping()
    assert b"STOPPING=1" == sock.recv(4096)


def test_without_systemd_nothing_is_sent() -> None:
    notifier = SystemdNotifier({"WATCHDOG_USEC": "1000000"})
    assert notifier.watchdog is None
    notifier.ready("x")
    notifier.alive()


def test_a_failed_notification_is_logged_once(tmp_path: Path) -> None:
    for address in (str(tmp_path / "nobody"), "/" + "x" * 200):
        notifier = SystemdNotifier({"NOTIFY_SOCKET": address})
        with capture_logs() as logs:
            for _ in range(3):
                notifier.status("x")
        assert ["systemd cannot be notified"] == [log["event"] for log in logs]


def test_a_full_socket_of_systemd_blocks_nothing(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        notifier = SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        for _ in range(5000):
            notifier.status("x" * 300)
