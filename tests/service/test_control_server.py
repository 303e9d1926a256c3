"""The control socket: orders get through, and whatever else comes in does no harm."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.service import control_server as control_module
from fibsbot.service.control_client import ControlError, send_order
from fibsbot.service.control_server import MAX_CLIENTS, MAX_ORDER_BYTES, ControlServer, parse_request
from tests.patience import SOON

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Boss:
    """Takes orders and does nothing."""

    def __init__(self) -> None:
        """Have heard nothing."""
        self.heard: list[tuple[Order, str | None]] = []

    def __call__(self, given: GivenOrder, account: str | None) -> Mapping[str, Any]:
        """Take an order."""
        self.heard.append((given.order, account))
        if account == "zaphod":
            raise ValueError("expected one of marvin,\nford")
        if account == "trouble":
            raise RuntimeError("with a secret inside")
        return {"accounts": [account or "all"]}


@pytest.fixture
async def boss(tmp_path: Path) -> AsyncIterator[Boss]:
    """Listen at `socket`."""
    boss = Boss()
    control = ControlServer(tmp_path / "socket", boss)
    await control.start()
    yield boss
    await control.close()
    assert not (tmp_path / "socket").exists()


async def said(path: Path, data: bytes, *, end: bool = True) -> list[dict[str, Any]]:
    """Send bytes and return all answers; none where we are sent away."""
    reader, writer = await asyncio.open_unix_connection(path)
    answers: list[bytes] = []
    writer.write(data)
    if end:
        writer.write_eof()
    with contextlib.suppress(ConnectionResetError):
        async with asyncio.timeout(SOON):
            answers = (await reader.read()).splitlines()
    await hang_up([(reader, writer)])
    return [json.loads(answer) for answer in answers]


async def hang_up(clients: list[Client]) -> None:
    """Close connections."""
    for _, writer in clients:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def test_orders_are_carried_out_and_answered(boss: Boss, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    for order in Order:
        arguments = {"NAME": ["ford"], "NAME TEXT": ["ford", "hello there"], "": []}.get(order.arguments, ["ford", "5"])
        answer = await asyncio.to_thread(send_order, path, order, "marvin", arguments)
        assert {"ok": True, "accounts": ["marvin"]} == answer
    assert {"ok": True, "accounts": ["all"]} == await asyncio.to_thread(send_order, path, Order.FINISH)
    assert [*((order, "marvin") for order in Order), (Order.FINISH, None)] == boss.heard


async def test_an_order_that_cannot_be_carried_out_says_why(boss: Boss, tmp_path: Path) -> None:
    with pytest.raises(ControlError, match=r"^expected one of marvin, ford$"):
        await asyncio.to_thread(send_order, tmp_path / "socket", Order.PAUSE, "zaphod")
    with capture_logs() as logs, pytest.raises(ControlError, match="the log says why"):
        await asyncio.to_thread(send_order, tmp_path / "socket", Order.PAUSE, "trouble")
    assert ["order failed"] == [log["event"] for log in logs]
    assert 2 == len(boss.heard)


async def test_a_client_may_give_several_orders(boss: Boss, tmp_path: Path) -> None:
    lines = b'{"order": "pause"}\n{"order": "dance"}\n\n{"order": " RESUME "}\n{"order": "finish"}'
    answers = await said(tmp_path / "socket", lines)
    assert [True, False, False, True, True] == [answer["ok"] for answer in answers]
    assert [Order.PAUSE, Order.RESUME, Order.FINISH] == [order for order, _ in boss.heard]


@pytest.mark.usefixtures("boss")
async def test_a_line_without_end_is_cut_short(tmp_path: Path) -> None:
    answers = await said(tmp_path / "socket", b'{"order": "' + b"x" * 10 * MAX_ORDER_BYTES, end=False)
    assert [False] == [answer["ok"] for answer in answers]
    assert f"expected a line of at most {MAX_ORDER_BYTES} bytes, got a longer one" == answers[0]["error"]


@given(st.binary(max_size=200) | st.text(max_size=50).map(lambda text: json.dumps({"order": text}).encode()))
def test_any_bytes_are_an_order_or_refused_in_one_line(data: bytes) -> None:
    answer = ControlServer(Path("nowhere"), Boss()).answer(data)
    assert isinstance(answer["ok"], bool)
    assert 1 == len(str(answer.get("error", "x")).splitlines())
    json.dumps(answer)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"", "expected a line of JSON"),
        (b"pause", "expected a line of JSON"),
        (b"[" * 4000, "expected a line of JSON"),
        (b"\xff\xfe", "expected a line of JSON"),
        (b"[]", "expected an object such as"),
        (b'{"order": "pause", "force": true}', "expected an object such as"),
        (b"{}", f"expected one of the orders {', '.join(order.value for order in Order)}"),
        (b'{"order": 3}', "expected one of the orders"),
        (b'{"order": ["pause"]}', "expected one of the orders"),
        (b'{"order": "pause", "account": 3}', 'expected the name of an "account"'),
    ],
)
def test_an_invalid_order_is_refused_with_the_expected_form(line: bytes, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}"):
        parse_request(line)


@pytest.mark.slow
async def test_idle_clients_do_not_block_others(boss: Boss, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    sleepers = [await asyncio.open_unix_connection(path) for _ in range(3)]
    greedy = [await asyncio.open_unix_connection(path) for _ in range(3)]
    for _, writer in greedy:
        writer.write(b'{"order": "status"}\n' * 1500)
    began = time.monotonic()
    assert (await asyncio.to_thread(send_order, path, Order.PAUSE))["ok"]
    assert time.monotonic() - began < SOON
    await hang_up(sleepers + greedy)
    assert (Order.PAUSE, None) in boss.heard


@pytest.mark.usefixtures("boss")
async def test_silent_clients_do_not_keep_others_out(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    talker = await asyncio.open_unix_connection(path)
    clients = []
    for _ in range(3 * MAX_CLIENTS):
        clients.append(await asyncio.open_unix_connection(path))
        assert [{"ok": True, "accounts": ["all"]}] == await said(path, b'{"order": "pause"}\n')
        talker[1].write(b'{"order": "pause"}\n')
        assert b"accounts" in await talker[0].readline(), "who speaks stays"
    async with asyncio.timeout(SOON):
        for reader, _ in clients[:MAX_CLIENTS]:
            assert not await reader.read(), "the longest silent ones have gone"
    await hang_up([talker, *clients])


@pytest.mark.usefixtures("boss")
async def test_a_silent_client_is_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "CLIENT_TIMEOUT", 0.05)
    assert [] == await said(tmp_path / "socket", b"", end=False)


@pytest.mark.usefixtures("boss")
async def test_only_its_owner_can_open_the_socket(tmp_path: Path) -> None:
    mode = (tmp_path / "socket").stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert 0o600 == stat.S_IMODE(mode)


@pytest.mark.usefixtures("boss")
async def test_a_socket_in_use_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(ControlError, match=r"^another process is running, with the control socket .*/socket$"):
        await ControlServer(tmp_path / "socket", Boss()).start()
    assert (await asyncio.to_thread(send_order, tmp_path / "socket", Order.STATUS))["ok"]


async def test_the_socket_of_a_dead_process_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "socket"
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(os.fspath(path))
    control = ControlServer(path, Boss())
    await control.start()
    assert (await asyncio.to_thread(send_order, path, Order.STATUS))["ok"]
    await control.close()


async def test_a_new_socket_of_another_process_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    first, second = ControlServer(path, Boss()), ControlServer(path, Boss())
    await first.start()
    path.unlink()
    await second.start()
    await first.close()
    assert (await asyncio.to_thread(send_order, path, Order.STATUS))["ok"]
    await second.close()


@pytest.mark.parametrize("where", ["a_file", "a_file/below", "x" * 200])
async def test_an_unusable_path_is_reported_in_one_line(where: str, tmp_path: Path) -> None:
    (tmp_path / "a_file").write_text("precious")
    with pytest.raises(ControlError, match=r"^cannot make the control socket ") as caught:
        await ControlServer(tmp_path / where, Boss()).start()
    assert 1 == len(str(caught.value).splitlines())
    assert "precious" == (tmp_path / "a_file").read_text()


def test_an_order_without_a_running_process_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with pytest.raises(ControlError, match=f"^nothing runs at {path}$"):
        send_order(path, Order.STATUS)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(os.fspath(path))
    with pytest.raises(ControlError, match=f"^nothing runs at {path}$"):
        send_order(path, Order.STATUS)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"", "no valid answer"),
        (b"hello\n", "no valid answer"),
        (b"[]\n", "no valid answer"),
        (b"[" * 100_000 + b"\n", "no valid answer"),
        (None, "no answer from"),
    ],
    ids=["empty", "text", "list", "nested", "none"],
)
def test_invalid_or_missing_answers_are_an_error(answer: bytes | None, text: str, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(os.fspath(path))
        server.listen()

        async def play() -> None:
            asking = asyncio.create_task(asyncio.to_thread(send_order, path, Order.STATUS, timeout=0.2))
            client, _ = await asyncio.to_thread(server.accept)
            with client:
                if answer is not None:
                    client.sendall(answer)
                    client.shutdown(socket.SHUT_WR)
                with pytest.raises(ControlError, match=f"^{text}"):
                    await asking

        asyncio.run(play())
