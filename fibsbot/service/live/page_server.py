"""Serves the page `/live` and its events to browsers on this machine, each at its own pace; none holds up a bot."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from typing import Any, Final

import structlog
from aiohttp import web
from fibs_protocol.messages import Message

from fibsbot.bot.agent import Agent
from fibsbot.draw.themes import stylesheet
from fibsbot.replay.events import MatchEvent
from fibsbot.service.account import AccountStatus
from fibsbot.service.live.feed import AccountFeed, FeedPart, safe_text


def _asset(name: str) -> str:
    return (resources.files("fibsbot.service.live") / "assets" / name).read_text(encoding="utf-8")


def _allowed(text: str) -> str:
    """Return the source expression of a Content-Security-Policy that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_STYLE: Final = f"{stylesheet()}{_asset('live.css')}"
_SCRIPT: Final = _asset("live.js")
PAGE: Final = _asset("live.html").replace("/* style */", _STYLE).replace("/* script */", _SCRIPT)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        f"default-src 'none'; connect-src 'self'; script-src {_allowed(_SCRIPT)}; style-src {_allowed(_STYLE)};"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


WATCHERS: Final = 16
"""Browsers that may watch at the same time."""
UPDATE_INTERVAL: Final = 0.15
"""Seconds between two pieces of news for the same browser; what is outdated by then is never sent."""
STATUS_INTERVAL: Final = 1.0
"""Seconds between two looks at how the accounts are."""
HEARTBEAT: Final = 10.0
"""Seconds after which a browser hears that we are still there."""
PATIENCE: Final = 20.0
"""Seconds that a browser may take to read before it is given up."""
RETRY_MILLISECONDS: Final = 2000
"""Milliseconds after which a browser tries again when the connection is lost."""

_log = structlog.get_logger(__name__)


class LivePage:
    """All accounts, and who watches them."""

    def __init__(self, accounts: Iterable[str], statuses: Callable[[], Iterable[AccountStatus]]) -> None:
        """Show these accounts, by name. `statuses` tells how they are."""
        self._feeds = {name: AccountFeed(name) for name in accounts}
        self._statuses = statuses
        self._stirs: dict[str, set[asyncio.Event]] = {name: set() for name in self._feeds}
        """By account, what wakes those who watch it."""
        self._closing = False

    # -- what happens -------------------------------------------------------------------------------------------

    def hear(self, account: str, message: Message, agent: Agent) -> None:
        """Take in a message of the server for an account."""
        if self._feeds[account].hear(message, agent):
            self._stir(account)

    def happen(self, account: str, happening: MatchEvent) -> None:
        """Take in what happened in an account's match."""
        try:
            self._feeds[account].happen(happening)
        except Exception:  # noqa: BLE001 - a page to look at is worth no harm to what else follows the match
            _log.exception("the live page cannot show what happened", account=account)
        self._stir(account)

    def _accounts(self) -> list[dict[str, Any]]:
        """Tell how each account is."""
        return [
            {
                "name": status.account,
                "sentence": safe_text(status.sentence),
                "healthy": status.healthy,
                "playing": bool(status.agent and status.agent.opponent),
            }
            for status in self._statuses()
        ]

    def _stir(self, account: str) -> None:
        for event in self._stirs[account]:
            event.set()

    def close(self) -> None:
        """Let everybody who watches go."""
        self._closing = True
        for account in self._stirs:
            self._stir(account)

    # -- answers ------------------------------------------------------------------------------------------------

    async def page(self, _: web.Request) -> web.StreamResponse:
        """Answer with the page."""
        return web.Response(text=PAGE, content_type="text/html", headers=HEADERS)

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Answer with what there is to see of one account, and go on as long as the browser is there."""
        account = request.query.get("account") or next(iter(self._feeds), "")
        if account not in self._feeds:
            raise web.HTTPNotFound(text="there is no such account\n")
        if self._closing or sum(map(len, self._stirs.values())) >= WATCHERS:
            raise web.HTTPServiceUnavailable(text=f"{WATCHERS} browsers watch already\n", headers={"Retry-After": "10"})
        stir = asyncio.Event()
        self._stirs[account].add(stir)
        try:
            return await self._watch(request, account, stir)
        finally:
            self._stirs[account].discard(stir)

    async def _watch(self, request: web.Request, account: str, stir: asyncio.Event) -> web.StreamResponse:
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream; charset=utf-8"})
        news = BrowserUpdates(account, self._feeds[account], self._accounts)
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(PATIENCE):
                await response.prepare(request)
                await response.write(f"retry: {RETRY_MILLISECONDS}\n\n".encode())
            heard = clock()
            while not self._closing and request.transport and not request.transport.is_closing():
                stir.clear()
                text = news.since_last()
                if not text and clock() - heard >= HEARTBEAT:
                    text = _event("beat", "{}")
                if text:
                    async with asyncio.timeout(PATIENCE):
                        await response.write(text.encode())
                    heard = clock()
                await _wait(stir)
        except TimeoutError:
            _log.info("a browser that does not read is given up", account=account)
            if request.transport:
                request.transport.abort()
        except ConnectionError:
            pass  # the browser has gone
        return response


async def _wait(stir: asyncio.Event) -> None:
    """Wait for news, but not for ever: how the accounts are is looked at, not told."""
    await asyncio.sleep(UPDATE_INTERVAL)
    try:
        async with asyncio.timeout(STATUS_INTERVAL):
            await stir.wait()
    except TimeoutError:
        return


class BrowserUpdates:
    """What one browser has not seen yet."""

    def __init__(self, account: str, feed: AccountFeed, accounts: Callable[[], list[dict[str, Any]]]) -> None:
        """Have shown nothing."""
        self._account = account
        self._feed = feed
        self._accounts = accounts
        self._sent: dict[FeedPart, int] = {}
        self._told = ""

    def since_last(self) -> str:
        """Return the events that bring the browser up to now; empty where it is."""
        events = []
        accounts = json.dumps({"account": self._account, "accounts": self._accounts()})
        if accounts != self._told:
            self._told = accounts
            events.append(_event("accounts", accounts))
        for part, version in self._feed.versions.items():
            if self._sent.get(part) != version:
                self._sent[part] = version
                events.append(_event(part.value, self._feed.part(part)))
        return "".join(events)


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"
