"""A process that notifies its operator while it plays: nothing is lost, and no decision waits for a receiver."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fibsbot.bot.events_and_actions import End
from fibsbot.client.settings import BackoffSettings
from fibsbot.notify import notifier
from fibsbot.notify.settings import Hook, NotifyEvent
from fibsbot.server.server import Server
from fibsbot.service import service as process
from fibsbot.service.service import Service
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP
from tests.notify.notices import hook
from tests.notify.receiver import receiving
from tests.patience import SOON
from tests.service.accounts import in_background, opponent, plan, process_settings, until

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the accounts often, and try again at once."""
    monkeypatch.setattr(process, "CHECK_INTERVAL", 0.02)
    monkeypatch.setattr(notifier, "PAUSES", BackoffSettings(first=0.01, longest=0.02))
    monkeypatch.setattr(notifier, "DRAIN", 1.0)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as server:
        yield server


def service(folder: Path, *hooks: Hook, port: int, **fields: Any) -> Service:
    """Return the process of one bot that invites somebody to matches, and that notifies by these hooks."""
    settings = process_settings(store=str(folder / "store.db"), state=folder / "state")
    bot = plan(port, "marvin", **{"invite": "ford", **fields})
    return Service([bot], settings, lambda _: LastResort(), notify=hooks, environment={})


async def test_an_evening_with_a_receiver_that_fails_half_of_the_time_loses_nothing(
    server: Server, tmp_path: Path
) -> None:
    answers = ("busy", "good", "closes", "good", "garbage", "good")
    command = ("/bin/sh", "-c", 'test -e "$0" && cat >> "$1" || { touch "$0"; exit 1; }')
    out = tmp_path / "out"
    async with receiving(lambda number: answers[number % len(answers)]) as receiver, opponent(server.port, "ford"):
        hooks = (
            hook(receiver.url, name="web", summary_at="00:00"),
            hook(name="command", command=(*command, str(tmp_path / "failed"), str(out))),
            hook(name="hanging", command=(sys.executable, "-c", "import time; time.sleep(1000)"), timeout=1000),
        )
        it = service(tmp_path, *hooks, port=server.port, matches=3)
        async with asyncio.timeout(SOON):
            accounts = await it.run()
        waiting = 3 - len(receiver.notices())
        async with in_background(service(tmp_path, hooks[0], port=server.port, invite=None).run()):
            await until(lambda: len(receiver.notices()) == 3)  # what was left over is delivered by the next process
    totals = accounts["marvin"].totals()
    assert (3, 0) == (totals.matches, totals.interruptions)
    events = [found["event"] for found in receiver.notices()]
    assert totals.wins == events.count("match_won")
    assert 3 == len({found["id"] for found in receiver.notices()})
    assert 0 <= waiting <= 3
    assert 1 <= len(out.read_text().splitlines()) <= 3, "the same by the command, whose first attempt fails"


async def test_no_decision_waits_for_a_notice(server: Server, tmp_path: Path) -> None:
    """The receiver answers nothing before all matches are over: whoever waited for it would never get there."""
    async with receiving(closed=True) as receiver, opponent(server.port, "ford"):
        it = service(tmp_path, hook(receiver.url, timeout=1000), port=server.port)
        async with in_background(it.run()):
            marvin = (await ready(it)).accounts["marvin"]
            await until(lambda: marvin.totals().matches >= 3)
            assert [] == receiver.heads[1:], "it waits for the answer to the first"
            receiver.gate.set()
            await until(lambda: len(receiver.notices()) >= 3)


async def ready(it: Service) -> Any:
    """Return the supervisor of a process whose accounts have tried to log in."""
    await it.supervisor.first_attempts()
    return it.supervisor


async def test_a_refused_password_is_reported_before_the_process_ends(server: Server, tmp_path: Path) -> None:
    await server.register("marvin", "another")
    async with receiving() as receiver:
        it = service(tmp_path, hook(receiver.url), port=server.port, register=False, password="wrong-password")
        async with asyncio.timeout(SOON):
            accounts = await it.run()
    assert End.REFUSED is accounts["marvin"].end
    assert ["refused"] == [found["event"] for found in receiver.notices()]
    assert "wrong-password" not in str(receiver.bodies)


async def test_a_server_that_goes_and_comes_back_is_reported(tmp_path: Path) -> None:
    async with receiving() as receiver:
        one = hook(receiver.url, gone_after=0.05, events=(NotifyEvent.SERVER_GONE, NotifyEvent.BACK))
        async with Server(seed=3, limits=CHEAP) as first:
            port = first.port
            it = service(tmp_path, one, port=port, invite=None)
            task = asyncio.create_task(it.run())
            await until(lambda: it.supervisor.statuses()[0].connected is not None)
            receiver.bodies.clear()
        try:
            await until(lambda: [found["event"] for found in receiver.notices()][-1:] == ["server_gone"])
            async with Server(seed=3, limits=CHEAP, port=port) as second:
                await second.register("marvin", "pw-of-marvin")
                await until(lambda: [found["event"] for found in receiver.notices()][-1:] == ["back"])
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
