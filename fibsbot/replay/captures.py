"""Captures, read as one stream of events: our own session logs, and the raw bytes of any client.

A raw capture is the bytes of a telnet connection: lines with CR LF, LF or CR, telnet bytes, bells, and in between the
user's echoed input. It may begin and end anywhere. Either kind may be compressed by gzip, or be in UTF-16, as
PowerShell writes redirected output. Memory use does not grow with the file.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.drawing_reader import DrawingReader, is_drawn
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import parse_command
from fibs_protocol.lines import LineSplitter
from fibs_protocol.messages import Message
from fibs_protocol.stream import MessageReader
from fibsbot.formats import FormatError, read_chunks
from fibsbot.records import session_log as log
from fibsbot.replay.log_reading import CaptureError, lines_with_offsets, open_log_part


@define  # the most frequent events are not frozen: a frozen class takes twice as long to build
class ReceivedMessage:
    """A message of the server."""

    at: dt.datetime | None
    """Time of the line, UTC; None in a raw capture."""
    message: Message
    offset: int = 0
    """Start of the line, in bytes from the beginning of the capture; in a session log, start of its record."""


@define
class SentCommand:
    """A command of the client."""

    at: dt.datetime | None
    command: Command
    offset: int = 0


@frozen
class ConnectionEnded:
    """A connection ended."""

    at: dt.datetime | None
    offset: int
    reason: str


@frozen
class SessionInfo:
    """The user and the server of a session."""

    user: str
    """Name of the account; empty if only the server is known."""
    site: str = ""
    """Name or address of the server; empty if unknown."""


@define
class LoggedEvent:
    """Another event in a session log, such as a decision with its equity."""

    at: dt.datetime | None
    name: str
    fields: Mapping[str, Any] = field(factory=dict)
    offset: int = 0


CaptureEvent: TypeAlias = ReceivedMessage | SentCommand | ConnectionEnded | SessionInfo | LoggedEvent


__all__ = [
    "CaptureEvent",
    "ConnectionEnded",
    "LoggedEvent",
    "ReceivedMessage",
    "SentCommand",
    "SessionInfo",
    "read_captures",
    "read_parts",
]

OffsetCallback: TypeAlias = Callable[[int], object]
"""Called with the number of bytes read so far."""

UNRECOGNISED_LIMIT: Final = 2**20
"""Bytes of a raw capture within which a server's line must be recognised."""
_HEAD_SIZE: Final = 4096
"""Bytes from which the kind of a file is determined."""
_MOST_BINARY: Final = 0.05
"""Share of bytes that are neither text nor telnet, above which a file is taken for a binary one."""
_TEXT_BYTES: Final = bytes({*range(32, 127), *range(128, 256), *b"\0\a\b\t\n\v\f\r\x1b"})
_COMMAND_CACHE: Final = 256
"""Parsed commands that are cached, as a session repeats the same ones."""
_LONGEST_TYPED_COMMAND: Final = 80
"""Characters of a typed command, at most."""
_TYPED_COMMANDS: Final = (
    *(c.Move, c.EmptyMove, c.Off, c.Roll, c.Double, c.Accept, c.Reject),
    *(c.Redouble, c.Beaver, c.Raccoon, c.Otter, c.Resign),
    *(c.Join, c.Leave, c.Watch, c.Unwatch, c.ShowBoard, c.Look, c.Login),
)
"""The commands that are recognised in a raw capture."""
_AMBIGUOUS_MESSAGES: Final = (m.Unknown, m.MotdLine, m.CommandPrompt, m.MovesAction)
"""Messages that any text may contain by chance."""


def read_captures(
    paths: Iterable[Path], on_offset: OffsetCallback = lambda _: None, *, decisions: bool = True
) -> Iterator[CaptureEvent]:
    """Yield the events of files that continue each other, the oldest first, such as the parts of a session log.

    The decisions that a session log records are left out unless `decisions`. Offsets count through all files;
    `on_offset` is called with the current one. Raises CaptureError for another kind of file, OSError where one
    cannot be read; the error of a damaged compressed file comes after all events that could be read.
    """
    reader = _CaptureReader(on_offset, decisions=decisions)
    for path in paths:
        if path.is_dir():
            raise CaptureError(f"expected a session log or a capture, got the folder {path.name!r}")
        with open_log_part(path) as file:
            yield from reader.read(read_chunks(file))
    yield from reader.end()


def read_parts(
    parts: Iterable[Iterable[bytes]], on_offset: OffsetCallback = lambda _: None, *, decisions: bool = True
) -> Iterator[CaptureEvent]:
    """Yield the events of captures that continue each other, each in pieces; see `read_captures`."""
    reader = _CaptureReader(on_offset, decisions=decisions)
    for pieces in parts:
        yield from reader.read(iter(pieces))
    yield from reader.end()


class _CaptureReader:
    """Reads one file after another as one capture."""

    def __init__(self, on_offset: OffsetCallback = lambda _: None, *, decisions: bool = True) -> None:
        self._on_offset = on_offset
        self._offset = 0
        self._logged = _SessionLogReader(decisions=decisions)
        self._damage: FormatError | None = None
        """The error of a file that could not be read to its end."""

    def read(self, pieces: Iterator[bytes]) -> Iterator[CaptureEvent]:
        """Return the events of the next file. Raises CaptureError if it is empty."""
        start = b""
        pieces = self._undamaged(pieces)
        while len(start) < _HEAD_SIZE and (piece := next(pieces, b"")):
            start += piece
        if not start.strip():
            raise CaptureError(str(self._damage or "expected a session log or a capture, got an empty file"))
        start_offset = self._offset
        counted = self._count_bytes(itertools.chain([start], pieces))
        if log.is_session_log(start):
            return self._logged.read(counted, start_offset)
        return _read_raw(counted, start, start_offset)

    def _count_bytes(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Count the bytes of a file's pieces and pass them on."""
        for piece in pieces:
            self._offset += len(piece)
            self._on_offset(self._offset)
            yield piece

    def _undamaged(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Pass on the pieces of a file up to the damage."""
        try:
            yield from pieces
        except FormatError as error:
            self._damage = error

    def end(self) -> Iterator[CaptureEvent]:
        yield from self._logged.end(self._offset)
        if self._damage:
            raise CaptureError(str(self._damage))


# -- session logs ---------------------------------------------------------------------------------------------------


class _SessionLogReader:
    """Reads session logs. A part continues where the one before it ended, even inside a line."""

    def __init__(self, *, decisions: bool) -> None:
        self._decisions = decisions
        """Whether the records of decisions are read."""
        self._reader = MessageReader()
        self._sent = LineSplitter(prompts=False)
        self._at: dt.datetime | None = None

    def read(self, pieces: Iterator[bytes], start_offset: int) -> Iterator[CaptureEvent]:
        skips = not self._decisions
        parse: Callable[[bytes], log.Record | None] = log.parse_first_record
        try:
            for offset, line in lines_with_offsets(pieces):
                if skips and log.is_decision(line):
                    continue
                record = parse(line)
                parse = log.parse_record
                if record is None:
                    continue
                place = start_offset + offset
                self._at = at = record.time
                if isinstance(record, log.Received):
                    if record.data:  # no data would be the end
                        reader = self._reader
                        reader.receive_data(record.data)
                        while (received := reader.next_message()) is not None:
                            yield ReceivedMessage(at, received.message, place)
                elif isinstance(record, log.Sent):
                    for command in self._commands(record.data) if record.data else ():
                        yield SentCommand(at, command, place)
                else:
                    yield from self._on_event(record, place)
        except log.SessionLogError as error:
            raise CaptureError(str(error)) from None

    def end(self, offset: int) -> Iterator[CaptureEvent]:
        if self._at is not None:
            yield ConnectionEnded(self._at, offset, "the log ends")

    def _commands(self, data: bytes) -> Iterator[c.Command]:
        self._sent.receive_data(data)
        while (line := self._sent.next_line()) is not None:
            command = _parsed_command(line.text.strip())
            if command is not None:
                yield command

    def _on_event(self, record: log.ProgramEvent | log.Header, place: int) -> Iterator[CaptureEvent]:
        if isinstance(record, log.Header):
            yield from self._on_header(record, place)
            return
        yield LoggedEvent(record.time, record.name, record.fields, place)
        if record.name in log.CONNECTION_END_EVENTS:
            yield from self._end_connection(place, str(record.fields.get("reason", "")) or "the connection was lost")

    def _on_header(self, record: log.Header, place: int) -> Iterator[CaptureEvent]:
        """Start a run, unless the header says that it continues the part before it."""
        if not record.fields.get("continues"):
            yield from self._end_connection(place, "another run begins")
        yield SessionInfo(str(record.fields.get("user", "")), str(record.fields.get("server", "")))

    def _end_connection(self, place: int, reason: str) -> Iterator[CaptureEvent]:
        # The rest of a line that was cut off may be misread: `foe` for `foe_b`, 1 for 16.
        self._reader = MessageReader(banner=True)
        self._sent = LineSplitter(prompts=False)
        yield ConnectionEnded(self._at, place, reason)


@lru_cache(_COMMAND_CACHE)
def _parsed_command(text: str) -> c.Command | None:
    try:
        return parse_command(text)
    except CommandError:
        return None  # an answer to a prompt, or a typing mistake


# -- raw captures ---------------------------------------------------------------------------------------------------


def _read_raw(pieces: Iterator[bytes], start: bytes, start_offset: int) -> Iterator[CaptureEvent]:
    """Read raw bytes; the events have no times."""
    head = start[:_HEAD_SIZE]
    if len(head.translate(None, _TEXT_BYTES)) > _MOST_BINARY * len(head) or head.count(b"\0") > len(head) / 4:
        raise CaptureError("expected a session log or a capture, got a binary file")
    reader, drawings = MessageReader(), _DrawnBoards()
    recognised = False
    unconfirmed: list[ReceivedMessage | SentCommand] = []
    """Events before the first line that only a server sends: any text may contain a drawn board."""
    for piece in itertools.chain(pieces, [b""]):
        reader.receive_data(piece)
        while (received := reader.next_message()) is not None:
            message, offset = received.message, start_offset + received.offset
            if type(message) in _DRAWING_MESSAGES:
                message = drawings.board_in(message)
            typed = _typed_command(message.text) if isinstance(message, m.Unknown) else None
            event = ReceivedMessage(None, message, offset) if typed is None else SentCommand(None, typed, offset)
            if recognised:
                yield event
                continue
            unconfirmed.append(event)
            recognised = typed is None and not isinstance(received.message, _AMBIGUOUS_MESSAGES)
            if recognised:
                yield from unconfirmed
            elif typed is None and received.offset > UNRECOGNISED_LIMIT:
                raise CaptureError("expected a session log or a capture, got a text without any line of a server")
    if not recognised:
        raise CaptureError("expected a session log or a capture, got a text without any line of a server")
    yield ConnectionEnded(None, start_offset, "the capture ends")


_DRAWING_MESSAGES: Final = frozenset([m.YouWatch, m.YouStopWatching, m.WatchedGone, m.Unknown])
"""The messages from which drawn boards are read."""


class _DrawnBoards:
    """Reads the boards that are drawn for people, most of whom never see another kind."""

    def __init__(self) -> None:
        self._reader = DrawingReader()
        self._watched: str | None = None

    def board_in(self, message: m.Message) -> m.Message:
        """Return the board if a message is its last line, else the message."""
        match message:
            case m.YouWatch(name=name):
                self._watched = name
            case m.YouStopWatching() | m.WatchedGone():
                self._watched = None
            case m.Unknown(text=text):
                board = self._reader.read(text, self._watched)
                return m.Board(board) if board else message
        return message


def _typed_command(text: str) -> c.Command | None:
    """Return the command that the user typed, if it is one of _TYPED_COMMANDS; some programs mark it by `<<`."""
    if is_drawn(text):  # a line of point numbers could be a move
        return None
    text = text.strip().removeprefix("> ").removeprefix("<< ")
    if not text or len(text) > _LONGEST_TYPED_COMMAND or not text[0].isalnum():
        return None
    try:
        command = parse_command(text)
    except CommandError:
        return None
    return command if isinstance(command, _TYPED_COMMANDS) else None
