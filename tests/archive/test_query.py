"""Questions in SQL: answered as a table, JSON or CSV; nothing but the archive can be read."""

from __future__ import annotations

import csv
import errno
import json
import sys
from pathlib import Path
from typing import NoReturn
from unittest import mock

import pytest

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from fibsbot.archive import open_archive
from fibsbot.archive.reader import QueryError
from fibsbot.archive.schema import TABLES, VERSIONS
from fibsbot.cli.archive_output import print_table
from tests.archive.matches import add, write_matches
from tests.commands import fibsbot

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "archive.md").read_text("utf-8")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    add(folder / "archive", *write_matches(folder / "mat", 2, length=1))
    return folder / "archive"


def test_the_page_has_every_column() -> None:
    for table in TABLES.values():
        part = PAGE.partition(f"\n### {table.name}\n")[2].partition("\n### ")[0]
        lines = [f"| `{it.name}` | {it.type} | {it.meaning} |" for it in table.columns]
        assert lines == [line for line in part.splitlines() if line.startswith("| `")]


def test_the_page_has_every_version() -> None:
    part = PAGE.partition("| version | |\n")[2].partition("\n\n")[0]
    assert [f"| {number} | {added} |" for number, added in VERSIONS.items()] == part.splitlines()[1:]
    since = {it.since for table in TABLES.values() for it in table.columns}
    assert set(VERSIONS) == since


def test_a_new_archive_has_all_tables_and_columns(archive: Path) -> None:
    with open_archive(archive) as found:
        for table in TABLES.values():
            columns = found.query(f"SELECT * FROM {table.name}").columns
            assert table.column_names == [name for name in columns if name != "year"]


def test_answers_are_tables_json_and_csv(archive: Path) -> None:
    sql = "SELECT player AS who, count(*) AS n, NULL AS nothing FROM players GROUP BY 1 ORDER BY 1"
    plain = fibsbot("archive", "query", sql, "--archive", archive)
    assert [["who", "n", "nothing"], ["alice", "2"], ["bob", "2"]] == [
        line.split() for line in plain.stdout.splitlines()
    ]
    rows = fibsbot("archive", "query", sql, "--archive", archive, "--json").stdout.splitlines()
    assert {"who": "alice", "n": 2, "nothing": None} == json.loads(rows[0])
    table = fibsbot("archive", "query", sql, "--archive", archive, "--csv").stdout.splitlines()
    assert [["who", "n", "nothing"], ["alice", "2", ""], ["bob", "2", ""]] == list(csv.reader(table))


def test_values_that_json_lacks_are_written_as_others(archive: Path) -> None:
    sql = "SELECT 'nan'::DOUBLE AS a, 1e400::DOUBLE AS b, 1.5::DECIMAL(5, 2) AS c, 'x'::BLOB AS d, [0.5] AS e"
    told = fibsbot("archive", "query", sql, "--archive", archive, "--json").stdout
    assert {"a": None, "b": None, "c": 1.5, "d": "78", "e": [0.5]} == json.loads(told, parse_constant=pytest.fail)


def test_json_needs_a_name_for_each_column(archive: Path) -> None:
    told = fibsbot("archive", "query", "SELECT 1 AS a, 2 AS a", "--archive", archive, "--json")
    assert (2, "") == (told.returncode, told.stdout)
    assert "expected a different name for each column with --json, got a twice" in told.stderr


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO 'OUT.csv'",
        "ATTACH 'OUT.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "DROP VIEW matches",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM matches",
        "nonsense",
        "",
        "SELECT * FROM archive",
    ],
)
def test_nothing_else_is_read_written_or_changed(archive: Path, sql: str, tmp_path: Path) -> None:
    for place in (archive, tmp_path):
        with open_archive(archive) as found, pytest.raises(QueryError) as refused:
            found.query(sql.replace("OUT", f"{place}/out")).fetchall()
        assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    assert 2 == fibsbot("archive", "query", sql, "--archive", archive).returncode


def test_an_unknown_table_is_answered_by_the_views(archive: Path) -> None:
    done = fibsbot("archive", "query", "select * from nothing", "--archive", archive)
    assert 2 == done.returncode
    assert f"fibsbot: expected one of the views {', '.join(TABLES)}, got 'nothing'\n" == done.stderr


def test_an_archive_that_may_only_be_read_can_be_asked(archive: Path) -> None:
    (archive / ".readers").unlink(missing_ok=True)
    archive.chmod(0o500)
    try:
        with open_archive(archive) as found:
            assert [(2,)] == found.query("SELECT count(*) FROM matches").fetchall()
    finally:
        archive.chmod(0o700)


def test_an_archive_on_a_read_only_file_system_can_be_asked_and_refuses_matches(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, _: int) -> NoReturn:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr("fibsbot.archive.dataset._locked", refuse)
    done = fibsbot("archive", "query", "SELECT count(*) AS n FROM matches", "--archive", archive, "--csv")
    assert (0, "n\n2\n", "") == (done.returncode, done.stdout, done.stderr)
    for words in (("add", *write_matches(tmp_path, 1)), ("study",)):
        done = fibsbot("archive", *words, "--archive", archive)
        assert (2, "") == (done.returncode, done.stdout)
        assert f"fibsbot: cannot write to the archive {archive}: Read-only file system\n" == done.stderr


def test_without_room_for_temporary_files_there_is_one_clear_line(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    done = fibsbot("archive", "query", "SELECT 1", "--archive", archive)
    assert (2, "fibsbot: cannot make a temporary folder: No space left on device\n") == (done.returncode, done.stderr)


def test_without_the_extra_there_is_one_clear_line(archive: Path, tmp_path: Path) -> None:
    with mock.patch.dict(sys.modules, {"duckdb": None}):
        for words in (("query", "SELECT 1", "--archive", archive), ("add", tmp_path, "--archive", tmp_path / "new")):
            done = fibsbot("archive", *words)
            assert 78 == done.returncode
            assert "pip install 'fibsbot[archive]'" in done.stderr
            assert 1 == len(done.stderr.splitlines())


def test_where_there_is_no_archive_there_is_one_clear_line(tmp_path: Path) -> None:
    done = fibsbot("archive", "query", "SELECT 1", "--archive", tmp_path)
    assert 2 == done.returncode
    assert "expected an archive, found none" in done.stderr


def test_a_table_of_rows_prints_the_problems_of_files(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.mat").write_text("nothing")
    done = fibsbot("archive", "add", tmp_path / "bad.mat", "--archive", archive, "--jobs", "1")
    assert 0 == done.returncode
    assert "bad.mat: " in done.stderr
    assert "0 matches added" in done.stdout


def test_a_table_in_a_file_has_one_line_per_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    print_table(["short", "long"], [("a", "b" * 300)])
    assert ["short", "a"] == [line.split()[0] for line in capsys.readouterr().out.splitlines()]


def test_positions_stay_in_one_piece_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_table(["player", "position"], [("a player with a long name " * 3, "4HPwATDgc/ABMA")])
    assert "4HPwATDgc/ABMA" in capsys.readouterr().out
