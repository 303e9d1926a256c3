"""The table in a browser on this machine: a page, the state of the match, and inputs.

The address has a random token, so that no other user of the machine and no other page can play.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

import structlog
from aiohttp import web

from fibsbot.draw.layout import BAR_WIDTH, POINT, TRAY, WIDTH, Layout
from fibsbot.draw.scene import ViewOptions
from fibsbot.draw.svg import game_svg
from fibsbot.draw.themes import Theme, stylesheet
from fibsbot.rules.sides import HAND, OFF
from fibsbot.service.settings import HOST
from fibsbot.service.web_server import SHUTDOWN_TIMEOUT, refuse_foreign_requests
from fibsbot.table.hosts import BotHost
from fibsbot.table.model import Action, Preference, TableModel

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self'; style-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LARGEST_INPUT: Final = 1000
"""Bytes of an input."""
LONGEST_WAIT: Final = 20.0
"""Seconds that a browser waits for a new state before it asks again."""

_log = structlog.get_logger(__name__)


def _asset(name: str) -> str:
    return (resources.files("fibsbot.table") / "assets" / name).read_text(encoding="utf-8")


_PAGE: Final = _asset("table.html")
_ASSETS: Final = {
    "table.css": ("text/css", stylesheet() + _asset("table.css")),
    "table.js": ("text/javascript", _asset("table.js")),
}


class TablePage:
    """Serves a table to browsers on this machine."""

    def __init__(self, host: BotHost, port: int) -> None:
        """Serve on a port; 0 takes a free one."""
        self.token = secrets.token_urlsafe(16)
        self.port = port
        self._host = host
        self._version = 0
        self._changed = asyncio.Event()
        self.app = web.Application(middlewares=[self._guard], client_max_size=LARGEST_INPUT)
        root = f"/{self.token}/"
        self.app.router.add_get(root, self._page)
        self.app.router.add_get(root + "state", self._state)
        self.app.router.add_post(root + "act", self._act)
        self.app.router.add_post(root + "prefer", self._prefer)
        for name in _ASSETS:
            self.app.router.add_get(root + name, self._file)
        self._runner = web.AppRunner(self.app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT)

    @property
    def address(self) -> str:
        """The address for the browser."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    async def start(self) -> None:
        """Start listening. Raises OSError if the port is in use."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, HOST, self.port).start()
        except OSError:
            await self._runner.cleanup()
            raise
        self.port = self._runner.addresses[0][1]
        self._host.listen(self._note_change)
        await self._host.start()

    async def close(self) -> None:
        """Stop."""
        await self._host.close()
        await self._runner.cleanup()

    def _note_change(self) -> None:
        """Let the browsers that wait have the new state."""
        self._version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    # -- responses ----------------------------------------------------------------------------------------------

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        refuse_foreign_requests(request, embedded=request.method == "POST")
        response: web.StreamResponse = await handler(request)
        return response

    async def _page(self, _: web.Request) -> web.StreamResponse:
        return web.Response(text=_PAGE, content_type="text/html", headers=HEADERS)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        kind, text = _ASSETS[request.path.rpartition("/")[2]]
        return web.Response(text=text, content_type=kind, headers=HEADERS)

    async def _state(self, request: web.Request) -> web.StreamResponse:
        """Respond with the state as soon as it is newer than what the browser has."""
        known = request.query.get("after", "")
        if known == str(self._version):
            with contextlib.suppress(TimeoutError):  # the browser asks again
                await asyncio.wait_for(self._changed.wait(), LONGEST_WAIT)
        return self._response()

    async def _act(self, request: web.Request) -> web.StreamResponse:
        asked = await _asked(request)
        try:
            action, numbers = Action(asked.get("action")), asked.get("numbers", [])
        except ValueError:
            raise web.HTTPBadRequest(text="expected an action and its numbers\n") from None
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            raise web.HTTPBadRequest(text="expected whole numbers\n")
        self._host.act(action, numbers)
        return self._response()

    async def _prefer(self, request: web.Request) -> web.StreamResponse:
        asked = await _asked(request)
        try:
            preference = Preference(asked.get("preference"))
        except ValueError:
            raise web.HTTPBadRequest(text="expected a preference\n") from None
        self._host.prefer(preference, wanted=bool(asked.get("wanted")))
        return self._response()

    def _response(self) -> web.Response:
        state = {"version": self._version, **page_state(self._host.model)}
        return web.json_response(state, headers=HEADERS)


async def _asked(request: web.Request) -> dict[str, Any]:
    """Return the JSON object that a request has. Raises HTTPBadRequest if it has none."""
    try:
        asked = json.loads(await request.text())
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise web.HTTPBadRequest(text="expected a JSON object\n")
    return asked


def page_state(model: TableModel) -> dict[str, Any]:
    """Return what the page shows, in JSON types."""
    state, view = model.shown, ViewOptions(theme=Theme.PAGE)
    layout = Layout(view.left, view.board_only, state.rules.course)
    in_hand = state.rules.in_hand(state.sides_for(model.seat).own) > 0
    return {
        "board": game_svg(state, model.seat, view=view, names=model.names),
        "text": model.sentence,
        "last": model.last,
        "actions": [action.value for action in model.actions],
        "preferences": [preference.value for preference in model.preferences],
        "names": list(model.names_offered),
        "moves": [[made.move.source, made.move.target] for made in model.moves],
        "places": {place: _area(layout, place, in_hand=in_hand) for place in range(OFF, HAND + 1)},
    }


def _area(layout: Layout, place: int, *, in_hand: bool) -> list[float]:
    """Return left, top, width and height of the area of a place, as fractions of the picture.

    Checkers enter from the tray where they lie in hand, else from the bar.
    """
    if place == OFF:
        left, width, top = layout.off_of(below=True) - TRAY / 2, TRAY, layout.middle
    elif place == HAND and in_hand:
        left, width, top = layout.cube - TRAY / 2, TRAY, layout.middle
    elif place == HAND:
        left, width, top = layout.bar - BAR_WIDTH / 2, BAR_WIDTH, layout.middle
    else:
        left, width, top = layout.column(place) - POINT / 2, POINT, layout.middle if place <= 12 else layout.top
    half = layout.bottom - layout.middle
    return [left / WIDTH, top / layout.height, width / WIDTH, half / layout.height]
