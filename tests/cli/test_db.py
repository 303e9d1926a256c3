"""`fibsbot db`: check, backup and export of a store, and their errors."""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import EXIT_CONFIG, EXIT_USAGE, main
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.schema import OLDEST_VERSION, VERSION
from tests.commands import fibsbot

pytestmark = pytest.mark.slow

NOON: Final = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with a finished match."""
    path = tmp_path / "store.sqlite"
    writer = StoreWriter(path)
    for name, fields in (
        ("match_started", {"opponent": "ford", "length": 1, "resumed": False}),
        ("game_ended", {"winner": "You", "points": 1, "how": "game_won", "cube": 1, "score": [1, 0]}),
        ("match_ended", {"opponent": "ford", "length": 1, "won": True, "score": [1, 0]}),
    ):
        writer.put("marvin", name, fields, NOON)
    assert writer.close()
    return path


def db(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["db", *map(str, arguments)])


def damage(path: Path, **columns: str | None) -> None:
    """Change columns of all matches as nobody should."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for column, value in columns.items():
            file.execute(f"UPDATE matches SET {column} = ?", [value])


# -- check ------------------------------------------------------------------------------------------------------


def test_the_check_of_a_sound_store_prints_its_contents(store: Path) -> None:
    result = db("check", "--store", store)
    assert 0 == result.exit_code
    lines = result.output.splitlines()
    assert f"{store}, schema version {VERSION}" == lines[0]
    assert ["matches", "1"] in [line.split() for line in lines]
    assert "Nothing is wrong." == lines[-1]


def test_the_path_of_a_store_need_not_be_utf_8(store: Path) -> None:
    other, copy = (store.with_name(f"{name}\udcff.db") for name in ("other", "copy"))
    store.rename(other)
    assert (0, "") == ((done := fibsbot("db", "backup", copy, "--store", other)).returncode, done.stderr)
    assert done.stdout.startswith(f"{copy}: ")
    assert "Nothing is wrong." in fibsbot("db", "check", "--store", copy).stdout


def test_each_problem_is_a_line_and_the_status_is_1(store: Path) -> None:
    damage(store, ended=None)
    result = db("check", "--store", store)
    assert 1 == result.exit_code
    assert "problem: match 1 of marvin against ford is won, but has no end" in result.output.splitlines()
    assert "Problems: 1" == result.output.splitlines()[-1]


def test_what_a_server_has_made_up_is_said_and_is_no_problem(store: Path) -> None:
    damage(store, outcome="lost")
    result = db("check", "--store", store)
    assert 0 == result.exit_code
    *_, said, last = result.output.splitlines()
    assert "as the server reported it: match 1 of marvin against ford ended 1-0, but is lost" == said
    assert "Nothing is wrong." == last


def test_a_check_can_be_read_by_programs(store: Path) -> None:
    damage(store, ended=None)
    result = db("check", "--store", store, "--json")
    told = json.loads(result.output)
    assert (1, VERSION, 1) == (result.exit_code, told["version"], told["counts"]["matches"])
    assert ["match 1 of marvin against ford is won, but has no end"] == told["problems"]
    assert [] == told["contradictions"]


def test_the_store_is_the_one_that_the_settings_name(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "fibsbot.toml"
    config.write_text(f'[service]\nstore = "{store}"\n')
    assert db("check", "--config", config).output.startswith(f"{store}, schema version")
    other = tmp_path / "other.sqlite"
    assert f"Error: there is no store {other}\n" == db("check", "--config", config, "--store", other).output


def test_without_settings_it_is_the_one_that_they_have_by_default(store: Path, tmp_path: Path) -> None:
    store.rename(tmp_path / "fibsbot.db")
    result = fibsbot("db", "check", cwd=tmp_path)
    assert (0, f"fibsbot.db, schema version {VERSION}") == (result.returncode, result.stdout.splitlines()[0])


# -- backup and export --------------------------------------------------------------------------------------------


def test_a_backup_is_made_and_nothing_replaced_unasked(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    result = db("backup", copy, "--store", store)
    assert f"{copy}: {copy.stat().st_size} bytes, checked\n" == result.output
    with Store.open(copy) as opened:
        assert ["ford"] == [match.opponent for match in opened.matches()]
    again = db("backup", copy, "--store", store)
    assert (EXIT_USAGE, f"Error: {copy} already exists; --force replaces it\n") == (again.exit_code, again.output)
    assert 0 == db("backup", copy, "--store", store, "--force").exit_code


def test_rows_go_to_standard_output_a_file_or_a_folder(store: Path, tmp_path: Path) -> None:
    result = db("export", "--store", store)
    tables = [json.loads(line)["table"] for line in result.output.splitlines()]
    assert {"accounts", "opponents", "matches", "games", "facts", "store_version", "writers"} == set(tables)
    file, folder = tmp_path / "rows.jsonl", tmp_path / "rows"
    assert 0 == db("export", "--store", store, "-o", file).exit_code
    assert result.output == file.read_text("utf-8")
    assert 0 == db("export", "--store", store, "--format", "csv", "-o", folder).exit_code
    assert "id,name\n1,marvin\n" == (folder / "accounts.csv").read_text("utf-8").replace("\r\n", "\n")
    for option in ("--format", "csv"), ("--format", "csv", "--force"):
        assert f"Error: {folder} already exists\n" == db("export", "--store", store, *option, "-o", folder).output


def test_csv_needs_a_folder(store: Path) -> None:
    result = db("export", "--store", store, "--format", "csv")
    assert EXIT_USAGE == result.exit_code
    assert "Error: expected -o OUT, the folder to make, with --format csv\n" == result.output


def test_a_closed_pipe_is_no_error(store: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        command = [sys.executable, "-m", "fibsbot", "db", "export", "--store", str(store)]
        result = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert "Traceback" not in result.stderr


# -- what is not possible -------------------------------------------------------------------------------------------


def test_a_copy_goes_into_an_empty_store_only(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "other.db"
    result = db("copy", target, "--store", store)
    assert (0, f"{target}: 6 rows\n") == (result.exit_code, result.output)
    failed = db("copy", target, "--store", store)
    assert (EXIT_USAGE, f"Error: cannot copy {store} to {target}: it is not empty\n") == (
        failed.exit_code,
        failed.output,
    )


@pytest.mark.parametrize(
    "command", [["check"], ["backup", "copy"], ["copy", "other"], ["export"]], ids=lambda it: it[0]
)
def test_a_store_that_is_not_there_is_reported_in_one_line(command: list[str], tmp_path: Path) -> None:
    result = fibsbot("db", *command, "--store", "nosuch", cwd=tmp_path)
    assert (EXIT_USAGE, "fibsbot: there is no store nosuch\n") == (result.returncode, result.stderr)
    assert [] == list(tmp_path.iterdir())


def test_a_store_of_another_version_is_refused_in_one_line_and_can_be_exported(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as file:
        file.execute("UPDATE store_version SET version = version + 1")
    result = db("check", "--store", store)
    expected = (
        f"Error: {store} has schema version {VERSION + 1}; this program reads versions {OLDEST_VERSION} to {VERSION}, "
        "and fibsbot db export writes the rows of any other as text\n"
    )
    assert (EXIT_USAGE, expected) == (result.exit_code, result.output)
    assert 0 == db("export", "--store", store, "-o", store.with_suffix(".jsonl")).exit_code
    rows = [json.loads(line) for line in store.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    assert [VERSION + 1] == [row["version"] for row in rows if row["table"] == "store_version"]


def test_a_backup_of_a_server_is_left_to_its_own_tool(tmp_path: Path) -> None:
    result = fibsbot("db", "backup", "copy", "--store", "postgresql://me@host/name", cwd=tmp_path)
    expected = (
        "fibsbot: a store on PostgreSQL is backed up with its own tool: pg_dump -Fc -f copy postgresql://me@host/name"
    )
    assert (EXIT_USAGE, f"{expected}\n") == (result.returncode, result.stderr)


def test_invalid_settings_are_reported_as_by_other_commands(tmp_path: Path) -> None:
    config = tmp_path / "fibsbot.toml"
    config.write_text("[service]\nstor = 1\n")
    result = fibsbot("db", "check", "--config", config)
    assert EXIT_CONFIG == result.returncode
    assert "service.stor: expected store, perhaps" in result.stderr
    config.write_text("[service]\nstore = false\n")
    result = fibsbot("db", "check", "--config", config)
    assert (EXIT_USAGE, f"fibsbot: {config} keeps no store\n") == (result.returncode, result.stderr)
