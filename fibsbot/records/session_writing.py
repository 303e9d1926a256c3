"""Writes a session log (see `session_log.py` for what is in it)."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from fibsbot.records.log_file import LogFile
from fibsbot.records.rotation import Rotation
from fibsbot.records.session_log import MARK, VERSION, utc_now
from fibsbot.redaction import StreamRedactor, cleaned, redacted

_RESERVED: Final = frozenset({"time", "event", "sent", "received", MARK})


class SessionLog:
    """Appends records to a file. Each goes to the operating system at once, whole and alone.

    Nothing raises after the file was opened: a full disk costs records, not the match. What was lost is counted and
    noted in the log (event `records_lost`) as soon as it can be written again.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], dt.datetime] = utc_now,
        rotation: Rotation | None = None,
        **fields: Any,
    ) -> None:
        """Open `path` for appending and write the first line with `fields`; raise OSError when that fails.

        With a `rotation` the log goes on in new files (fibsbot/records/archive.py), each with a first line of its own,
        which has the name of the file before it in the field `continues`; `path` is always the one that is being
        written.
        """
        self.path = path
        self.lost = 0
        """Records that could not be written since the last one that could."""
        self._clock = clock
        self._received = StreamRedactor()
        self._fields = cleaned(_plain(fields))
        self._file = LogFile(path, self._header, clock, rotation)

    def received(self, data: bytes) -> None:
        """Record bytes as they came from the server."""
        if text := self._received.take(data):
            self._write({"time": self._now(), "received": text})

    def sent(self, data: bytes) -> None:
        """Record bytes as they went to the server."""
        self._write({"time": self._now(), "sent": redacted(data.decode("latin-1"))})

    def event(self, name: str, /, **fields: Any) -> None:
        """Record something that happened; `fields` must be what JSON can write, anything else is written by `str`."""
        if wrong := _RESERVED & fields.keys():
            raise ValueError(f"expected fields other than {sorted(_RESERVED)}, got {sorted(wrong)}")
        self._write({"time": self._now(), "event": name, **cleaned(_plain(fields))})

    def close(self) -> None:
        """Write what was held back and close the file; later records are dropped."""
        if text := self._received.rest():
            self._write({"time": self._now(), "received": text})
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self) -> str:
        return self._clock().isoformat()

    def _header(self, continued: str | None) -> bytes:
        header = {MARK: VERSION, "time": self._now(), **self._fields}
        return _line({**header, "continues": continued} if continued else header)

    def _write(self, record: Mapping[str, Any]) -> None:
        line = _line(record)
        if self.lost:  # both or neither: a full disk might have room for one of them alone, again and again
            line = _line({"time": self._now(), "event": "records_lost", "count": self.lost}) + line
        self.lost = 0 if self._file.append(line) else self.lost + 1


def _plain(value: Any) -> Any:
    """Return a value as JSON can write it."""
    match value:
        case None | bool() | int() | float():
            return value
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    return str(value).encode("utf-8", "replace").decode()


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"
