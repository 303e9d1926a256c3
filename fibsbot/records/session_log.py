r"""The session log: the exact bytes of a connection in both directions, with times, one JSON object per line.

    {"fibsbot_session_log": 1, "time": "2026-01-02T03:04:05.678901+00:00", "server": "127.0.0.1:4321", "user": "marvin"}
    {"time": "...", "received": "login: "}
    {"time": "...", "sent": "login fibsbot 1008 marvin ********\r\n"}
    {"time": "...", "event": "match_started", "opponent": "ford", "length": 5}

Bytes are stored as latin-1 text, so that every byte has a character. The password never reaches the file. This module
reads the format; `session_log_writer.py` writes it.
"""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

from attrs import define, field, frozen
from attrs.validators import ge


@frozen
class Rotation:
    """When a session log begins a new file, and which old files are kept."""

    max_bytes: int = field(validator=ge(2**16))
    """A file that would grow beyond this is closed and compressed."""
    daily: bool
    """Whether a new file begins with each day, UTC."""
    keep_days: int = field(validator=ge(0))
    """Days after which compressed files are removed; 0 keeps them for ever."""
    max_total_bytes: int = field(validator=ge(0))
    """Size of all files of a log together, beyond which the oldest are removed whatever their age; 0: no limit.

    So a server that floods us cannot fill the disk. The file that is being written is never removed.
    """


VERSION: Final = 1
"""Version of the format; the first line's value."""
CONNECTION_END_EVENTS: Final = ("connection_lost", "registration_ended")
"""Events after which another connection follows: what was received before them may end within a line."""
FIRST_KEY: Final = "fibsbot_session_log"
"""The first line's first key, by which a session log is recognised."""

_DECISION: Final = b'"event": "decision"'
"""Part of the record of a decision; within a text of JSON the quotes would be escaped."""
_GZIP: Final = b"\x1f\x8b"
_DECODER: Final = json.JSONDecoder()


def utc_now() -> dt.datetime:
    """Return the present time, UTC."""
    return dt.datetime.now(dt.UTC)


# -- records --------------------------------------------------------------------------------------------------------


@frozen
class Header:
    """The first line."""

    time: dt.datetime
    fields: Mapping[str, Any] = field(factory=dict)
    """Facts about the session from the writer: `server`, `user`, `version` and so on."""


@define  # the records that are many are not frozen: such a class takes twice as long to build
class Received:
    """Bytes from the server, as one read returned them: not necessarily whole lines."""

    time: dt.datetime
    data: bytes


@define
class Sent:
    """Bytes sent to the server, with the line's end."""

    time: dt.datetime
    data: bytes


@define
class ProgramEvent:
    """An event of the program."""

    time: dt.datetime
    name: str
    fields: Mapping[str, Any] = field(factory=dict)


Record: TypeAlias = Header | Received | Sent | ProgramEvent


class SessionLogError(ValueError):
    """A file is no session log, or one of a version that this program does not know."""


# -- reading --------------------------------------------------------------------------------------------------------


def is_session_log(start: bytes) -> bool:
    """Whether these are the first bytes of a session log; the first 64 are enough."""
    return start.lstrip().startswith((b'{"' + FIRST_KEY.encode() + b'"', b'{ "' + FIRST_KEY.encode() + b'"'))


def unpacked(file: IO[bytes]) -> IO[bytes]:
    """Return what a file holds, which may be compressed; reading a damaged one raises EOFError or zlib.error."""
    if isinstance(file, io.BufferedReader) and file.peek(2)[:2] == _GZIP:
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    return file


def is_decision(line: bytes) -> bool:
    """Whether a line records a decision; such records are many and slow to parse."""
    return _DECISION in line


def read_session_log(source: str | Path | Iterable[bytes]) -> Iterator[Record]:
    """Yield the records of a session log in their order.

    Incomplete lines (a full disk, a power failure) are skipped. A file to which several sessions were appended has
    several headers. A path may be that of a compressed file. Raises SessionLogError if the first line is no header of
    this version or a compressed file is damaged, and OSError from the file.
    """
    if isinstance(source, (str, Path)):
        with Path(source).open("rb") as file:
            try:
                yield from read_session_log(unpacked(file))
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise SessionLogError(f"expected a whole gzip file, got {str(source)!r}: {error}") from None
        return
    first = True
    for line in source:
        record = parse_first_record(line) if first else parse_record(line)
        first = False
        if record is not None:
            yield record


def parse_first_record(line: bytes) -> Header:
    """Parse the first line of a file. Raises SessionLogError if it is no header of this version."""
    record = parse_record(line)
    if not isinstance(record, Header):
        raise SessionLogError(f"expected a first line with {FIRST_KEY!r}: {VERSION}, got {line[:80]!r}")
    return record


def parse_record(line: bytes) -> Record | None:
    """Parse a line; return None for one that is incomplete. Raises SessionLogError for a header of another version."""
    try:
        encoding = "utf-8" if line.startswith(b'{"') else json.detect_encoding(line)  # ours need no detection
        data = _DECODER.decode(line.decode(encoding, "surrogatepass"))
        time = dt.datetime.fromisoformat(data.pop("time"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if isinstance(text := data.get("received"), str):  # a match statement takes four times as long
        return Received(time, text.encode("latin-1", "replace"))
    if isinstance(text := data.get("sent"), str):
        return Sent(time, text.encode("latin-1", "replace"))
    match data:
        case {"event": str(name)}:
            del data["event"]
            return ProgramEvent(time, name, data)
        case {"fibsbot_session_log": version}:
            if version != VERSION:
                raise SessionLogError(f"expected a session log of version {VERSION}, got version {version!r}")
            del data[FIRST_KEY]
            return Header(time, data)
    return None
