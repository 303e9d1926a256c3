"""Who may ask: the server listens on 127.0.0.1 alone, but a browser there also shows pages of others."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

OURS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names of this machine. A page of somebody else can give its own name our address, but not change its name."""
_SAME: Final = frozenset({"same-origin", "none"})


def refuse_strangers(request: web.Request, *, embedded: bool = False) -> None:
    """Refuse whatever a page of somebody else asks for.

    Args:
        request: what is asked.
        embedded: whether it is asked for by a page, and never by somebody who follows a link.

    Raises web.HTTPForbidden.
    """
    if _host(f"//{request.headers.get('Host', '')}") not in OURS:
        raise web.HTTPForbidden(text="expected the name of this machine, such as 127.0.0.1 or localhost\n")
    origin = request.headers.get("Origin")
    if origin is not None and _host(origin) not in OURS:
        raise web.HTTPForbidden(text="expected to be asked by a page of this machine\n")
    if embedded and request.headers.get("Sec-Fetch-Site", "none") not in _SAME:
        raise web.HTTPForbidden(text="expected to be asked by the page itself\n")


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
