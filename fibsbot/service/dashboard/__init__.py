"""The page `/dashboard`: all accounts of the process, their ratings and matches, and the orders that control them."""

from __future__ import annotations

from fibsbot.service.dashboard.page_server import Dashboard

__all__ = ["Dashboard"]
