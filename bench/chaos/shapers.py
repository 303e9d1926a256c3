"""Effects of faults on the bytes of one direction, without I/O: bytes in, actions out."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from attrs import define, field, frozen

PROMPTS: Final = (b"login: ", b"password: ", b"> ")
"""Prompts that a server writes without a line end. They are never held back, as no line end follows."""


@frozen
class Pause:
    """Wait `seconds` before the next action."""

    seconds: float


@frozen
class Lost:
    """Drop these bytes."""

    data: bytes


class Break(enum.Enum):
    """Ways to end a connection."""

    CUT = "cut"
    """Both ends see the end of the stream."""
    RESET = "reset"
    """Both ends see a reset."""


Act: TypeAlias = bytes | Pause | Lost | Break
"""Bytes are passed on."""


class Shaper:
    """Passes bytes on unchanged; base class of the others."""

    struck: bool = False
    """Whether the fault has happened."""

    def feed(self, data: bytes) -> Iterator[Act]:
        """Process the next bytes."""
        yield data

    def rest(self) -> bytes:
        """Return what is held back, when the shaper is removed or the stream ends."""
        return b""


@define(eq=False)
class Delay(Shaper):
    """Delays every chunk."""

    seconds: float
    struck: bool = False

    def feed(self, data: bytes) -> Iterator[Act]:
        """Wait, then pass the chunk on."""
        self.struck = True
        yield Pause(self.seconds)
        yield data


@define(eq=False)
class Fragment(Shaper):
    """Passes on single bytes."""

    struck: bool = False

    def feed(self, data: bytes) -> Iterator[Act]:
        """Pass the bytes on one by one."""
        for byte in data:
            self.struck = True
            yield bytes((byte,))
            yield Pause(0)


@define(eq=False)
class CutAfter(Shaper):
    """Passes `count` bytes on, then cuts the connection; with a marker they are counted from its beginning."""

    count: int
    marker: bytes = b""
    struck: bool = False
    _tail: bytes = b""
    _found: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._found = not self.marker

    def feed(self, data: bytes) -> Iterator[Act]:
        """Pass on the bytes before the cut."""
        start = 0
        if not self._found:
            seen = self._tail + data
            place = seen.find(self.marker)
            if place < 0:
                self._tail = seen[-len(self.marker) + 1 :] if len(self.marker) > 1 else b""
                yield data
                return
            self._found = True
            start = place - len(self._tail)  # negative if the marker began in an earlier chunk
        end = start + self.count
        self.count -= len(data) - start
        if end >= len(data):
            yield data
            return
        if end > 0:
            yield data[:end]
        self.struck = True
        yield Lost(data[max(end, 0) :])
        yield Break.CUT


@define(eq=False)
class LineShaper(Shaper, ABC):
    """Changes one line, and holds incomplete lines back until then."""

    applies: Callable[[bytes], bool]
    """Selects the line."""
    mid_line: bool = False
    """Whether the stream begins in the middle of a line, which is passed on unchanged."""
    struck: bool = False
    _held: bytes = b""

    def feed(self, data: bytes) -> Iterator[Act]:
        """Split lines until the selected one is found."""
        self._held += data
        while not self.struck and (end := self._held.find(b"\n") + 1):
            line, self._held = self._held[:end], self._held[end:]
            if self.mid_line or not self.applies(line):
                self.mid_line = False
                yield line
            else:
                yield from self.change(line)
        if self._held and (self.struck or self.mid_line or self._held.endswith(PROMPTS)):
            self.mid_line = True
            yield self.rest()

    @abstractmethod
    def change(self, line: bytes) -> Iterator[Act]:
        """Return the actions for the line."""

    def rest(self) -> bytes:
        """Return the incomplete line."""
        held, self._held = self._held, b""
        return held


@define(eq=False)
class DropLine(LineShaper):
    """Drops one line."""

    def change(self, line: bytes) -> Iterator[Act]:
        """Drop the line."""
        self.struck = True
        yield Lost(line)


@define(eq=False)
class Duplicate(LineShaper):
    """Passes one line on twice."""

    def change(self, line: bytes) -> Iterator[Act]:
        """Repeat the line."""
        self.struck = True
        yield line + line


@define(eq=False)
class Glue(LineShaper):
    """Removes the end of one line, so that the next is glued to it."""

    def change(self, line: bytes) -> Iterator[Act]:
        """Pass the line on without its end."""
        self.struck = True
        yield line.rstrip(b"\r\n ")


@define(eq=False)
class Insert(LineShaper):
    """Inserts a text before a line."""

    text: bytes = b""

    def change(self, line: bytes) -> Iterator[Act]:
        """Insert the text."""
        self.struck = True
        yield self.text
        yield line


def is_any_line(line: bytes) -> bool:
    """Whether a line is not blank."""
    return bool(line.strip())


def is_board_line(line: bytes) -> bool:
    """Whether a line is a player's own board."""
    return line.startswith(b"board:You:")


def is_game_line(line: bytes) -> bool:
    """Whether a line is about a match, not about users."""
    return is_any_line(line) and not line[:2].strip().isdigit()
