r"""The session log: the exact bytes of a connection in both directions, with times, one JSON object a line.

    {"fibsbot_session_log": 1, "time": "2026-01-02T03:04:05.678901+00:00", "server": "127.0.0.1:4321", "user": "marvin"}
    {"time": "...", "received": "login: "}
    {"time": "...", "sent": "login fibsbot 1008 marvin ********\r\n"}
    {"time": "...", "event": "match_started", "opponent": "ford", "length": 5}

Bytes stand as latin-1 text, so that every byte has a character. The password never reaches the file.
"""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, Self, TypeAlias, cast

from attrs import field, frozen

from fibsbot.records.log_file import LogFile
from fibsbot.records.rotation import Rotation

VERSION: Final = 1
"""Version of the format; the first line's value."""
MARK: Final = "fibsbot_session_log"
"""The first line's first key, by which a session log is recognised."""
REDACTED: Final = "********"
"""What stands in the log where a secret was."""

_GZIP: Final = b"\x1f\x8b"
_RESERVED: Final = frozenset({"time", "event", "sent", "received", MARK})


def utc_now() -> dt.datetime:
    """Return the present time, UTC."""
    return dt.datetime.now(dt.UTC)


# -- records --------------------------------------------------------------------------------------------------------


@frozen
class Header:
    """The first line: what the log is about."""

    time: dt.datetime
    fields: Mapping[str, Any] = field(factory=dict)
    """Whatever the writer told about the session: `server`, `user`, `version` and so on."""


@frozen
class Received:
    """Bytes from the server, as one read returned them: not necessarily whole lines."""

    time: dt.datetime
    data: bytes


@frozen
class Sent:
    """Bytes sent to the server, with the line's end."""

    time: dt.datetime
    data: bytes


@frozen
class Event:
    """Something that the program did or noticed."""

    time: dt.datetime
    name: str
    fields: Mapping[str, Any] = field(factory=dict)


Record: TypeAlias = Header | Received | Sent | Event


class SessionLogError(ValueError):
    """A file is no session log, or one of a version that this program does not know."""


# -- writing --------------------------------------------------------------------------------------------------------


class SessionLog:
    """Appends records to a file. Each goes to the operating system at once, whole and alone.

    Nothing raises after the file was opened: a full disk costs records, not the match. What was lost is counted and
    noted in the log (event `records_lost`) as soon as it can be written again.
    """

    def __init__(
        self,
        path: Path,
        *,
        secrets: Iterable[str] = (),
        clock: Callable[[], dt.datetime] = utc_now,
        rotation: Rotation | None = None,
        **fields: Any,
    ) -> None:
        """Open `path` for appending and write the first line with `fields`; raise OSError when that fails.

        `secrets` are replaced wherever they occur, also where a server echoes them. With a `rotation` the log goes on
        in new files (fibsbot/records/archive.py), each with a first line of its own, which has the name of the
        file before it in the field `continues`; `path` is always the one that is being written.
        """
        self.path = path
        self.lost = 0
        """Records that could not be written since the last one that could."""
        self._secrets = tuple(s.encode("utf-8", "replace") for s in secrets if s)
        self._clock = clock
        self._held = b""
        """The last bytes received, if they may be the beginning of a secret; they wait for what comes after them."""
        self._fields = self._cleaned(fields)
        self._file = LogFile(path, self._header, clock, rotation)

    def received(self, data: bytes) -> None:
        """Record bytes as they came from the server."""
        data = self._redact(self._held + data)
        keep = max((_overlap(data, secret) for secret in self._secrets), default=0)
        self._held = data[len(data) - keep :]
        if data := data[: len(data) - keep]:
            self._write({"time": self._now(), "received": data.decode("latin-1")})

    def sent(self, data: bytes) -> None:
        """Record bytes as they went to the server."""
        self._write({"time": self._now(), "sent": self._redact(data).decode("latin-1")})

    def event(self, name: str, /, **fields: Any) -> None:
        """Record something that happened; `fields` must be what JSON can write, anything else is written by `str`."""
        if wrong := _RESERVED & fields.keys():
            raise ValueError(f"expected fields other than {sorted(_RESERVED)}, got {sorted(wrong)}")
        self._write({"time": self._now(), "event": name, **self._cleaned(fields)})

    def close(self) -> None:
        """Write what was held back and close the file; later records are dropped."""
        if self._held:
            # It looked like the beginning of a secret, which nobody can tell from the secret's own beginning.
            self._write({"time": self._now(), "received": self._held.decode("latin-1")})
            self._held = b""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self) -> str:
        return self._clock().isoformat()

    def _redact(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, REDACTED.encode())
        return data

    def _cleaned(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float():
                return value
            case dict():
                return {str(key): self._cleaned(item) for key, item in value.items()}
            case list() | tuple():
                return [self._cleaned(item) for item in value]
        return self._redact(str(value).encode("utf-8", "replace")).decode()

    def _header(self, continued: str | None) -> bytes:
        header = {MARK: VERSION, "time": self._now(), **self._fields}
        return _line({**header, "continues": continued} if continued else header)

    def _write(self, record: Mapping[str, Any]) -> None:
        line = _line(record)
        if self.lost:  # both or neither: a full disk might have room for one of them alone, again and again
            line = _line({"time": self._now(), "event": "records_lost", "count": self.lost}) + line
        self.lost = 0 if self._file.append(line) else self.lost + 1


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def _overlap(data: bytes, secret: bytes) -> int:
    """Return how many bytes at the end of `data` may be the beginning of the secret."""
    return next((n for n in range(min(len(data), len(secret) - 1), 0, -1) if data.endswith(secret[:n])), 0)


# -- reading --------------------------------------------------------------------------------------------------------


def is_session_log(start: bytes) -> bool:
    """Whether these are the first bytes of a session log; the first 64 are enough."""
    return start.lstrip().startswith((b'{"' + MARK.encode() + b'"', b'{ "' + MARK.encode() + b'"'))


def unpacked(file: IO[bytes]) -> IO[bytes]:
    """Return what a file holds, which may be compressed; reading a damaged one raises EOFError or zlib.error."""
    if isinstance(file, io.BufferedReader) and file.peek(2)[:2] == _GZIP:
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    return file


def read_session_log(source: str | Path | Iterable[bytes]) -> Iterator[Record]:
    """Yield the records of a session log in their order.

    Lines that were only half written (a full disk, a machine switched off) are passed over. A file that several
    sessions appended to has several headers. A path may be that of a compressed file. Raises SessionLogError when the
    first line is no header of this version or a compressed file is damaged, and OSError from the file.
    """
    if isinstance(source, (str, Path)):
        with Path(source).open("rb") as file:
            try:
                yield from read_session_log(unpacked(file))
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise SessionLogError(f"expected a whole gzip file, got {str(source)!r}: {error}") from None
        return
    started = False
    for line in source:
        record = _parse(line)
        if not started and not isinstance(record, Header):
            raise SessionLogError(f"expected a first line with {MARK!r}: {VERSION}, got {line[:80]!r}")
        started = True
        if record is not None:
            yield record


def _parse(line: bytes) -> Record | None:
    try:
        data = json.loads(line)
        time = dt.datetime.fromisoformat(data.pop("time"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    match data:
        case {"received": str(text)}:
            return Received(time, text.encode("latin-1", "replace"))
        case {"sent": str(text)}:
            return Sent(time, text.encode("latin-1", "replace"))
        case {"event": str(name)}:
            del data["event"]
            return Event(time, name, data)
        case {"fibsbot_session_log": version}:
            if version != VERSION:
                raise SessionLogError(f"expected a session log of version {VERSION}, got version {version!r}")
            del data[MARK]
            return Header(time, data)
    return None
