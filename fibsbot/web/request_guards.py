"""What every web page of ours keeps away: requests from pages of other sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

LOCAL_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names of this machine. A foreign site can let its own name resolve to our address, but not send another name."""
_SAME_SITE: Final = frozenset({"same-origin", "none"})

SHUTDOWN_TIMEOUT: Final = 1.0
"""Seconds that clients have to receive their last response at the end."""

PRIVATE_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every response of a page, beside its Content-Security-Policy."""


def refuse_foreign_requests(request: web.Request, *, embedded: bool = False) -> None:
    """Refuse requests that come from pages of other sites.

    Args:
        request: the request.
        embedded: whether only our own pages request this path, and no links lead to it.

    Raises web.HTTPForbidden.
    """
    if _host(f"//{request.headers.get('Host', '')}") not in LOCAL_NAMES:
        raise web.HTTPForbidden(text="expected the name of this machine, such as 127.0.0.1 or localhost\n")
    origin = request.headers.get("Origin")
    if origin is not None and _host(origin) not in LOCAL_NAMES:
        raise web.HTTPForbidden(text="expected a request from a page of this machine\n")
    if embedded and request.headers.get("Sec-Fetch-Site", "none") not in _SAME_SITE:
        raise web.HTTPForbidden(text="expected a request from our own page\n")


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
