"""What waits for the database when a process is killed is written by the next one, once."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy.exc import IntegrityError

from fibsbot.records.store import StoreWriter, writer
from fibsbot.records.store.database import database_url
from fibsbot.records.store.record_queue import PendingRecord, SpillFile, orphaned_spills
from tests.records.store.concurrent_writer import made
from tests.records.store.recorder import NOON
from tests.records.store.test_processes import ROOT, problems

PUTTING: Final = """
import datetime as dt, itertools, os, sys
from fibsbot.records.store import StoreWriter

url, first = sys.argv[1], int(sys.argv[2])
writer = StoreWriter(url)
put = lambda name, **fields: writer.put("marvin", name, fields, dt.datetime.now(dt.UTC))
put("match_started", opponent="ford", length=25, resumed=first > 1)
if first == 1:
    put("game_started", opponent="ford", game=1)
assert writer.flush()
for turn in itertools.count(first):
    put("decision", phase="move", turn=turn, xgid="x" * 60, dice=(3, 1), answer="8/5 6/5")
    os.write(1, f"{turn}\\n".encode())
"""


@pytest.fixture(autouse=True)
def _state_of_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def putting(url: str, first: int) -> subprocess.Popen[bytes]:
    """Start a process that puts decisions and never waits for the database; it tells the number of each."""
    command = [sys.executable, "-c", PUTTING, url, str(first)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)


def told(process: subprocess.Popen[bytes], least: int) -> int:
    """Kill a process once it has told of so many; return how many it has told of."""
    assert process.stdout is not None
    last = 0
    while last < least:
        last = int(process.stdout.readline())
    process.kill()
    return max([last, *map(int, process.stdout)])


@pytest.mark.slow
def test_what_was_put_before_a_kill_9_is_not_lost_though_nobody_waited_for_the_database(url: str) -> None:
    chance = random.Random(5)
    last = 0
    for _ in range(2):
        with putting(url, last + 1) as process:
            certain = told(process, last + chance.randint(1, 2000))
        StoreWriter(url).close()
        last = made(url, "marvin")
        assert certain <= last <= certain + 1
        assert () == problems(url)


@pytest.mark.slow
def test_what_waited_while_the_database_was_away_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with putting(str(path), 1) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            certain = told(process, 3000)
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


def test_it_is_written_once_though_the_file_could_not_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    waits(path, 1, 2)
    for _ in range(2):
        StoreWriter(path).close()
        assert 2 == made(str(path), "marvin")
        waits(path, 1, 2)


def test_half_a_line_and_lines_of_nonsense_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    file = waits(path, 1, 2)
    with file.open("ab") as it:
        it.write(b'\xff\n[1]\n{"a": 1}\n["x", "marvin", "decision", {}, "noon"]\n[7, "marvin", "deci')
    StoreWriter(path).close()
    assert 2 == made(str(path), "marvin")
    assert not file.exists()


def test_what_a_living_process_has_put_is_its_own(tmp_path: Path) -> None:
    url = database_url(tmp_path / "store.db")
    living = SpillFile(url, "living")
    living.add(PendingRecord(1, "marvin", "logged_in", {}, NOON))
    assert [] == list(orphaned_spills(url))
    living.close()
    (left,) = orphaned_spills(url)
    assert ("living", 1) == (left.writer, len(left.entries))


def test_a_file_that_another_process_removes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_no_database_would_take_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_is_older_than_the_memory_of_the_database_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    file = waits(path, 1)
    old = (dt.datetime.now(dt.UTC) - writer.WRITER_RETENTION - dt.timedelta(days=1)).timestamp()
    os.utime(file, (old, old))
    StoreWriter(path).close()
    assert 0 == made(str(path), "marvin")
    assert not file.exists()


def test_where_no_file_can_be_made_nothing_is_raised_and_nothing_left(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    url = database_url(tmp_path / "file" / "store.db")
    waiting = SpillFile(url, "nobody")
    waiting.add(PendingRecord(1, "marvin", "logged_in", {}, NOON))
    waiting.clear()
    waiting.close()
    assert [] == list(orphaned_spills(url))


def test_fields_of_any_kind_keep_what_matters(tmp_path: Path) -> None:
    url = database_url(tmp_path / "store.db")
    waiting = SpillFile(url, "some")
    odd = {"opponents": frozenset({"b", "a"}), "name": "\ud800\0é", "at": NOON, "score": (1, 2)}
    waiting.add(PendingRecord(1, "marvin", "saved_matches", odd, NOON))
    waiting.add(PendingRecord(2, "marvin", "saved_matches", {("no", "key"): 1}, NOON))  # type: ignore[dict-item]
    waiting.close()
    (left,) = orphaned_spills(url)
    assert [{**odd, "opponents": ["a", "b"], "at": str(NOON), "score": [1, 2]}] == [it.fields for it in left.entries]
