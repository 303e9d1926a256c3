"""`fibsbot parse`: what a server said, as JSON."""

from __future__ import annotations

import datetime as dt
import enum
import itertools
import json
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final

import attrs
import click

from fibsbot.cli import UserError
from fibsbot.records.session_log import Header, SessionLogError, is_session_log, read_session_log, unpacked
from fibsbot.records.session_log import Received as ReceivedBytes
from protocol.messages import RefusedBoard, Unknown
from protocol.stream import MessageReader, Received
from protocol.words import Colour

CHUNK: Final = 65536
"""Bytes that are read at once."""


@click.command()
@click.argument("file")
@click.option("--unknown", is_flag=True, help="Print only what was not understood.")
def parse(*, file: str, unknown: bool) -> None:
    """Print what a server said, one JSON object a message.

    FILE is a capture of the bytes, with CRLF or LF at the lines' ends, or a session log that `fibsbot play` wrote; `-`
    is the standard input. Either may be compressed by gzip. Each object has the message's kind, its fields, the line,
    and the line's offset in bytes.
    """
    try:
        with click.open_file(file, "rb") as source:
            for received in _messages(unpacked(source)):
                if not unknown or isinstance(received.message, Unknown | RefusedBoard):
                    sys.stdout.write(json.dumps(describe(received)) + "\n")
    except BrokenPipeError:
        raise
    except (OSError, EOFError, zlib.error, SessionLogError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"cannot read {file}: {reason}") from None


def describe(received: Received) -> dict[str, Any]:
    """Return what JSON can hold of a message and where it came from."""
    return {
        "kind": received.message.kind(),
        "fields": attrs.asdict(received.message, value_serializer=_plain),
        "text": received.text,
        "offset": received.offset,
    }


def _plain(_owner: object, _attribute: object, value: Any) -> Any:
    if isinstance(value, Colour):
        return value.name
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return value


def _messages(source: IO[bytes]) -> Iterator[Received]:
    start = source.readline(CHUNK)
    if is_session_log(start):
        return _logged(itertools.chain([start], source))
    return _captured(start, source)


def _captured(start: bytes, source: IO[bytes]) -> Iterator[Received]:
    reader = MessageReader()
    for chunk in itertools.chain([start], iter(lambda: source.read(CHUNK), b"")):
        if chunk:
            yield from _read(reader, chunk)
    yield from _read(reader, b"")


def _logged(lines: Iterator[bytes]) -> Iterator[Received]:
    """Read what was received; each header begins another connection."""
    reader = MessageReader()
    for record in read_session_log(lines):
        if isinstance(record, ReceivedBytes) and record.data:
            yield from _read(reader, record.data)
        elif isinstance(record, Header):
            yield from _read(reader, b"")
            reader = MessageReader()
    yield from _read(reader, b"")


def _read(reader: MessageReader, data: bytes) -> Iterator[Received]:
    reader.receive_data(data)
    while received := reader.next_message():
        yield received
