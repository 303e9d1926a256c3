"""Pages of guests: the way in, its limits, and that nothing but the table can be reached."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import aiohttp
import pytest

from fibsbot.client.settings import ServerSettings
from fibsbot.server.server import Server
from fibsbot.table.connection_limits import ConnectionLimits
from fibsbot.table.guest_pages import GuestPages, WebLimits
from tests.bot.live_bots import CHEAP
from tests.browser import chromium, requires_chromium
from tests.patience import SOON
from tests.server.tcp_clients import Player, Raw, register

ORDER = ("done", "move", "roll", "take", "accept", "next")


@asynccontextmanager
async def guests(limits: WebLimits | None = None) -> AsyncIterator[tuple[Server, GuestPages]]:
    """Start a server with pages, by default for tests that ask without a pause."""
    limits = limits or WebLimits(requests=10**6)
    async with Server(seed=3, limits=CHEAP) as server:
        pages = GuestPages(ServerSettings("127.0.0.1", server.port), 0, limits=limits)
        await pages.start()
        try:
            yield server, pages
        finally:
            await pages.close()


async def log_in(web: aiohttp.ClientSession, root: str, name: str, password: str = "") -> str:
    """Log a guest in, or somebody with a password; return the address of the page, or why there is none."""
    body = {"name": name, "password": password or f"random_of_{name}", "guest": not password}
    answer = await (await web.post(root + "login", json=body)).json()
    return root + answer["address"] if "address" in answer else str(answer["fault"])


async def state_of(web: aiohttp.ClientSession, page: str) -> dict[str, Any]:
    """Return the state of a page."""
    state: dict[str, Any] = await (await web.get(page + "state")).json()
    return state


async def wait_for(web: aiohttp.ClientSession, page: str, text: str) -> dict[str, Any]:
    """Wait until the state of a page has a text."""
    async with asyncio.timeout(SOON):
        while True:
            state = await state_of(web, page)
            if text in json.dumps(state):
                return state
            await asyncio.sleep(0.05)


async def play_by_posts(web: aiohttp.ClientSession, page: str, seed: int = 1) -> dict[str, Any]:
    """Play until the match is over; return the last state."""
    random = Random(seed)
    async with asyncio.timeout(SOON):
        while True:
            state = await state_of(web, page)
            if state.get("over") == "match":
                return state
            action = next((action for action in ORDER if action in state.get("actions", ())), None)
            if action is None:
                await asyncio.sleep(0.02)
                continue
            moves = [move[:2] for move in state["moves"] if move[2] == 1] if action == "move" else [[]]
            await web.post(page + "act", json={"action": action, "numbers": random.choice(moves)})


@pytest.mark.slow
async def test_two_guests_play_a_match_and_one_comes_back_by_the_same_name() -> None:
    async with guests() as (server, pages), aiohttp.ClientSession() as web:
        ann, ben = await log_in(web, pages.root, "ann"), await log_in(web, pages.root, "ben")
        assert server.world.users.keys() == {"ann", "ben"}
        await wait_for(web, ann, '"name": "ben", "rating": 1500.0, "experience": 0, "state": "ready"')
        await web.post(ann + "invite", json={"name": "ben", "length": 1})
        await wait_for(web, ben, '"invitations": [{"name": "ann"')
        await web.post(ben + "join", json={"name": "ann"})
        last = await asyncio.gather(play_by_posts(web, ann, 1), play_by_posts(web, ben, 2))
        assert max(player["score"] for player in last[0]["players"]) >= 1
        again = await log_in(web, pages.root, "ann")
        assert again.startswith("http")
        assert (await wait_for(web, ann, "elsewhere"))["lobby"]["ended"]


@pytest.mark.slow
async def test_a_page_against_a_telnet_user() -> None:
    async with guests() as (server, pages), aiohttp.ClientSession() as web:
        await register(server.port, "bob")
        raw = await Raw.log_in(server.port, "bob")
        for command in ("set boardstyle 3", "toggle ready"):
            raw.send(command)
        alice = await log_in(web, pages.root, "alice")
        await wait_for(web, alice, '"name": "bob", "rating": 1500.0, "experience": 0, "state": "ready"')
        await web.post(alice + "invite", json={"name": "bob", "length": 1})
        await raw.ask("", "Type 'join alice' to accept.")
        raw.send("join alice")
        player = Player(raw, "alice", Random(4))
        won, _ = await asyncio.gather(player.play(), play_by_posts(web, alice))
        assert won.winner in {"You", "alice"}
        assert player.refusals == []


async def test_who_has_no_password_does_not_get_in_and_is_told_so() -> None:
    async with guests() as (server, pages), aiohttp.ClientSession() as web:
        await server.register("zoe", "her_own_password")
        assert "has this name already" in await log_in(web, pages.root, "zoe")
        assert "does not accept" in await log_in(web, pages.root, "zoe", "a_wrong_one")
        assert (await log_in(web, pages.root, "zoe", "her_own_password")).startswith(pages.root)
        for name in ("", "a b", "<script>", "x" * 30):
            assert "letters" in await log_in(web, pages.root, name)
        assert "ASCII" in await log_in(web, pages.root, "abe", "two words")


async def test_an_address_has_as_many_logins_requests_and_tables_as_the_limits_say() -> None:
    few = WebLimits(logins=3, login_interval=1e6, tables_per_address=1, requests=30, requests_per_second=0.001)
    async with guests(few) as (_, pages), aiohttp.ClientSession() as web:
        assert (await log_in(web, pages.root, "ann")).startswith("http")
        assert "too many tables" in await log_in(web, pages.root, "ben")
        await log_in(web, pages.root, "cat")
        assert "Too many logins" in await log_in(web, pages.root, "dan")
        codes = [(await web.get(pages.root)).status for _ in range(40)]
        assert codes[0] == 200
        assert codes[-1] == 429


async def test_there_are_only_so_many_connections_and_idle_ones_are_closed() -> None:
    few = WebLimits(connections=ConnectionLimits(connections=3, per_address=2, idle=0.2), requests=10**6)
    async with guests(few) as (_, pages), asyncio.timeout(SOON), contextlib.AsyncExitStack() as stack:

        async def ask(text: bytes, address: str = "127.0.0.1") -> asyncio.StreamReader:
            reader, writer = await asyncio.open_connection("127.0.0.1", pages.port, local_addr=(address, 0))
            stack.callback(writer.close)
            writer.write(text)
            return reader

        silent = await ask(b"")
        slow = await ask(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert (await (await ask(b"")).read()).endswith(b"too many connections\n")
        await ask(b"", "127.0.0.2")
        assert (await (await ask(b"", "127.0.0.3")).read()).startswith(b"HTTP/1.1 503 ")
        assert await silent.read() == b""
        await slow.read()
        answered = await ask(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert await answered.readline() == b"HTTP/1.1 200 OK\r\n"
        await answered.read()  # to the end, as it is idle after its request


async def test_events_are_not_idle() -> None:
    few = WebLimits(connections=ConnectionLimits(idle=0.1), requests=10**6)
    async with guests(few) as (_, pages), aiohttp.ClientSession() as web, asyncio.timeout(SOON):
        ann = await log_in(web, pages.root, "ann")
        async with web.get(ann + "events") as events:
            await asyncio.sleep(0.5)
            await web.post(ann + "shout", json={"text": "still here"})
            async for line in events.content:
                if b"still here" in line:
                    break


async def test_a_guest_who_closes_the_page_is_logged_out() -> None:
    async with guests(WebLimits(absence=0.2)) as (server, pages), aiohttp.ClientSession() as web:
        await log_in(web, pages.root, "ann")
        async with asyncio.timeout(SOON):
            while server.world.users:  # noqa: ASYNC110 - the server has no event for that
                await asyncio.sleep(0.05)
        assert pages.pages == {}


async def test_requests_of_other_sites_are_refused() -> None:
    async with guests() as (_, pages), aiohttp.ClientSession() as web:
        ann = await log_in(web, pages.root, "ann")
        for headers in ({"Host": "example.com"}, {"Origin": "http://example.com"}, {"Origin": "http://127.0.0.1:1"}):
            assert (await web.post(ann + "shout", json={"text": "x"}, headers=headers)).status == 403
        foreign = {"Sec-Fetch-Site": "cross-site"}
        assert (await web.post(pages.root + "login", json={}, headers=foreign)).status == 403
        policy = (await web.get(pages.root)).headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "'unsafe" not in policy


LEARNING = ("learn", "tutor", "set-up", "report", "hint", "take-back", "again", "position", "analyse", "analysis")


async def test_against_a_person_no_address_gives_a_hint() -> None:
    async with guests() as (_, pages), aiohttp.ClientSession() as web:
        ann, ben = await log_in(web, pages.root, "ann"), await log_in(web, pages.root, "ben")
        await wait_for(web, ann, '"state": "ready"')
        await web.post(ann + "invite", json={"name": "ben", "length": 1})
        await wait_for(web, ben, '"invitations": [{"name": "ann"')
        await web.post(ben + "join", json={"name": "ann"})
        state = await wait_for(web, ann, '"board"')
        assert "learning" not in state
        for address in LEARNING:
            for asked in ({}, {"lesson": "hint"}, {"wanted": True}, {"position": "x"}):
                assert (await web.post(ann + address, json=asked)).status == 404
            assert (await web.get(ann + address)).status == 404
        for lesson in ("hint", "take-back", "show", "play-it"):
            assert (await web.post(ann + "act", json={"action": lesson})).status == 400
        assert "learning" not in await state_of(web, ann)


HOSTILE = "<img src=http://evil.example/x onerror=alert(1)><script>document.title='owned'</script>"


@pytest.mark.slow
@requires_chromium
async def test_two_browsers_play_and_hostile_chat_stays_text() -> None:
    faults: list[str] = []
    async with guests() as (server, pages), chromium() as browser, asyncio.timeout(3 * SOON):
        tabs = []
        for name in ("ann", "ben"):
            tab = await (await browser.new_context()).new_page()
            tab.on("pageerror", lambda error: faults.append(str(error)))
            tab.on("dialog", lambda dialog: faults.append(dialog.message))
            tab.on(
                "request", lambda request: None if request.url.startswith(pages.root) else faults.append(request.url)
            )
            await tab.goto(pages.root)
            await tab.fill("#name", name)
            await tab.click("button[type=submit]")
            await tab.wait_for_selector("#lobby .chat")
            tabs.append(tab)
        ann, ben = tabs
        await register(server.port, "eve")
        eve = await Raw.log_in(server.port, "eve")
        eve.send("toggle ready")
        for order in ("shout", "tell ann", "tell ben"):
            eve.send(f"{order} {HOSTILE}")
        await ann.locator(".chat li", has_text="onerror").first.wait_for()
        await ann.click("[data-player=ben]")
        await ann.click("#lobby .more >> text=Invite")
        await ann.fill("#invitation-length", "1")
        await ann.keyboard.press("Enter")
        await ben.click(".invitation >> text=Accept")
        for key in ("?", "h", "Backspace"):
            await ann.keyboard.press(key)
        await ann.click("#lobby >> text=Leave the match")
        await ann.click("#confirm button >> nth=0")
        over = "document.querySelector('#banner')?.textContent.includes('match is over')"
        press = "(document.querySelector('#actions .first') || document.querySelector('#places .source'))?.click()"
        while not (await ann.evaluate(over) and await ben.evaluate(over)):
            for tab in tabs:
                await tab.evaluate(press)
            await asyncio.sleep(0.02)
        assert await ann.evaluate("document.querySelectorAll('.chat img, .chat script').length") == 0
        assert "owned" not in await ann.title()
        assert await ann.evaluate("document.getElementById('learning').hidden")
    assert faults == []
