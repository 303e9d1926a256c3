"""MessageReader: parses a server's bytes into messages, splits glued lines and recognises blocks."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from attrs import define

from fibs_protocol import board, table_state
from fibs_protocol import messages as m
from fibs_protocol.grammar import holds_free_text, parse
from fibs_protocol.grammar.blocks import BANNER, BLOCKS, Block
from fibs_protocol.lines import MAX_LINE, Fields, LineSplitter


@define  # not frozen, as `Line`
class ParsedMessage:
    """A message with its text and its offset. Never changed."""

    message: m.Message
    text: str
    """The line, or the part of a glued line, without its end."""
    offset: int
    """The offset in bytes since the start of the connection; within a glued line, counted in printed characters."""


class MessageReader:
    """Parses the bytes that a server sends. Skips blank lines, except in blocks such as the message of the day."""

    def __init__(self, max_line: int = MAX_LINE, *, banner: bool = False) -> None:
        """Start at the first byte.

        Args:
            max_line: as for LineSplitter.
            banner: whether this is a connection's first byte, so that unknown lines belong to the banner. A
                file may begin anywhere.
        """
        self._splitter = LineSplitter(max_line)
        self._lines: Iterator[Fields] = iter(())
        self._ready: deque[ParsedMessage] = deque()
        self._block: Block | None = BANNER if banner else None

    def receive_data(self, data: bytes) -> None:
        """Buffer received bytes; `b""` is the end of the stream."""
        self._splitter.receive_data(data)

    def next_message(self) -> ParsedMessage | None:
        """Return the next message, or None if more data is needed."""
        ready = self._ready
        while not ready:
            for text, offset, _, terminated in self._lines:
                if not text and self._block is None:
                    continue
                message = parse(text)
                if self._block is None and type(message) not in _SPECIAL:
                    return ParsedMessage(message, text, offset)
                self._read(message, text, offset, terminated=terminated)
                if ready:
                    break
            else:
                lines = self._splitter.take_lines()
                if lines is None:
                    return None
                self._lines = lines
        return ready.popleft()

    def _read(self, message: m.Message, text: str, offset: int, *, terminated: bool) -> None:
        row = self._row_of_block(message, text) if terminated else None
        if row is not None:
            self._ready.append(ParsedMessage(row, text, offset))
        elif not text.strip():
            return
        elif _has_meaning(message) and not isinstance(message, m.YouSay):
            self._ready.append(ParsedMessage(self._in_context(text, message), text, offset))
        else:
            parts = split_glued(text, message)
            for part in parts:
                known = message if len(parts) == 1 else parse(part)
                self._ready.append(ParsedMessage(self._in_context(part, known), part, offset))
                offset += len(part)

    def _row_of_block(self, message: m.Message, text: str) -> m.Message | None:
        """Return a line of a block that has an end, or the end; None if no such block is open or the line breaks it."""
        block = self._block
        if block is None or block.end is None or isinstance(message, _BREAKING):
            return None
        end: m.Message | None = block.end.read(text.lstrip())
        if end is not None:
            self._block = None
            return end
        row: m.Message | None = block.row.read(text)
        return row

    def _in_context(self, text: str, message: m.Message) -> m.Message:
        """Open and close blocks; recognise rows of an open list among unknown lines."""
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
"""Messages of lines that match no wording."""

_SPECIAL: Final = frozenset([*_MEANINGLESS, m.YouSay, *BLOCKS])
"""Messages that need more work: they may be glued, or start a block."""

_SPLIT_PLACES: Final = re.compile(r"(?<=[!-~])(?=(?:[1-9]|1[0-9]|20) |\*\* |board:|[A-Z])|(?<=[.!?])(?=[!-~])")
"""Where a second message can begin inside a line: no blank before it, and a CLIP number, stars, `board:`, a capital, or
anything after the end of a sentence."""
_OF_TOKENS: Final = ((board.PREFIX, board.TOKENS), (table_state.PREFIX, table_state.TOKENS))
"""The lines that have a fixed number of tokens, by their beginning."""
_LONGEST_GLUED: Final = 2048
"""Longer lines are not split: two messages and a long text are shorter."""
_MOST_SPLIT_PLACES: Final = 64
"""Maximum number of places at which a line is tried to be split."""


def split_glued(text: str, message: m.Message | None = None) -> list[str]:
    """Split a line to which other messages were glued (specification: "A Spanner In The Works").

    A line is split only if it is unknown as a whole, and only after complete messages without free text, so that
    another user's text is never taken for a message. The one exception is the echo of our own `tell`,
    whose line BaldLies does not end: this is our own text, after which a whole message can only be the server's.

    Args:
        text: the line.
        message: what `parse` makes of it, if that is known.
    """
    if len(text) > _LONGEST_GLUED:
        return [text]
    if message is None:
        message = parse(text)
    if isinstance(message, m.YouSay):
        return _cut_echo(text)
    if _has_meaning(message):
        return [text]
    return _cut(text, iter(range(_MOST_SPLIT_PLACES))) or [text]


def _cut(text: str, tries: Iterator[int]) -> list[str]:
    """Return the parts of a line that is unknown as a whole; none if no split makes each part a known message."""
    first, last = _bounds_of_first(text)
    if first == len(text):
        return []
    for place in _SPLIT_PLACES.finditer(text, first):
        if place.start() > last or next(tries, None) is None:
            break
        left, right = text[: place.start()], text[place.start() :]
        message = parse(left)
        if _has_meaning(message) and not holds_free_text(message):
            rest = [right] if _has_meaning(parse(right)) else _cut(right, tries)
            if rest:
                return [left, *rest]
    return []


def _bounds_of_first(text: str) -> tuple[int, int]:
    """Return where the first message of a line can end: in the last token of a `board:` or `table:`, or anywhere."""
    for prefix, tokens in _OF_TOKENS:
        if text.startswith(prefix):
            colons, end = text.count(":"), len(text)
            if colons >= tokens:
                end -= len(text.split(":", tokens)[tokens]) + 1
            begin = text.rindex(":", 0, end) + 1
            return (end, end) if colons < tokens - 1 or text[begin:end].isdigit() else (begin, end)
    return 0, len(text)


def _cut_echo(text: str) -> list[str]:
    """Split the echo of a `tell` from a glued message that has no free text and is more than a number."""
    for place, _ in zip(_SPLIT_PLACES.finditer(text), range(_MOST_SPLIT_PLACES), strict=False):
        right = text[place.start() :]
        message = parse(right)
        if not right.strip().isdigit() and _has_meaning(message) and not holds_free_text(message):
            return [text[: place.start()], right]
    return [text]


def _has_meaning(message: m.Message) -> bool:
    return not isinstance(message, _MEANINGLESS)
