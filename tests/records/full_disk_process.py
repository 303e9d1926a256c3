"""A process that writes session logs while its disk is full, and then no longer.

    python -m tests.records.full_disk_process records|compression PATH LIMIT

Where LIMIT is 0 it fills the disk itself; else no file may have more bytes for a while.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from pathlib import Path

from fibsbot.records.finished_logs import FinishedLogs, WarningLimiter
from fibsbot.records.session_log import Rotation, utc_now
from fibsbot.records.session_log_writer import SessionLogWriter


def no_more_room(ballast: Path, limit: int) -> None:
    """Let the disk be full."""
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    else:
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)


def room(ballast: Path, limit: int) -> None:
    """Let it no longer be full."""
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        ballast.unlink()


def lose_records(path: Path, ballast: Path, limit: int) -> None:
    """Write more than there is room for."""
    log = SessionLogWriter(path, rotation=Rotation(2**20, daily=True, keep_days=30, max_total_bytes=2**30))
    log.event("before")
    no_more_room(ballast, limit)
    for _ in range(200):
        log.received(b"x" * 1000 + b"\n")
    assert log.lost > 10, log.lost
    room(ballast, limit)
    log.event("after")
    assert not log.lost
    log.close()


def postpone_compression(path: Path, ballast: Path, limit: int) -> None:
    """Compress a finished log where there is no room for that."""
    finished = path.with_name("marvin-20260101T000000Z.jsonl")
    with SessionLogWriter(finished) as log:
        for _ in range(30):
            log.received(os.urandom(400))
    content = finished.read_bytes()
    rotation = Rotation(2**20, daily=True, keep_days=0, max_total_bytes=2**30)
    logs = FinishedLogs(path, rotation, utc_now, WarningLimiter(path, utc_now))
    no_more_room(ballast, min(limit, 4096))
    logs.sweep()
    assert {finished.name, ballast.name} >= {file.name for file in path.parent.iterdir()}
    assert content == finished.read_bytes()
    room(ballast, limit)
    logs.sweep()
    assert not finished.exists()


def main(what: str, path: str, limit: str) -> None:
    """Do what is asked for."""
    do = {"records": lose_records, "compression": postpone_compression}[what]
    do(Path(path), Path(path).with_name("ballast"), int(limit))


if __name__ == "__main__":
    main(*sys.argv[1:])
