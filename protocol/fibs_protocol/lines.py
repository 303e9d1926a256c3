"""LineSplitter: splits bytes into logical lines, with telnet bytes, prompts without newline and overlong lines.

A line ends with CR LF, LF, CR NUL, or a CR that neither LF nor NUL follows. Telnet commands (`IAC ...`), BEL and NUL
are not part of its text. The protocol has 7 bits: every other byte that is not printable becomes `?` in the text, a tab
becomes a blank. The lines do not depend on how the bytes are cut into chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, repeat
from typing import Final, TypeAlias

from attrs import define

from fibs_protocol.errors import LocalProtocolError

MAX_LINE: Final = 8192
"""Length in bytes of the longest line that is not cut. A message of the server has a few hundred."""

PROMPTS: Final = (
    b"login: ",
    b"password: ",
    b"> ",
    b"Please give your password: ",
    b"Please retype your password: ",
    b"** The two passwords were not identical. Please give them again. Password: ",
)
"""Prompts, which have no line end. At the start of a line each of them is a line of its own."""

BLOCK: Final = 4096
"""Maximum size in bytes of a block that is searched for plain lines at once."""

_SHORT_REACH: Final = 256

_IAC, _SB = 0xFF, 0xFA
_WILL, _DONT = 0xFB, 0xFE
_CR, _LF, _NUL = 0x0D, 0x0A, 0x00

_PLAIN: Final = re.compile(rb"[\r\n -~]*")
_PROMPTS_AFTER: Final = tuple(
    re.compile(
        rb"%s(?=[%s])(?:%s)" % (end, bytes({prompt[0] for prompt in PROMPTS}), b"|".join(map(re.escape, PROMPTS)))
    )
    for end in (b"\n", b"\r")  # one pattern for each, because only a fixed first byte is searched for quickly
)
_STOPS: Final = re.compile(rb"[\r\n\xff]")
_ENDS: Final = re.compile(rb"[\r\n]")
_TELNET: Final = re.compile(rb"\xff(?:\xfa(?:[^\xff]|\xff[^\xf0])*(?:\xff\xf0)?|[\xfb-\xfe].|(\xff)|.)?", re.DOTALL)
_SUBNEGOTIATION: Final = re.compile(rb"\xff\xfa(?:[^\xff]|\xff[^\xf0])*\xff\xf0", re.DOTALL)
_PRINTABLE: Final = bytes(code if 32 <= code < 127 else 32 if code == 9 else 63 for code in range(256))
_SILENT: Final = b"\x07\x00"
_HEADS: Final = frozenset([prompt[0] for prompt in PROMPTS] + [_IAC, *_SILENT])
"""Bytes that a prompt can begin with."""


@define  # not frozen, which takes twice as long to build, and every line is one
class Line:
    """One logical line, or a prompt. Never changed."""

    text: str
    """Printable ASCII, without the line's end; blanks are kept."""
    offset: int
    """The offset of `raw`, in bytes since the start of the connection."""
    raw: bytes
    """The bytes as received, with the line's end and any telnet bytes; at most `max_line` and two more."""
    terminated: bool
    """False for a prompt, a line that was cut because of its length, and the rest before the end of the stream."""


Fields: TypeAlias = tuple[str, int, bytes, bool]
"""The fields of a line, in their order: half as expensive as a line."""


class LineSplitter:
    """Splits a stream of bytes into lines. Memory is bounded by the longest line and the lines not yet taken.

    A line of more than `max_line` bytes is cut there; its rest is skipped, not returned as a line of its own:
    otherwise a long enough kibitz could place any text at the start of a line.
    """

    def __init__(self, max_line: int = MAX_LINE, *, prompts: bool = True) -> None:
        """Start at offset 0.

        Args:
            max_line: length in bytes of the longest line that is not cut, at least 128.
            prompts: whether prompts are recognised; a server, whose clients send none, turns this off.
        """
        if max_line < 128:
            raise ValueError(f"expected max_line of at least 128, got {max_line}")
        self._max = max_line
        self._prompts = prompts
        self._buffer = b""
        self._offset = 0  # of the buffer's first byte
        self._start = 0  # of the current line, in the buffer
        self._searched = 0  # the current line does not end before here
        self._telnet = False  # whether the current line contains telnet bytes
        self._head = bytearray() if prompts else None  # text that may yet become a prompt; None: it will not
        self._walked = 0  # where that text ends
        self._skipping = False  # the rest of a line that was cut
        self._ended = False
        self._reach = self._full_reach = max(max_line + 2, BLOCK)  # how far plain lines are searched for at once
        self._found: Iterator[Fields] = iter(())  # by `next_line`, before `_start`

    def receive_data(self, data: bytes) -> None:
        """Buffer received bytes; `b""` is the end of the stream. `next_line` does the work.

        Raises:
            LocalProtocolError: if data follows the end.
        """
        if not data:
            self._ended = True
        elif self._ended:
            raise LocalProtocolError("data after the end of the stream")
        else:
            start = self._start
            self._buffer = self._buffer[start:] + data
            self._offset += start
            self._searched -= start
            self._walked -= start
            self._start = 0

    def next_line(self) -> Line | None:
        """Return the next line, or None if more data is needed (or, after the end, if none is left)."""
        fields = next(self._found, None)
        if fields is None:
            self._found = self.take_lines() or self._found
            fields = next(self._found, None)
        return None if fields is None else Line(*fields)

    def take_lines(self) -> Iterator[Fields] | None:
        """Return the next lines that are found at once, at least one; None as for `next_line`, in whose place it is.

        A reader of many lines takes half the time with it.
        """
        if not self._skipping and not self._telnet:
            bound = self._start + self._reach
            if self._buffer.find(b"\n", self._searched, bound) >= 0:
                plain = self._find_plain_lines(bound)
                if plain is not None:
                    return plain
        line = self._find_line()
        return None if line is None else iter((line,))

    def _find_plain_lines(self, bound: int) -> Iterator[Fields] | None:
        """Find the next lines up to `bound` that are complete and contain only printable ASCII, as nearly all do.

        Any other line is left to the general search, from the same place.
        """
        buffer, start, longest = self._buffer, self._start, self._max
        plain = _PLAIN.match(buffer, start, bound)
        end = start if plain is None else plain.end()
        if end == start or (self._prompts and buffer.startswith(PROMPTS, start)):
            return None
        self._reach = min(2 * self._reach, self._full_reach)
        if self._prompts:
            for pattern in _PROMPTS_AFTER:
                prompt = pattern.search(buffer, start, end)
                if prompt is not None:
                    end = prompt.start() + 1
                    self._reach = _SHORT_REACH  # so that many prompts do not make the same bytes be searched often
        end = (
            max(buffer.rfind(b"\n", start, end), buffer.rfind(b"\r", start, end - 1)) + 1
        )  # no NUL can follow a CR here
        if not end:
            return None
        block = buffer[start:end]
        raws, texts = block.splitlines(keepends=True), block.decode("ascii").splitlines()
        if len(block) > longest and max(map(len, texts)) > longest:
            count = next(index for index, text in enumerate(texts) if len(text) > longest)
            if not count:
                return None
            raws, texts = raws[:count], texts[:count]
            end = start + sum(map(len, raws))
        offsets = accumulate(map(len, raws), initial=self._offset + start)
        self._consume(end)
        return zip(texts, offsets, raws, repeat(True))  # noqa: FBT003 - the field `terminated`

    def _find_line(self) -> Fields | None:
        """Find the next line, whatever it contains."""
        waits = self._start == len(self._buffer) and not self._ended  # all received bytes are consumed
        if waits or (self._skipping and not self._skip()):
            return None
        prompt = 0 if self._head is None else self._find_prompt(self._head)
        if prompt:
            return self._take(prompt, prompt, terminated=False)
        if prompt is None and not self._ended:
            return None
        self._head = None
        return self._find_full_line()

    def _find_full_line(self) -> Fields | None:
        end, after = self._find_end(_STOPS)
        bound = self._start + self._max
        if end > bound:
            self._skipping = True
            return self._take(bound, bound, terminated=False)
        if after:
            return self._take(end, after, terminated=True)
        if self._ended and end > self._start:
            line = self._take(end, end, terminated=False)
            return line if line[0] else None
        return None

    # -- searching --------------------------------------------------------------------------------------------------

    def _find_end(self, stops: re.Pattern[bytes]) -> tuple[int, int]:
        """Return where the current line's content ends and where the next line begins (0: not known yet)."""
        buffer = self._buffer
        while True:
            found = stops.search(buffer, self._searched)
            if found is None:
                self._searched = len(buffer)
                return len(buffer), 0
            place = self._searched = found.start()
            stop = buffer[place]
            if stop == _LF:
                return place, place + 1
            if stop == _CR:
                return place, self._after_return(place)
            self._telnet = True
            after = self._after_telnet(place)
            if not after:
                return len(buffer), 0
            self._searched = after

    def _after_return(self, place: int) -> int:
        """Return where the next line begins; 0 while the byte after the CR is missing."""
        if place + 1 < len(self._buffer):
            return place + (2 if self._buffer[place + 1] in (_LF, _NUL) else 1)
        return place + 1 if self._ended else 0

    def _after_telnet(self, place: int) -> int:
        """Return where the telnet command ends that begins at `place`; 0 while it is not complete."""
        buffer = self._buffer
        command = buffer[place + 1] if place + 1 < len(buffer) else None
        if command is None:
            return 0
        if command == _SB:
            end = _SUBNEGOTIATION.match(buffer, place)
            return end.end() if end else 0
        after = place + (3 if _WILL <= command <= _DONT else 2)
        return after if after <= len(buffer) else 0

    def _skip(self) -> bool:
        """Skip the rest of a line that was cut; return False while its end is missing."""
        end, after = self._find_end(_ENDS)
        self._consume(after or end)
        self._skipping = not after
        return not self._skipping

    def _find_prompt(self, head: bytearray) -> int | None:
        """Return the end of the prompt at the start of the current line, 0 if there is none, None if not yet known.

        Continues where it stopped, past telnet bytes, BEL and NUL.
        """
        buffer, limit = self._buffer, min(len(self._buffer), self._start + self._max)
        if self._walked == self._start < limit and buffer[self._start] not in _HEADS:
            return 0
        while any(prompt.startswith(head) for prompt in PROMPTS):
            if bytes(head) in PROMPTS:
                return self._walked
            if self._walked >= limit:
                return None if limit == len(buffer) else 0
            byte = buffer[self._walked]
            if byte == _IAC:
                after = self._after_telnet(self._walked)
                if not after:
                    return None if limit == len(buffer) else 0
                if buffer[self._walked + 1] == _IAC:
                    return 0
                self._telnet = True
                self._walked = after
            else:
                self._walked += 1
                if byte not in _SILENT:
                    head.append(byte)
        return 0

    # -- building lines ---------------------------------------------------------------------------------------------

    def _take(self, end: int, after: int, *, terminated: bool) -> Fields:
        start = self._start
        content = self._buffer[start:end]
        text = _TELNET.sub(lambda match: match[1] or b"", content) if self._telnet else content
        line = (
            text.translate(_PRINTABLE, _SILENT).decode("ascii"),
            self._offset + start,
            self._buffer[start:after],
            terminated,
        )
        self._consume(after)
        return line

    def _consume(self, after: int) -> None:
        self._start = self._searched = self._walked = after
        self._telnet = False
        if self._head or (self._prompts and self._head is None):
            self._head = bytearray()
