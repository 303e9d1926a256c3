"""Sends a trial notice to each hook at once, so that an operator sees whether it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

import aiohttp

from fibsbot.notify.delivery import DeliveryError, deliver
from fibsbot.notify.notice import Notice
from fibsbot.notify.settings import Hook, NotifyEvent
from fibsbot.records.session_log import utc_now


def try_hooks(hooks: Iterable[Hook]) -> Iterator[tuple[Hook, bool, str]]:
    """Yield each hook, whether the notice was delivered, and in words how."""
    text = "This is a trial. Notices of this bot look like it."
    notice = Notice(NotifyEvent.TRIAL, None, "fibsbot: trial", text, utc_now())
    for hook in hooks:
        try:
            yield hook, True, asyncio.run(_deliver_once(notice, hook))
        except DeliveryError as error:
            yield hook, False, str(error)


async def _deliver_once(notice: Notice, hook: Hook) -> str:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        return await deliver(notice, hook, session)
