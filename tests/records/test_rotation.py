"""Session logs in many files: nothing is lost between two, old ones are compressed and go, full disks are survived."""

from __future__ import annotations

import datetime as dt
import errno
import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from fibsbot.records import archive, log_file
from fibsbot.records.archive import Archive, Complaints, finished_files
from fibsbot.records.rotation import Rotation
from fibsbot.records.session_log import (
    REDACTED,
    Event,
    Header,
    Received,
    Record,
    Sent,
    SessionLog,
    SessionLogError,
    read_session_log,
)

SMALL = Rotation(max_bytes=2**16)
LINE = b"x" * 999 + b"\n"


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        """Begin at noon."""
        self.now = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

    def __call__(self) -> dt.datetime:
        """Tell the time."""
        return self.now

    def later(self, **time: float) -> None:
        """Let time go by."""
        self.now += dt.timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "marvin.jsonl"


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no thread sweep."""
    monkeypatch.setattr(Archive, "sweep_in_background", lambda _: None)


def sweep(path: Path, rotation: Rotation, clock: Callable[[], dt.datetime]) -> None:
    Archive(path, rotation, clock, Complaints(path, clock)).sweep()


def log_files(path: Path) -> list[Path]:
    """Return all files of a log in the order in which they are to be read."""
    finished = finished_files(path)
    compressed = {(file.time, file.number) for file in finished if file.compressed}
    once = [file.path for file in finished if file.compressed or (file.time, file.number) not in compressed]
    return once + ([path] if path.exists() else [])


def names(path: Path) -> list[str]:
    return [file.name for file in log_files(path)]


def everything(path: Path) -> list[Record]:
    return [record for file in log_files(path) for record in read_session_log(file)]


def received(path: Path) -> bytes:
    return b"".join(record.data for record in everything(path) if isinstance(record, Received))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.01)


def listed(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.iterdir())


def swept(path: Path) -> bool:
    return [path.name] == [name for name in listed(path.parent) if not name.endswith(".gz")]


# -- files ----------------------------------------------------------------------------------------------------------


def test_a_file_that_is_full_is_finished_and_compressed(path: Path, clock: Clock) -> None:
    with SessionLog(path, rotation=SMALL, clock=clock, user="marvin") as log:
        for _ in range(100):
            clock.later(seconds=1)
            log.received(LINE)
        wait_until(lambda: swept(path))
        assert ["marvin-20261121T120103Z.jsonl.gz", "marvin.jsonl"] == names(path)
    assert 100 * LINE == received(path)
    assert all(file.stat().st_size <= SMALL.max_bytes for file in log_files(path))


@pytest.mark.usefixtures("by_hand")
def test_each_file_reads_alone_and_says_what_it_continues(path: Path, clock: Clock) -> None:
    with SessionLog(path, rotation=SMALL, clock=clock, user="marvin") as log:
        for _ in range(150):
            log.received(LINE)
    headers = [next(iter(read_session_log(file))) for file in log_files(path)]
    first, second = "marvin-20261121T120000Z.jsonl", "marvin-20261121T120000Z_002.jsonl"
    assert [first, second, "marvin.jsonl"] == names(path)
    assert [
        Header(clock.now, {"user": "marvin"}),
        Header(clock.now, {"user": "marvin", "continues": first}),
        Header(clock.now, {"user": "marvin", "continues": second}),
    ] == headers


@pytest.mark.usefixtures("by_hand")
def test_a_new_day_has_a_new_file(path: Path, clock: Clock) -> None:
    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        clock.later(hours=11, minutes=59)
        log.sent(b"today\r\n")
        clock.later(minutes=2)
        log.sent(b"tomorrow\r\n")
        clock.later(hours=-12)
        log.sent(b"the clock was set back\r\n")
    assert ["marvin-20261122T000100Z.jsonl", "marvin.jsonl"] == names(path)
    with SessionLog(path, rotation=Rotation(daily=False), clock=clock) as log:
        clock.later(days=3)
        log.sent(b"days count for nothing here\r\n")
    assert 2 == len(log_files(path))


def test_without_a_rotation_there_is_one_file(path: Path, clock: Clock) -> None:
    with SessionLog(path, clock=clock) as log:
        for _ in range(100):
            clock.later(days=1)
            log.received(LINE)
    assert ["marvin.jsonl"] == listed(path.parent)


@settings(max_examples=40, deadline=None)
@given(
    chunks=st.lists(st.tuples(st.binary(min_size=1, max_size=400), st.integers(1, 200)), max_size=30),
    days=st.sets(st.integers(0, 30)),
)
def test_all_bytes_come_back_in_order_over_any_number_of_files(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[tuple[bytes, int]], days: set[int]
) -> None:
    path, clock = tmp_path_factory.mktemp("log") / "marvin.jsonl", Clock()
    with SessionLog(path, rotation=Rotation(max_bytes=2**16, max_total_bytes=0), clock=clock) as log:
        for number, (chunk, times) in enumerate(chunks):
            clock.later(days=number in days)
            log.received(chunk * times)
            log.sent(chunk)
    wait_until(lambda: swept(path))
    assert b"".join(chunk * times for chunk, times in chunks) == received(path)
    sent = [record.data for record in everything(path) if isinstance(record, Sent)]
    assert [chunk for chunk, _ in chunks] == sent


@given(st.data())
@settings(deadline=None)
def test_a_secret_that_two_files_share_is_in_neither(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    secret = b"correct-horse"
    path, clock = tmp_path_factory.mktemp("log") / "marvin.jsonl", Clock()
    cut = data.draw(st.integers(1, len(secret) - 1))
    with SessionLog(path, rotation=Rotation(), clock=clock, secrets=[secret.decode()]) as log:
        log.received(b"before " + secret[:cut])
        clock.later(days=1)
        log.sent(b"something else\r\n")
        log.received(secret[cut:] + b" after")
    wait_until(lambda: swept(path))
    assert 2 == len(log_files(path))
    assert f"before {REDACTED} after".encode() == received(path)


# -- old files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(path: Path, clock: Clock, by_hand: None) -> Path:  # noqa: ARG001 - it only has to be there
    """Have a finished file for each of ten days, compressed, and one that is being written."""
    rotation = Rotation(keep_days=0)
    with SessionLog(path, rotation=rotation, clock=clock) as log:
        for day in range(10):
            log.sent(f"{day}".encode() + os.urandom(1000))
            clock.later(days=1)
        log.sent(b"present")
    sweep(path, rotation, clock)
    assert 11 == len(log_files(path))
    return path


def test_old_files_are_removed_after_their_days(many: Path, clock: Clock) -> None:
    sweep(many, Rotation(keep_days=3), clock)
    assert [f"marvin-202611{day}T120000Z.jsonl.gz" for day in (28, 29, 30)] + [
        "marvin-20261201T120000Z.jsonl.gz",
        "marvin.jsonl",
    ] == names(many)
    clock.later(days=10**5)
    sweep(many, Rotation(keep_days=0), clock)
    assert 5 == len(log_files(many))


def test_the_oldest_go_when_all_together_are_too_large(many: Path, clock: Clock) -> None:
    before = log_files(many)
    total = sum(file.stat().st_size for file in before)
    sweep(many, Rotation(max_total_bytes=total - 1), clock)
    assert before[1:] == log_files(many)
    sweep(many, Rotation(max_total_bytes=0), clock)
    assert before[1:] == log_files(many)
    sweep(many, Rotation(max_total_bytes=1), clock)
    assert [many] == log_files(many), "the file that is being written stays"


def test_what_could_not_be_compressed_counts_and_goes_last(
    many: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest = many.with_name("marvin-20200101T000000Z.jsonl")
    oldest.write_bytes(b"x" * 5000)
    monkeypatch.setattr(archive, "_compress", no_room)
    sizes = [file.stat().st_size for file in log_files(many)]
    sweep(many, Rotation(keep_days=0, max_total_bytes=sum(sizes) - sizes[1]), clock)
    assert 11 == len(log_files(many))
    assert oldest.exists()
    sweep(many, Rotation(keep_days=0, max_total_bytes=1000), clock)
    assert [many] == log_files(many)


def test_the_files_of_others_are_left_alone(many: Path, clock: Clock) -> None:
    others = ["arthur-20200101T000000Z.jsonl.gz", "marvin-20209999T000000Z.jsonl", "marvin-notes.txt", "marvin2.jsonl"]
    for name in others:
        many.with_name(name).write_text("mine")
    clock.later(days=1000)
    sweep(many, Rotation(keep_days=1, max_total_bytes=1), clock)
    assert sorted([*others, "marvin.jsonl"]) == listed(many.parent)


def test_a_flooding_server_cannot_fill_the_disk(path: Path) -> None:
    rotation = Rotation(max_bytes=2**16, max_total_bytes=2**18)
    with SessionLog(path, rotation=rotation) as log:
        for _ in range(3000):
            log.received(os.urandom(500) + b"\n")
        wait_until(lambda: swept(path))
        assert sum(file.stat().st_size for file in log_files(path)) <= rotation.max_total_bytes
        assert len(log_files(path)) > 3


# -- crashes --------------------------------------------------------------------------------------------------------


def test_what_a_crash_left_is_compressed_by_the_next_start(path: Path, clock: Clock) -> None:
    path.parent.mkdir()
    finished = path.with_name("marvin-20261120T120000Z.jsonl")
    with SessionLog(finished, clock=clock) as log:
        log.sent(b"old\r\n")
    finished.with_name(finished.name + ".gz.tmp").write_bytes(b"\x1f\x8bhalf")
    path.with_name(path.name + ".next").write_bytes(b"half")
    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        log.sent(b"new\r\n")
        wait_until(lambda: swept(path))
    assert [b"old\r\n", b"new\r\n"] == [record.data for record in everything(path) if isinstance(record, Sent)]


def test_what_is_there_twice_is_read_once_and_swept(path: Path, clock: Clock) -> None:
    path.parent.mkdir()
    finished = path.with_name("marvin-20261120T120000Z.jsonl")
    with SessionLog(finished, clock=clock) as log:
        log.sent(b"once\r\n")
    finished.with_name(finished.name + ".gz").write_bytes(gzip.compress(finished.read_bytes()))
    assert [Header(clock.now), Sent(clock.now, b"once\r\n")] == everything(path)
    sweep(path, Rotation(), clock)
    assert [Header(clock.now), Sent(clock.now, b"once\r\n")] == everything(path)
    assert [finished.name + ".gz"] == listed(path.parent)


@pytest.mark.usefixtures("by_hand")
def test_a_start_goes_on_in_the_file_of_the_same_day_and_finishes_that_of_another(path: Path, clock: Clock) -> None:
    for days, files in ((0, 1), (0, 1), (1, 2), (0, 2)):
        clock.later(days=days, hours=1)
        with SessionLog(path, rotation=Rotation(), clock=clock):
            pass
        assert files == len(log_files(path))
    assert 2 == len(list(read_session_log(path)))
    assert all("continues" not in record.fields for record in everything(path) if isinstance(record, Header))


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize("damaged", [b"half a header", b"\n", b"[]\n", b'{"time": 5}\n', b"[" * 70_000])
def test_a_file_without_a_header_is_put_aside(path: Path, clock: Clock, damaged: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damaged)
    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        log.sent(b"bye\r\n")
    assert [Header(clock.now), Sent(clock.now, b"bye\r\n")] == list(read_session_log(path))
    assert damaged == log_files(path)[0].read_bytes()


@pytest.mark.slow
def test_a_kill_at_any_moment_costs_at_most_the_record_in_flight(path: Path) -> None:
    """A writer that rotates and compresses all the time is killed again and again; what it had confirmed is there."""
    writer = f"""
import itertools, sys
from pathlib import Path
from fibsbot.records.rotation import Rotation
from fibsbot.records.session_log import SessionLog
log = SessionLog(Path({str(path)!r}), rotation=Rotation(max_bytes=2**16, max_total_bytes=0))
for number in itertools.count(int(sys.argv[1])):
    log.event("number", number=number, padding="x" * 2000)
    print(number, flush=True)
"""
    number = 0
    for run in range(15):
        enough = number + 100 + 37 * run
        child = subprocess.Popen([sys.executable, "-c", writer, str(number)], stdout=subprocess.PIPE)
        assert child.stdout
        with child.stdout as lines:
            for line in lines:
                number = int(line)
                if number > enough:
                    child.kill()
        child.wait()
        number += 1
    with SessionLog(path, rotation=Rotation(max_total_bytes=0)):
        wait_until(lambda: swept(path))
    numbers = [record.fields["number"] for record in everything(path) if isinstance(record, Event)]
    assert set(range(number)) <= set(numbers)
    assert sorted(numbers) == numbers


# -- full disks -----------------------------------------------------------------------------------------------------


def no_room(*_: Any, **__: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def warnings() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as logged:
        yield logged


def test_nothing_half_written_stays_when_the_disk_is_full(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    with SessionLog(path, clock=clock) as log:
        log.sent(b"roll\r\n")
        before = path.read_bytes()
        monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
        log.sent(b"lost\r\n")
        assert before == path.read_bytes()


def test_no_record_goes_before_the_header(path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", no_room)
    with SessionLog(path, clock=clock, user="marvin") as log:
        log.sent(b"lost\r\n")
        monkeypatch.undo()
        log.sent(b"roll\r\n")
    lost = Event(clock.now, "records_lost", {"count": 1})
    assert [Header(clock.now, {"user": "marvin"}), lost, Sent(clock.now, b"roll\r\n")] == list(read_session_log(path))


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize("broken", ["write", "open", "rename"])
def test_a_new_file_that_cannot_begin_leaves_the_old_one(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    rename, renames = Path.rename, []

    def second_fails(self: Path, target: Path) -> Path:
        renames.append(target)
        if len(renames) == 2:
            no_room()
        return rename(self, target)

    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        log.sent(b"today\r\n")
        clock.later(days=1)
        if broken == "rename":
            monkeypatch.setattr(Path, "rename", second_fails)
        elif broken == "open":
            path.with_name(path.name + ".next").mkdir()
        else:
            monkeypatch.setattr(log_file, "_write_whole", no_room)
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
def test_a_file_that_somebody_has_cleared_away_is_no_loss(path: Path, clock: Clock) -> None:
    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        path.unlink()
        clock.later(days=1)
        log.sent(b"roll\r\n")
    assert ["marvin.jsonl"] == names(path)
    assert b"roll\r\n" == next(record.data for record in everything(path) if isinstance(record, Sent))


def test_what_cannot_be_compressed_stays_and_is_tried_again(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, warnings: list[Any]
) -> None:
    monkeypatch.setattr(gzip, "GzipFile", no_room)
    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        for _ in range(3):
            clock.later(days=1)
            log.sent(b"roll\r\n")
        wait_until(lambda: bool(warnings))
        wait_until(lambda: not any(thread.name.startswith("archive of") for thread in threading.enumerate()))
        assert {"marvin.jsonl"} | {f"marvin-202611{day}T120000Z.jsonl" for day in (22, 23, 24)} == set(
            listed(path.parent)
        )
        monkeypatch.undo()
        clock.later(minutes=61)
        log.sent(b"roll\r\n")
        wait_until(lambda: swept(path))
    assert 4 == len([record for record in everything(path) if isinstance(record, Sent)])


def test_there_is_one_warning_an_hour(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, warnings: list[Any]
) -> None:
    with SessionLog(path, clock=clock) as log:
        monkeypatch.setattr(os, "write", no_room)
        for _ in range(150):
            clock.later(minutes=1)
            log.sent(b"lost\r\n")
        assert 150 == log.lost
    assert ["session log cannot be written"] * 3 == [warning["event"] for warning in warnings]
    assert {str(path)} == {warning["path"] for warning in warnings}


def test_more_threads_than_may_be_are_no_end(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, warnings: list[Any]
) -> None:
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        clock.later(days=1)
        log.sent(b"roll\r\n")
        assert 1 == len({warning["event"] for warning in warnings})
        monkeypatch.undo()
        clock.later(hours=1)
        log.sent(b"board\r\n")
        wait_until(lambda: swept(path))


FULL = """
import contextlib, os, resource, signal, sys
from pathlib import Path
from fibsbot.records.archive import Archive, Complaints
from fibsbot.records.rotation import Rotation
from fibsbot.records.session_log import SessionLog, utc_now

path, limit = Path(sys.argv[1]), int(sys.argv[2])
finished = path.with_name("marvin-20260101T000000Z.jsonl")

def no_more_room():
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    else:
        with contextlib.suppress(OSError), path.with_name("ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(b"x" * 4096)

def room():
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        path.with_name("ballast").unlink()
"""
FILL = """log = SessionLog(path, rotation=Rotation(max_bytes=2**20))
log.event("before")
no_more_room()
for _ in range(200):
    log.received(b"x" * 1000 + b"\\n")
assert log.lost > 10, log.lost
room()
log.event("after")
assert not log.lost
log.close()
"""
COMPRESS = """with SessionLog(finished) as log:
    for _ in range(30):
        log.received(os.urandom(400))
content = finished.read_bytes()
archive = Archive(path, Rotation(keep_days=0), utc_now, Complaints(path, utc_now))
limit = min(limit, 4096)
no_more_room()
archive.sweep()
assert {finished.name, "ballast"} >= {file.name for file in path.parent.iterdir()}
assert content == finished.read_bytes()
room()
archive.sweep()
assert not finished.exists()
"""


def run_out_of_room(directory: Path, script: str, *, mounted: bool) -> Path:
    """Run a script whose disk is full for a while; return the path of the log that it wrote.

    The disk is a small one that the child mounts for itself; where it has no right to, its files get a limit.
    """
    path, copy = directory / "disk" / "marvin.jsonl", directory / "copy"
    path.parent.mkdir()
    wrapper = f"""
set -e
mount -t tmpfs -o size=128k tmpfs {path.parent}
"$@"
cp -r {path.parent} {copy}
"""
    mounted = mounted and not subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode
    command = [*(["unshare", "-rm", "sh", "-c", wrapper, "sh"] if mounted else []), sys.executable, "-c", FULL + script]
    limit = 0 if mounted else 2**15
    done = subprocess.run([*command, str(path), str(limit)], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    assert 1 == done.stdout.count("session log"), done.stdout
    return copy / path.name if mounted else path


@pytest.mark.parametrize("mounted", [True, False])
def test_a_disk_that_is_really_full_costs_records_and_says_how_many(tmp_path: Path, *, mounted: bool) -> None:
    path = run_out_of_room(tmp_path, FILL, mounted=mounted)
    events = [record for record in everything(path) if isinstance(record, Event)]
    assert ["before", "records_lost", "after"] == [event.name for event in events]
    assert 1001 * (200 - events[1].fields["count"]) == len(received(path))
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


@pytest.mark.parametrize("mounted", [True, False])
def test_a_disk_that_is_really_full_puts_compression_off(tmp_path: Path, *, mounted: bool) -> None:
    path = run_out_of_room(tmp_path, COMPRESS, mounted=mounted)
    assert 30 * 400 == len(received(path))


# -- reading --------------------------------------------------------------------------------------------------------


def test_a_compressed_log_is_read_like_any_other(path: Path, clock: Clock) -> None:
    with SessionLog(path, clock=clock) as log:
        log.received(b"login: ")
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert [Header(clock.now), Received(clock.now, b"login: ")] == list(read_session_log(packed))
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(SessionLogError, match="whole gzip file"):
        list(read_session_log(packed))


def test_the_event_loop_does_not_wait_for_compression(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    real = archive._compress

    def slow(source: Path) -> None:
        assert go_on.wait(30)
        real(source)

    monkeypatch.setattr(archive, "_compress", slow)
    with SessionLog(path, rotation=Rotation(), clock=clock) as log:
        for _ in range(5):
            clock.later(days=1)
            log.sent(b"roll\r\n")
        assert [False] * 5 == [file.compressed for file in finished_files(path)]
        go_on.set()
        wait_until(lambda: swept(path))


def test_there_is_no_negative_room() -> None:
    with pytest.raises(ValueError, match="max_total_bytes"):
        Rotation(max_total_bytes=-1)
