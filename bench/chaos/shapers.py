"""What a fault does to the bytes of one direction, without I/O: bytes in, acts out."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from attrs import define, field, frozen

PROMPTS: Final = (b"login: ", b"password: ", b"> ")
"""What a server writes without ending the line. It is never held back: no end of the line would come."""


@frozen
class Pause:
    """Wait so many seconds before the next act."""

    seconds: float


@frozen
class Lost:
    """These bytes are not passed on."""

    data: bytes


class Break(enum.Enum):
    """How a connection ends."""

    CUT = "cut"
    """Both ends see an orderly end."""
    RESET = "reset"
    """Both ends see a reset."""


Act: TypeAlias = bytes | Pause | Lost | Break
"""Bytes are passed on."""


class Shaper:
    """Passes bytes on as they come; its kinds do it otherwise."""

    struck: bool = False
    """Whether it has done what it is there for."""

    def feed(self, data: bytes) -> Iterator[Act]:
        """Take the next bytes."""
        yield data

    def rest(self) -> bytes:
        """Return what is held back, when the shaper is taken away or the stream ends."""
        return b""


@define(eq=False)
class Delay(Shaper):
    """Holds every chunk back for so many seconds."""

    seconds: float
    struck: bool = False

    def feed(self, data: bytes) -> Iterator[Act]:
        """Wait, then pass the chunk on."""
        self.struck = True
        yield Pause(self.seconds)
        yield data


@define(eq=False)
class Fragment(Shaper):
    """Passes every byte on alone."""

    struck: bool = False

    def feed(self, data: bytes) -> Iterator[Act]:
        """Pass the bytes on one by one."""
        for byte in data:
            self.struck = True
            yield bytes((byte,))
            yield Pause(0)


@define(eq=False)
class CutAfter(Shaper):
    """Passes so many bytes on, then breaks the connection; with a marker they are counted from where it begins."""

    count: int
    marker: bytes = b""
    struck: bool = False
    _tail: bytes = b""
    _found: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._found = not self.marker

    def feed(self, data: bytes) -> Iterator[Act]:
        """Pass on what comes before the break."""
        start = 0
        if not self._found:
            seen = self._tail + data
            place = seen.find(self.marker)
            if place < 0:
                self._tail = seen[-len(self.marker) + 1 :] if len(self.marker) > 1 else b""
                yield data
                return
            self._found = True
            start = place - len(self._tail)  # negative where the marker began in an earlier chunk
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
    """Does something to one line, and holds incomplete lines back until then."""

    applies: Callable[[bytes], bool]
    """Which line it waits for."""
    mid_line: bool = False
    """Whether the stream begins in the middle of a line, which is passed on as it is."""
    struck: bool = False
    _held: bytes = b""

    def feed(self, data: bytes) -> Iterator[Act]:
        """Take lines apart until the one has come."""
        self._held += data
        while not self.struck and (end := self._held.find(b"\n") + 1):
            line, self._held = self._held[:end], self._held[end:]
            if self.mid_line or not self.applies(line):
                self.mid_line = False
                yield line
            else:
                yield from self.strike(line)
        if self._held and (self.struck or self.mid_line or self._held.endswith(PROMPTS)):
            self.mid_line = True
            yield self.rest()

    @abstractmethod
    def strike(self, line: bytes) -> Iterator[Act]:
        """Do what there is to do to the line."""

    def rest(self) -> bytes:
        """Return the incomplete line."""
        held, self._held = self._held, b""
        return held


@define(eq=False)
class DropLine(LineShaper):
    """Swallows one line."""

    def strike(self, line: bytes) -> Iterator[Act]:
        """Swallow it."""
        self.struck = True
        yield Lost(line)


@define(eq=False)
class Duplicate(LineShaper):
    """Passes one line on twice."""

    def strike(self, line: bytes) -> Iterator[Act]:
        """Say it again."""
        self.struck = True
        yield line + line


@define(eq=False)
class Glue(LineShaper):
    """Takes away the end of one line, so that the next is glued to it."""

    def strike(self, line: bytes) -> Iterator[Act]:
        """Pass it on without its end."""
        self.struck = True
        yield line.rstrip(b"\r\n ")


@define(eq=False)
class Insert(LineShaper):
    """Puts something before a line."""

    text: bytes = b""

    def strike(self, line: bytes) -> Iterator[Act]:
        """Put it there."""
        self.struck = True
        yield self.text
        yield line


def is_any_line(line: bytes) -> bool:
    """Whether a line says anything: blank ones do not count."""
    return bool(line.strip())


def is_board_line(line: bytes) -> bool:
    """Whether this is a player's own board."""
    return line.startswith(b"board:You:")


def is_game_line(line: bytes) -> bool:
    """Whether a line is about a match rather than about who is there."""
    return is_any_line(line) and not line[:2].strip().isdigit()
