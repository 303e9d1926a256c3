"""What waits for the database when a process is killed is written by the next one, once."""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

import pytest
from sqlalchemy.exc import IntegrityError

from fibsbot.records.store import StoreWriter, writer
from fibsbot.records.store.database import database_url
from fibsbot.records.store.record_queue import PendingRecord, SpillFile, orphaned_spills
from tests.forked import Forked, printing
from tests.records.store.concurrent_writer import made
from tests.records.store.recorder import NOON
from tests.records.store.test_processes import problems


@pytest.fixture(autouse=True)
def _state_of_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def putting(url: str, first: int) -> contextlib.AbstractContextManager[tuple[Forked, TextIO]]:
    """Start a process that puts decisions and never waits for the database; it tells the number of each."""
    return printing("tests.records.store.impatient_writer", url, first)


def told(process: Forked, printed: TextIO, least: int) -> int:
    """Kill a process once it has told of so many; return how many it has told of."""
    last = 0
    while last < least:
        last = int(printed.readline())
    process.kill()
    return max([last, *map(int, printed)])


@pytest.mark.slow
def test_records_put_before_kill_9_are_not_lost(url: str) -> None:
    chance = random.Random(5)
    last = 0
    for _ in range(2):
        with putting(url, last + 1) as (process, printed):
            certain = told(process, printed, last + chance.randint(1, 2000))
        StoreWriter(url).close()
        last = made(url, "marvin")
        assert certain <= last <= certain + 1
        assert () == problems(url)


@pytest.mark.slow
def test_records_pending_for_an_unavailable_database_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with putting(str(path), 1) as (process, printed):
        printed.readline()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            certain = told(process, printed, 3000)
    assert 1 == len([it for it in tmp_path.iterdir() if it.name.startswith("store.db.waiting-") and it.stat().st_size])
    StoreWriter(path).close()
    assert certain <= made(str(path), "marvin") <= certain + 1
    assert [path] == [it for it in tmp_path.iterdir() if it.is_file()]


def waits(path: Path, *turns: int, name: str = "gone") -> Path:
    """Leave a file as a process does that begins a match, makes decisions and is killed; return where it is."""
    left = SpillFile(database_url(path), name)
    fields: list[tuple[str, dict[str, Any]]] = [("match_started", {"opponent": "ford", "length": 5, "resumed": False})]
    fields += [("decision", {"phase": "move", "turn": turn, "dice": (3, 1), "answer": "8/5 6/5"}) for turn in turns]
    for number, (event, known) in enumerate(fields, 1):
        left.add(PendingRecord(number, "marvin", event, known, NOON))
    left.close()
    return path.with_name(f"{path.name}.waiting-{name}")


def test_records_are_written_once_even_if_the_file_cannot_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    waits(path, 1, 2)
    for _ in range(2):
        StoreWriter(path).close()
        assert 2 == made(str(path), "marvin")
        waits(path, 1, 2)


def test_incomplete_and_invalid_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    file = waits(path, 1, 2)
    with file.open("ab") as it:
        it.write(b'\xff\n[1]\n{"a": 1}\n["x", "marvin", "decision", {}, "noon"]\n[7, "marvin", "deci')
    StoreWriter(path).close()
    assert 2 == made(str(path), "marvin")
    assert not file.exists()


def test_the_file_of_a_running_process_is_left_alone(tmp_path: Path) -> None:
    url = database_url(tmp_path / "store.db")
    living = SpillFile(url, "living")
    living.add(PendingRecord(1, "marvin", "logged_in", {}, NOON))
    assert [] == list(orphaned_spills(url))
    living.close()
    (left,) = orphaned_spills(url)
    assert ("living", 1) == (left.writer, len(left.entries))


def test_a_file_removed_before_it_is_locked_is_created_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = database_url(tmp_path / "store.db")
    lock, calls, removed = fcntl.flock, [], []

    def late(file: int, how: int) -> None:
        calls.append(file)
        if len(calls) == 1:
            for left in orphaned_spills(url):
                removed.append(left.writer)
                left.remove()
        lock(file, how)

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", late)
        living = SpillFile(url, "living")
        living.add(PendingRecord(1, "marvin", "logged_in", {}, NOON))
        living.close()
    (left,) = orphaned_spills(url)
    assert (["living"], "living", 1) == (removed, left.writer, len(left.entries))


def test_a_file_with_unwritable_records_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    file = waits(path, 1)

    def refuse(*_: Any) -> None:
        raise IntegrityError("", {}, ValueError("no"))

    with monkeypatch.context() as patched:
        patched.setattr(writer, "write_records", refuse)
        StoreWriter(path).close()
    assert [path, path.with_name("store.db.unusable-gone")] == sorted(tmp_path.iterdir())
    assert not file.exists()
    assert 0 == made(str(path), "marvin")


def test_records_older_than_the_retention_period_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    file = waits(path, 1)
    old = (dt.datetime.now(dt.UTC) - writer.WRITER_RETENTION - dt.timedelta(days=1)).timestamp()
    os.utime(file, (old, old))
    StoreWriter(path).close()
    assert 0 == made(str(path), "marvin")
    assert not file.exists()


def test_a_file_that_cannot_be_created_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    url = database_url(tmp_path / "file" / "store.db")
    waiting = SpillFile(url, "nobody")
    waiting.add(PendingRecord(1, "marvin", "logged_in", {}, NOON))
    waiting.clear()
    waiting.close()
    assert [] == list(orphaned_spills(url))


def test_unserialisable_fields_lose_only_their_type(tmp_path: Path) -> None:
    url = database_url(tmp_path / "store.db")
    waiting = SpillFile(url, "some")
    odd = {"opponents": frozenset({"b", "a"}), "name": "\ud800\0é", "at": NOON, "score": (1, 2)}
    waiting.add(PendingRecord(1, "marvin", "saved_matches", odd, NOON))
    waiting.add(PendingRecord(2, "marvin", "saved_matches", {("no", "key"): 1}, NOON))  # type: ignore[dict-item]
    waiting.close()
    (left,) = orphaned_spills(url)
    assert [{**odd, "opponents": ["a", "b"], "at": str(NOON), "score": [1, 2]}] == [it.fields for it in left.entries]
