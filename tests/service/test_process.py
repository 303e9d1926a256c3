"""The whole process: store, control socket, metrics, health, signals and systemd, while bots play."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from fibsbot.bot.events_and_actions import End
from fibsbot.bot.orders import Order
from fibsbot.bot.settings import RunSettings
from fibsbot.client.settings import BackoffSettings
from fibsbot.records.store import Store, StoreError
from fibsbot.server.server import Server
from fibsbot.service import service as process
from fibsbot.service.control_client import send_order
from fibsbot.service.memories import load_memories
from fibsbot.service.service import Service, ServiceError, check_addresses
from fibsbot.service.supervisor import ReloadResult
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, UNHURRIED
from tests.patience import SOON
from tests.service.accounts import in_background, opponent, plan, process_settings, until

pytestmark = pytest.mark.slow


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as server:
        yield server


def service(folder: Path, *plans: RunSettings, **more: Any) -> Service:
    """Return a process with everything switched on."""
    settings = process_settings(store=str(folder / "store.db"), control=folder / "socket", web_port=0)
    more = {"environment": {}, **more}
    return Service(plans, more.pop("settings", settings), lambda _: LastResort(), **more)


def running(it: Service) -> AbstractAsyncContextManager[asyncio.Task[Any]]:
    """Run a process, and end it."""
    return in_background(it.run(), lambda: it.supervisor.order(Order.QUIT))


async def get(port: int, path: str) -> tuple[int, str]:
    """Return status and body of a page."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
    async with asyncio.timeout(SOON):
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body


def web_port(logs: list[Any]) -> int:
    """Return the port that the log tells."""
    return int(next(log["url"] for log in logs if log["event"] == "metrics and health").rpartition(":")[2])


def samples(text: str) -> dict[tuple[str, str | None], float]:
    """Return what is measured, by name and account."""
    return {
        (sample.name, sample.labels.get("account")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "le" not in sample.labels
    }


async def test_metrics_and_health_describe_playing_bots(server: Server, tmp_path: Path) -> None:
    it = service(tmp_path, plan(server.port, "marvin", invite="trillian_secret"), plan(server.port, "ford"))
    with capture_logs() as logs:
        async with opponent(server.port, "trillian_secret"), running(it):
            marvin = it.supervisor.accounts["marvin"]
            await until(lambda: marvin.totals().matches >= 1 and bool((now := marvin.status().agent) and now.opponent))
            port = web_port(logs)
            status, text = await get(port, "/metrics")
            well, health = await get(port, "/healthz")
            assert 404 == (await get(port, "/nothing"))[0]
    assert 200 == status == well
    found = samples(text)
    totals = {name: found[f"fibsbot_{name}_total", "marvin"] for name in ("connections", "matches", "messages")}
    assert (1.0, True, True) == (totals["connections"], totals["matches"] >= 1, totals["messages"] > 100)
    assert (1, 1, 0) == tuple(found[f"fibsbot_{name}", "marvin"] for name in ("healthy", "playing", "paused"))
    assert 0 == found["fibsbot_playing", "ford"] == found["fibsbot_crashes_total", "ford"]
    assert 10 < found["fibsbot_decision_seconds_count", "marvin"] <= found["fibsbot_decisions_total", "marvin"]
    assert found["fibsbot_decision_seconds_sum", "marvin"] >= found["fibsbot_strategy_seconds_sum", "marvin"] > 0
    assert (1, 0) == (found["fibsbot_store_healthy", None], found["fibsbot_store_lost_total", None])
    assert found["process_resident_memory_bytes", None] > 10**7
    assert "trillian" not in text, "other people's names are no business of a monitoring system"
    told = json.loads(health)
    assert (True, True, True) == (told["healthy"], told["store"], told["accounts"]["ford"]["healthy"])


async def test_health_fails_when_an_account_is_stuck_or_was_refused(server: Server, tmp_path: Path) -> None:
    await server.register("ford", "another")
    it = service(tmp_path, plan(server.port, "marvin"), plan(server.port, "ford", password="wrong", register=False))
    with capture_logs() as logs:
        async with running(it):
            await until(lambda: it.supervisor.accounts["ford"].end is not None)
            status, body = await get(web_port(logs), "/healthz")
            assert (503, False) == (status, json.loads(body)["healthy"])
            assert {"healthy": False, "state": "REFUSED"} == json.loads(body)["accounts"]["ford"]
            assert json.loads(body)["accounts"]["marvin"]["healthy"]


async def test_the_store_gets_all_records_and_the_next_start_loads_them(server: Server, tmp_path: Path) -> None:
    first = service(tmp_path, plan(server.port, "marvin", invite="ford", matches=1))
    async with opponent(server.port, "ford"), asyncio.timeout(SOON):
        accounts = await first.run()
    assert 1 == accounts["marvin"].totals().matches
    with Store.open(tmp_path / "store.db") as store:
        assert 1 == len(list(store.matches()))
    memory = load_memories(str(tmp_path / "store.db"), {"marvin": "localhost:4321"})["marvin"]
    now = asyncio.get_running_loop().time()
    known = memory.history_of("ford")
    assert 1 == known.matches_today(now)
    assert 0 <= (known.since_last(now) or 0) < SOON
    assert known.refused is None


def test_an_unreadable_store_is_treated_as_empty(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("no database at all, but a text that is long enough" * 100)
    with capture_logs() as logs:
        assert {} == load_memories(str(tmp_path / "store.db"), {"marvin": "localhost:4321"})
    assert ["what was remembered of other players cannot be read"] == [log["event"] for log in logs]
    with pytest.raises(StoreError):
        service(tmp_path, plan(1, "marvin"))


# -- orders ---------------------------------------------------------------------------------------------------------


async def test_orders_are_accepted_at_the_control_socket(server: Server, tmp_path: Path) -> None:
    it = service(tmp_path, plan(server.port, "marvin"), plan(server.port, "ford"))
    path = tmp_path / "socket"
    async with running(it) as task:
        await it.supervisor.first_attempts()
        assert ["ford"] == (await asyncio.to_thread(send_order, path, Order.PAUSE, "ford"))["accounts"]
        found = (await asyncio.to_thread(send_order, path, Order.STATUS))["status"]
        assert [False, True] == [account["paused"] for account in found["accounts"]]
        assert (os.getpid(), True) == (found["process"], found["store"]["healthy"])
        assert found["web"].startswith("http://127.0.0.1:")
        alone = (await asyncio.to_thread(send_order, path, Order.STATUS, "ford"))["status"]
        assert ["ford"] == [account["account"] for account in alone["accounts"]]
        assert (await asyncio.to_thread(send_order, path, Order.FINISH))["ok"]
        async with asyncio.timeout(SOON):
            accounts = await task
    assert {End.FINISHED} == {account.end for account in accounts.values()}
    assert not path.exists()


async def test_a_second_instance_is_refused_in_one_line(server: Server, tmp_path: Path) -> None:
    it = service(tmp_path, plan(server.port, "marvin"))
    async with running(it):
        await it.supervisor.first_attempts()
        with pytest.raises(ServiceError, match=r"^another process is running, with the control socket "):
            service(tmp_path, plan(server.port, "marvin"))
        assert it.supervisor.accounts["marvin"].end is None, "the first one was not put out"
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as store:
        assert [(1,)] == store.execute("SELECT count(*) FROM writers").fetchall(), "the second one left nothing there"


async def test_a_port_in_use_is_reported_in_one_line(server: Server, tmp_path: Path) -> None:
    it = service(tmp_path, plan(server.port, "marvin"), settings=process_settings(web_port=server.port))
    with pytest.raises(ServiceError, match=f"^cannot listen on 127.0.0.1:{server.port}: "):
        await it.run()
    with pytest.raises(ServiceError, match=f"^cannot listen on 127.0.0.1:{server.port}: .*service.web_port"):
        check_addresses(process_settings(web_port=server.port))
    check_addresses(process_settings(control=tmp_path / "socket", web_port=0))


# -- signals --------------------------------------------------------------------------------------------------------


def decisions(it: Service) -> int:
    """Return how many decisions all accounts have made."""
    return sum(account.totals().decisions for account in it.supervisor.accounts.values())


async def test_the_first_signal_finishes_the_match(server: Server, tmp_path: Path) -> None:
    it = service(tmp_path, plan(server.port, "marvin", invite="ford"))
    async with opponent(server.port, "ford"), running(it) as task:
        await until(lambda: decisions(it) > 3)
        played = it.supervisor.accounts["marvin"].totals().matches
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(SOON):
            accounts = await task
    totals = accounts["marvin"].totals()
    assert (played + 1, 0) == (totals.matches, totals.interruptions)


async def test_the_second_signal_leaves_at_once(server: Server, tmp_path: Path) -> None:
    it = service(tmp_path, plan(server.port, "marvin", invite="ford", length=9))
    async with opponent(server.port, "ford"), running(it) as task:
        await until(lambda: decisions(it) > 3)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
            await asyncio.sleep(0)
        async with asyncio.timeout(SOON):
            accounts = await task
    assert (End.FINISHED, 0, 1) == (
        accounts["marvin"].end,
        accounts["marvin"].totals().matches,
        accounts["marvin"].totals().interruptions,
    )


async def test_an_account_that_does_not_quit_in_time_is_abandoned(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LOGOUT_TIMEOUT", 0.1)
    it = service(tmp_path, plan(server.port, "marvin"))
    async with running(it) as task:
        await it.supervisor.first_attempts()
        monkeypatch.setattr(it.supervisor.accounts["marvin"], "dispatch", lambda _: None)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0.01)
        assert signal.SIG_DFL is signal.getsignal(signal.SIGTERM), "a third signal kills"
        async with asyncio.timeout(SOON):
            await task


async def test_sighup_reads_the_settings_again(server: Server, tmp_path: Path) -> None:
    old = plan(server.port, "marvin")
    new = evolve(old, agent=evolve(old.agent, play=evolve(old.agent.play, invite="ford")))
    answers = [ReloadResult(problems=("bad",)), ReloadResult({"marvin": new}, ("bot.invite",))]
    it = service(tmp_path, old, reload=lambda: answers.pop(0))
    async with opponent(server.port, "ford"), running(it):
        await it.supervisor.first_attempts()
        with capture_logs() as logs:
            os.kill(os.getpid(), signal.SIGHUP)
            await until(lambda: len(answers) == 1)
            os.kill(os.getpid(), signal.SIGHUP)
            await until(lambda: it.supervisor.accounts["marvin"].totals().decisions > 0)
    assert {"settings cannot be used, the old ones stay", "setting changed"} <= {log["event"] for log in logs}


async def test_an_error_while_reading_the_settings_ends_nothing(server: Server, tmp_path: Path) -> None:
    def reload() -> ReloadResult:
        raise RuntimeError("the disk is gone")

    it = service(tmp_path, plan(server.port, "marvin"), reload=reload)
    async with running(it):
        await it.supervisor.first_attempts()
        with capture_logs() as logs:
            os.kill(os.getpid(), signal.SIGHUP)
            await until(lambda: any(log["event"] == "settings could not be read again" for log in logs))
        assert it.supervisor.accounts["marvin"].end is None


# -- systemd --------------------------------------------------------------------------------------------------------


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[tuple[dict[str, str], Callable[[], list[str]]]]:
    """Be systemd: yield the environment, and what tells all that was heard so far."""
    heard: list[str] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(0)

        def listen() -> list[str]:
            with contextlib.suppress(BlockingIOError):
                while True:
                    heard.extend(sock.recv(4096).decode().splitlines())
            return heard

        yield {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}, listen


async def test_systemd_is_notified_when_the_process_is_ready_alive_and_stopping(
    server: Server, tmp_path: Path, systemd: tuple[dict[str, str], Callable[[], list[str]]]
) -> None:
    environment, heard = systemd
    it = service(tmp_path, plan(server.port, "marvin", invite="ford", timings=UNHURRIED), environment=environment)
    async with opponent(server.port, "ford"), running(it) as task:
        await until(lambda: any(line.startswith("STATUS=playing ford") for line in heard()))
        assert "READY=1" == heard()[0]
        assert "STOPPING=1" not in heard()
        count = heard().count("WATCHDOG=1")
        await until(lambda: heard().count("WATCHDOG=1") >= count + 3)
        os.kill(os.getpid(), signal.SIGHUP)
        await until(
            lambda: any(line.startswith("MONOTONIC_USEC=") for line in heard()) and heard().count("READY=1") == 2
        )
        os.kill(os.getpid(), signal.SIGTERM)
        await until(lambda: "STOPPING=1" in heard())
        os.kill(os.getpid(), signal.SIGTERM)  # without the rest of the match
        async with asyncio.timeout(SOON):
            await task


async def test_the_watchdog_is_fed_while_the_server_is_down(
    tmp_path: Path, systemd: tuple[dict[str, str], Callable[[], list[str]]]
) -> None:
    environment, heard = systemd
    one = plan(1, "marvin", register=False)
    one = evolve(one, backoff=BackoffSettings(first=60))
    async with running(service(tmp_path, one, environment=environment)):
        await until(lambda: heard().count("WATCHDOG=1") >= 2)
        assert "READY=1" == heard()[0]


async def test_the_watchdog_is_not_fed_while_an_account_is_stuck(
    server: Server,
    tmp_path: Path,
    systemd: tuple[dict[str, str], Callable[[], list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment, heard = systemd
    it = service(tmp_path, plan(server.port, "marvin"), plan(server.port, "ford"), environment=environment)
    async with running(it):
        await until(lambda: "WATCHDOG=1" in heard())
        with capture_logs() as logs:
            monkeypatch.setattr(it.supervisor.accounts["ford"], "is_responsive", lambda: False)
            await until(lambda: any(log["event"] == "account is stuck" for log in logs))
            before = heard().count("WATCHDOG=1")
            told = heard().count("READY=1") + len(heard())
            await until(lambda: len(heard()) > told + 2)
            assert before == heard().count("WATCHDOG=1")
            monkeypatch.undo()
            await until(lambda: heard().count("WATCHDOG=1") > before)
    assert [("account is stuck", "ford"), ("account goes on", "ford")] == [
        (log["event"], log["account"]) for log in logs if log["event"] in {"account is stuck", "account goes on"}
    ]


# -- words ----------------------------------------------------------------------------------------------------------


async def test_the_status_line_is_short_for_any_number_of_accounts(server: Server, tmp_path: Path) -> None:
    one = service(tmp_path, plan(server.port, "marvin"), settings=process_settings())
    two = service(tmp_path, plan(server.port, "marvin"), plan(server.port, "ford"), settings=process_settings())
    many = service(tmp_path, *(plan(server.port, f"bot_{it}") for it in "abcdefgh"), settings=process_settings())
    assert "starting, up 0 s" == one.sentence()
    assert "marvin starting; ford starting, up 0 s" == two.sentence()
    async with opponent(server.port, "ford", invite="bot_a", length=9), running(many):
        await until(lambda: "8 accounts: 1 playing, 7 waiting, up " in many.sentence())
