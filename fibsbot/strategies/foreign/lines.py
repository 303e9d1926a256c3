"""Lines from a pipe or a socket: each by a deadline, and never more than can be borne."""

from __future__ import annotations

import os
import select
import time
from typing import Final

from fibsbot.strategies.foreign.errors import EndedError, EngineError, LateError

LONGEST: Final = 16_384
"""Bytes of a line. No answer comes near it."""
MOST: Final = 1 << 20
"""Bytes that may have come unasked before a question."""
_CHUNK: Final = 65_536


class Lines:
    """Reads lines from a descriptor, which stays its owner's."""

    def __init__(self, source: int) -> None:
        """Read from this descriptor."""
        self._source = source
        self._buffer = bytearray()

    def read(self, deadline: float) -> str:
        """Return the next line without its end; `deadline` is when to give up, by `time.monotonic`.

        Raises EngineError where no whole line came in time, a line has no end, or the other end is gone.
        """
        while b"\n" not in self._buffer:
            if len(self._buffer) > LONGEST:
                raise EngineError(f"sent a line of more than {LONGEST} bytes")
            if not self._ready(deadline - time.monotonic()):
                raise LateError("gave no answer in time")
            self._buffer += self._chunk()
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        return line.decode("utf-8", "replace").rstrip("\r")

    def drain(self) -> None:
        """Forget what has come unasked; raise EngineError where it does not end, or the other end is gone."""
        taken = len(self._buffer)
        self._buffer.clear()
        while self._ready(0):
            taken += len(self._chunk())
            if taken > MOST:
                raise EngineError(f"sent more than {MOST} bytes unasked")

    def _ready(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        return bool(poll.poll(max(0.0, seconds) * 1000))

    def _chunk(self) -> bytes:
        try:
            chunk = os.read(self._source, _CHUNK)
        except OSError as error:
            raise EndedError(f"cannot be read from: {error.strerror or error}") from None
        if not chunk:
            raise EndedError("ended")
        return chunk
