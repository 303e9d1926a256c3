"""The page itself: one file, which loads nothing and may run nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Final

from fibsbot.draw.themes import stylesheet


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
