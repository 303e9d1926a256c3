"""Notices and hooks for tests."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from fibsbot.notify.notice import Notice
from fibsbot.notify.settings import Hook, NotifyEvent, NotifySettings

NOON: Final = dt.datetime(2026, 11, 28, 12, tzinfo=dt.UTC)


def notice(event: NotifyEvent = NotifyEvent.STUCK, number: int = 1) -> Notice:
    """Return a notice with a number in its text."""
    return Notice(
        event, "marvin", "marvin: a match is stuck", f"Notice {number}.", NOON, {"number": number}, f"key{number}"
    )


def hook(url: str | None = None, *, name: str = "telephone", token: str | None = None, **settings: Any) -> Hook:
    """Return a hook that is sent everything."""
    events = tuple(event for event in NotifyEvent if event is not NotifyEvent.TRIAL)
    return Hook(name, NotifySettings(**{"events": events, **settings}), url, token)
