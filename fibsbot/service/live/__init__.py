"""The page `/live`: the boards of the running bots in a browser on this machine, updated as they play."""

from __future__ import annotations

from fibsbot.service.live.page_server import LivePage

__all__ = ["LivePage"]
