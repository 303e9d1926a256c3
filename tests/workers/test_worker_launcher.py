"""How a worker is started: what an operator is told of a scheduler that does not answer, and of a worker that fails."""

from __future__ import annotations

import io
import itertools
import socket
import ssl
import threading

import pytest

from fibsbot.workers import worker_launcher
from fibsbot.workers.worker_launcher import WorkerSettings

CHAIN = """\
2026-11-27 03:23:36,332 - distributed.nanny - WARNING - something else
Traceback (most recent call last):
  File "tcp.py", line 547, in connect
ssl.SSLError: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "tcp.py", line 567, in connect
distributed.comm.core.FatalCommClosedError

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "core.py", line 517, in start
    raise RuntimeError(f"{type(self).__name__} failed to start.") from exc
RuntimeError: Nanny failed to start.
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (CHAIN, "ssl.SSLError: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"),
        (f"{CHAIN}Traceback (most recent call last):\n  File\nValueError: of its own\n", "ValueError: of its own"),
        ("Usage: dask worker\nError: no such option\n", "Error: no such option"),
    ],
)
def test_the_reason_for_the_end_of_a_worker_is_the_first_error_of_a_chain(text: str, reason: str) -> None:
    errors = worker_launcher._Errors()
    said: list[str] = []
    worker_launcher._relay(io.StringIO(text), errors, said.append)
    assert reason == errors.reason
    assert said == (["distributed.nanny - WARNING - something else"] if text.startswith(CHAIN) else [])


def test_a_missing_scheduler_is_reported_once_for_each_reason_and_when_it_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused, wrong = ConnectionRefusedError(111, "Connection refused"), ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]")
    attempts = iter([refused, refused, wrong, refused, None, None])

    def connect(_: WorkerSettings) -> None:
        if error := next(attempts):
            raise error

    monkeypatch.setattr(worker_launcher, "_connect_once", connect)
    monkeypatch.setattr(worker_launcher, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(worker_launcher, "LONGEST_PAUSE", 0.0)
    said: list[str] = []
    settings = WorkerSettings("tls://127.0.0.1:8786")
    for _ in range(2):
        assert worker_launcher._wait_for_scheduler(settings, threading.Event(), said.append)
    assert [
        "no scheduler answers at tls://127.0.0.1:8786 (Connection refused); waiting for it",
        "no scheduler answers at tls://127.0.0.1:8786 ([SSL: WRONG_VERSION_NUMBER]); waiting for it",
        "scheduler found",
    ] == said


def test_a_scheduler_without_tls_does_not_answer_a_worker_with_tls() -> None:
    def answer() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"no TLS, but some bytes")
            connection.recv(100)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, daemon=True).start()
        address = f"tls://127.0.0.1:{listening.getsockname()[1]}"
        context = ssl.create_default_context()
        context.check_hostname = False  # as Dask's
        with pytest.raises(ssl.SSLError, match="WRONG_VERSION_NUMBER"):
            worker_launcher._connect_once(WorkerSettings(address, context=context))


def test_a_worker_that_ends_well_has_lost_its_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = itertools.count()
    monkeypatch.setattr(worker_launcher, "_wait_for_scheduler", lambda *_: next(ends) < 1)
    monkeypatch.setattr(worker_launcher, "FIRST_PAUSE", 0.0)
    monkeypatch.setattr(worker_launcher, "command_of", lambda _: ["true"])
    said: list[str] = []
    worker_launcher.keep_running(WorkerSettings("tcp://127.0.0.1:1"), said.append)
    assert ["the worker has ended (status 0, as when the scheduler is lost) and is started again in 0 s"] == said
