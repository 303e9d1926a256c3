"""Files and text of unknown origin: unpacked, decoded, made fit for a line of a file."""

from __future__ import annotations

import codecs
import itertools
import unicodedata
import zlib
from collections.abc import Iterator
from typing import IO, Final

from fibsbot.formats.errors import FormatError

CHUNK: Final = 2**16
"""Bytes that are read at once."""
_GZIP: Final = b"\x1f\x8b"
_SLICE: Final = 512
"""Packed bytes that are unpacked at once: where a file is damaged, no more than these are lost before the damage."""
_GZIP_FORMAT: Final = zlib.MAX_WBITS | 16
_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""Encodings by the byte order mark. PowerShell writes the first where it redirects output into a file."""

_UNFIT: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that break a line or cannot be encoded."""
_DIRECTIONS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that make a line read otherwise than it is written."""


def one_line(text: str, otherwise: str = "") -> str:
    """Return text without control characters, line breaks and runs of blanks; `otherwise` where nothing is left."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip() or otherwise
    kept = "".join(" " if unicodedata.category(it) in _UNFIT or it in _DIRECTIONS else it for it in text)
    return " ".join(kept.split()) or otherwise


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield what a file holds, piece by piece: unpacked if gzip compressed it, in UTF-8 if it is UTF-16.

    Raises FormatError where compressed data is damaged or cut off, after everything before that place.
    """
    start = file.read(CHUNK)
    pieces = iter(lambda: file.read(CHUNK), b"")
    whole = itertools.chain([start], pieces) if start else pieces
    return _in_utf8(_inflated(whole) if start.startswith(_GZIP) else whole)


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack one gzip member after another, by at most CHUNK bytes at once."""
    unpacker = zlib.decompressobj(_GZIP_FORMAT)
    try:
        for piece in pieces:
            for place in range(0, len(piece), _SLICE):
                data = piece[place : place + _SLICE]
                while data:
                    if unpacker.eof:
                        unpacker = zlib.decompressobj(_GZIP_FORMAT)
                    if text := unpacker.decompress(data, CHUNK):
                        yield text
                    data = unpacker.unconsumed_tail or unpacker.unused_data
        if text := unpacker.flush():
            yield text
    except zlib.error:
        raise FormatError("expected a whole gzip file, got a damaged one") from None
    if not unpacker.eof:
        raise FormatError("expected a whole gzip file, got one that is cut off")


def _in_utf8(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pass on pieces of a file, those of a UTF-16 file in UTF-8."""
    start = b""
    for piece in pieces:
        start += piece
        if len(start) > 1:
            break
    encoding = _UTF16.get(start[:2])
    if encoding is None:
        if start:
            yield start
        yield from pieces
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in itertools.chain([start[2:]], pieces):
        if text := decoder.decode(piece):
            yield text.encode("utf-8", "replace")
    if text := decoder.decode(b"", final=True):
        yield text.encode("utf-8", "replace")


def decoded(data: bytes) -> str:
    """Return the text of a file that `chunks` has read: UTF-8, or else what Windows wrote in the West before."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
