"""The writer keeps up, keeps on when the database is away, and never gets in the way of the play."""

from __future__ import annotations

import datetime as dt
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import sqlalchemy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import OperationalError

from fibsbot.records.store import Store, StoreError, StoreWriter, database
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.records.store.record_handlers import HANDLERS
from fibsbot.records.stored_rows import Fact
from tests.patience import SOON
from tests.records.store.concurrent_writer import made
from tests.records.store.conftest import Postgres
from tests.records.store.recorder import NOON, XGID

QUICK: Final = (0.01, 0.02)
"""Pauses between attempts."""


@contextmanager
def writing(url: str | Path, **options: Any) -> Iterator[StoreWriter]:
    """Have a writer whose account plays a match."""
    writer = StoreWriter(url, **{"pauses": QUICK, **options})
    writer.put("marvin", "match_started", {"opponent": "ford", "length": 5, "resumed": False}, NOON)
    assert writer.flush()
    try:
        yield writer
    finally:
        writer.close(1.0)


def decide(writer: StoreWriter, count: int, first: int = 0, **more: Any) -> None:
    """Put decisions."""
    for turn in range(first, first + count):
        known = {"phase": "move", "turn": turn, "xgid": XGID, "dice": (3, 1), "answer": "8/5 6/5"}
        writer.put("marvin", "decision", {**known, **more}, NOON)


def turns(url: str | Path) -> list[int | None]:
    """Return the turns of all decisions in the order in which they were written."""
    with Store.open(url) as store:
        return [decision.turn for match in store.matches() for decision in store.decisions(match)]


def until(condition: Any, seconds: float = SOON) -> bool:
    """Wait for something to be true."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(condition())


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Be another process that writes and does not come to an end."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


# -- as it should be --------------------------------------------------------------------------------------------


def test_a_record_is_written_without_waiting_for_others(url: str) -> None:
    with writing(url, pauses=(3600.0, 3600.0)) as writer:
        for turn in range(20):
            decide(writer, 1, turn)
            assert writer.flush()
        assert list(range(20)) == turns(url)


def test_many_records_at_once_keep_their_order(url: str) -> None:
    with writing(url) as writer:
        decide(writer, 1200)
        assert writer.flush()
        assert (1201, 0, 0, True, None) == (
            writer.written,
            writer.waiting,
            writer.lost,
            writer.healthy,
            writer.error,
        )
    assert list(range(1200)) == turns(url)


def test_close_writes_pending_records(url: str) -> None:
    with writing(url) as writer:
        decide(writer, 1200)
        assert writer.close()
    assert list(range(1200)) == turns(url)


def test_records_after_close_are_counted_as_lost(url: str) -> None:
    with writing(url) as writer:
        assert writer.close()
        assert writer.close()
        decide(writer, 3)
        assert (3, 0, False) == (writer.lost, writer.waiting, writer.healthy)


def test_records_of_other_kinds_are_ignored(url: str) -> None:
    with writing(url) as writer:
        writer.put("marvin", "held_back", {"command": "join", "state": "LOBBY"}, NOON)
        assert (0, 1, 0) == (writer.waiting, writer.written, writer.lost)


def test_threads_may_put_concurrently(url: str) -> None:
    with writing(url) as writer:
        threads = [threading.Thread(target=decide, args=(writer, 200, 1000 * n)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert writer.flush()
    written = turns(url)
    for n in range(4):
        assert list(range(1000 * n, 1000 * n + 200)) == [it for it in written if it is not None and it // 1000 == n]


# -- a database that is away ------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for other processes."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.01)


@pytest.mark.usefixtures("impatient")
def test_the_writer_waits_for_a_locked_file_without_losses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.sqlite"
    warnings: list[str] = []
    with writing(path, on_error=warnings.append) as writer:
        told = writer._note_error
        troubles: list[Exception] = []

        def count(error: Exception) -> None:
            troubles.append(error)
            told(error)

        monkeypatch.setattr(writer, "_note_error", count)
        with locked(path):
            begun = time.perf_counter()
            decide(writer, 1000)
            assert time.perf_counter() - begun < SOON
            assert until(lambda: not writer.healthy)
            assert until(lambda: len(troubles) > 5)
            assert "database is locked" == writer.error
            assert (1000, 0) == (writer.waiting, writer.lost)
        assert writer.flush()
        assert writer.healthy
    assert list(range(1000)) == turns(path)
    (warning,) = warnings
    assert warning.startswith(f"the store {path} cannot be written: database is locked;")


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_full_queue_drops_decisions_and_keeps_matches(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with writing(path, limit=20, pauses=(0.8, 0.8)) as writer:  # what is just being written cannot go
        with locked(path):
            decide(writer, 1)
            assert until(lambda: not writer.healthy)
            decide(writer, 100, 1)
            for number in range(15):
                end = {"opponent": "ford", "length": 1, "won": True, "score": [1, 0]}
                at = NOON + dt.timedelta(hours=number)
                writer.put("marvin", "match_started", {"opponent": "ford", "length": 1, "resumed": False}, at)
                writer.put("marvin", "match_ended", end, at)
            assert 30 == writer.waiting
            assert 101 == writer.lost
        assert writer.flush()
    with Store.open(path) as store:
        assert 15 == sum(match.finished for match in store.matches())
        assert () == check_integrity(store).problems


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_an_error_callback_may_raise(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"

    def fail(_: str) -> None:
        raise RuntimeError("no printer")

    with writing(path, on_error=fail) as writer:
        with locked(path):
            decide(writer, 5)
            assert until(lambda: not writer.healthy)
        assert writer.flush()
    assert list(range(5)) == turns(path)


@pytest.mark.usefixtures("impatient")
def test_close_waits_at_most_until_its_deadline(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with writing(path) as writer, locked(path):
        decide(writer, 5)
        begun = time.monotonic()
        assert not writer.close(0.2)
        assert time.monotonic() - begun < SOON
        assert 5 == writer.lost


@pytest.mark.slow
def test_the_writer_reconnects_to_a_restarted_server(postgres: Postgres) -> None:
    url = postgres.make("going")
    warnings: list[str] = []
    with writing(url, on_error=warnings.append) as writer:
        decide(writer, 500)
        postgres.stop()
        try:
            decide(writer, 500, 500)
            assert until(lambda: not writer.healthy)
        finally:
            postgres.start()
        assert writer.flush(20.0)
        assert (True, 0, 1) == (writer.healthy, writer.lost, len(warnings))
    assert list(range(1000)) == turns(url)


@pytest.mark.slow
def test_the_writer_waits_for_a_server_that_is_down_at_the_start(postgres: Postgres) -> None:
    url = postgres.make("late")
    postgres.stop()
    warnings: list[str] = []
    try:
        writer = StoreWriter(url, on_error=warnings.append, pauses=QUICK)
        writer.put("marvin", "invited", {"by": "ford", "length": 3}, NOON)
        assert not writer.healthy
    finally:
        postgres.start()
    assert writer.flush(20.0)
    assert writer.close()
    assert 1 == len(warnings)
    with Store.open(url) as store:
        assert [1] == [opponent.times(Fact.INVITED) for opponent in store.opponents()]


@pytest.mark.slow
def test_a_connection_closed_by_the_server_is_reopened(postgres: Postgres) -> None:
    url = postgres.make("ended")
    with writing(url, on_error=lambda _: None) as writer:
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ended'")
        decide(writer, 10)
        assert writer.flush()
        assert 0 == writer.lost
    assert list(range(10)) == turns(url)


def test_a_commit_with_unknown_outcome_is_not_repeated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks after the database has committed, and before it could say so."""
    with writing(url, on_error=lambda _: None) as writer:
        begin = sqlalchemy.Connection.begin
        breaks = iter([True])

        @contextmanager
        def begin_and_break(connection: sqlalchemy.Connection) -> Iterator[None]:
            with begin(connection):
                yield
            if next(breaks, False):
                raise OperationalError("COMMIT", {}, ConnectionResetError("gone"))

        with monkeypatch.context() as patch:
            patch.setattr(sqlalchemy.Connection, "begin", begin_and_break)
            decide(writer, 10)
            assert writer.flush()
        assert next(breaks, None) is None
        decide(writer, 10, 10)
        assert writer.flush()
    assert list(range(20)) == turns(url)


def test_a_moved_file_is_replaced_by_a_new_one(tmp_path: Path) -> None:
    path, moved = tmp_path / "store.sqlite", tmp_path / "moved.sqlite"
    with writing(path) as writer:
        decide(writer, 5)
        assert writer.flush()
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).rename(moved.with_name(moved.name + suffix))
        writer.put("marvin", "match_started", {"opponent": "arthur", "length": 1, "resumed": False}, NOON)
        decide(writer, 5, 5)
        assert writer.flush()
        assert writer.healthy
    assert list(range(5)) == turns(moved)
    assert list(range(5, 10)) == turns(path)


# -- records that are not as they should be -----------------------------------------------------------------------


def test_an_unstorable_record_does_not_block_others(url: str) -> None:
    with writing(url) as writer:
        decide(writer, 5)
        writer.put("marvin", "decision", {"phase": "move", "answer": "x"}, NOON.replace(tzinfo=None))
        decide(writer, 5, 5)
        assert writer.flush()
        assert (1, True) == (writer.lost, writer.healthy)
    assert list(range(10)) == turns(url)


def test_records_without_required_fields_are_dropped_and_counted(url: str) -> None:
    with writing(url) as writer:
        for name, fields in (
            ("match_started", {"opponent": None}),
            ("match_ended", {"opponent": "ford", "won": None}),
            ("rating", {"rating": "high", "experience": 3}),
            ("invited", {}),
            ("saved_matches", {"opponents": None}),
        ):
            writer.put("marvin", name, fields, NOON)
        assert writer.flush()
        assert (5, True) == (writer.lost, writer.healthy)


def test_a_decision_without_a_match_is_dropped(url: str) -> None:
    with writing(url) as writer:
        writer.put("trillian", "decision", {"phase": "move", "answer": "8/5"}, NOON)
        assert writer.flush()
        assert 1 == writer.lost


def test_texts_that_a_database_cannot_store_are_cleaned(url: str) -> None:
    with writing(url) as writer:
        hostile = "nul\0 surrogate\ud800 quote' \" ; DROP TABLE matches; -- \N{SNOWMAN}" + "x" * 10_000
        decide(writer, 1, answer=hostile, phase=hostile)
        assert writer.flush()
        assert (0, True) == (writer.lost, writer.healthy)
    with Store.open(url) as store:
        (match,) = store.matches()
        (decision,) = store.decisions(match)
    assert decision.answer.startswith("nul\N{REPLACEMENT CHARACTER} surrogate? quote' \" ; DROP TABLE")
    assert 400 == len(decision.answer)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**30), 2**31, 2**63])
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["ford", "You", "move", "opponent_gone", "left"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
FIELDS: Final = """opponent by name length resumed rating experience client score why how winner points cube won
opponents phase turn xgid dice offer answer equity seconds fallback text command state reason"""
names = st.sampled_from(FIELDS.split())
records = st.tuples(st.sampled_from(sorted(HANDLERS)), st.dictionaries(names, values, max_size=8))


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(records, max_size=12))
def test_no_record_stops_the_writer(hostile: StoreWriter, told: list[tuple[str, dict[str, Any]]]) -> None:
    for name, fields in told:
        hostile.put("marvin", name, fields, NOON)
    assert hostile.flush()
    assert hostile.healthy, hostile.error


@pytest.fixture
def hostile(url: str) -> Iterator[StoreWriter]:
    writer = StoreWriter(url)
    yield writer
    assert writer.close()


# -- places that cannot be used -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("", "expected a file or a URL for the store, got ''"),
        (
            "mysql://me:secret@host/name",
            "expected a store on SQLite (a file) or PostgreSQL, got mysql://me@host/name",
        ),
        ("sqlite://", "expected a store on SQLite (a file) or PostgreSQL, got sqlite://"),
        ("://secret", "expected a URL such as postgresql://host/name for the store, got something else"),
        ("/dev/null/store", "cannot create the directory /dev/null: File exists"),
        ("/proc/store", "cannot use the store /proc/store: unable to open database file"),
    ],
)
def test_an_invalid_path_or_url_is_an_error_at_once(where: str, text: str) -> None:
    with pytest.raises(StoreError) as caught:
        StoreWriter(where)
    assert text == str(caught.value)


def test_a_file_that_is_not_a_database_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ford, " * 1000)
    with pytest.raises(StoreError, match="file is not a database"):
        StoreWriter(path)
    assert "Dear Ford, " * 1000 == path.read_text()


def test_the_database_of_another_program_is_not_changed(new_url: str) -> None:
    engine = database.open_engine(database.database_url(new_url), writing=True)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE matches (id INTEGER)"))
    with pytest.raises(StoreError, match="the database of another program: it has a table 'matches'"):
        StoreWriter(new_url)


def test_no_password_is_shown(tmp_path: Path) -> None:
    warnings: list[str] = []
    url = f"postgresql://marvin:verysecret@127.0.0.1:1/{tmp_path.name}?password=verysecret"
    writer = StoreWriter(url, on_error=warnings.append, pauses=QUICK)
    writer.put("marvin", "invited", {"by": "ford", "length": 3}, NOON)
    assert not writer.close(0.05)
    assert warnings
    assert "verysecret" not in "".join((*warnings, str(writer.error)))


def test_a_missing_directory_is_created(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "store #1?.sqlite"
    with writing(path):
        pass
    assert path.is_file()
    assert 0 == made(str(path), "marvin")
