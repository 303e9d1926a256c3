"""Orders about other players through the control socket of a whole process, and over its restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from fibsbot.bot.orders import Order
from fibsbot.client.settings import BackoffSettings
from fibsbot.server.server import Server
from fibsbot.service.control_client import InvalidOrderError, send_order
from fibsbot.service.service import Service
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP
from tests.service.accounts import in_background, opponent, plan, process_settings, until

pytestmark = pytest.mark.slow


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as server:
        yield server


def service(folder: Path, *plans: Any) -> Service:
    """Return a process with a control socket."""
    settings = process_settings(control=folder / "socket", state=folder / "state")
    return Service(plans, settings, lambda _: LastResort(), environment={})


async def order(folder: Path, order: Order, *arguments: str, account: str | None = None) -> dict[str, Any]:
    """Give an order at the control socket."""
    return await asyncio.to_thread(send_order, folder / "socket", order, account, arguments)


async def test_an_evening_of_orders(server: Server, tmp_path: Path) -> None:
    marvin, zaphod = plan(server.port, "marvin"), plan(server.port, "zaphod")
    it = service(tmp_path, marvin, zaphod)
    async with opponent(server.port, "ford"), in_background(it.run()):
        await it.supervisor.first_attempts()
        with pytest.raises(InvalidOrderError, match=r"^expected the name of an account \(marvin, zaphod\), got none$"):
            await order(tmp_path, Order.INVITE, "ford", "1")
        answer = await order(tmp_path, Order.INVITE, "ford", "1", account="marvin")
        assert answer["answers"]["marvin"].startswith("ford is invited to a 1-point match")
        account = it.supervisor.accounts["marvin"]
        await until(lambda: account.totals().matches == 1)
        said = await order(tmp_path, Order.SAY, "ford", "well", "played", account="marvin")
        assert {"marvin": "I said that to ford."} == said["answers"]
        answer = await order(tmp_path, Order.BLOCK, "ford")
        assert {"marvin": "ford is blocked now.", "zaphod": "ford is blocked now."} == answer["answers"]
    again = service(tmp_path, marvin)
    async with opponent(server.port, "ford"), in_background(again.run()):
        await again.supervisor.first_attempts()
        status = (await order(tmp_path, Order.STATUS))["status"]["accounts"][0]
        assert (["ford"], None) == (status["blocked"], status["next_attempt"])
        answer = await order(tmp_path, Order.UNBLOCK, "ford")
        assert {"marvin": "ford is no longer blocked."} == answer["answers"]


async def test_between_two_attempts_players_can_be_blocked_and_the_next_attempt_is_known(tmp_path: Path) -> None:
    away = evolve(plan(1, "marvin", register=False), backoff=BackoffSettings(first=600))
    it = service(tmp_path, away)
    async with in_background(it.run()):
        await until(lambda: it.supervisor.statuses()[0].next_attempt is not None)
        assert {"marvin": "ford is blocked now."} == (await order(tmp_path, Order.BLOCK, "ford"))["answers"]
        assert {"marvin": "I'm not logged in."} == (await order(tmp_path, Order.SAY, "ford", "hello"))["answers"]
        status = (await order(tmp_path, Order.STATUS))["status"]["accounts"][0]
        assert (["ford"], "connection lost: Connection refused") == (status["blocked"], status["last_error"])
        assert "T" in status["next_attempt"]
    assert '{"marvin": ["ford"]}' == (tmp_path / "state" / "blocked.json").read_text()
    again = service(tmp_path, away)
    assert ("ford",) == tuple(again._blocked.of("marvin"))


@pytest.mark.parametrize("text", ["", "[]", '{"marvin": 3}', '{"marvin": ["x y", "ford"]}'])
async def test_a_damaged_file_blocks_nobody_by_mistake(tmp_path: Path, text: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "blocked.json").write_text(text)
    it = service(tmp_path, plan(1, "marvin"))
    assert {"ford"} >= it._blocked.of("marvin")
