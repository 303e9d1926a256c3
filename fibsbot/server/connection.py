"""A client's connection: telnet bytes (RFC 854, 857), lines in, text out, and its limits.

`fibs_protocol.lines` splits what servers send, with its prompts; what clients send is simpler, but typed by people: it
may contain backspaces.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import define

from fibsbot.server.limits import FairQueue, ProcessorShare, ServerLimits
from fibsbot.server.world import TrafficCounts

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
ECHO: Final = 1

ECHO_OFF: Final = bytes((IAC, WILL, ECHO))
"""Asks the client not to echo what is typed, a password (specification: "Guest Log In")."""
ECHO_ON: Final = bytes((IAC, WONT, ECHO))

MAX_ANSWERS: Final = 64
"""Maximum number of options refused on one connection; further ones are ignored."""

_ERASES: Final = b"\x08\x7f"
"""Backspace and delete."""
_DROPPED: Final = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r\x08")
_SHOWN: Final = bytes.maketrans(b"\t", b" ")
FOREIGN: Final = "\N{REPLACEMENT CHARACTER}"
"""Stands for each byte beyond ASCII, whose encoding is not known."""


def as_ascii(line: str) -> str:
    """Return a line with `?` for each byte beyond ASCII."""
    return line.replace(FOREIGN, "?")


class TelnetInput:
    """A splitter of the bytes from a client into lines.

    A line ends with CR LF, CR NUL, LF or CR. Bytes beyond ASCII become `FOREIGN`, and control characters are dropped:
    one user's text must not move the cursor on another's screen. Lines are truncated at `max_line` bytes.
    """

    def __init__(self, max_line: int) -> None:
        """Limit lines to `max_line` bytes."""
        self.lines: deque[str] = deque()
        """Complete lines that have not been taken yet."""
        self.answers = bytearray()
        """Refusals of telnet options, to be sent to the client."""
        self._max_line = max_line
        self._line = bytearray()
        self._after_cr = False
        self._command: list[int] = []
        """The bytes of a telnet command that is not complete, after IAC; empty outside of one."""
        self._in_command = False
        self._answered = 0

    def feed(self, data: bytes) -> None:
        """Process the next bytes."""
        at = 0
        while at < len(data):
            if self._in_command:
                self._feed_command(data[at])
                at += 1
            else:
                end = data.find(IAC, at)
                self._in_command = end >= 0
                end = end if end >= 0 else len(data)
                self._feed_text(data[at:end].translate(_SHOWN, _DROPPED))
                at = end + 1

    def _feed_text(self, text: bytes) -> None:
        """Process characters, ends of lines, and characters that erase others."""
        if not text:
            return
        after_cr, self._after_cr = self._after_cr, text.endswith(b"\r")
        if after_cr:
            text = text.removeprefix(b"\n")
        *pieces, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for piece in pieces:
            self._add(piece)
            self.lines.append(self._line.decode("ascii", "replace"))
            self._line.clear()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        """Append to the incomplete line, up to its maximum length."""
        if not (b"\b" in piece or b"\x7f" in piece):
            self._line += piece[: max(0, self._max_line - len(self._line))]
            return
        for byte in piece:
            if byte in _ERASES:
                del self._line[-1:]
            elif len(self._line) < self._max_line:
                self._line.append(byte)

    def _feed_command(self, byte: int) -> None:
        """Process a byte after IAC. Of a subnegotiation, only the bytes that show its end are kept."""
        command = self._command
        command.append(byte)
        first = command[0]
        if first == SB:
            if command[-2:] == [IAC, SE]:
                self._end_command()
            elif command[-2:] == [IAC, IAC]:  # an escaped byte of the data, which begins no command
                del command[1:]
            elif len(command) > 2:
                del command[1:-1]
        elif first in (WILL, WONT, DO, DONT):
            if len(command) == 2:
                self._refuse(first, byte)
                self._end_command()
        else:
            self._end_command()
            if first == IAC:
                self._add(bytes((IAC,)))

    def _end_command(self) -> None:
        self._command.clear()
        self._in_command = False

    def _refuse(self, verb: int, option: int) -> None:
        """Refuse an option. Only offers and requests are answered, never refusals, which could loop for ever."""
        if option == ECHO or verb not in (WILL, DO) or self._answered >= MAX_ANSWERS:
            return
        self._answered += 1
        self.answers += bytes((IAC, DONT if verb == WILL else WONT, option))


PROMPT: Final = "> "
LINGER_TIME: Final = 0.1
"""Seconds that a client has to close the connection after the server did."""
CLOSE_TIME: Final = 2.0
"""Seconds that it has to read the last output."""
_CHUNK: Final = 1024
_LINGER_CHUNK: Final = 2**16
_LINGER_READS: Final = 4
"""Chunks of further input that are read and dropped; a client that sends more is cut off."""
_EOL: Final = "\r\n"


@define
class _TokenBucket:
    """A token bucket: use empties it, and time refills it."""

    size: float
    rate: float
    """Tokens added per second."""
    level: float
    at: float
    """The time of the last update."""

    def take(self, amount: float) -> float:
        """Remove tokens; return the seconds to wait until there are enough."""
        now = time.monotonic()
        self.level = min(self.size, self.level + (now - self.at) * self.rate) - amount
        self.at = now
        return max(0.0, -self.level / self.rate)


class ClientConnection:
    """A client's connection."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        limits: ServerLimits,
        traffic: TrafficCounts,
        turns: FairQueue | None = None,
    ) -> None:
        """Wrap the streams of an accepted connection; `turns` is shared by all connections of a server."""
        self.host: str = (writer.get_extra_info("peername") or ("unknown",))[0]
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._traffic = traffic
        self._input = TelnetInput(limits.line)
        now = time.monotonic()
        self._commands = _TokenBucket(limits.burst, limits.commands_per_second, limits.burst, now)
        self._bytes = _TokenBucket(limits.burst_bytes, limits.bytes_per_second, limits.burst_bytes, now)
        self._fair_queue = turns or FairQueue()
        self.share = ProcessorShare()
        """The processor time used by what this client sends."""
        self._prompted = False
        self._reading: asyncio.Timeout | None = None
        """The timeout of the current read."""
        self.closed = False

    # -- in ---------------------------------------------------------------------------------------------------------

    async def read_line(self) -> str | None:
        """Return the next line as `read_secret` does, with `?` for each byte beyond ASCII."""
        line = await self.read_secret()
        return None if line is None else as_ascii(line)

    async def read_secret(self) -> str | None:
        """Return the next line, with FOREIGN for each byte beyond ASCII.

        None when the client has closed the connection, or was closed.

        Raises:
            TimeoutError: if none came for the idle time.
            ConnectionError: if the connection broke.
        """
        if wait := self._commands.take(1):
            await asyncio.sleep(wait)
        while not self._input.lines:
            data = b"" if self.closed else await self._read()
            if not data:
                return None
            self._traffic.received += len(data)
            if wait := self._bytes.take(len(data)):
                await asyncio.sleep(wait)
            await self._fair_queue.wait_for_turn(self.share)
            with self.charge_time():
                self._input.feed(data)
            if self._input.answers:
                self._write(bytes(self._input.answers))
                self._input.answers.clear()
        await self._fair_queue.wait_for_turn(self.share)
        self._prompted = False
        # Lines that are still waiting are not executed for a user who has left.
        return None if self.closed else self._input.lines.popleft()

    async def wait_for_turn(self, expected: float) -> None:
        """Wait for a turn that is expected to cost this many seconds of processor time."""
        self.share.expected = expected
        await self._fair_queue.wait_for_turn(self.share)

    @contextlib.contextmanager
    def charge_time(self) -> Iterator[None]:
        """Charge the connection for the processor time of the block, which must not await anything."""
        began = time.thread_time()
        try:
            yield
        finally:
            self.share.charge(time.thread_time() - began)

    async def _read(self) -> bytes:
        """Return the next bytes; none at the end of the connection, whichever side ends it."""
        try:
            async with asyncio.timeout(self._limits.idle_time) as self._reading:
                data = await self._reader.read(_CHUNK)
        except TimeoutError:
            data = b""
            if not self.closed:
                raise
        finally:
            self._reading = None
        return b"" if self.closed else data

    # -- out --------------------------------------------------------------------------------------------------------

    def send(self, lines: Iterable[str], *, prompt: bool = False) -> None:
        """Send lines, then the prompt if asked; end the line of an earlier prompt first."""
        text = "".join(line + _EOL for line in lines)
        if prompt:
            text = (_EOL if self._prompted and text else "") + text + ("" if self._prompted and not text else PROMPT)
            self._prompted = True
        self._write(text.encode("ascii", "replace"))

    def ask(self, prompt: str) -> None:
        """Send a prompt: text that does not end its line."""
        self._write(prompt.encode("ascii", "replace"))

    def echo(self, *, on: bool) -> None:
        """Ask the client to echo what is typed, or not to."""
        self._write(ECHO_ON if on else ECHO_OFF)

    def _write(self, data: bytes) -> None:
        """Send bytes without waiting; abort the connection of a client that does not read."""
        if self.closed or not data or self._writer.transport.is_closing():
            return
        self._writer.write(data)
        self._traffic.sent += len(data)
        if self._writer.transport.get_write_buffer_size() > self._limits.send_buffer:
            self.abort()

    # -- the end ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connection once everything has been sent; no more input is accepted."""
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(OSError):  # the client may have disconnected already
            self._writer.write_eof()
        if self._reading is not None and not self._reading.expired():
            self._reading.reschedule(asyncio.get_running_loop().time())

    async def finish(self) -> None:
        """Close the connection and wait a limited time until the client has received everything and closed it, too.

        Further input is read and dropped: closing a socket with unread input makes the client lose the last output.
        """
        self.close()
        try:
            with contextlib.suppress(TimeoutError, OSError):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LINGER_TIME):
                        for _ in range(_LINGER_READS):
                            if not await self._reader.read(_LINGER_CHUNK):
                                break
                            await asyncio.sleep(0)  # else reading buffered input would never yield to other tasks
                self._writer.close()
                async with asyncio.timeout(CLOSE_TIME):
                    await self._writer.wait_closed()
        finally:  # even if the task is cancelled, the socket must not stay open
            self.abort()

    def abort(self) -> None:
        """Close the connection at once; unsent output is lost."""
        self.closed = True
        self._writer.transport.abort()
