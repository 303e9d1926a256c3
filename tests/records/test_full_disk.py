"""Session logs on a full disk: records are lost and counted, the match goes on, nothing is half written."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from fibsbot.records import session_log_writer
from fibsbot.records.session_log import Header, ProgramEvent, Sent, read_session_log
from fibsbot.records.session_log_writer import SessionLogWriter
from tests import forked
from tests.commands import Finished
from tests.records.log_clock import Clock, everything, listed, names, no_room, received, rotation, swept, wait_until


@pytest.fixture
def warnings() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as logged:
        yield logged


def test_a_full_disk_leaves_no_partial_line(path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with SessionLogWriter(path, clock=clock) as log:
        log.sent(b"roll\r\n")
        before = path.read_bytes()
        monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
        log.sent(b"lost\r\n")
        assert before == path.read_bytes()


def test_no_record_precedes_the_header(path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", no_room)
    with SessionLogWriter(path, clock=clock, user="marvin") as log:
        log.sent(b"lost\r\n")
        monkeypatch.undo()
        log.sent(b"roll\r\n")
    lost = ProgramEvent(clock.now, "records_lost", {"count": 1})
    assert [Header(clock.now, {"user": "marvin"}), lost, Sent(clock.now, b"roll\r\n")] == list(read_session_log(path))


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize("broken", ["write", "open", "rename"])
def test_the_old_file_stays_in_use_if_a_new_one_cannot_be_started(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    rename, renames = Path.rename, []

    def second_fails(self: Path, target: Path) -> Path:
        renames.append(target)
        if len(renames) == 2:
            no_room()
        return rename(self, target)

    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        log.sent(b"today\r\n")
        clock.later(days=1)
        if broken == "rename":
            monkeypatch.setattr(Path, "rename", second_fails)
        elif broken == "open":
            path.with_name(path.name + ".next").mkdir()
        else:
            monkeypatch.setattr(session_log_writer, "_write_whole", no_room)
        log.sent(b"tomorrow\r\n")
        assert ["marvin.jsonl"] == names(path)
        monkeypatch.undo()
        if broken == "open":
            path.with_name(path.name + ".next").rmdir()
        log.sent(b"still the old one\r\n")
        assert ["marvin.jsonl"] == names(path)
        clock.later(minutes=1)
        log.sent(b"the new one\r\n")
    assert ["marvin-20261122T120100Z.jsonl", "marvin.jsonl"] == names(path)
    expected = [b"today\r\n", b"tomorrow\r\n", b"still the old one\r\n", b"the new one\r\n"]
    sent = [record.data for record in everything(path) if isinstance(record, Sent)]
    assert (expected[:1] + expected[2:] if broken == "write" else expected) == sent


@pytest.mark.usefixtures("by_hand")
def test_a_deleted_file_is_replaced(path: Path, clock: Clock) -> None:
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        path.unlink()
        clock.later(days=1)
        log.sent(b"roll\r\n")
    assert ["marvin.jsonl"] == names(path)
    assert b"roll\r\n" == next(record.data for record in everything(path) if isinstance(record, Sent))


def test_a_failed_compression_is_retried(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, warnings: list[Any]
) -> None:
    monkeypatch.setattr(gzip, "GzipFile", no_room)
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        for _ in range(3):
            clock.later(days=1)
            log.sent(b"roll\r\n")
        wait_until(lambda: bool(warnings))
        wait_until(lambda: not any(thread.name.startswith("finished files of") for thread in threading.enumerate()))
        assert {"marvin.jsonl"} | {f"marvin-202611{day}T120000Z.jsonl" for day in (22, 23, 24)} == set(
            listed(path.parent)
        )
        monkeypatch.undo()
        clock.later(minutes=61)
        log.sent(b"roll\r\n")
        wait_until(lambda: swept(path))
    assert 4 == len([record for record in everything(path) if isinstance(record, Sent)])


def test_there_is_one_warning_per_hour(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, warnings: list[Any]
) -> None:
    with SessionLogWriter(path, clock=clock) as log:
        monkeypatch.setattr(os, "write", no_room)
        for _ in range(150):
            clock.later(minutes=1)
            log.sent(b"lost\r\n")
        assert 150 == log.lost
    assert ["session log cannot be written"] * 3 == [warning["event"] for warning in warnings]
    assert {str(path)} == {warning["path"] for warning in warnings}


def test_the_limit_of_threads_is_not_fatal(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, warnings: list[Any]
) -> None:
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        clock.later(days=1)
        log.sent(b"roll\r\n")
        assert 1 == len({warning["event"] for warning in warnings})
        monkeypatch.undo()
        clock.later(hours=1)
        log.sent(b"board\r\n")
        wait_until(lambda: swept(path))


def may_mount(folder: Path) -> bool:
    """Return whether a process may mount a disk for itself; containers and some kernels refuse it."""
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return (
        shutil.which("unshare") is not None and not subprocess.run(command, capture_output=True, check=False).returncode
    )


def run_out_of_room(directory: Path, what: str, *, mounted: bool) -> Path:
    """Let a process do something whose disk is full for a while; return the path of the log that it wrote.

    The disk is a small one that the process mounts for itself; where it has no right to, its files get a limit.
    """
    path, copy = directory / "disk" / "marvin.jsonl", directory / "copy"
    path.parent.mkdir()
    wrapper = f"""
set -e
mount -t tmpfs -o size=128k tmpfs {path.parent}
"$@"
cp -r {path.parent} {copy}
"""
    mounted = mounted and may_mount(path.parent)
    module = "tests.records.full_disk_process"
    if mounted:
        command = ["unshare", "-rm", "sh", "-c", wrapper, "sh", sys.executable, "-m", module, what, str(path), "0"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=forked.ROOT)
        done = Finished(ended.returncode, ended.stdout, ended.stderr)
    else:
        done = forked.start(module, what, path, 2**15).finish()
    assert (0, "") == (done.returncode, done.stderr)
    assert 1 == done.stdout.count("session log"), done.stdout
    return copy / path.name if mounted else path


@pytest.mark.slow
@pytest.mark.parametrize("mounted", [True, False])
def test_on_a_full_file_system_lost_records_are_counted(tmp_path: Path, *, mounted: bool) -> None:
    path = run_out_of_room(tmp_path, "records", mounted=mounted)
    events = [record for record in everything(path) if isinstance(record, ProgramEvent)]
    assert ["before", "records_lost", "after"] == [event.name for event in events]
    assert 1001 * (200 - events[1].fields["count"]) == len(received(path))
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("mounted", [True, False])
def test_on_a_full_file_system_compression_is_postponed(tmp_path: Path, *, mounted: bool) -> None:
    path = run_out_of_room(tmp_path, "compression", mounted=mounted)
    assert 30 * 400 == len(received(path))
