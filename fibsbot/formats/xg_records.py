"""The files of eXtreme Gammon, `.xg` and `.xgp`: the archive in them, and the fields of its records.

A file is a header, perhaps a picture, and an archive of members that zlib has packed, with an index and a trailer at
its end. The member `temp.xg` has the match: records of 2560 bytes, little-endian. Rollouts (`temp.xgr`) and comments
(`temp.xgc`) are passed over.

The layout is the published one of eXtreme Gammon 2.10, file version 30, which is the only one that was tried.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
import zlib
from typing import Final

from attrs import frozen

from fibsbot.formats import FormatError, expected, single_line, unpack

MAGIC: Final = b"RGMH"
"""The first bytes of a file."""
MEMBER: Final = b"temp.xg"
RECORD_SIZE: Final = 2560
LARGEST_MEMBER: Final = 2**25
"""Bytes of the records, unpacked, at most: those of about 6000 turns."""
MOST_MEMBERS: Final = 64
NEWEST_VERSION: Final = 40
"""eXtreme Gammon itself refuses files of a higher version."""
WIDE_TEXT: Final = 129
"""Characters of a text in UTF-16, with the 0 at its end."""

_HEADER: Final = struct.Struct("<4sII8xI")
"""Magic, version, size of the header, and size of the picture behind it."""
_TRAILER: Final = struct.Struct("<IiiiiB15x")
"""CRC-32, members, version, size of the index, size of the members, and whether the index is packed."""
_INDEXED: Final = struct.Struct("<256p256xiiiIBB2x")
"""Of a member: name, size unpacked, size packed, beginning, CRC-32, 1 if it is not packed, and the level of packing."""
_MATCH_MAGIC: Final = b"DMLI"
_MATCH_MAGIC_AT: Final = 556
_VERSION_AT: Final = 552
_HIGHEST_KIND: Final = 7
_DAYS_FROM: Final = dt.datetime(1899, 12, 30, tzinfo=dt.UTC)
_MOST_DAYS: Final = 200_000.0
_LARGEST_FIGURE: Final = 900.0
"""-1000 stands for a figure that was not calculated."""


@frozen
class Record:
    """A record; every field is read at its place in bytes."""

    number: int
    """From 1."""
    data: bytes

    @property
    def kind(self) -> int:
        """What it describes: 0 match, 1 game, 2 cube, 3 play, 4 end of a game, 5 end of the match."""
        return self.data[8]

    def integer(self, at: int) -> int:
        """Return a number of 4 bytes."""
        return int.from_bytes(self.data[at : at + 4], "little", signed=True)

    def short(self, at: int) -> int:
        """Return a number of 2 bytes."""
        return int.from_bytes(self.data[at : at + 2], "little", signed=True)

    def flag(self, at: int) -> bool:
        """Return a byte as a truth value."""
        return self.data[at] != 0

    def figure(self, at: int) -> float | None:
        """Return a figure of an analysis in 8 bytes; None for what was not calculated."""
        return _calculated(struct.unpack_from("<d", self.data, at)[0])

    def single(self, at: int) -> float | None:
        """Return a figure of an analysis in 4 bytes; None for what cannot be one."""
        return _calculated(struct.unpack_from("<f", self.data, at)[0])

    def real(self, at: int) -> float:
        """Return a number of 8 bytes, which may be infinite or none."""
        return float(struct.unpack_from("<d", self.data, at)[0])

    def time(self, at: int) -> dt.datetime | None:
        """Return a time, taken for UTC as the file names no zone; None if there is none."""
        days = self.real(at)
        return _DAYS_FROM + dt.timedelta(days=days) if 0 < days < _MOST_DAYS else None

    def cells(self, at: int) -> tuple[int, ...]:
        """Return the 26 cells of a position."""
        return struct.unpack_from("<26b", self.data, at)

    def wide_text(self, at: int) -> str:
        """Return a text in UTF-16 on one line."""
        text = self.data[at : at + 2 * WIDE_TEXT].decode("utf-16-le", "replace")
        return single_line(text.partition("\0")[0])

    def short_text(self, at: int) -> str:
        """Return a text that begins with its length; it is a guess that it has the code page 1252."""
        return single_line(self.data[at + 1 : at + 1 + self.data[at]].decode("cp1252", "replace"))


def _calculated(number: float) -> float | None:
    return round(number, 6) if math.isfinite(number) and abs(number) < _LARGEST_FIGURE else None


def read_records(data: bytes) -> list[Record]:
    """Return the records of a file, that of the match first. Raises FormatError."""
    if not data.startswith(MAGIC) or len(data) < _HEADER.size:
        raise expected("a file of eXtreme Gammon, which begins with RGMH", data[:16].decode("latin-1"))
    _, _, header, picture = _HEADER.unpack_from(data)
    begin = header + picture
    if header < _HEADER.size or begin >= len(data):
        raise FormatError(f"expected the records at byte {begin} of the file, got a file of {len(data)} bytes")
    member = _indexed_member(data, begin)
    records = _unpacked(data[begin:]) if member is None else member
    count, rest = divmod(len(records), RECORD_SIZE)
    if rest or not count:
        raise FormatError(f"expected records of {RECORD_SIZE} bytes, got {len(records)} bytes")
    found = [Record(number + 1, records[number * RECORD_SIZE : (number + 1) * RECORD_SIZE]) for number in range(count)]
    _check(found)
    return found


def _indexed_member(data: bytes, begin: int) -> bytes | None:
    """Return the records by the index of the archive; None where index and trailer do not fit the file.

    Other programs write such files: the records are whole, and what follows them is old or cut off.
    """
    end = len(data) - _TRAILER.size
    if end <= begin:
        return None
    crc, members, _, index_size, archive_size, packed = _TRAILER.unpack_from(data, end)
    sizes_fit = index_size >= 0 <= archive_size and begin + archive_size + index_size == end
    if not sizes_fit or not 0 < members <= MOST_MEMBERS or zlib.crc32(data[begin:end]) != crc:
        return None
    index = data[begin + archive_size : end]
    index = _unpacked(index, members * _INDEXED.size) if packed else index
    for place in range(min(members, len(index) // _INDEXED.size)):
        name, size, size_packed, start, _, stored, _ = _INDEXED.unpack_from(index, place * _INDEXED.size)
        if name.lower() == MEMBER:
            if min(size, size_packed, start) < 0 or start + size_packed > archive_size:
                raise FormatError(f"expected temp.xg within the archive of {archive_size} bytes, got it outside")
            content = data[begin + start : begin + start + size_packed]
            return content if stored else _unpacked(content)
    raise FormatError("expected an archive with the member temp.xg, got one without")


def _unpacked(data: bytes, largest: int = LARGEST_MEMBER) -> bytes:
    """Return what zlib has packed; what follows it is passed over. Raises FormatError."""
    return unpack(data, largest, "file of eXtreme Gammon")


def _check(records: list[Record]) -> None:
    """Check the record of the match, and the order of the others as far as readers rely on it."""
    match = records[0]
    if match.kind or match.data[_MATCH_MAGIC_AT : _MATCH_MAGIC_AT + 4] != _MATCH_MAGIC:
        raise FormatError(f"record 1: expected the beginning of a match, got a record of the kind {match.kind}")
    version = match.integer(_VERSION_AT)
    if not 0 < version <= NEWEST_VERSION:
        raise FormatError(f"record 1: expected a file version up to {NEWEST_VERSION}, got {version}")
    in_game = False
    for record in records[1:]:
        in_game = in_game or record.kind == 1
        if not 0 < record.kind <= _HIGHEST_KIND or not (in_game or record.kind > 4):
            raise FormatError(f"record {record.number}: expected a game, got a record of the kind {record.kind}")
