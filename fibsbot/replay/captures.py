"""Reads captures: our own session logs, and the raw bytes of any client, as one stream of what was said.

A raw capture is what a telnet connection brought: lines with CR LF, LF or CR, telnet bytes, bells, and in between what
the user typed, where the terminal echoed it. It may begin and end anywhere. Either kind may be compressed by gzip, or
be in UTF-16, as PowerShell writes what it redirects.
Memory does not grow with the file.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from fibsbot.formats.errors import FormatError
from fibsbot.formats.text import chunks
from fibsbot.records import session_log as log
from fibsbot.replay import parts
from fibsbot.replay.errors import CaptureError
from fibsbot.replay.spoken import Cut, Heard, Known, Noted, Said, Spoken
from protocol import commands as c
from protocol import messages as m
from protocol.drawn import DrawingReader
from protocol.errors import CommandError
from protocol.grammar import parse_command
from protocol.lines import LineSplitter
from protocol.stream import MessageReader

__all__ = [
    "Cut",
    "Heard",
    "Known",
    "Noted",
    "Said",
    "Spoken",
    "read_capture",
    "read_captures",
    "read_pieces",
]

Reach: TypeAlias = Callable[[int], object]
"""Takes how many bytes have been read."""

PATIENCE: Final = 2**20
"""Bytes of a raw capture within which some line of a server has to be recognised."""
_LOOK: Final = 4096
"""Bytes by which a file is judged."""
_MOST_STRANGE: Final = 0.05
"""Share of bytes that are neither text nor telnet, above which a file is taken for a binary one."""
_FAMILIAR: Final = bytes({*range(32, 127), *range(128, 256), *b"\0\a\b\t\n\v\f\r\x1b"})
_COMMANDS: Final = 256
"""Commands that are kept in mind: a session sends the same ones again and again."""
_LONGEST_TYPED: Final = 80
"""Characters of a line that is taken for a command which the user typed."""
_TYPED: Final = (
    *(c.Move, c.Off, c.Roll, c.Double, c.Accept, c.Reject, c.Redouble, c.Beaver, c.Raccoon, c.Otter, c.Resign),
    *(c.Join, c.Leave, c.Watch, c.Unwatch, c.ShowBoard, c.Look, c.Login),
)
"""The commands that matter when they stand in a raw capture."""
_PROSE: Final = (m.Unknown, m.MotdLine, m.CommandPrompt, m.MovesAction)
"""What any text may seem to say."""


def read_capture(path: Path) -> Iterator[Spoken]:
    """Yield what was said in a capture. Raises CaptureError for a file that is none, OSError where it can't be read.

    Of a text without any line of a server nothing is yielded.
    """
    return read_captures([path])


def read_captures(paths: Iterable[Path], reach: Reach = lambda _: None) -> Iterator[Spoken]:
    """Yield what was said in files that continue each other, the oldest first, as the parts of a session log do.

    Offsets are counted through all of them; `reach` is called with how far the reading is. Raises CaptureError and
    OSError as `read_capture`; where a compressed file is damaged, that is raised after what was said before the damage
    and in the other files.
    """
    tape = _Tape(reach)
    for path in paths:
        if path.is_dir():
            raise CaptureError(f"expected a session log or a capture, got the folder {path.name!r}")
        with parts.opened(path) as file:
            yield from tape.read(chunks(file))
    yield from tape.end()


def read_pieces(pieces: Iterable[bytes]) -> Iterator[Spoken]:
    """Yield what was said in a capture that comes piece by piece, however it is cut. Raises CaptureError."""
    tape = _Tape()
    yield from tape.read(iter(pieces))
    yield from tape.end()


class _Tape:
    """One file after the other, as one capture."""

    def __init__(self, reach: Reach = lambda _: None) -> None:
        self._reach = reach
        self._offset = 0
        self._logged = _Logged()
        self._damage: FormatError | None = None
        """What is wrong with a file that could not be read to its end."""

    def read(self, pieces: Iterator[bytes]) -> Iterator[Spoken]:
        start = b""
        pieces = self._undamaged(pieces)
        while len(start) < _LOOK and (piece := next(pieces, b"")):
            start += piece
        if not start.strip():
            raise CaptureError(str(self._damage or "expected a session log or a capture, got an empty file"))
        begin = self._offset
        counted = self._counted(itertools.chain([start], pieces))
        if log.is_session_log(start):
            yield from self._logged.read(counted, begin)
        else:
            yield from _captured(counted, start, begin)

    def _counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Pass on the pieces of a file, and count their bytes."""
        for piece in pieces:
            self._offset += len(piece)
            self._reach(self._offset)
            yield piece

    def _undamaged(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Pass on the pieces of a file up to where it is damaged."""
        try:
            yield from pieces
        except FormatError as error:
            self._damage = error

    def end(self) -> Iterator[Spoken]:
        yield from self._logged.end(self._offset)
        if self._damage:
            raise CaptureError(str(self._damage))


# -- session logs ---------------------------------------------------------------------------------------------------


class _Logged:
    """Reads session logs. A part that continues the one before goes on where that one ended, even inside a line."""

    def __init__(self) -> None:
        self._reader = MessageReader()
        self._sent = LineSplitter(prompts=False)
        self._at: dt.datetime | None = None

    def read(self, pieces: Iterator[bytes], begin: int) -> Iterator[Spoken]:
        place = begin

        def each() -> Iterator[bytes]:
            nonlocal place
            for offset, line in parts.lines(pieces):
                place = begin + offset
                yield line

        try:
            for record in log.read_session_log(each()):
                self._at = at = record.time
                match record:
                    case log.Received(data=data) if data:
                        self._reader.receive_data(data)
                        while (received := self._reader.next_message()) is not None:
                            yield Heard(at, received.message, place)
                    case log.Sent(data=data) if data:
                        for command in self._commands(data):
                            yield Said(at, command, place)
                    case log.Event() | log.Header():
                        yield from self._noted(record, place)
        except log.SessionLogError as error:
            raise CaptureError(str(error)) from None

    def end(self, offset: int) -> Iterator[Spoken]:
        if self._at is not None:
            yield Cut(self._at, offset, "the log ends")

    def _commands(self, data: bytes) -> Iterator[c.Command]:
        self._sent.receive_data(data)
        while (line := self._sent.next_line()) is not None:
            command = _command(line.text.strip())
            if command is not None:
                yield command

    def _noted(self, record: log.Event | log.Header, place: int) -> Iterator[Spoken]:
        if isinstance(record, log.Header):
            yield from self._headed(record, place)
            return
        yield Noted(record.time, record.name, record.fields, place)
        if record.name in log.ENDS:
            yield from self._cut(place, str(record.fields.get("reason", "")) or "the connection was lost")

    def _headed(self, record: log.Header, place: int) -> Iterator[Spoken]:
        """Begin a run, unless the header says that it continues the part that was read before."""
        if not record.fields.get("continues"):
            yield from self._cut(place, "another run begins")
        yield Known(str(record.fields.get("user", "")), str(record.fields.get("server", "")))

    def _cut(self, place: int, reason: str) -> Iterator[Spoken]:
        # What is left over was cut off, and may say anything: `foe` for `foe_b`, 1 for 16.
        self._reader = MessageReader(banner=True)
        self._sent = LineSplitter(prompts=False)
        yield Cut(self._at, place, reason)


@lru_cache(_COMMANDS)
def _command(text: str) -> c.Command | None:
    try:
        return parse_command(text)
    except CommandError:
        return None  # an answer to a prompt, or a mistake


# -- raw captures ---------------------------------------------------------------------------------------------------


def _captured(pieces: Iterator[bytes], start: bytes, begin: int) -> Iterator[Spoken]:
    """Read raw bytes; everything is without a time."""
    head = start[:_LOOK]
    if len(head.translate(None, _FAMILIAR)) > _MOST_STRANGE * len(head) or head.count(b"\0") > len(head) / 4:
        raise CaptureError("expected a session log or a capture, got a binary file")
    reader, drawings = MessageReader(), _Drawings()
    recognised = False
    held: list[Heard | Said] = []
    """Drawn boards and prose, until some line shows that they are a server's: any text may have a board in it."""
    for piece in itertools.chain(pieces, [b""]):
        reader.receive_data(piece)
        while (received := reader.next_message()) is not None:
            message, offset = received.message, begin + received.offset
            if type(message) in _SEEN:
                message = drawings.seen_in(message)
            typed = _typed(message.text) if isinstance(message, m.Unknown) else None
            said = Heard(None, message, offset) if typed is None else Said(None, typed, offset)
            if recognised:
                yield said
                continue
            held.append(said)
            recognised = typed is None and not isinstance(received.message, _PROSE)
            if recognised:
                yield from held
            elif typed is None and received.offset > PATIENCE:
                raise CaptureError("expected a session log or a capture, got a text without any line of a server")
    if not recognised:
        raise CaptureError("expected a session log or a capture, got a text without any line of a server")
    yield Cut(None, begin, "the capture ends")


_SEEN: Final = frozenset([m.YouWatch, m.YouStopWatching, m.WatchedGone, m.Unknown])
"""The messages by which boards that are drawn for people are seen."""


class _Drawings:
    """Sees the boards that are drawn for people, who seldom have the server send any other."""

    def __init__(self) -> None:
        self._reader = DrawingReader()
        self._watched: str | None = None

    def seen_in(self, message: m.Message) -> m.Message:
        """Return the board whose last line a message is, else the message."""
        match message:
            case m.YouWatch(name=name):
                self._watched = name
            case m.YouStopWatching() | m.WatchedGone():
                self._watched = None
            case m.Unknown(text=text):
                board = self._reader.read(text, self._watched)
                return m.Board(board) if board else message
        return message


def _typed(text: str) -> c.Command | None:
    """Return the command that the user typed here, if it is one that matters; some programs mark it by `<<`."""
    text = text.strip().removeprefix("> ").removeprefix("<< ")
    if not text or len(text) > _LONGEST_TYPED or not text[0].isalnum():
        return None
    try:
        command = parse_command(text)
    except CommandError:
        return None
    return command if isinstance(command, _TYPED) else None
