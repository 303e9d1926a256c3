"""One attempt to deliver a notice. Whatever the receiver does, it ends in time, and an error says no secret."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Final

import aiohttp

from fibsbot.notify.formats import WebRequest, standard_input, variables, web_request
from fibsbot.notify.notice import Notice
from fibsbot.notify.settings import Hook
from fibsbot.redaction import redact
from fibsbot.text import one_line
from fibsbot.version import __version__

MAX_RETRY_AFTER: Final = 3600.0
"""Seconds for which a receiver may ask to be left alone."""
MAX_ERROR: Final = 300
"""Characters of what a command says before it fails."""
_TRY_AGAIN: Final = frozenset({408, 425, 429})
"""Refusals by status 400 to 499 that say nothing about the notice."""
_LINGER: Final = 0.5
"""Seconds that the standard error of a command that has ended may stay open, as when it has left a child behind."""


class DeliveryError(Exception):
    """A notice was not delivered; the text is one line, without the address."""

    def __init__(self, text: str, *, is_refusal: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(text)
        self.is_refusal = is_refusal
        """Whether the receiver does not want this notice, and probably never will."""
        self.retry_after = retry_after
        """Seconds after which the receiver may be asked again at the earliest."""


async def deliver(notice: Notice, hook: Hook, session: aiohttp.ClientSession) -> str:
    """Deliver a notice; return in a few words how the receiver took it. Raises DeliveryError."""
    timeout = hook.settings.timeout
    try:
        async with asyncio.timeout(timeout):
            if hook.url is not None:
                request = web_request(notice, hook.settings.format)
                return await _post(request, hook.url, hook.token, session)
            return await _run(hook.settings.command, standard_input(notice, hook.settings.format), variables(notice))
    except TimeoutError:
        raise DeliveryError(f"not done within {timeout:g} s") from None


# -- a web address --------------------------------------------------------------------------------------------------


async def _post(request: WebRequest, url: str, token: str | None, session: aiohttp.ClientSession) -> str:
    headers = {
        **request.headers,
        "Content-Type": request.content_type,
        "User-Agent": f"fibsbot/{__version__}",
        **({"Authorization": f"Bearer {token}"} if token else {}),
    }
    address = url.rstrip("/") + request.suffix if request.suffix else url
    try:
        response = await session.request(
            request.method, address, data=request.body, headers=headers, allow_redirects=False
        )
        try:
            return _checked(response)
        finally:
            response.close()  # the body is of no interest, and may have no end
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise DeliveryError(_web_error(error)) from None


def _checked(response: aiohttp.ClientResponse) -> str:
    """Return the status in words if it says that the notice was taken. Raises DeliveryError."""
    status = response.status
    if 200 <= status < 300:
        return f"status {status}"
    if 300 <= status < 400:
        raise DeliveryError(f"status {status}: the receiver is elsewhere, and a redirection is not followed")
    is_refusal = 400 <= status < 500 and status not in _TRY_AGAIN
    raise DeliveryError(f"status {status}", is_refusal=is_refusal, retry_after=_retry_after(response))


def _retry_after(response: aiohttp.ClientResponse) -> float:
    try:
        wait = float(response.headers.get("Retry-After", "0"))
    except ValueError:
        return 0.0  # a date
    return min(max(wait, 0.0), MAX_RETRY_AFTER) if wait == wait else 0.0  # noqa: PLR0124 - not a number


def _web_error(error: Exception) -> str:
    """Return an error in words of our own: those of aiohttp may repeat the address."""
    for kind, text in _WEB_ERRORS:
        if isinstance(error, kind):
            return text
    system = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(system, OSError) and system.errno:
        return f"cannot connect: {os.strerror(system.errno)}"
    return "the connection was closed before the answer"


_WEB_ERRORS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (aiohttp.ClientSSLError, "no secure connection: the certificate or the protocol is not accepted"),
    (aiohttp.ClientConnectorDNSError, "the name of the receiver is not known"),
    (aiohttp.ClientResponseError, "the answer is no HTTP"),
    (aiohttp.ClientPayloadError, "the answer is no HTTP"),
    (ValueError, "the request cannot be made"),
)


# -- a command ------------------------------------------------------------------------------------------------------


async def _run(command: tuple[str, ...], stdin: bytes, more: dict[str, str]) -> str:
    """Run a command; kill it, and what it has started, if it is cancelled."""
    with contextlib.closing(await _ErrorOutput.open()) as errors:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors.write_end,
                env={**_own_environment(), **more},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            text = error.strerror if isinstance(error, OSError) else str(error)
            raise DeliveryError(f"cannot run {command[0]}: {text}") from None
        finally:
            os.close(errors.write_end)
        try:
            if process.stdin is not None:
                with contextlib.suppress(OSError):  # a command need not read
                    process.stdin.write(stdin)
                    await process.stdin.drain()
                    process.stdin.close()
            status = await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if status:
            said = one_line(redact(await errors.text()))[-MAX_ERROR:]
            raise DeliveryError(f"{command[0]} ended with status {status}" + (f": {said}" if said else ""))
    return "status 0"


class _ErrorOutput(asyncio.Protocol):
    """The end of what a command writes to standard error, on a pipe that others may hold open after it."""

    def __init__(self) -> None:
        self.write_end = -1
        """For the command; the caller closes it once the command runs."""
        self._end = b""
        self._closed = asyncio.Event()
        self._transport: asyncio.BaseTransport | None = None

    @classmethod
    async def open(cls) -> _ErrorOutput:
        """Make the pipe."""
        read_end, write_end = os.pipe()
        loop = asyncio.get_running_loop()
        _, output = await loop.connect_read_pipe(cls, os.fdopen(read_end, "rb", buffering=0))
        output.write_end = write_end
        return output

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._end = (self._end + data)[-4 * MAX_ERROR :]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._closed.set()

    async def text(self) -> str:
        """Return the end of what was written, once all of it is there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                await self._closed.wait()
        return self._end.decode(errors="replace")

    def close(self) -> None:
        """Close our end."""
        if self._transport is not None:
            self._transport.close()


def _own_environment() -> dict[str, str]:
    """Return the environment of this process without variables in which there is a password."""
    return {name: value for name, value in os.environ.items() if redact(value) == value}
