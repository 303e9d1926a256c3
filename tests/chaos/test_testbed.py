"""Supervised processes and timed recoveries."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from bench.chaos.proxy import wait_until
from bench.chaos.schedule import Fault, FaultKind, Incident, IncidentLog
from bench.chaos.testbed import FibsbotProcess, is_trouble
from tests.patience import SOON


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ('{"event": "decision", "level": "info"}', False),
        ('{"event": "account crashed", "level": "error"}', True),
        ('{"event": "odd", "level": "info", "exception": "Traceback ..."}', True),
        ("2026-11-21T17:13:18.567645Z [info     ] listening      host=127.0.0.1", False),
        ("2026-11-21T17:13:18.567645Z [error    ] connection failed", True),
        ("marvin: 12 matches played, 7 won; logged out", False),
        ("Traceback (most recent call last):", True),
        ('  File "agent.py", line 1, in handle', True),
        ("[1, 2]", True),
        ("", False),
    ],
)
def test_errors_in_a_log_are_recognised(line: str, *, trouble: bool) -> None:
    assert trouble == is_trouble(line.encode() + b"\n")


async def test_a_process_that_ends_by_itself_is_noticed(tmp_path: Path) -> None:
    child = FibsbotProcess("odd", ("no-such-command",), log=tmp_path / "log")
    await child.start()
    async with asyncio.timeout(SOON):
        await wait_until(lambda: bool(child.exits), SOON)
    assert ["odd ended by itself with status 2"] == child.exits
    assert ["odd: fibsbot: No such command 'no-such-command'."] == child.troubles
    assert child.troubles[0].removeprefix("odd: ") in (tmp_path / "log").read_text()
    assert child.memory is None


async def test_a_process_that_is_ended_on_purpose_can_be_started_again(tmp_path: Path) -> None:
    child = FibsbotProcess("server", ("serve", "--port", "0"), log=tmp_path / "log")
    for number in (signal.SIGKILL, signal.SIGTERM):
        await child.start()
        await child.start()
        assert child.running
        assert child.memory
        assert await child.end(number) in {-number, 0}
        assert not child.running
    assert (2, []) == (child.starts, child.exits)


def incident(recoveries: IncidentLog, *accounts: str) -> Incident:
    """Return a fault that has affected these accounts and is over."""
    found = recoveries.expect(Fault(0, 0.0, FaultKind.CUT, 0, to_server=False, seconds=0.0, position=0, choice=0))
    recoveries.struck(found)
    recoveries.progressed(accounts[0])
    recoveries.ended(found, accounts)
    return found


def test_a_recovery_is_over_when_all_accounts_have_made_progress_since_the_fault() -> None:
    recoveries = IncidentLog()
    found = incident(recoveries, "marvin", "ford")
    recoveries.progressed("zaphod")
    recoveries.progressed("ford")
    times = [found.seconds]
    for _ in range(2):
        recoveries.progressed("marvin")
        times.append(found.seconds)
    first, second, third = times
    assert first is None
    assert second is not None
    assert second >= 0
    assert second == third, "what comes later changes nothing"
