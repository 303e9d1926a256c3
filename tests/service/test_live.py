"""/live as its events tell it: who may ask, what is shown of a match, and that nobody who watches holds up a bot."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession, web
from attrs import evolve
from structlog.testing import capture_logs

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import End
from fibsbot.bot.match_tracker import apply_message
from fibsbot.bot.orders import Order
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch
from fibsbot.match import MatchState
from fibsbot.position import Play, Position
from fibsbot.redaction import REDACTED
from fibsbot.replay.events import GameBegan, GameEnded, MatchBegan
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, Result, Seat
from fibsbot.server.server import Server
from fibsbot.service.account import BotAccount
from fibsbot.service.live import LivePage, page_server
from fibsbot.service.live.feed import LINES, LONGEST, AccountFeed, FeedPart, board_picture
from fibsbot.table.remote_match import FollowedMatch
from fibsbot.transcript import Game, Gap, Player, Throw, Transcript, apply
from tests.bot.live_bots import CHEAP, UNHURRIED
from tests.drawing.svg_checks import parsed, said, texts
from tests.patience import SOON
from tests.service.accounts import opponent, plan, until
from tests.service.live_page import Browser, hearing, shown, talker

pytestmark = pytest.mark.slow

LOCAL = ("127.0.0.1", "localhost", "[::1]", "127.0.0.1:8080", "LOCALHOST:80")
STRANGE = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", "[", "")


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as server:
        yield server


# -- who may ask ----------------------------------------------------------------------------------------------------


async def status(url: str, **headers: str) -> int:
    """Return the status of an answer."""
    async with ClientSession() as session, session.get(url, headers=headers) as response:
        return response.status


async def test_the_page_is_off_by_default(server: Server) -> None:
    async with shown(plan(server.port, "marvin"), live=False) as (_, url):
        assert (404, 404, 200) == (
            await status(f"{url}/live"),
            await status(f"{url}/live/events"),
            await status(f"{url}/healthz"),
        )


@pytest.mark.parametrize(("live", "path"), [(True, "/live"), (False, "/healthz")])
async def test_the_address_alone_leads_to_a_page(server: Server, *, live: bool, path: str) -> None:
    async with (
        shown(plan(server.port, "marvin"), live=live) as (_, url),
        ClientSession() as session,
        session.get(url) as response,
    ):
        assert (200, path) == (response.status, response.url.path)


async def test_foreign_host_names_are_refused(server: Server) -> None:
    """A page of somebody else can give its own name our address; the browser tells the name."""
    async with shown(plan(server.port, "marvin")) as (_, url):
        for host in LOCAL:
            for page in ("live", "metrics", "healthz"):
                assert 200 == await status(f"{url}/{page}", Host=host), (page, host)
        for host in STRANGE:
            for page in ("live", "live/events", "metrics", "healthz", "nothing"):
                assert 403 == await status(f"{url}/{page}", Host=host), (page, host)


async def test_requests_from_other_sites_are_refused(server: Server) -> None:
    async with shown(plan(server.port, "marvin")) as (_, url):
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert 403 == await status(f"{url}/live/events", **headers), headers
        assert 200 == await status(f"{url}/live", **{"Sec-Fetch-Site": "cross-site"}), "somebody may follow a link"
        async with hearing(url, Origin=url, **{"Sec-Fetch-Site": "same-origin"}) as response:
            assert 200 == response.status
            assert "Access-Control-Allow-Origin" not in response.headers


async def test_the_page_may_run_only_its_own_script(server: Server) -> None:
    async with (
        shown(plan(server.port, "marvin")) as (_, url),
        ClientSession() as session,
        session.get(f"{url}/live") as response,
    ):
        text, policy = await response.text(), response.headers["Content-Security-Policy"]
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        allowed = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{allowed}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert [] == re.findall(r'\b(?:src|href|style|on\w+)="', text)


async def test_an_unknown_account_is_reported(server: Server) -> None:
    async with shown(plan(server.port, "marvin")) as (_, url), hearing(url, "ford") as response:
        assert (404, "there is no such account\n") == (response.status, await response.text())


async def test_the_number_of_viewers_is_limited(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_server, "WATCHERS", 2)
    async with (
        shown(plan(server.port, "marvin"), plan(server.port, "ford")) as (_, url),
        contextlib.AsyncExitStack() as all_,
    ):
        first = await all_.enter_async_context(hearing(url, "marvin"))
        second = await all_.enter_async_context(hearing(url, "ford"))
        third = await all_.enter_async_context(hearing(url, "ford"))
        assert (200, 200, 503) == (first.status, second.status, third.status)
        second.close()

        async def room() -> bool:
            async with hearing(url, "ford") as response:
                return response.status == 200

        async with asyncio.timeout(SOON):
            while not await room():  # noqa: ASYNC110 - only asking tells
                await asyncio.sleep(0.05)


# -- what is shown --------------------------------------------------------------------------------------------------


async def test_a_match_is_shown_from_its_first_move_to_its_result(server: Server) -> None:
    marvin = plan(server.port, "marvin", invite="ford", length=2)
    async with shown(marvin, plan(server.port, "zaphod")) as (_, url), hearing(url, "marvin") as response:
        browser = Browser(response)
        first = await browser.until(lambda now: "board" in now and "games" in now)
        assert ("", []) == (first["board"]["svg"], first["moves"]["moves"])
        assert ["marvin", "zaphod"] == [it["name"] for it in first["accounts"]["accounts"]]
        async with opponent(server.port, "ford"):
            playing = await browser.until(lambda now: len(now["moves"]["moves"]) > 6)
            root = parsed(playing["board"]["svg"])
            assert {"marvin", "ford"} <= {it.text for it in root.iter("{http://www.w3.org/2000/svg}text")}
            assert playing["board"]["title"] == said(root, "title")
            assert ["marvin", "ford"] == playing["moves"]["players"]
            assert {True, False} == {it["own"] for it in playing["moves"]["moves"]}
            over = await browser.until(lambda now: any(it["match"] for it in now["games"]["games"]))
    end = next(it for it in over["games"]["games"] if it["match"])
    assert re.fullmatch(r"(marvin|ford) wins the match, \d to \d\.", end["said"])
    assert ("ford", "2 points", end["said"].startswith("marvin")) == (end["opponent"], end["length"], end["won"])
    assert over["games"]["games"][0]["score"] != "0-0"


async def test_a_new_viewer_sees_the_current_state(server: Server) -> None:
    async with (
        shown(plan(server.port, "marvin", invite="ford", length=9)) as (_, url),
        opponent(server.port, "ford"),
        hearing(url) as early,
    ):
        before = await Browser(early).until(lambda now: len(now.get("moves", {}).get("moves", ())) > 8)
        async with hearing(url) as late:
            now = await Browser(late).until(lambda now: {"accounts", "board", "moves", "chat", "games"} <= now.keys())
    same_game = before["moves"]["game"] == now["moves"]["game"]
    assert not same_game or before["moves"]["moves"] == now["moves"]["moves"][: len(before["moves"]["moves"])]
    assert now["board"]["svg"]


async def test_chat_is_shown_but_never_the_password(server: Server) -> None:
    marvin = plan(server.port, "marvin")
    async with shown(marvin) as (it, url), talker(server) as arthur, hearing(url) as response:
        await until(lambda: it.supervisor.accounts["marvin"].status().connected is not None)
        arthur.send("tell marvin <script>alert(1)</script>")
        arthur.send("tell marvin is it PW-of-Marvin perhaps?")
        arthur.send("tell marvin help")
        now = await Browser(response).until(
            lambda now: (
                sum(not it["own"] for it in now.get("chat", {}).get("lines", ())) == 3
                and any(it["own"] for it in now["chat"]["lines"])
            )
        )
    theirs = [it["text"] for it in now["chat"]["lines"] if not it["own"]]
    assert ["<script>alert(1)</script>", f"is it {REDACTED} perhaps?", "help"] == theirs
    assert {("arthur", "says"), ("marvin", "tells arthur")} == {(it["name"], it["verb"]) for it in now["chat"]["lines"]}
    assert all(it["text"].startswith(("I'm a bot", "Tell me")) for it in now["chat"]["lines"] if it["own"])
    assert "pw-of-marvin" not in str(now).lower()


# -- nobody holds up a bot ------------------------------------------------------------------------------------------


class NarrowSite(web.TCPSite):
    """Has connections that hold little of what nobody reads, instead of megabytes."""

    async def start(self) -> None:
        """Start listening; connections get the buffers of the socket that accepts them."""
        await super().start()
        assert isinstance(self._server, asyncio.Server)
        for listening in self._server.sockets:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)


async def test_a_browser_that_does_not_read_is_disconnected_and_delays_nobody(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets more to read than all buffers between hold."""
    monkeypatch.setattr(web, "TCPSite", NarrowSite)
    monkeypatch.setattr(page_server, "PATIENCE", 0.5)
    monkeypatch.setattr(page_server, "UPDATE_INTERVAL", 0.0)
    marvin = plan(server.port, "marvin", invite="ford", length=5, timings=UNHURRIED)
    async with shown(marvin) as (it, url), opponent(server.port, "ford"), hearing(url) as response:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]), limit=1)
        writer.write(b"GET /live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert it._pages is not None
        live, account = it._pages._live, it.supervisor.accounts["marvin"]
        assert live is not None
        await until(lambda: len(live._wakers["marvin"]) == 2 and account._runner is not None)
        decisions, browser = account.totals().decisions, Browser(response)
        async with asyncio.timeout(2 * SOON):
            while len(live._wakers["marvin"]) > 1:
                flood(live, account)
                await browser._read()
        await until(lambda: account.totals().decisions > decisions)
        await browser.until(lambda now: now["board"]["svg"])
        writer.transport.abort()
    assert not reader.at_eof()


def flood(live: LivePage, account: BotAccount) -> None:
    """Have somebody say a lot."""
    assert account._runner is not None
    for _ in range(LINES):
        live.on_message(account.name, m.Says("vogon", "poetry " * 100), account._runner.agent)


async def test_viewers_do_not_keep_the_process_from_ending(server: Server) -> None:
    loop = asyncio.get_running_loop()
    async with shown(plan(server.port, "marvin")) as (it, url), hearing(url) as response:
        await Browser(response).until(lambda now: "board" in now)
        began = loop.time()
        it.supervisor.order(Order.QUIT)
        async with asyncio.timeout(SOON):
            await response.content.read()
        await until(lambda: it.supervisor.accounts["marvin"].end is End.FINISHED)
    assert loop.time() - began < 30


# -- one account ----------------------------------------------------------------------------------------------------


def chat(feed: AccountFeed) -> list[dict[str, Any]]:
    """Return the lines of chat."""
    lines: list[dict[str, Any]] = json.loads(feed.part(FeedPart.CHAT))["lines"]
    return lines


def test_only_the_last_chat_lines_are_kept_and_long_ones_are_cut() -> None:
    feed, agent = AccountFeed("marvin"), Agent(AgentSettings("marvin", "secret"))
    for number in range(LINES + 50):
        assert feed.on_message(m.Kibitzes("ford", f"{number} " + "x" * 10_000), agent)
    lines = chat(feed)
    assert (LINES, "50") == (len(lines), lines[0]["text"].split()[0])
    assert max(len(it["text"]) for it in lines) <= LONGEST


def test_messages_without_a_visible_effect_cause_no_update() -> None:
    feed, agent = AccountFeed("marvin"), Agent(AgentSettings("marvin", "secret"))
    feed.on_message(m.WhoEnd(), agent)
    assert not feed.on_message(m.WhoEnd(), agent)
    assert feed.part(FeedPart.BOARD) is feed.part(FeedPart.BOARD), "nothing is drawn twice"


def test_points_are_always_numbered_from_the_bots_side() -> None:
    numbers = ",".join(map(str, range(1, 25)))
    for turn in PlayerSide:
        track = TrackedMatch("marvin", opponent="ford", running=True, state=MatchState(Position.start()), turn=turn)
        shown = board_picture(FollowedMatch("marvin", track), None)
        assert numbers in ",".join(texts(parsed(shown.svg))), turn


def test_after_a_match_the_board_is_marked_as_past_until_the_next_one_begins() -> None:
    feed, agent = AccountFeed("marvin"), Agent(AgentSettings("marvin", "secret"))
    past = []
    for line in (
        "** You are now playing a 1 point match with ford",
        "Starting a new game with ford.",
        "ford gives up. You win 1 point.",
        "You win the 1 point match 1-0 .",
        "7 zaphod zaphod logs in.",
        "** You are now playing a 1 point match with ford",
        "Starting a new game with ford.",
    ):
        message = parse(line)
        agent._connection.context.tracked = apply_message(agent.tracked, message)
        feed.on_message(message, agent)
        past.append(json.loads(feed.part(FeedPart.BOARD))["past"])
    assert [False, False, False, True, True, True, False] == past


def test_control_characters_are_not_shown() -> None:
    feed, agent = AccountFeed("marvin"), Agent(AgentSettings("marvin", "secret"))
    feed.on_message(m.Says("ford", "\x1b[31mred\u202e"), agent)
    assert ["\ufffd[31mred\ufffd"] == [it["text"] for it in chat(feed)]


def test_a_resumed_game_shows_its_earlier_moves_and_gaps() -> None:
    start = start_match(FIBS, 5, (1, 2))
    first = Throw(Seat.A, (3, 1), Play.of((8, 5), (6, 5)))
    before = apply(start, first)
    game = Game(4, start, (first, Gap("lines got lost", before)))
    feed = AccountFeed("marvin")
    players = (Player("marvin"), Player("ford"))
    feed.on_match_event(MatchBegan(1, Transcript(players, 5, user=Seat.A)))
    feed.on_match_event(GameBegan(1, game))
    found = json.loads(feed.part(FeedPart.MOVES))
    assert (4, [1, 2], "5 points", ["marvin", "ford"]) == tuple(
        found[it] for it in ("game", "scores", "length", "players")
    )
    assert [
        {"turn": 1, "own": True, "text": "31: 8/5 6/5"},
        {"turn": 2, "text": "missing: lines got lost"},
    ] == found["moves"]
    feed.on_match_event(GameEnded(1, evolve(game, result=Result(Seat.B, 2, Level.GAMMON, Ending.BORNE_OFF)), before))
    (end,) = json.loads(feed.part(FeedPart.GAMES))["games"]
    assert ("1-4", False, "ford wins 2 points (gammon).") == (end["score"], end["won"], end["said"])


def test_an_error_of_the_page_does_not_affect_the_account() -> None:
    live = page_server.LivePage({"marvin": "secret"}, list)
    broken = MatchBegan(1, Transcript((), 5))  # type: ignore[arg-type]  # a match of nobody
    with capture_logs() as logs:
        live.on_match_event("marvin", broken)
    assert ["the live page cannot show an event"] == [it["event"] for it in logs]
