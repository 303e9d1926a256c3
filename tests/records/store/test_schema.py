"""Tables are created once, also by several processes; a store of another version is left alone."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import Engine, update

from fibsbot.records.store import Store, StoreError, StoreWriter
from fibsbot.records.store.database import database_url, open_engine
from fibsbot.records.store.maintenance import export_rows
from fibsbot.records.store.schema import OLDEST_VERSION, STORE_VERSION, VERSION, prepare
from tests.records.store.recorder import Teller


def engine_for(url: str) -> Engine:
    return open_engine(database_url(url), writing=True)


def with_version(url: str, version: int) -> None:
    """Say of a new store that it has another version."""
    StoreWriter(url).close()
    with engine_for(url).begin() as connection:
        connection.execute(update(STORE_VERSION).values(version=version))


@pytest.mark.parametrize("version", [OLDEST_VERSION - 1, VERSION + 1])
def test_a_store_of_an_unknown_version_is_refused_in_one_line_and_unchanged(new_url: str, version: int) -> None:
    with_version(new_url, version)
    text = f" has schema version {version}; this program reads versions {OLDEST_VERSION} to {VERSION}, "
    text += "and fibsbot db export writes the rows of any other as text"
    for use in (StoreWriter, Store.open):
        with pytest.raises(StoreError) as caught:
            use(new_url)
        assert str(caught.value).endswith(text)
        assert 1 == len(str(caught.value).splitlines())
    with engine_for(new_url).connect() as connection:
        assert [version] == list(connection.scalars(STORE_VERSION.select()))


@pytest.mark.parametrize("version", [1, VERSION + 1])
def test_the_rows_of_a_store_of_any_version_are_exported(new_url: str, version: int) -> None:
    with Teller(new_url) as bot:
        bot.log_in(1500.0, 0)
    with Store.open(new_url) as store:
        rows = [(table.name, row) for table, row in export_rows(store)]
    with engine_for(new_url).begin() as connection:
        connection.execute(update(STORE_VERSION).values(version=version))
        connection.exec_driver_sql("ALTER TABLE accounts ADD COLUMN of_another_time TEXT DEFAULT 'x'")
    with Store.open(new_url, any_version=True) as store:
        found = [(table.name, dict(row)) for table, row in export_rows(store)]
    assert {name for name, _ in rows} == {name for name, _ in found}
    assert len(rows) == len(found)
    assert [{**dict(row), "of_another_time": "x"} for name, row in rows if name == "accounts"] == [
        row for name, row in found if name == "accounts"
    ]


def test_a_store_of_an_earlier_version_is_read_and_not_written(new_url: str) -> None:
    with_version(new_url, OLDEST_VERSION)
    with Store.open(new_url) as store:
        assert OLDEST_VERSION == store.version
    with pytest.raises(StoreError, match=f"is only read; fibsbot db copy makes a store of version {VERSION}"):
        StoreWriter(new_url)


def test_concurrent_processes_create_one_store(new_url: str) -> None:
    ready = threading.Barrier(4)
    failures: list[BaseException] = []

    def begin() -> None:
        ready.wait()
        try:
            with engine_for(new_url).connect() as connection:
                prepare(connection)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failures
    with Store.open(new_url) as store:
        assert VERSION == store.version
