"""`fibsbot parse`: what a server said, as JSON."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Final, cast

import click

from fibs_protocol.messages import RefusedBoard, Unknown
from fibs_protocol.stream import MessageReader, ParsedMessage
from fibsbot.cli import UserError
from fibsbot.formats import FormatError, read_chunks
from fibsbot.json_lines import write_message
from fibsbot.records.session_log import (
    CONNECTION_END_EVENTS,
    Header,
    ProgramEvent,
    Received,
    Record,
    SessionLogError,
    is_session_log,
    read_session_log,
)
from fibsbot.replay.match_files import lines_with_offsets

_FEWEST: Final = 64
"""Bytes by which it shows what a file is."""
_BLOCK: Final = 1000
"""Messages that are printed at once."""


@click.command()
@click.argument("file")
@click.option("--unknown", is_flag=True, help="Print only what was not understood.")
def parse(*, file: str, unknown: bool) -> None:
    """Parse what a server sent; print one JSON object per message.

    FILE is a capture of the bytes, with CRLF or LF at the lines' ends, or a session log that `fibsbot play` wrote; `-`
    is the standard input. Either may be compressed by gzip. Each object has the message's kind, its fields, the line,
    and the line's offset in bytes.
    """
    output = _Output()
    try:
        with click.open_file(file, "rb") as source:
            for received in _messages(output.written_before(read_chunks(cast("IO[bytes]", _UnbufferedReader(source))))):
                if not unknown or isinstance(received.message, Unknown | RefusedBoard):
                    output.add(write_message(received))
        output.write()
    except (OSError, FormatError, SessionLogError) as error:
        output.write()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"cannot read {file}: {reason}") from None


class _UnbufferedReader:
    """A file whose reads return what has arrived, so that input from a pipe is printed although more may follow."""

    def __init__(self, file: IO[bytes]) -> None:
        self._read = getattr(file, "read1", file.read)
        self._begun = False

    def read(self, count: int) -> bytes:
        """Return some bytes, at first enough to detect a compressed file; none at the end."""
        data: bytes = self._read(count)
        while not self._begun and 0 < len(data) < _FEWEST and (more := self._read(count)):
            data += more
        self._begun = True
        return data


class _Output:
    """Lines that are printed in blocks."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        """Print a line with the next block."""
        self._lines.append(line)
        if len(self._lines) >= _BLOCK:
            self.write()

    def written_before(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a file; before each next one, which may be long in coming, print what there is."""
        for piece in pieces:
            yield piece
            self.write()

    def write(self) -> None:
        """Print the lines that wait."""
        if self._lines:
            lines, self._lines = self._lines, []
            sys.stdout.write("".join(lines))
            sys.stdout.flush()


def _messages(pieces: Iterator[bytes]) -> Iterator[ParsedMessage]:
    start = b""
    for piece in pieces:
        start += piece
        if b"\n" in start or len(start) >= _FEWEST:
            break
    whole = itertools.chain([start], pieces)
    return _logged(line for _, line in lines_with_offsets(whole)) if is_session_log(start) else _captured(whole)


def _captured(pieces: Iterator[bytes]) -> Iterator[ParsedMessage]:
    reader = MessageReader()
    for piece in pieces:
        if piece:
            yield from _read(reader, piece)
    yield from _read(reader, b"")


def _logged(lines: Iterator[bytes]) -> Iterator[ParsedMessage]:
    """Read what was received; a header that continues nothing and a lost connection begin another one."""
    reader = MessageReader()
    for record in read_session_log(lines):
        if isinstance(record, Received) and record.data:
            yield from _read(reader, record.data)
        elif _begins(record):
            yield from _read(reader, b"")
            reader = MessageReader(banner=True)
    yield from _read(reader, b"")


def _begins(record: Record) -> bool:
    """Whether what is received from here on comes from another connection."""
    match record:
        case Header(fields=fields):
            return not fields.get("continues")
        case ProgramEvent(name=name):
            return name in CONNECTION_END_EVENTS
    return False


def _read(reader: MessageReader, data: bytes) -> Iterator[ParsedMessage]:
    reader.receive_data(data)
    while received := reader.next_message():
        yield received
