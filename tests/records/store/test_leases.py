"""Leases: no account is played by two living processes, and none is left alone for long."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pytest
from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from fibsbot.records.store import AccountLeases, LeaseView, StoreError
from fibsbot.records.store.database import database_url, open_engine
from fibsbot.records.store.schema import SHARING_PROCESSES
from tests.examples import examples

ACCOUNTS = tuple(f"bot{number}" for number in range(7))
DOING = ("LOBBY", "waiting for an opponent")
LONG_AGO = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@define
class Sharer:
    """A process that shares the accounts: it plays what it holds, and ends what is taken from it."""

    leases: AccountLeases
    playing: set[str] = field(factory=set)

    def renew(self, *, take: bool = True) -> LeaseView:
        """Renew, and start and end accounts as told."""
        view = self.leases.renew(ACCOUNTS, dict.fromkeys(self.playing, DOING), ACCOUNTS if take else ())
        self.playing = set(view.held)
        self.playing.difference_update(sorted(self.playing)[: view.surplus])
        return view


def expire_all(url: str) -> None:
    """Let time pass, so that all leases expire."""
    with open_engine(database_url(url), writing=True).begin() as connection:
        connection.execute(update(SHARING_PROCESSES).values(until=LONG_AGO))


def test_the_first_process_takes_everything_and_the_second_gets_its_share(url: str) -> None:
    first, second = Sharer(AccountLeases(url)), Sharer(AccountLeases(url))
    assert set(ACCOUNTS) == first.renew().held
    view = second.renew()
    assert not view.held
    assert set(ACCOUNTS) == view.elsewhere.keys()
    assert 3 == first.renew().surplus
    first.renew()
    assert 3 == len(second.renew().held)
    assert 4 == len(first.playing)


def test_another_process_sees_what_is_done_with_an_account(url: str) -> None:
    first, second = Sharer(AccountLeases(url)), Sharer(AccountLeases(url))
    first.renew()
    first.renew()
    seen = second.renew().elsewhere["bot3"]
    assert DOING == (seen.state, seen.sentence)


def test_expired_leases_are_taken_and_their_holder_is_told(url: str) -> None:
    first, second = Sharer(AccountLeases(url)), Sharer(AccountLeases(url))
    first.renew()
    expire_all(url)
    assert set(ACCOUNTS) == second.renew().held
    view = first.renew(take=False)
    assert not view.held
    assert set(ACCOUNTS) == view.elsewhere.keys()


def test_a_process_whose_leases_expired_keeps_what_nobody_has_taken(url: str) -> None:
    first = Sharer(AccountLeases(url))
    first.renew()
    expire_all(url)
    assert set(ACCOUNTS) == first.renew(take=False).held


def test_what_is_given_up_is_free_at_once(url: str) -> None:
    first, second = Sharer(AccountLeases(url)), Sharer(AccountLeases(url))
    first.renew()
    first.leases.give_up()
    assert set(ACCOUNTS) == second.renew().held


@pytest.fixture(scope="module")
def sqlite_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Say where a store for many examples may be made."""
    return str(tmp_path_factory.mktemp("leases") / "store.sqlite")


@pytest.mark.slow
@examples(5)
@given(steps=st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=8))
def test_no_account_is_played_twice_and_all_are_shared_evenly_in_the_end(
    sqlite_url: str, steps: Sequence[tuple[int, bool]]
) -> None:
    sharers = [Sharer(AccountLeases(sqlite_url)) for _ in range(3)]
    sharers[0].renew(take=False)
    expire_all(sqlite_url)
    for number, die in steps:
        if die:
            expire_all(sqlite_url)
            sharers[number] = Sharer(AccountLeases(sqlite_url))
            for other in sharers:
                other.renew(take=False)
        else:
            sharers[number].renew()
        playing = [name for sharer in sharers for name in sharer.playing]
        assert len(playing) == len(set(playing))
    for _ in range(5):
        for sharer in sharers:
            sharer.renew()
    assert len(ACCOUNTS) == sum(len(sharer.playing) for sharer in sharers)
    assert 3 == max(len(sharer.playing) for sharer in sharers)


def test_a_store_that_cannot_be_reached_is_one_error() -> None:
    with pytest.raises(StoreError, match="refused"):
        AccountLeases("postgresql://fibsbot@127.0.0.1:1/none").renew(ACCOUNTS, {})
