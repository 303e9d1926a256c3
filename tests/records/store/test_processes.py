"""Processes that write into one store: killed at any moment, side by side, on a disk that is full."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Final, TextIO

import pytest

from fibsbot.records.store import Store
from fibsbot.records.store.maintenance import check_integrity
from tests.forked import Forked, printing
from tests.records.store.concurrent_writer import made

ROOT: Final = Path(__file__).parents[3]
ACCOUNTS: Final = ("marvin", "trillian", "zaphod")
KILLS: Final = 3
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
            certain = [int(printed.readline()) for _ in range(chance.randint(1, 80))]
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
            process.process.join(60)
            assert 0 == process.returncode
    assert [60, 60, 60] == [made(url, account) for account in ACCOUNTS]
    assert () == problems(url)


FULL_DISK: Final = """
import datetime as dt, json, os, resource, sys
from fibsbot.records.store import StoreWriter
from fibsbot.records.store.database import StoreError

path, now, warnings = sys.argv[1], dt.datetime.now(dt.UTC), []
writer = StoreWriter(path, on_error=warnings.append, pauses=(0.01, 0.02))
put = lambda name, **fields: writer.put("marvin", name, fields, now)
put("match_started", opponent="ford", length=5, resumed=False)
assert writer.flush()
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, most))
for turn in range(5000):
    put("decision", phase="move", turn=turn, xgid="x" * 60, dice=(3, 1), answer="8/5 6/5")
assert not writer.flush(1.0)
full = {"healthy": writer.healthy, "waiting": writer.waiting, "lost": writer.lost, "trouble": writer.error}
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
assert writer.flush(20.0)
full |= {"healthy_again": writer.healthy, "lost_after": writer.lost, "warnings": len(warnings)}
assert writer.close()
print(json.dumps(full))
"""


@pytest.mark.slow
def test_a_full_disk_only_delays_records(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite")
    command = [sys.executable, "-c", FULL_DISK, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
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
    assert 5000 == made(path, "marvin")
    assert () == problems(path)
