"""Tables are kept, found again, and never believed when they are damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fibsbot.engine.bearoff import BearoffTables, compute_and_save, load_tables
from fibsbot.engine.bearoff.storage import (
    HEADER_SIZE,
    UnusableTablesError,
    cache_folder,
    path_for,
    read_tables,
    write_tables,
)
from tests.patience import SOON


def equal(one: BearoffTables, other: BearoffTables) -> bool:
    return all(np.array_equal(*columns) for columns in zip(one.columns, other.columns, strict=True))


def test_what_was_kept_is_what_is_loaded(small: BearoffTables, cache: Path) -> None:
    path = path_for(2)
    kept = write_tables(small, path)
    loaded, found = read_tables(path, 2)
    assert equal(small, loaded)
    assert kept == found
    assert cache / "bearoff-2-v1.tables" == path
    assert path.stat().st_size == kept.bytes
    assert not any(column.flags.writeable for column in loaded.columns)


def test_tables_that_are_not_there_are_not_computed_unasked(cache: Path) -> None:
    said: list[str] = []
    assert load_tables(compute=False, report=said.append) is None
    assert ([], []) == (said, list(cache.iterdir()))


@pytest.mark.slow
def test_tables_are_computed_once(small: BearoffTables, cache: Path) -> None:
    said: list[str] = []
    first = load_tables(compute=True, checkers=2, report=said.append)
    written = path_for(2).stat().st_mtime_ns
    again = load_tables(compute=True, checkers=2, report=said.append)
    assert first is not None
    assert again is not None
    assert equal(small, first)
    assert equal(small, again)
    assert written == path_for(2).stat().st_mtime_ns
    assert ["bearoff-2-v1.tables"] == [path.name for path in cache.iterdir()]
    assert [] == said


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (HEADER_SIZE, "checksum is wrong"),
        (HEADER_SIZE + 5_000_003, "checksum is wrong"),
        (-1, "checksum is wrong"),
        (0, "no file of bear-off tables"),
        (30, "no file of bear-off tables"),
    ],
)
def test_a_single_byte_that_changed_is_noticed(small: BearoffTables, cache: Path, place: int, reason: str) -> None:
    path = cache / "tables"
    write_tables(small, path)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(UnusableTablesError, match=reason):
        read_tables(path, 2)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no file of bear-off tables"),
        (b"\xff" * 5000, "no file of bear-off tables"),
        (b"[" * 5000, "no file of bear-off tables"),
        (b"[1]", "no file of bear-off tables"),
        (b'{"format": "fibsbot bear-off tables", "version": 0}', "expected version 1, got 0"),
        (b'{"format": "fibsbot bear-off tables", "version": 1, "checkers": 6}', "expected checkers 2, got 6"),
        (b'{"format": "fibsbot bear-off tables", "version": 1, "checkers": 2}', "expected .* bytes, got 66"),
    ],
)
def test_a_foreign_file_is_no_table(cache: Path, content: bytes, reason: str) -> None:
    path = cache / "tables"
    path.write_bytes(content)
    with pytest.raises(UnusableTablesError, match=reason):
        read_tables(path, 2)


def test_a_folder_is_no_table(cache: Path) -> None:
    with pytest.raises(UnusableTablesError):
        read_tables(cache, 2)


@pytest.mark.slow
def test_damaged_tables_are_computed_again_and_it_is_said_in_one_line(small: BearoffTables, cache: Path) -> None:
    path = cache / path_for(2).name
    size = write_tables(small, path).bytes
    os.truncate(path, 1_000_000)
    said: list[str] = []
    assert load_tables(compute=False, checkers=2, report=said.append) is None
    found = load_tables(compute=True, checkers=2, report=said.append)
    assert found is not None
    assert equal(small, found)
    told = f"cannot use the bear-off tables {path}: expected {size:,} bytes, got 1,000,000"
    assert [told, f"{told}; they are computed again"] == said
    assert equal(small, read_tables(path, 2)[0])


@pytest.mark.slow
def test_the_largest_tables_that_are_kept_are_used(tables: BearoffTables, cache: Path) -> None:
    write_tables(tables, path_for(6))
    other = cache / path_for(8).name
    other.write_bytes(b"nonsense")
    said: list[str] = []
    found = load_tables(compute=True, report=said.append)
    assert found is not None
    assert 6 == found.checkers
    assert [f"cannot use the bear-off tables {other}: it is no file of bear-off tables"] == said


@pytest.mark.slow
def test_where_nothing_can_be_written_tables_last_as_long_as_the_program(small: BearoffTables, cache: Path) -> None:
    blocked = cache / "file"
    blocked.touch()
    said: list[str] = []
    found, kept = compute_and_save(2, blocked, said.append)
    assert equal(small, found)
    assert kept is None
    assert [True] == [text.startswith("cannot keep the bear-off tables as ") for text in said]


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIBSBOT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    assert Path("/home/me/.cache/fibsbot") == cache_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert Path("/home/me/.cache/fibsbot") == cache_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert Path("/caches/fibsbot") == cache_folder()
    monkeypatch.setenv("FIBSBOT_CACHE", "/elsewhere")
    assert Path("/elsewhere") == cache_folder()


@pytest.mark.slow
def test_two_programs_that_start_at_once_leave_one_whole_file(small: BearoffTables, cache: Path) -> None:
    code = "from fibsbot.engine.bearoff import load_tables; print(load_tables(compute=True, checkers=2).checkers)"
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(2)
    ]
    assert ["2\n", "2\n"] == [program.communicate(timeout=SOON)[0] for program in both]
    assert equal(small, read_tables(path_for(2), 2)[0])
    assert ["bearoff-2-v1.tables"] == [path.name for path in cache.iterdir()]
