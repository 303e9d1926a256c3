"""Delivers notices in a thread of its own, so that no receiver, however slow, and no disk delays a decision.

Each hook has its own queue and is asked again after growing pauses, for as long as it takes. What is not delivered when
the process ends is delivered by the next one.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any, Final

import aiohttp
import structlog

from fibsbot.client.backoff import Backoff
from fibsbot.client.settings import BackoffSettings
from fibsbot.notify.delivery import DeliveryError, deliver
from fibsbot.notify.notice import Notice
from fibsbot.notify.outbox import Outbox
from fibsbot.notify.settings import Hook

PAUSES: Final = BackoffSettings(first=5.0, longest=900.0)
"""Between two attempts."""
MAX_REFUSALS: Final = 4
"""Attempts after which a notice that the receiver refuses is given up, so that those behind it are delivered."""
DRAIN: Final = 10.0
"""Seconds that the end of the process waits for notices that were not tried yet."""

_log = structlog.get_logger(__name__)


class Notifier:
    """The hooks of a process. Its methods may be called from any thread, and return at once."""

    def __init__(self, hooks: Iterable[Hook], folder: Path | None = None) -> None:
        """Start the thread; `folder` keeps what is not delivered, None: nothing is kept."""
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._receivers: dict[str, _Receiver] = {}
        self._session: aiohttp.ClientSession | None = None
        self._hooks = tuple(hooks)
        self._thread = threading.Thread(target=self._run, name="notify", daemon=True)

    def start(self) -> None:
        """Start the thread, which first delivers what an earlier process has left."""
        self._thread.start()
        self.configure(self._hooks)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks in use."""
        return self._hooks

    def configure(self, hooks: Iterable[Hook]) -> None:
        """Use other hooks from now on; what waits for one of the same name is kept."""
        self._hooks = tuple(hooks)
        self._call(self._configure(self._hooks))

    def send(self, hook: str, notice: Notice) -> None:
        """Deliver a notice to the hook of this name, in time."""
        self._call(self._send(hook, notice.redacted()))

    def close(self) -> None:
        """Stop, after at most DRAIN seconds in which notices that were not tried yet are."""
        if not self._thread.is_alive():
            return
        self._call(self._stop())
        self._thread.join(3 * DRAIN)

    # -- in the thread ------------------------------------------------------------------------------------------

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            asyncio.run_coroutine_threadsafe(work, self._loop).add_done_callback(_report)
        except RuntimeError:  # closed
            work.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    async def _configure(self, hooks: tuple[Hook, ...]) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        for receiver in self._receivers.values():
            await receiver.stop()
        before, self._receivers = self._receivers, {}
        for hook in hooks:
            path = self._folder / f"{hook.name}.json" if self._folder else None
            old = before.get(hook.name)
            outbox = old.outbox if old else Outbox(path, hook.settings.keep)
            outbox.limit = hook.settings.keep
            self._receivers[hook.name] = _Receiver(hook, outbox, self._session, Backoff(PAUSES))

    async def _send(self, hook: str, notice: Notice) -> None:
        if receiver := self._receivers.get(hook):
            receiver.add(notice)

    async def _stop(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                await asyncio.gather(*(receiver.drained.wait() for receiver in self._receivers.values()))
        for receiver in self._receivers.values():
            await receiver.stop()
            if waiting := len(receiver.outbox):
                _log.warning("notices are not delivered yet", hook=receiver.name, waiting=waiting)
        if self._session is not None:
            await self._session.close()
        self._loop.stop()


def _report(work: concurrent.futures.Future[None]) -> None:
    if not work.cancelled() and (error := work.exception()):
        _log.error("notices cannot be handled", error=f"{type(error).__name__}: {error}")


class _Receiver:
    """A hook, what waits for it, and the task that delivers."""

    def __init__(self, hook: Hook, outbox: Outbox, session: aiohttp.ClientSession, backoff: Backoff) -> None:
        self.name = hook.name
        self.outbox = outbox
        self.drained = asyncio.Event()
        """Set while each notice that waits was tried at least once."""
        self._hook = hook
        self._session = session
        self._backoff = backoff
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._deliver_all())

    def add(self, notice: Notice) -> None:
        """Add a notice."""
        self.drained.clear()
        self.outbox.add(notice)
        self._changed.set()

    async def stop(self) -> None:
        """Stop delivering; what waits stays in the outbox."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _deliver_all(self) -> None:
        refusals, failed = 0, False
        while True:
            notice = self.outbox.first
            if notice is None:
                self.drained.set()
                self._changed.clear()
                await self._changed.wait()
                continue
            try:
                await deliver(notice, self._hook, self._session)
            except DeliveryError as error:
                refusals = refusals + 1 if error.is_refusal else 0
                given_up = refusals >= MAX_REFUSALS
                if not failed or given_up:
                    what = "notice refused, given up" if given_up else "notice not delivered, is tried again"
                    _log.warning(what, hook=self.name, notice=notice.event.value, error=str(error))
                failed = True
                if given_up:
                    refusals = 0
                    self.outbox.remove(notice.key, delivered=False)
                self.drained.set()
                await asyncio.sleep(max(self._backoff.next_pause(), error.retry_after))
            except Exception as error:  # noqa: BLE001 - an error here must not end the notices
                _log.error("notice could not be made", hook=self.name, error=f"{type(error).__name__}: {error}")
                self.outbox.remove(notice.key, delivered=False)
            else:
                if failed:
                    _log.info("notices are delivered again", hook=self.name)
                refusals, failed = 0, False
                self._backoff = Backoff(self._backoff.pauses)
                self.outbox.remove(notice.key, delivered=True)
