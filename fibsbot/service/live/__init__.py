"""The page `/live`: the boards of bots that run, in a browser on this machine, as they play."""

from __future__ import annotations

from fibsbot.service.live.page_server import LivePage

__all__ = ["LivePage"]
