"""What is asked for is found, and nothing else; a place without a store is told in a line."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fibsbot.records.store import Store, StoreError
from fibsbot.records.stored_rows import Fact, MatchOutcome
from tests.records.store.conftest import EITHER, new_store
from tests.records.store.recorder import NOON, Teller


def fill(url: str) -> None:
    """Tell of two accounts with a match a day."""
    for account in ("marvin", "trillian"):
        with Teller(url, account) as bot:
            bot.log_in(1500.0, 10)
            for day, opponent in enumerate(("ford", "arthur", "ford")):
                bot.now = NOON + dt.timedelta(days=day)
                bot.start(opponent, 1)
                bot.decide(day)
                bot.win_game(1, (1, 0))
                bot.end(opponent, 1, score=(1, 0))
                bot.rate(1501.0 + day, 11 + day)
            bot.start("zaphod", 1)
            bot.save("zaphod", 1)


@pytest.fixture(scope="module", params=EITHER)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Have a store that is only read."""
    url = new_store(request, tmp_path_factory.mktemp("filled"))
    fill(url)
    return url


@pytest.fixture
def store(filled: str) -> Iterator[Store]:
    """Open it."""
    with Store.open(filled) as opened:
        yield opened


@pytest.fixture
def changing(url: str) -> Iterator[Store]:
    """Have a store that a test writes to."""
    fill(url)
    with Store.open(url) as opened:
        yield opened


def test_matches_are_selected_by_account_opponent_time_and_outcome(store: Store) -> None:
    day = dt.timedelta(days=1)
    assert ["marvin", "trillian"] == store.accounts()
    assert 8 == len(list(store.matches()))
    assert 4 == len(list(store.matches(account="marvin")))
    assert 2 == len(list(store.matches(account="marvin", opponent="ford")))
    assert 1 == len(list(store.matches(account="marvin", opponent="ford", since=NOON + day)))
    assert 2 == len(list(store.matches(outcome=MatchOutcome.SAVED)))
    assert [] == list(store.matches(account="Marvin"))
    times = [match.started for match in store.matches()]
    assert sorted(times) == times


def test_a_match_is_found_by_its_id(store: Store) -> None:
    for match in store.matches():
        assert match == store.match(match.id)
    assert store.match(999) is None


def test_games_and_decisions_are_those_of_the_match(store: Store) -> None:
    for match in store.matches(account="trillian", opponent="arthur"):
        (game,) = store.games(match)
        assert match.id == game.match_id
        assert [1] == [decision.turn for decision in store.decisions(game)]
        assert list(store.decisions(match)) == list(store.decisions(game))


def test_ratings_are_returned_in_order(store: Store) -> None:
    assert [1500.0, 1501.0, 1502.0, 1503.0] == [point.rating for point in store.ratings("marvin")]
    assert [1503.0] == [point.rating for point in store.ratings("marvin", since=NOON + dt.timedelta(days=2))]


def test_connections_are_selected_by_time(store: Store) -> None:
    assert 1 == len(list(store.connections("marvin")))
    assert [] == list(store.connections("marvin", since=NOON + dt.timedelta(days=1)))


def test_opponents_are_selected_by_account_and_name(store: Store) -> None:
    names = [(opponent.account, opponent.name) for opponent in store.opponents()]
    assert 6 == len(names)
    assert sorted(names) == names
    (ford,) = store.opponents(account="marvin", name="ford")
    assert (2, 0) == (ford.times(Fact.FINISHED), ford.times(Fact.DROPPED))


def test_a_reader_sees_a_snapshot_while_a_bot_writes(changing: Store, url: str) -> None:
    matches = changing.matches(account="marvin")
    first = next(matches)
    with Teller(url) as bot:
        bot.now = NOON + dt.timedelta(days=9)
        bot.start("slartibartfast", 1)
    assert 3 == len(list(matches))
    assert first == next(changing.matches(account="marvin"))
    assert 5 == len(list(changing.matches(account="marvin")))


def test_an_iterator_that_is_not_exhausted_does_no_harm(changing: Store, url: str) -> None:
    half = changing.decisions(next(changing.matches()))
    next(half)
    changing.close()
    del half
    with Teller(url) as bot:
        bot.start("slartibartfast", 1)


def test_a_missing_store_is_an_error_and_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path / "store.sqlite")
    assert f"there is no store {tmp_path / 'store.sqlite'}" == str(caught.value)
    assert [] == list(tmp_path.iterdir())


def test_an_empty_database_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.touch()
    with pytest.raises(StoreError, match="is empty: no bot has written into it yet"):
        Store.open(path)


def test_a_store_on_a_read_only_file_system_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.sqlite"
    fill(str(path))
    (tmp_path / "store.sqlite-shm").symlink_to("no/such/folder")  # SQLite cannot make its file there
    with pytest.raises(StoreError, match=r"unable to open database file; expected a file that this user can read"):
        Store.open(path)
    real = os.statvfs
    monkeypatch.setattr("os.statvfs", lambda of: read_only(real(of)))
    with Store.open(path) as store:
        assert {"marvin", "trillian"} == set(store.accounts())


def test_what_is_only_in_the_log_of_a_linked_store_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, link = tmp_path / "store.sqlite", tmp_path / "link.sqlite"
    link.symlink_to(path)
    with contextlib.closing(sqlite3.connect(path)) as bot:
        bot.execute("PRAGMA journal_mode = WAL")
        bot.execute("SELECT * FROM sqlite_master")  # SQLite empties the log when the last one who uses it is done
        fill(str(path))
        assert path.with_name("store.sqlite-wal").stat().st_size
        real = os.statvfs
        monkeypatch.setattr("os.statvfs", lambda of: read_only(real(of)))
        with Store.open(link) as store:
            assert {"marvin", "trillian"} == set(store.accounts())


def read_only(file_system: os.statvfs_result) -> os.statvfs_result:
    return os.statvfs_result([*file_system[:8], os.ST_RDONLY, *file_system[9:]])


def test_the_error_for_an_unreachable_server_shows_no_password() -> None:
    with pytest.raises(StoreError, match="cannot read the store postgresql") as caught:
        Store.open("postgresql://marvin:verysecret@127.0.0.1:1/store")
    assert "verysecret" not in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())
