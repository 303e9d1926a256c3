"""Processes that write into one store: killed at any moment, side by side, on a disk that is full."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Final, TextIO

import pytest

from fibsbot.records.store import Store
from fibsbot.records.store.maintenance import check_integrity
from tests.forked import Forked, printing, start
from tests.patience import SOON
from tests.records.store.concurrent_writer import made
from tests.records.store.full_disk_writer import DECISIONS

ACCOUNTS: Final = ("marvin", "trillian", "zaphod")
KILLS: Final = 2
FOR_EVER: Final = "1000000"


def hammer(url: str, rounds: str, *accounts: str) -> contextlib.AbstractContextManager[tuple[Forked, TextIO]]:
    """Start a process that writes."""
    return printing("tests.records.store.concurrent_writer", url, rounds, *accounts)


def problems(url: str) -> tuple[str, ...]:
    with Store.open(url) as store:
        return check_integrity(store).problems


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_at_most_the_record_in_flight(url: str) -> None:
    chance = random.Random(3)
    for _ in range(KILLS):
        with hammer(url, FOR_EVER, *ACCOUNTS) as (process, printed):
            certain = [int(printed.readline()) for _ in range(chance.randint(1, 40))]
            process.kill()
            certain += map(int, printed)
        assert () == problems(url)
        for account in ACCOUNTS:
            assert certain[-1] <= made(url, account) <= certain[-1] + 1
    with Store.open(url) as store:
        matches = list(store.matches())
        assert [(name, KILLS - 1) for name in ACCOUNTS] == [(match.account, match.resumed) for match in matches]
        for match in matches:
            turns = [decision.turn for decision in store.decisions(match)]
            assert list(range(1, len(turns) + 1)) == turns


@pytest.mark.slow
def test_concurrent_processes_lose_nothing(url: str) -> None:
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(hammer(url, "60", account)) for account in ACCOUNTS]
        for process, printed in started:
            assert 60 == len(printed.readlines())
            process.process.join(SOON)
            assert 0 == process.returncode
    assert [60, 60, 60] == [made(url, account) for account in ACCOUNTS]
    assert () == problems(url)


@pytest.mark.slow
def test_a_full_disk_only_delays_records(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite")
    done = start("tests.records.store.full_disk_writer", path).finish()
    assert 0 == done.returncode, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (False, 0, True, 0, 1) == (
        told["healthy"],
        told["lost"],
        told["healthy_again"],
        told["lost_after"],
        told["warnings"],
    )
    assert told["waiting"] > 1000
    assert DECISIONS == made(path, "marvin")
    assert () == problems(path)
