"""The thread that delivers: in order, again and again, over restarts, and never holding up who sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from fibsbot.client.settings import BackoffSettings
from fibsbot.notify import notifier as notifications
from fibsbot.notify.notifier import MAX_REFUSALS, Notifier
from fibsbot.notify.settings import Hook
from tests.notify.notices import hook, notice
from tests.notify.receiver import receiving
from tests.service.accounts import until

Start = Callable[..., Notifier]


@pytest.fixture
async def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Start a notifier that tries again at once; all are closed in the end."""
    monkeypatch.setattr(notifications, "PAUSES", BackoffSettings(first=0.01, longest=0.02))
    monkeypatch.setattr(notifications, "DRAIN", 0.2)
    started: list[Notifier] = []

    def begin(*hooks: Hook, keep: bool = True) -> Notifier:
        started.append(Notifier(hooks, tmp_path if keep else None))
        started[-1].start()
        return started[-1]

    yield begin
    for it in started:
        await asyncio.to_thread(it.close)


async def test_notices_arrive_in_order_although_the_receiver_fails_half_of_the_time(start: Start) -> None:
    async with receiving(lambda number: ("busy", "good", "closes", "good", "later", "good")[number % 6]) as receiver:
        notifier = start(hook(receiver.url))
        for number in range(12):
            notifier.send("telephone", notice(number=number))
        await until(lambda: len(receiver.notices()) == 12)
        assert list(range(12)) == [found["data"]["number"] for found in receiver.notices()]
        await asyncio.to_thread(notifier.close)


async def test_what_one_process_cannot_deliver_is_delivered_by_the_next(start: Start, tmp_path: Path) -> None:
    async with receiving("busy") as receiver:
        first = start(hook(receiver.url))
        for number in range(3):
            first.send("telephone", notice(number=number))
        await until(lambda: len(receiver.heads) > 2)
        with capture_logs() as logs:
            await asyncio.to_thread(first.close)
        assert ("notices are not delivered yet", 3) in [(log["event"], log.get("waiting")) for log in logs]
    async with receiving() as receiver:
        start(hook(receiver.url))
        await until(lambda: len(receiver.notices()) == 3)
        assert [0, 1, 2] == [found["data"]["number"] for found in receiver.notices()]
        await until(lambda: not list(tmp_path.iterdir()))


async def test_a_notice_that_is_refused_does_not_hold_up_those_behind_it(start: Start) -> None:
    async with receiving(lambda number: "refuses" if number < MAX_REFUSALS else "good") as receiver:
        notifier = start(hook(receiver.url))
        for number in range(2):
            notifier.send("telephone", notice(number=number))
        await until(lambda: len(receiver.notices()) == 1)
        (found,) = receiver.notices()
        assert (1, {"stuck": 1}) == (found["data"]["number"], found["dropped"])


async def test_a_slow_receiver_holds_up_no_other_and_not_the_end(start: Start) -> None:
    async with receiving("silent") as slow, receiving() as quick:
        notifier = start(hook(slow.url, name="slow", timeout=1000), hook(quick.url, name="quick"))
        for name in ("slow", "quick"):
            notifier.send(name, notice())
        await until(lambda: len(quick.notices()) == 1 == len(slow.heads))
        await asyncio.to_thread(notifier.close)
        notifier.send("quick", notice())  # too late, and no error


async def test_other_hooks_are_used_without_losing_what_waits(start: Start) -> None:
    async with receiving("busy") as old, receiving() as new:
        notifier = start(hook(old.url))
        notifier.send("telephone", notice())
        await until(lambda: len(old.heads) > 0)
        notifier.configure((hook(new.url),))
        await until(lambda: len(new.notices()) == 1)


async def test_no_log_shows_the_address(start: Start) -> None:
    with capture_logs() as logs:
        async with receiving("closes") as receiver:
            notifier = start(hook(receiver.url))
            notifier.send("telephone", notice())
            await until(lambda: any(log["event"] == "notice not delivered, is tried again" for log in logs))
    assert "secret" not in str(logs)
