"""What a hostile server says in a browser: it stays text, no script runs, no request leaves."""

from __future__ import annotations

import asyncio

import pytest

from fibs_protocol.stream import MessageReader
from fibsbot.bot.events_and_actions import Connected, MessageReceived
from fibsbot.table.page_server import PageServer
from fibsbot.table.page_state import PageView, page_state
from fibsbot.table.server_host import ServerHost
from tests.browser import chromium, requires_chromium
from tests.patience import SOON
from tests.table.people import login
from tests.table.test_server_session import LOGIN

NAME = "<img/src=//evil.example/a/onerror=alert(1)>"
TEXT = "<script>alert(2)</script><a href='javascript:alert(3)'>x</a>\x1b[2J\x07\u202e\x00&lt;" + "y" * 5000
BOARD = (
    f"board:You:{NAME}:5:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:3:1:0:0:1:1:1:0:1:-1"
    ":0:25:0:0:0:0:2:0:0:0"
)
LINES = (
    *(f"{number} {NAME} {TEXT}" for number in (12, 13, 14, 15, 20)),
    f"7 {NAME} {TEXT}",
    f"5 {NAME} - - 1 0 1500.00 0 0 1 {NAME} {NAME} {NAME}",
    f"{NAME} wants to play a 3 point match with you.",
    f"{NAME} wants to play a 3 point match of {NAME} with you.",
    f"  **{NAME}                3                1 -  2  {NAME}",
    f"** There is no one called {NAME}.",
    f"** You are now playing a 5 point match with {NAME}",
    f"Starting a new game with {NAME}.",
    f"You rolled 3, {NAME} rolled 1",
    "It's your turn to move.",
    BOARD,
    f"{NAME} is away: {TEXT}",
)


def hostile_host() -> ServerHost:
    """Return a table at which a server has said all that."""
    host, reader = ServerHost(login(1, "marvin")), MessageReader(banner=True)
    host.session.handle(Connected(0.0))
    reader.receive_data(LOGIN + "".join(line + "\r\n" for line in LINES).encode("utf-8"))
    while (received := reader.next_message()) is not None:
        host.session.handle(MessageReceived(0.0, received.message))
    return host


def test_a_hostile_name_is_on_the_board_as_text() -> None:
    model = hostile_host().model
    assert model is not None
    assert NAME in model.names
    board = page_state(model, PageView())["board"]
    assert "<img" not in board
    assert "onerror" not in board.replace("&lt;img/src=//evil.example/a/onerror=alert(1)&gt;", "")


@pytest.mark.slow
@requires_chromium
async def test_in_a_browser_no_script_runs_and_no_request_leaves() -> None:
    faults: list[str] = []
    server = PageServer(0)
    page = server.add(hostile_host())
    await server.start()
    try:
        async with chromium() as browser, asyncio.timeout(SOON):
            tab = await browser.new_page()
            here = f"http://127.0.0.1:{server.port}/"
            tab.on("pageerror", lambda error: faults.append(str(error)))
            tab.on("dialog", lambda dialog: faults.append(dialog.message))
            tab.on("request", lambda request: None if request.url.startswith(here) else faults.append(request.url))
            await tab.goto(server.address(page))
            await tab.locator("#lobby .chat li", has_text="alert(2)").first.wait_for()
            for name in await tab.locator("#lobby .name").all():
                await name.evaluate("node => node.click()")
            assert await tab.locator("#board svg").count() == 1
            assert await tab.locator("img, #lobby script, #lobby a, #board script").count() == 0
    finally:
        await server.close()
    assert faults == []
