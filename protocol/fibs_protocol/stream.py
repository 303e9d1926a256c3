"""MessageReader: a server's bytes in, messages out. Lines are cut, glued lines taken apart, blocks recognised."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from fibs_protocol import messages as m
from fibs_protocol.grammar import holds_free_text, parse
from fibs_protocol.grammar.blocks import BANNER, BLOCKS, Block
from fibs_protocol.lines import MAX_LINE, Line, LineSplitter


@frozen(slots=False)
class Received:
    """A message, and where it came from."""

    message: m.Message
    text: str
    """The line, or the part of a glued line, without its end."""
    offset: int
    """Its offset in bytes since the start of the connection; inside a line, counted in printed characters."""


class MessageReader:
    """Reads what a server sends. Blank lines are left out, except inside blocks such as the message of the day."""

    def __init__(self, max_line: int = MAX_LINE, *, banner: bool = False) -> None:
        """Start at the first byte.

        Args:
            max_line: as for LineSplitter.
            banner: whether this is a connection's first byte, so that lines without a meaning belong to the banner. A
                file may begin anywhere.
        """
        self._splitter = LineSplitter(max_line)
        self._ready: deque[Received] = deque()
        self._block: Block | None = BANNER if banner else None

    def receive_data(self, data: bytes) -> None:
        """Buffer received bytes; `b""` is the end of the stream."""
        self._splitter.receive_data(data)

    def next_message(self) -> Received | None:
        """Return the next message, or None when more data are needed."""
        ready, next_line = self._ready, self._splitter.next_line
        while not ready:
            line = next_line()
            if line is None:
                return None
            text = line.text
            if not text and self._block is None:
                continue
            message = parse(text)
            if self._block is None and type(message) not in _SPECIAL:
                return Received(message, text, line.offset)
            self._read(line, message)
        return ready.popleft()

    def _read(self, line: Line, message: m.Message) -> None:
        row = self._row_of_block(line, message)
        if row is not None:
            self._ready.append(Received(row, line.text, line.offset))
            return
        if not line.text.strip():
            return
        if _has_meaning(message) and not isinstance(message, m.YouSay):
            self._ready.append(Received(self._in_context(line.text, message), line.text, line.offset))
            return
        offset = line.offset
        for text in split_glued(line.text):
            self._ready.append(Received(self._in_context(text, parse(text)), text, offset))
            offset += len(text)

    def _row_of_block(self, line: Line, message: m.Message) -> m.Message | None:
        """Read a line of a block that has an end, or the end; None if no such block is open, or a line breaks it."""
        block = self._block
        if block is None or block.end is None or not line.terminated or isinstance(message, _BREAKING):
            return None
        end: m.Message | None = block.end.read(line.text.lstrip())
        if end is not None:
            self._block = None
            return end
        row: m.Message | None = block.row.read(line.text)
        return row

    def _in_context(self, text: str, message: m.Message) -> m.Message:
        """Open and close blocks; tell a row of an open list from a line that says nothing."""
        if isinstance(message, m.Unknown) and self._block is not None:
            row: m.Message | None = self._block.row.read(text.lstrip())
            if row is not None:
                return row
        if self._block is not BANNER or not isinstance(message, _IN_BANNERS):
            self._block = BLOCKS.get(type(message))
        return message


_BREAKING: Final = (m.Board, m.WhoInfo, m.WhoEnd, m.Welcome, m.OwnInfo)
"""Messages that end a block whose last line was lost: too regular to be part of a text."""
_IN_BANNERS: Final = (m.Unknown, m.ServerTime)
"""Messages that do not end the banner."""
_MEANINGLESS: Final = (m.Unknown, m.RefusedBoard)
"""Messages that match no wording."""

_SPECIAL: Final = frozenset([*_MEANINGLESS, m.YouSay, *BLOCKS])
"""Messages that need more work: they may be split, or start a block."""

_SEAMS: Final = re.compile(r"(?<=[!-~])(?=(?:[1-9]|1[0-9]|20) |\*\* |board:|[A-Z])|(?<=[.!?])(?=[!-~])")
"""Where a second message can begin inside a line: no blank before it, and a CLIP number, stars, `board:`, a capital, or
anything behind the end of a sentence."""
_LONGEST_GLUED: Final = 2048
"""Longer lines are left alone: two messages and a long text are shorter."""
_MOST_SEAMS: Final = 64
"""Seams that are tried in one line."""


def split_glued(text: str) -> list[str]:
    """Split a line to which other messages were glued (specification: "A Spanner In The Works").

    A line is cut only if it says nothing as a whole, and only behind complete messages without free text, so that
    nothing another user wrote is ever taken for a message. The one exception is the echo of what we told somebody,
    whose line BaldLies does not end: these are our own words, behind which a whole message can only be the server's.
    """
    if len(text) > _LONGEST_GLUED:
        return [text]
    message = parse(text)
    if isinstance(message, m.YouSay):
        return _cut_echo(text)
    if _has_meaning(message):
        return [text]
    return _cut(text, iter(range(_MOST_SEAMS))) or [text]


def _cut(text: str, tries: Iterator[int]) -> list[str]:
    """Return the parts of a line that says nothing as a whole; none if it cannot be cut so that each says something."""
    for seam in _SEAMS.finditer(text):
        if next(tries, None) is None:
            break
        left, right = text[: seam.start()], text[seam.start() :]
        message = parse(left)
        if _has_meaning(message) and not holds_free_text(message):
            rest = [right] if _has_meaning(parse(right)) else _cut(right, tries)
            if rest:
                return [left, *rest]
    return []


def _cut_echo(text: str) -> list[str]:
    """Cut the echo of a `tell` before a message that was glued to it: one without free text, and more than a number."""
    for seam, _ in zip(_SEAMS.finditer(text), range(_MOST_SEAMS), strict=False):
        right = text[seam.start() :]
        message = parse(right)
        if not right.strip().isdigit() and _has_meaning(message) and not holds_free_text(message):
            return [text[: seam.start()], right]
    return [text]


def _has_meaning(message: m.Message) -> bool:
    return not isinstance(message, _MEANINGLESS)
