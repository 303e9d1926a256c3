"""Serves the page `/live` and its events to browsers on this machine, each at its own pace; none delays a bot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib import resources
from typing import Any, Final, TypeAlias

import structlog
from aiohttp import web

from fibs_protocol.messages import Message
from fibsbot.bot.agent import Agent
from fibsbot.drawing.themes import stylesheet
from fibsbot.replay.events import MatchEvent
from fibsbot.rules.state import GameState, Seat
from fibsbot.service.account import AccountStatus
from fibsbot.service.live.feed import AccountFeed, FeedPart, safe_text
from fibsbot.web.content_policy import own_policy
from fibsbot.web.request_guards import PRIVATE_HEADERS


def _asset(name: str) -> str:
    return (resources.files("fibsbot.service.live") / "assets" / name).read_text(encoding="utf-8")


_STYLE: Final = f"{stylesheet()}{_asset('live.css')}"
_SCRIPT: Final = _asset("live.js")
PAGE: Final = _asset("live.html").replace("/* style */", _STYLE).replace("/* script */", _SCRIPT)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": own_policy(_SCRIPT, _STYLE),
    **PRIVATE_HEADERS,
}


WATCHERS: Final = 16
"""Maximum number of browsers at the same time."""
UPDATE_INTERVAL: Final = 0.15
"""Seconds between two updates for the same browser; content that is outdated by then is never sent."""
STATUS_INTERVAL: Final = 1.0
"""Seconds between two checks of the accounts' status."""
HEARTBEAT: Final = 10.0
"""Seconds of silence after which a browser is sent a sign of life."""
PATIENCE: Final = 20.0
"""Seconds that a browser may take to read before it is disconnected."""
RETRY_MILLISECONDS: Final = 2000
"""Milliseconds after which a browser tries again when the connection is lost."""

_log = structlog.get_logger(__name__)


Evaluate: TypeAlias = Callable[[str, GameState, Seat], Awaitable[float | None]]
"""Returns the chance that the player at a seat wins a game of an account; None where there is none to say."""


class LivePage:
    """The page that shows all accounts to browsers."""

    def __init__(
        self,
        accounts: Iterable[str],
        statuses: Callable[[], Iterable[AccountStatus]],
        evaluate: Evaluate | None = None,
    ) -> None:
        """Show the accounts with these names, and the chances on their boards if `evaluate` returns them."""
        self._evaluate = evaluate
        self._feeds = {name: AccountFeed(name) for name in accounts}
        self._statuses = statuses
        self._wakers: dict[str, set[asyncio.Event]] = {name: set() for name in self._feeds}
        """By account, the events that wake its viewers."""
        self._closing = False

    # -- events -------------------------------------------------------------------------------------------------

    def on_message(self, account: str, message: Message, agent: Agent) -> None:
        """Handle a message of the server for an account."""
        if self._feeds[account].on_message(message, agent):
            self._wake(account)

    def on_match_event(self, account: str, event: MatchEvent) -> None:
        """Handle an event of an account's match."""
        try:
            self._feeds[account].on_match_event(event)
        except Exception:  # noqa: BLE001 - the page must not affect the account
            _log.exception("the live page cannot show an event", account=account)
        self._wake(account)

    def _accounts(self) -> list[dict[str, Any]]:
        """Return the status of each account."""
        return [
            {
                "name": status.account,
                "sentence": safe_text(status.sentence),
                "healthy": status.healthy,
                "playing": bool(status.agent and status.agent.playing),
            }
            for status in self._statuses()
        ]

    def feed(self, account: str) -> AccountFeed | None:
        """Return what is shown of an account; None if there is no such account."""
        return self._feeds.get(account)

    async def chance(self, account: str) -> float | None:
        """Return the chance that an account wins the game on its board; None if it is not known."""
        feed = self._feeds[account]
        game = feed.game
        chance = None if self._evaluate is None or game is None else await self._evaluate(account, *game)
        feed.show_chance(chance)
        return chance

    def _wake(self, account: str) -> None:
        for event in self._wakers[account]:
            event.set()

    def close(self) -> None:
        """End all responses."""
        self._closing = True
        for account in self._wakers:
            self._wake(account)

    # -- responses ----------------------------------------------------------------------------------------------

    async def page(self, _: web.Request) -> web.StreamResponse:
        """Respond with the page."""
        return web.Response(text=PAGE, content_type="text/html", headers=HEADERS)

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Respond with the events of one account, as long as the browser is connected."""
        account = request.query.get("account") or next(iter(self._feeds), "")
        if account not in self._feeds:
            raise web.HTTPNotFound(text="there is no such account\n")
        if self._closing or sum(map(len, self._wakers.values())) >= WATCHERS:
            raise web.HTTPServiceUnavailable(text=f"{WATCHERS} browsers watch already\n", headers={"Retry-After": "10"})
        wake = asyncio.Event()
        self._wakers[account].add(wake)
        try:
            return await self._watch(request, account, wake)
        finally:
            self._wakers[account].discard(wake)

    async def _watch(self, request: web.Request, account: str, wake: asyncio.Event) -> web.StreamResponse:
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream; charset=utf-8"})
        updates = BrowserUpdates(account, self._feeds[account], self._accounts)
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(PATIENCE):
                await response.prepare(request)
                await response.write(f"retry: {RETRY_MILLISECONDS}\n\n".encode())
            last_sent = clock()
            while not self._closing and request.transport and not request.transport.is_closing():
                wake.clear()
                await self.chance(account)
                text = updates.pending_events()
                if not text and clock() - last_sent >= HEARTBEAT:
                    text = _event("beat", "{}")
                if text:
                    async with asyncio.timeout(PATIENCE):
                        await response.write(text.encode())
                    last_sent = clock()
                await _wait(wake)
        except TimeoutError:
            _log.info("a browser that does not read is given up", account=account)
            if request.transport:
                request.transport.abort()
        except ConnectionError:
            pass  # the browser has closed the connection
        return response


async def _wait(wake: asyncio.Event) -> None:
    """Wait for events, but not for ever: changes of the status cause none."""
    await asyncio.sleep(UPDATE_INTERVAL)
    try:
        async with asyncio.timeout(STATUS_INTERVAL):
            await wake.wait()
    except TimeoutError:
        return


class BrowserUpdates:
    """The events that a browser has not received yet."""

    def __init__(self, account: str, feed: AccountFeed, accounts: Callable[[], list[dict[str, Any]]]) -> None:
        """Prepare to send everything."""
        self._account = account
        self._feed = feed
        self._accounts = accounts
        self._sent: dict[FeedPart, int] = {}
        self._sent_accounts = ""

    def pending_events(self) -> str:
        """Return the events that bring the browser up to date; empty if it is."""
        events = []
        accounts = json.dumps({"account": self._account, "accounts": self._accounts()})
        if accounts != self._sent_accounts:
            self._sent_accounts = accounts
            events.append(_event("accounts", accounts))
        for part, version in self._feed.versions.items():
            if self._sent.get(part) != version:
                self._sent[part] = version
                events.append(_event(part.value, self._feed.part(part)))
        return "".join(events)


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"
