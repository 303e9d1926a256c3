"""Serves the dashboard to browsers on this machine; the page's orders need a token, which the control socket gives.

Every user of this machine may look, as with `/live`; only who can open the control socket learns the token.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog
from aiohttp import web

from fibsbot.bot.events_and_actions import End
from fibsbot.bot.orders import GivenOrder, Order, parse_order
from fibsbot.records.session_log import utc_now
from fibsbot.records.store import StoreError
from fibsbot.redaction import redact, redact_record
from fibsbot.service.account import AccountStatus
from fibsbot.service.dashboard.history import history
from fibsbot.service.dashboard.match_reports import MatchReports, TooManyReportsError
from fibsbot.service.live import LivePage
from fibsbot.service.live.feed import FeedPart, safe_text
from fibsbot.service.pages import service_page
from fibsbot.text import one_line
from fibsbot.web.content_policy import PLAIN_POLICY
from fibsbot.web.request_guards import PRIVATE_HEADERS
from fibsbot.web.server import WebServer

PATH: Final = "/dashboard"
ORDERS: Final = (Order.PAUSE, Order.RESUME, Order.CONNECT, Order.FINISH, Order.QUIT)
"""The orders that the page offers."""
TOKEN_HEADER: Final = "X-Fibsbot-Token"  # noqa: S105 - the name of a header
MAX_ORDER_BYTES: Final = 1024
REFRESH_SECONDS: Final = 2
"""How often a browser asks again for a report that is being made."""

_log = structlog.get_logger(__name__)


_PAGE: Final = service_page("dashboard")
HEADERS: Final = _PAGE.headers


class Dashboard:
    """The page of all accounts: what they do, their histories, their orders."""

    def __init__(
        self,
        live: LivePage,
        status: Callable[[], Mapping[str, Any]],
        accounts: Callable[[], list[AccountStatus]],
        obey: Callable[[GivenOrder, str | None], Mapping[str, Any]],
        store: str | None,
    ) -> None:
        """Show what these return.

        Args:
            live: the boards.
            status: the status of the process.
            accounts: the status of each account.
            obey: carries out an order for an account; raises ValueError for an unknown one.
            store: where matches are, if they are stored.
        """
        self._live, self._status, self._accounts, self._obey = live, status, accounts, obey
        self._store = store
        self._reports = None if store is None else MatchReports(store)
        self.token = secrets.token_urlsafe(16)

    def add_to(self, server: WebServer) -> None:
        """Add the page and its addresses to a web server."""
        server.add(PATH, self.page)
        server.add(f"{PATH}/state", self.state, embedded=True)
        server.add(f"{PATH}/board", self.board, embedded=True)
        server.add(f"{PATH}/history", self.history, embedded=True)
        server.add(f"{PATH}/report/{{match}}", self.report)
        server.add(f"{PATH}/order", self.order, embedded=True, method="POST")

    def address(self, url: str) -> str:
        """Return the page's address with the token; `url` is that of the web server."""
        return f"{url}{PATH}#{self.token}"

    def close(self) -> None:
        """Give up what is being made."""
        if self._reports is not None:
            self._reports.close()

    # -- what is shown ------------------------------------------------------------------------------------------

    async def page(self, _: web.Request) -> web.StreamResponse:
        """Respond with the page."""
        return web.Response(text=_PAGE.html, content_type="text/html", headers=HEADERS)

    async def state(self, _: web.Request) -> web.StreamResponse:
        """Respond with the state of all accounts."""
        status = self._status()
        accounts = [await self._account(account) for account in self._accounts()]
        store = status["store"]
        if store is not None:
            store = {"healthy": store["healthy"], "trouble": safe_text(store["trouble"] or "")}
        return _json(
            {
                "version": status["version"],
                "uptime": status["uptime"],
                "store": store,
                "accounts": accounts,
            }
        )

    async def _account(self, status: AccountStatus) -> dict[str, Any]:
        values = status.as_dict()
        feed = self._live.feed(status.account)
        chance = None if feed is None else await self._live.chance(status.account)
        return {
            **{name: values[name] for name in ("account", "state", "healthy", "paused", "finishing", "connected")},
            **{name: values[name] for name in ("opponent", "saved", "last_error_at")},
            "sentence": safe_text(status.sentence),
            "last_error": safe_text(status.last_error or ""),
            "ended": status.state in End.__members__,
            "wins": status.counters.wins,
            "matches": status.counters.matches,
            "board": None if feed is None else feed.versions[FeedPart.BOARD],
            "chance": chance,
        }

    async def board(self, request: web.Request) -> web.StreamResponse:
        """Respond with the board of an account."""
        feed = self._live.feed(request.query.get("account", ""))
        if feed is None:
            raise web.HTTPNotFound(text="there is no such account\n")
        return web.Response(text=feed.part(FeedPart.BOARD), content_type="application/json", headers=HEADERS)

    async def history(self, request: web.Request) -> web.StreamResponse:
        """Respond with what the store knows of an account."""
        account = request.query.get("account", "")
        if self._live.feed(account) is None:
            raise web.HTTPNotFound(text="there is no such account\n")
        if self._store is None:
            return _json({"trouble": "no matches are stored (service.store)"})
        try:
            found = await asyncio.to_thread(history, self._store, account, utc_now())
        except StoreError as error:
            return _json({"trouble": safe_text(str(error))})
        return _json(found)

    async def report(self, request: web.Request) -> web.StreamResponse:
        """Respond with the report of a match, or with how far it is."""
        asked = request.match_info["match"]
        if self._reports is None or not (asked.isascii() and asked.isdigit() and len(asked) < 19):
            raise web.HTTPNotFound(text="there is no such match\n")
        try:
            report = await self._reports.report(int(asked))
        except TooManyReportsError:
            return _plain("Another report is being made; this one begins after it.\n", refresh=True)
        except StoreError as error:
            return _plain(f"There is no report: {safe_text(str(error))}\n")
        if report is None:
            raise web.HTTPNotFound(text="there is no such match\n")
        if report.page is None:
            headers = {} if report.fault else {"Refresh": str(REFRESH_SECONDS)}
            headers |= {**PRIVATE_HEADERS, "Content-Security-Policy": PLAIN_POLICY}
            return web.Response(text=report.progress, content_type="text/html", headers=headers)
        headers = {**PRIVATE_HEADERS, "Content-Security-Policy": report.policy}
        return web.Response(text=report.page, content_type="text/html", headers=headers)

    # -- orders -------------------------------------------------------------------------------------------------

    async def order(self, request: web.Request) -> web.StreamResponse:
        """Carry out an order, {"order": "pause", "account": "marvin"}; without an account it is for all."""
        token = request.headers.get(TOKEN_HEADER, "")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="expected the token that `fibsbot status --dashboard` prints\n")
        if request.content_length is None or request.content_length > MAX_ORDER_BYTES:
            raise web.HTTPRequestEntityTooLarge(max_size=MAX_ORDER_BYTES, actual_size=request.content_length or 0)
        try:
            asked: object = json.loads(await request.read())
        except (ValueError, RecursionError):
            asked = None
        word, account = (asked.get("order"), asked.get("account")) if isinstance(asked, dict) else (None, None)
        order = parse_order(word, ORDERS) if isinstance(word, str) else None
        if order is None or not isinstance(account, str | None):
            raise web.HTTPBadRequest(text=f"expected one of the orders {', '.join(it.value for it in ORDERS)}\n")
        try:
            obeyed = self._obey(GivenOrder(order), account)
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{one_line(redact(str(error)))}\n") from None
        _log.info("order from the dashboard", order=order.value, accounts=obeyed["accounts"])
        return _json(obeyed)


def _json(values: Mapping[str, Any]) -> web.Response:
    return web.json_response(redact_record(values), headers=HEADERS)


def _plain(text: str, *, refresh: bool = False) -> web.Response:
    headers = {**PRIVATE_HEADERS, "Content-Security-Policy": PLAIN_POLICY}
    return web.Response(text=text, headers=headers | ({"Refresh": str(REFRESH_SECONDS)} if refresh else {}))
