"""Reads lists of players from files and web addresses, and keeps the last good copy of each.

A list that is broken, late or gone never changes what holds. Reading may wait for long: it is done in a thread of its
own (`in_own_thread`), and neither play nor the end of the process waits for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from functools import partial
from pathlib import Path
from typing import Final, Never, TypeVar

import structlog
from attrs import define, frozen

from fibsbot.files import at_home, read_json, replacing
from fibsbot.notify.settings import is_web_address
from fibsbot.policy.name_lists import ListSettings, NameList, PlayerLists
from fibsbot.version import __version__

MAX_BYTES: Final = 2_000_000
"""Bytes of a list."""
TIMEOUT: Final = 20.0
"""Seconds that an address has for its answer, all of it."""
LOADING_TIME: Final = 5.0
"""Seconds that lists in files have to be read before play begins without them."""

T = TypeVar("T")

_log = structlog.get_logger(__name__)


async def in_own_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, which may never come; the end of the process does not wait for it."""
    outcome: futures.Future[T] = futures.Future()

    def run() -> None:
        outcome.set_running_or_notify_cancel()
        try:
            outcome.set_result(work())
        except Exception as error:  # noqa: BLE001 - it is raised where it is awaited
            outcome.set_exception(error)

    threading.Thread(target=run, name="lists of players", daemon=True).start()
    return await asyncio.wrap_future(outcome)


_BLOCK, _ALLOW = "lists.block", "lists.allow"


def _labels(settings: ListSettings) -> Iterator[tuple[str, str]]:
    """Yield the file or address of each list, with what it is called where no address may be seen."""
    for setting, places in ((_BLOCK, settings.block), (_ALLOW, settings.allow)):
        yield from ((f"{setting}[{number}]", place) for number, place in enumerate(places, 1))


class ListError(Exception):
    """A list cannot be read; the text is one line, without an address."""


@frozen
class ListCopy:
    """A list as it was read."""

    text: str
    etag: str = ""
    modified: str = ""
    """The header Last-Modified that came with it."""


@define
class _Source:
    """A file or an address, and what is known of it."""

    place: str
    copy: ListCopy | None = None
    names: NameList | None = None
    """What the copy says; None: it was never read."""
    error: str | None = None
    """Why it could not be read last time."""

    @property
    def held(self) -> str:
        """What counts while it cannot be read."""
        return "the last good copy holds" if self.names is not None else "there is no copy of it"


class ListReader:
    """The lists of all accounts of a process."""

    def __init__(self, folder: Path | None) -> None:
        """Keep copies in this folder; None: none are kept."""
        self._folder = folder
        self._sources: dict[str, _Source] = {}

    async def loaded(self, settings: ListSettings) -> PlayerLists:
        """Return what `load` does; where that takes too long, what lists say that were never read."""
        try:
            async with asyncio.timeout(LOADING_TIME):
                return await in_own_thread(partial(self.load, settings))
        except TimeoutError:
            _log.warning("lists of players take long to read", so="play begins without them")
            return PlayerLists(NameList(), NameList() if settings.allow else None)

    async def fresh(self, settings: ListSettings) -> PlayerLists:
        """Return what `read` does."""
        return await in_own_thread(partial(self.read, settings))

    async def follow(self, settings: ListSettings, use: Callable[[PlayerLists], object]) -> Never:
        """Read the lists again and again, and pass on what they say."""
        while True:
            use(await self.fresh(settings))
            await asyncio.sleep(settings.interval)

    def load(self, settings: ListSettings) -> PlayerLists:
        """Return what the files say, and the last good copies of lists at addresses; no address is asked."""
        return self._lists(settings, ask=False)

    def read(self, settings: ListSettings) -> PlayerLists:
        """Return what the lists say now; where one cannot be read, what it said last."""
        return self._lists(settings, ask=True)

    def _lists(self, settings: ListSettings, *, ask: bool) -> PlayerLists:
        found = {label: self._names(label, place, ask=ask) for label, place in _labels(settings)}
        block = NameList.union(names for label, names in found.items() if names and label.startswith(_BLOCK))
        allow = NameList.union(names for label, names in found.items() if names and label.startswith(_ALLOW))
        return PlayerLists(block, allow if settings.allow else None)

    def _names(self, label: str, place: str, *, ask: bool) -> NameList | None:
        source = self._sources.get(place)
        if source is None:
            source = self._sources[place] = _Source(place)
            self._load_copy(source)
        is_address = is_web_address(place)
        if is_address and not ask:
            return source.names
        try:
            copy = asyncio.run(_fetched(place, source.copy)) if is_address else _read_file(at_home(place))
            if copy is not None and (source.names is None or copy != source.copy):
                source.names = NameList.parse(copy.text)
                source.copy = copy
                self._save_copy(source)
        except (ListError, ValueError) as error:
            if source.error != str(error):
                _log.warning("list of players cannot be read", list=label, error=str(error), so=source.held)
            source.error = str(error)
        else:
            if source.error is not None:
                _log.info("list of players can be read again", list=label)
            source.error = None
        return source.names

    def errors(self, settings: ListSettings) -> dict[str, str | None]:
        """Return why each list could not be read when it was last tried, and what holds; None: it was read."""
        return {label: self._error(place) for label, place in _labels(settings)}

    def _error(self, place: str) -> str | None:
        source = self._sources.get(place)
        if source is None or source.error is None:
            return None
        return f"{source.error}; {source.held}"

    # -- copies -------------------------------------------------------------------------------------------------

    def _path(self, source: _Source) -> Path | None:
        digest = hashlib.sha256(source.place.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:16]}.json" if self._folder else None

    def _load_copy(self, source: _Source) -> None:
        path = self._path(source)
        try:
            if path is not None:
                stored = read_json(path.read_bytes())
                source.copy = ListCopy(str(stored["text"]), str(stored["etag"]), str(stored["modified"]))
                source.names = NameList.parse(source.copy.text)
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            source.copy = source.names = None  # a damaged copy is as good as none

    def _save_copy(self, source: _Source) -> None:
        path, copy = self._path(source), source.copy
        if path is None or copy is None:
            return
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(path) as part:
                part.write_text(json.dumps({"text": copy.text, "etag": copy.etag, "modified": copy.modified}))
        except OSError as error:
            _log.warning("copy of a list of players cannot be kept", error=error.strerror or str(error))


def _read_file(path: Path) -> ListCopy:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe may never have an end
            raise ListError("not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ListError(error.strerror or str(error)) from None
    return ListCopy(_decoded(data))


def _decoded(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise ListError(f"more than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ListError("no text in UTF-8") from None


async def _fetched(address: str, copy: ListCopy | None) -> ListCopy | None:
    """Return what an address has now; None if that is the copy. Raises ListError."""
    import aiohttp  # noqa: PLC0415 - few configurations need it

    headers = {"User-Agent": f"fibsbot/{__version__}"}
    headers |= {"If-None-Match": copy.etag} if copy and copy.etag else {}
    headers |= {"If-Modified-Since": copy.modified} if copy and copy.modified else {}
    try:
        async with (
            asyncio.timeout(TIMEOUT),
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.get(address, headers=headers, max_redirects=3) as response,
        ):
            if response.status == 304 and copy is not None:
                return None
            if response.status != 200:
                raise ListError(f"status {response.status}")
            data = b""
            async for chunk in response.content.iter_chunked(65_536):
                data += chunk
                if len(data) > MAX_BYTES:
                    break
            found = response.headers
            return ListCopy(_decoded(data), found.get("ETag", ""), found.get("Last-Modified", ""))
    except TimeoutError:
        raise ListError(f"no whole answer within {TIMEOUT:g} s") from None
    except (aiohttp.ClientError, OSError) as error:
        raise ListError(f"no answer: {type(error).__name__}") from None
