"""Connection: one client's stream, with its bounds. Lines in, text out; what they mean is others' business."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Final

from fibsbot.server.limits import Limits
from fibsbot.server.telnet import ECHO_OFF, ECHO_ON, TelnetInput
from fibsbot.server.world import Traffic

PROMPT: Final = "> "
_CHUNK: Final = 4096
_EOL: Final = "\r\n"


class Connection:
    """A client's connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits, traffic: Traffic
    ) -> None:
        """Take the streams of an accepted connection."""
        self.host: str = writer.get_extra_info("peername", ("unknown",))[0]
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._traffic = traffic
        self._input = TelnetInput(limits.line)
        self._credit = float(limits.burst)
        self._credit_at = time.monotonic()
        self._prompted = False
        self.closed = False

    # -- in ---------------------------------------------------------------------------------------------------------

    async def read_line(self) -> str | None:
        """Return the next line; None when the client has closed the connection, or was closed.

        Raises:
            TimeoutError: if none came for the idle time.
            ConnectionError: if the connection broke.
        """
        await self._wait_for_credit()
        while not self._input.lines:
            async with asyncio.timeout(self._limits.idle_time):
                data = await self._reader.read(_CHUNK)
            if not data or self.closed:
                return None
            self._traffic.received += len(data)
            self._input.feed(data)
            if self._input.answers:
                self._write(bytes(self._input.answers))
                self._input.answers.clear()
        self._prompted = False
        return self._input.lines.popleft()

    async def _wait_for_credit(self) -> None:
        """Wait until the client may send its next command: a bucket that commands empty and time fills."""
        now = time.monotonic()
        rate = self._limits.commands_per_second
        self._credit = min(self._limits.burst, self._credit + (now - self._credit_at) * rate) - 1
        self._credit_at = now
        if self._credit < 0:
            await asyncio.sleep(-self._credit / rate)
        elif self._input.lines:
            await asyncio.sleep(0)

    # -- out --------------------------------------------------------------------------------------------------------

    def send(self, lines: Iterable[str], *, prompt: bool = False) -> None:
        """Send lines, then perhaps the prompt; a prompt that already stands there ends its line first."""
        text = "".join(line + _EOL for line in lines)
        if prompt:
            text = (_EOL if self._prompted and text else "") + text + ("" if self._prompted and not text else PROMPT)
            self._prompted = True
        self._write(text.encode("ascii", "replace"))

    def ask(self, prompt: str) -> None:
        """Send a prompt: text that does not end its line."""
        self._write(prompt.encode("ascii", "replace"))

    def echo(self, *, on: bool) -> None:
        """Ask the client to show what is typed, or not to."""
        self._write(ECHO_ON if on else ECHO_OFF)

    def _write(self, data: bytes) -> None:
        """Send bytes without waiting; close the connection of a client that does not read."""
        if self.closed or not data or self._writer.transport.is_closing():
            return
        self._writer.write(data)
        self._traffic.sent += len(data)
        if self._writer.transport.get_write_buffer_size() > self._limits.send_buffer:
            self.abort()

    # -- the end ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connection once everything sent has gone out; nothing more is read."""
        if not self.closed:
            self.closed = True
            self._writer.close()
            self._reader.feed_eof()

    async def finish(self, patience: float) -> None:
        """Close the connection and wait until it is closed; a client that does not read waits in vain."""
        self.close()
        try:
            async with asyncio.timeout(patience):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self.abort()

    def abort(self) -> None:
        """Close the connection at once; what was not sent is lost."""
        self.closed = True
        self._writer.transport.abort()
