"""Copies show one moment of the store, are whole or not there, and hold everything."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from fibsbot.records.store import AccountLeases, Store, StoreError, maintenance
from fibsbot.records.store.maintenance import backup_store, check_integrity, copy_rows, export_store, write_jsonl
from fibsbot.records.store.schema import METADATA
from tests.records.store.concurrent_writer import made
from tests.records.store.recorder import Teller, add_action, add_card

OF_PROCESSES = {"store_version", "writers", "sharing_processes", "account_leases"}
"""Tables that depend on the process that wrote into the store."""


def fill(url: str, decisions: int = 3, account: str = "marvin") -> None:
    """Have a finished match and one that is on."""
    with Teller(url, account) as bot:
        bot.log_in(1500.0, 10)
        bot.tell("match_started", opponent="ford", length=1, resumed=False, client='don\'t "panic"; =1+1, \N{SNOWMAN}')
        bot.win_game(1, (1, 0))
        bot.end(length=1, score=(1, 0))
        bot.tell("server_feature", server="127.0.0.1:4321", feature="rawwho", lacking=True)
        bot.start("arthur", 7)
        bot.sheet("s1", "arthur", length=7)
        bot.enter("throw", 1, dice=(3, 1), play="8/5 6/5")
        for turn in range(decisions):
            bot.decide(turn)
    add_action(url)
    add_card(url, account)
    AccountLeases(url).renew([account], {}, [account])


def listed(url: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    with Store.open(url) as store:
        write_jsonl(store, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


# -- backup -----------------------------------------------------------------------------------------------------


def test_a_backup_is_complete_and_usable_as_a_store(tmp_path: Path) -> None:
    path, copy = str(tmp_path / "store.sqlite"), tmp_path / "copy.sqlite"
    fill(path)
    backup_store(path, copy)
    assert listed(path) == listed(str(copy))
    with Teller(str(copy)) as bot:
        bot.log_in()
        bot.resume("arthur", 7)
    with Store.open(copy) as store:
        assert () == check_integrity(store).problems


def test_a_backup_is_one_file(tmp_path: Path) -> None:
    fill(str(tmp_path / "store.sqlite"))
    (tmp_path / "backups").mkdir()
    backup_store(tmp_path / "store.sqlite", tmp_path / "backups" / "copy.sqlite")
    assert ["copy.sqlite"] == [path.name for path in (tmp_path / "backups").iterdir()]


@pytest.mark.slow
def test_a_backup_made_while_a_bot_writes_is_a_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, copy = str(tmp_path / "store.sqlite"), tmp_path / "copy.sqlite"
    fill(path, 1500)
    monkeypatch.setattr(maintenance, "PAGES", 3)
    steps: list[int] = []
    with Teller(path, "trillian") as bot:
        bot.start("zaphod", 5)
        assert bot.writer.flush()

        def write_meanwhile(done: int, _of: int) -> None:
            bot.decide(len(steps))
            assert bot.writer.flush()
            steps.append(done)

        backup_store(path, copy, write_meanwhile)
    assert len(steps) > 20
    assert sorted(steps) == steps
    assert 0 == made(str(copy), "trillian")
    assert 1500 == made(str(copy), "marvin")
    assert len(steps) == made(path, "trillian")


def leave_a_wal(path: Path) -> None:
    """Change a database as a process does that is killed before its changes are in the file."""
    script = (
        "import os, sqlite3, sys\n"
        "opened = sqlite3.connect(sys.argv[1])\n"
        "opened.execute('PRAGMA journal_mode = WAL')\n"
        "opened.execute('PRAGMA wal_autocheckpoint = 0')\n"
        "opened.execute(\"UPDATE accounts SET name = 'old'\")\n"
        "opened.commit()\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True)


def test_nothing_of_a_replaced_store_comes_back(tmp_path: Path) -> None:
    path, copy = tmp_path / "store.sqlite", tmp_path / "copy.sqlite"
    fill(str(path))
    shutil.copy(path, copy)
    leave_a_wal(copy)
    assert copy.with_name("copy.sqlite-wal").stat().st_size
    backup_store(path, copy)
    assert listed(str(path)) == listed(str(copy))
    assert [] == [it.name for it in tmp_path.glob("copy.sqlite-*")]


def test_what_another_database_left_is_not_taken_over(tmp_path: Path) -> None:
    path, copy = tmp_path / "store.sqlite", tmp_path / "copy.sqlite"
    fill(str(path))
    shutil.copy(path, copy)
    leave_a_wal(copy)
    copy.unlink()
    with pytest.raises(StoreError, match=r"copy.sqlite-wal would be written into the copy"):
        backup_store(path, copy)
    assert not copy.exists()


def test_a_store_that_is_in_use_is_not_replaced(tmp_path: Path) -> None:
    path, copy = str(tmp_path / "store.sqlite"), tmp_path / "copy.sqlite"
    fill(path)
    fill(str(copy), account="ford")
    with Teller(str(copy), "ford") as bot:
        bot.log_in(1500.0, 10)
        assert bot.writer.flush()
        with pytest.raises(StoreError, match=r"cannot replace \S*copy.sqlite, .*locked"):
            backup_store(path, copy)
    assert ["ford"] == [it["name"] for it in listed(str(copy)) if it["table"] == "accounts"]


def test_a_failed_backup_leaves_the_target_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, copy = tmp_path / "store.sqlite", tmp_path / "copy.sqlite"
    fill(str(path), 500)
    copy.write_text("the old one")
    monkeypatch.setattr(maintenance, "PAGES", 5)

    def fail(done: int, _of: int) -> None:
        if done > 20:
            raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match=r"cannot back up .* No space left on device"):
        backup_store(path, copy, fail)
    assert "the old one" == copy.read_text()
    assert {"copy.sqlite", "store.sqlite"} == {it.name for it in tmp_path.iterdir()}


def test_a_backup_that_cannot_be_made_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        backup_store(tmp_path / "nothing", tmp_path / "copy")
    fill(str(tmp_path / "store.sqlite"))
    with pytest.raises(StoreError, match=r"cannot back up"):
        backup_store(tmp_path / "store.sqlite", tmp_path / "nowhere" / "copy")
    (tmp_path / "letter").write_text("Dear Ford, " * 1000)
    with pytest.raises(StoreError, match="file is not a database"):
        backup_store(tmp_path / "letter", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_backup_of_postgresql_is_refused_with_its_own_tool_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"pg_dump -Fc -f .*copy postgresql://me@host/name$") as caught:
        backup_store("postgresql://me:verysecret@host/name?password=verysecret", tmp_path / "copy")
    assert "verysecret" not in str(caught.value)


# -- export -----------------------------------------------------------------------------------------------------


def test_an_export_has_every_row_in_a_stable_order(url: str) -> None:
    fill(url)
    rows = listed(url)
    assert rows == listed(url)
    tables = [row["table"] for row in rows]
    order = [table.name for table in METADATA.sorted_tables]
    assert sorted(tables, key=order.index) == tables
    assert set(order) == set(tables)
    with Store.open(url) as store:
        assert check_integrity(store).counts == {name: tables.count(name) for name in order}
    assert {"table": "accounts", "id": 1, "name": "marvin"} == rows[0]


def test_both_databases_export_the_same(url: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other.sqlite")
    fill(url)
    fill(other)

    def stories(where: str) -> list[dict[str, Any]]:
        return [row for row in listed(where) if row["table"] not in {*OF_PROCESSES}]

    assert stories(other) == stories(url)


def test_jsonl_and_csv_have_the_same_rows(url: str, tmp_path: Path) -> None:
    fill(url)
    with Store.open(url) as store:
        export_store(store, tmp_path / "store.jsonl", as_csv=False)
        export_store(store, tmp_path / "store", as_csv=True)
    rows = [json.loads(line) for line in (tmp_path / "store.jsonl").read_text("utf-8").splitlines()]
    assert listed(url) == rows
    read = []
    for table in METADATA.sorted_tables:
        with (tmp_path / "store" / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
            read += [{"table": table.name, **row} for row in csv.DictReader(file)]
    assert [{name: "" if it is None else str(it) for name, it in row.items()} for row in rows] == read


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite")
    fill(path, 1200)

    def fail(_done: int, _of: int) -> None:
        raise OSError(28, "No space left on device")

    with Store.open(path) as store:
        for as_csv in (False, True):
            with pytest.raises(StoreError, match=r"cannot write .* No space left on device"):
                export_store(store, tmp_path / "out", as_csv=as_csv, progress=fail)
    assert ["store.sqlite"] == [it.name for it in tmp_path.iterdir() if "store.sqlite-" not in it.name]


def test_an_export_made_while_bots_write_is_a_snapshot(url: str) -> None:
    fill(url, 1200)
    out = io.StringIO()
    writing = threading.Event()
    with Teller(url, "trillian") as bot:

        def write_meanwhile(_done: int, _of: int) -> None:
            bot.start("zaphod", 5)
            assert bot.writer.flush()
            writing.set()

        with Store.open(url) as store:
            write_jsonl(store, out, write_meanwhile)
    assert writing.is_set()
    assert "trillian" not in out.getvalue()


# -- copy -------------------------------------------------------------------------------------------------------


def recorded(url: str) -> list[dict[str, Any]]:
    return [row for row in listed(url) if row["table"] not in OF_PROCESSES]


@pytest.mark.slow
@pytest.mark.parametrize("back", [False, True])
def test_a_copy_has_all_rows_and_bots_go_on_in_it(new_url: str, tmp_path: Path, *, back: bool) -> None:
    source, target = (new_url, str(tmp_path / "b")) if back else (str(tmp_path / "a"), new_url)
    fill(source)
    seen: list[tuple[int, int]] = []
    with Store.open(source) as store:
        rows = copy_rows(store, target, lambda *steps: seen.append(steps))
    assert recorded(source) == recorded(target)
    assert (rows, rows) == (len(recorded(source)), seen[-1][0]) == seen[-1]
    for url in (source, target):
        with Teller(url, "zaphod") as bot:
            bot.log_in(1500.0, 10)
            bot.start("marvin", 7)
    numbers = [[(row["table"], row.get("id")) for row in recorded(url)] for url in (source, target)]
    assert numbers[0] == numbers[1]
    assert rows < len(numbers[0])
    with Store.open(target) as copy:
        assert () == check_integrity(copy).problems


def test_only_an_empty_store_is_copied_to(new_url: str, tmp_path: Path) -> None:
    source = str(tmp_path / "a")
    fill(source)
    with Store.open(source) as store:
        copy_rows(store, new_url)
        before = listed(new_url)
        for target in (new_url, source):
            with pytest.raises(StoreError, match=r"cannot copy .* to .*: it is not empty$"):
                copy_rows(store, target)
        with pytest.raises(StoreError, match=r"nowhere/b: unable to open database file$"):
            copy_rows(store, tmp_path / "nowhere" / "b")
    assert before == listed(new_url)
