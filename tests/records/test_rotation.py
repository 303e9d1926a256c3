"""Session logs in many files: nothing is lost between two, old ones are compressed and go."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fibsbot.records import finished_logs
from fibsbot.records.finished_logs import finished_files
from fibsbot.records.session_log import Header, ProgramEvent, Received, Sent, SessionLogError, read_session_log
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.redaction import REDACTED, password_hidden
from tests.examples import examples
from tests.forked import printing
from tests.patience import SOON
from tests.records.log_clock import (
    LINE,
    SMALL,
    Clock,
    everything,
    listed,
    log_files,
    names,
    no_room,
    received,
    rotation,
    sweep,
    swept,
    wait_until,
)

# -- files ----------------------------------------------------------------------------------------------------------


def test_a_full_file_is_closed_and_compressed(path: Path, clock: Clock) -> None:
    with SessionLogWriter(path, rotation=SMALL, clock=clock, user="marvin") as log:
        for _ in range(100):
            clock.later(seconds=1)
            log.received(LINE)
        wait_until(lambda: swept(path))
        assert ["marvin-20261121T120103Z.jsonl.gz", "marvin.jsonl"] == names(path)
    assert 100 * LINE == received(path)
    assert all(file.stat().st_size <= SMALL.max_bytes for file in log_files(path))


@pytest.mark.usefixtures("by_hand")
def test_each_file_is_readable_alone_and_names_its_predecessor(path: Path, clock: Clock) -> None:
    with SessionLogWriter(path, rotation=SMALL, clock=clock, user="marvin") as log:
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
def test_each_day_starts_a_new_file(path: Path, clock: Clock) -> None:
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        clock.later(hours=11, minutes=59)
        log.sent(b"today\r\n")
        clock.later(minutes=2)
        log.sent(b"tomorrow\r\n")
        clock.later(hours=-12)
        log.sent(b"the clock was set back\r\n")
    assert ["marvin-20261122T000100Z.jsonl", "marvin.jsonl"] == names(path)
    with SessionLogWriter(path, rotation=rotation(daily=False), clock=clock) as log:
        clock.later(days=3)
        log.sent(b"days count for nothing here\r\n")
    assert 2 == len(log_files(path))


def test_without_a_rotation_there_is_one_file(path: Path, clock: Clock) -> None:
    with SessionLogWriter(path, clock=clock) as log:
        for _ in range(100):
            clock.later(days=1)
            log.received(LINE)
    assert ["marvin.jsonl"] == listed(path.parent)


@settings(examples(20), deadline=None)
@given(
    chunks=st.lists(st.tuples(st.binary(min_size=1, max_size=400), st.integers(1, 200)), max_size=30),
    days=st.sets(st.integers(0, 30)),
)
def test_bytes_are_read_in_order_from_any_number_of_files(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[tuple[bytes, int]], days: set[int]
) -> None:
    path, clock = tmp_path_factory.mktemp("log") / "marvin.jsonl", Clock()
    with SessionLogWriter(path, rotation=rotation(max_bytes=2**16, max_total_bytes=0), clock=clock) as log:
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
def test_a_password_split_across_two_files_is_redacted(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    secret = b"correct-horse"
    path, clock = tmp_path_factory.mktemp("log") / "marvin.jsonl", Clock()
    cut = data.draw(st.integers(1, len(secret) - 1))
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log, password_hidden(secret.decode()):
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
    limits = rotation(keep_days=0)
    with SessionLogWriter(path, rotation=limits, clock=clock) as log:
        for day in range(10):
            log.sent(f"{day}".encode() + os.urandom(1000))
            clock.later(days=1)
        log.sent(b"present")
    sweep(path, limits, clock)
    assert 11 == len(log_files(path))
    return path


def test_files_are_removed_after_keep_days(many: Path, clock: Clock) -> None:
    sweep(many, rotation(keep_days=3), clock)
    assert [f"marvin-202611{day}T120000Z.jsonl.gz" for day in (28, 29, 30)] + [
        "marvin-20261201T120000Z.jsonl.gz",
        "marvin.jsonl",
    ] == names(many)
    clock.later(days=10**5)
    sweep(many, rotation(keep_days=0), clock)
    assert 5 == len(log_files(many))


def test_the_oldest_files_are_removed_beyond_the_total_size(many: Path, clock: Clock) -> None:
    before = log_files(many)
    total = sum(file.stat().st_size for file in before)
    sweep(many, rotation(max_total_bytes=total - 1), clock)
    assert before[1:] == log_files(many)
    sweep(many, rotation(max_total_bytes=0), clock)
    assert before[1:] == log_files(many)
    sweep(many, rotation(max_total_bytes=1), clock)
    assert [many] == log_files(many), "the file that is being written stays"


def test_uncompressed_files_count_and_are_removed_last(
    many: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest = many.with_name("marvin-20200101T000000Z.jsonl")
    oldest.write_bytes(b"x" * 5000)
    monkeypatch.setattr(finished_logs, "_compress", no_room)
    sizes = [file.stat().st_size for file in log_files(many)]
    sweep(many, rotation(keep_days=0, max_total_bytes=sum(sizes) - sizes[1]), clock)
    assert 11 == len(log_files(many))
    assert oldest.exists()
    sweep(many, rotation(keep_days=0, max_total_bytes=1000), clock)
    assert [many] == log_files(many)


def test_files_of_other_programs_are_left_alone(many: Path, clock: Clock) -> None:
    others = ["arthur-20200101T000000Z.jsonl.gz", "marvin-20209999T000000Z.jsonl", "marvin-notes.txt", "marvin2.jsonl"]
    for name in others:
        many.with_name(name).write_text("mine")
    clock.later(days=1000)
    sweep(many, rotation(keep_days=1, max_total_bytes=1), clock)
    assert sorted([*others, "marvin.jsonl"]) == listed(many.parent)


@pytest.mark.slow
def test_a_flooding_server_cannot_fill_the_disk(path: Path) -> None:
    limits = rotation(max_bytes=2**16, max_total_bytes=2**18)
    with SessionLogWriter(path, rotation=limits) as log:
        for _ in range(1000):
            log.received(os.urandom(500) + b"\n")
        wait_until(lambda: swept(path))
        assert sum(file.stat().st_size for file in log_files(path)) <= limits.max_total_bytes
        assert len(log_files(path)) > 3


# -- crashes --------------------------------------------------------------------------------------------------------


def test_files_left_by_a_crash_are_compressed_at_the_next_start(path: Path, clock: Clock) -> None:
    path.parent.mkdir()
    finished = path.with_name("marvin-20261120T120000Z.jsonl")
    with SessionLogWriter(finished, clock=clock) as log:
        log.sent(b"old\r\n")
    finished.with_name(f".{finished.name}.gz.1-abcd.part").write_bytes(b"\x1f\x8bhalf")
    path.with_name(path.name + ".next").write_bytes(b"half")
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        log.sent(b"new\r\n")
        wait_until(lambda: swept(path))
    assert [b"old\r\n", b"new\r\n"] == [record.data for record in everything(path) if isinstance(record, Sent)]


def test_a_file_present_in_both_forms_is_read_once_and_cleaned_up(path: Path, clock: Clock) -> None:
    path.parent.mkdir()
    finished = path.with_name("marvin-20261120T120000Z.jsonl")
    with SessionLogWriter(finished, clock=clock) as log:
        log.sent(b"once\r\n")
    finished.with_name(finished.name + ".gz").write_bytes(gzip.compress(finished.read_bytes()))
    assert [Header(clock.now), Sent(clock.now, b"once\r\n")] == everything(path)
    sweep(path, rotation(), clock)
    assert [Header(clock.now), Sent(clock.now, b"once\r\n")] == everything(path)
    assert [finished.name + ".gz"] == listed(path.parent)


@pytest.mark.usefixtures("by_hand")
def test_a_start_continues_a_file_of_the_same_day_and_closes_an_older_one(path: Path, clock: Clock) -> None:
    for days, files in ((0, 1), (0, 1), (1, 2), (0, 2)):
        clock.later(days=days, hours=1)
        with SessionLogWriter(path, rotation=rotation(), clock=clock):
            pass
        assert files == len(log_files(path))
    assert 2 == len(list(read_session_log(path)))
    assert all("continues" not in record.fields for record in everything(path) if isinstance(record, Header))


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize("damaged", [b"half a header", b"\n", b"[]\n", b'{"time": 5}\n', b"[" * 70_000])
def test_a_file_without_a_header_is_put_aside(path: Path, clock: Clock, damaged: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damaged)
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        log.sent(b"bye\r\n")
    assert [Header(clock.now), Sent(clock.now, b"bye\r\n")] == list(read_session_log(path))
    assert damaged == log_files(path)[0].read_bytes()


@pytest.mark.slow
def test_a_kill_at_any_moment_costs_at_most_the_record_in_flight(path: Path) -> None:
    """A writer that rotates and compresses all the time is killed again and again; what it had confirmed is there."""
    number = 0
    for run in range(5):
        enough = number + 100 + 37 * run
        with printing("tests.records.rotating_writer", path, number) as (process, lines):
            for line in lines:
                number = int(line)
                if number > enough:
                    process.kill()
        process.process.join()
        number += 1
    with SessionLogWriter(path, rotation=rotation(max_total_bytes=0)):
        wait_until(lambda: swept(path))
    numbers = [record.fields["number"] for record in everything(path) if isinstance(record, ProgramEvent)]
    assert set(range(number)) <= set(numbers)
    assert sorted(numbers) == numbers


# -- reading --------------------------------------------------------------------------------------------------------


def test_a_compressed_log_is_read_like_any_other(path: Path, clock: Clock) -> None:
    with SessionLogWriter(path, clock=clock) as log:
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
    real = finished_logs._compress

    def slow(source: Path) -> None:
        assert go_on.wait(SOON)
        real(source)

    monkeypatch.setattr(finished_logs, "_compress", slow)
    with SessionLogWriter(path, rotation=rotation(), clock=clock) as log:
        for _ in range(5):
            clock.later(days=1)
            log.sent(b"roll\r\n")
        assert [False] * 5 == [file.compressed for file in finished_files(path)]
        go_on.set()
        wait_until(lambda: swept(path))


def test_negative_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="max_total_bytes"):
        rotation(max_total_bytes=-1)
