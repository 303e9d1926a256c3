"""Match files of other programs: transcripts to text and back.

The modules:

    conversion.py      the reader and the writer of each format
    checked_game.py    what all readers share: a match read entry by entry, each checked by the rules core
    match_laws.py      laws and set-ups of matches in files
    mat.py             `.mat`: the writer
    mat_reader.py      `.mat`: the reader
    mat_headers.py     `.mat`: the headers above games
    mat_game.py        `.mat`: the rows of a game
    sgf.py             SGF: games to and from nodes
    sgf_properties.py  SGF: what nodes say
    sgf_trees.py       SGF: the syntax
    oldmoves.py        the text of the server's command `oldmoves`: lists of games, and which of them make a match
    oldmoves_game.py   its lines of a game
    text_analysis.py   analyses as text: the reader
    javafibs.py        matches of JavaFIBS: the reader
    xg.py              eXtreme Gammon's own files: the reader
    xg_records.py      their layout
    xg_verdicts.py     the analysis in them
    bgf.py             BGBlitz' own files: the reader
    bgf_fields.py      their layout
    bgf_verdicts.py    the analysis in them
    cube_figures.py    what the analysis of a double says, in the files of both
    smile.py           SMILE, the binary JSON in files of BGBlitz
    position_lists.py  lists of positions
    text_sheet.py      a score sheet as text, of any game
    csv_table.py       a table of matches
    transcript_json.py our own format, with everything that a transcript has
    transcript_values.py its values

This module has what all formats share: errors, unpacking and decoding, and the detection of a file's format,
also of files that hold no match that can be read.
"""

from __future__ import annotations

import codecs
import contextlib
import enum
import itertools
import re
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import IO, Final


class FormatError(ValueError):
    """A file is malformed; the text is one line: the place, what was expected, and what was found."""


def expected(what: str, got: str, line: int | None = None) -> FormatError:
    """Return a FormatError: expected `what`, got `got`."""
    place = f"line {line}: " if line is not None else ""
    return FormatError(f"{place}expected {what}, got {got[:80]!r}")


CHUNK: Final = 2**16
"""Bytes per read."""
_GZIP: Final = b"\x1f\x8b"
_GZIP_STEP: Final = 512
"""Compressed bytes per step; in a damaged file, at most these are lost before the damage."""
_GZIP_FORMAT: Final = zlib.MAX_WBITS | 16
_ZLIB_OR_GZIP: Final = zlib.MAX_WBITS | 32
_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""Encodings by the byte order mark. PowerShell writes the first where it redirects output into a file."""

_UNPRINTABLE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that break a line or cannot be encoded."""
_DIRECTIONS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of text."""


def single_line(text: str, otherwise: str = "") -> str:
    """Return text without control characters, line breaks and runs of blanks; `otherwise` where nothing is left."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip() or otherwise
    kept = "".join(
        " " if unicodedata.category(character) in _UNPRINTABLE or character in _DIRECTIONS else character
        for character in text
    )
    return " ".join(kept.split()) or otherwise


def read_chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file in pieces: unpacked if it is a gzip file, as UTF-8 if it is UTF-16.

    Raises FormatError if compressed data is damaged or cut off, after everything before that place.
    """
    start = file.read(CHUNK)
    pieces = iter(lambda: file.read(CHUNK), b"")
    whole = itertools.chain([start], pieces) if start else pieces
    return _to_utf8(_gunzip(whole) if start.startswith(_GZIP) else whole)


def _gunzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack one gzip member after another, in pieces of at most CHUNK bytes."""
    unpacker = zlib.decompressobj(_GZIP_FORMAT)
    try:
        for piece in pieces:
            for place in range(0, len(piece), _GZIP_STEP):
                data = piece[place : place + _GZIP_STEP]
                while data:
                    if unpacker.eof:
                        data = data.lstrip(b"\0")  # padding; gzip ignores it, too
                        if not data:
                            break
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


def unpack(data: bytes, largest: int, what: str) -> bytes:
    """Return what zlib or gzip has packed; what follows it is passed over. `what` is the file, such as "file of X".

    Raises FormatError where it is damaged, cut off, or of more than `largest` bytes.
    """
    unpacker = zlib.decompressobj(_ZLIB_OR_GZIP)
    try:
        content = unpacker.decompress(data, largest + 1)
    except zlib.error:
        raise FormatError(f"expected a whole {what}, got a damaged one") from None
    if len(content) > largest:
        raise FormatError(f"expected at most {largest} bytes of content in a {what}, got more")
    if not unpacker.eof:
        raise FormatError(f"expected a whole {what}, got one that is cut off")
    return content


def _to_utf8(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pass on the pieces of a file, with UTF-16 converted to UTF-8."""
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


def decode_text(data: bytes) -> str:
    """Return the text of bytes from `read_chunks`: UTF-8, or else what an SGF file names, or the code page of Windows.

    The code page is the Western one, 1252.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if named := _SGF_CHARSET.search(data, 0, _SGF_HEAD):
            with contextlib.suppress(LookupError, UnicodeError):
                charset = codecs.lookup(named[1].decode("ascii")).name
                if _ALPHABETS.match(charset):
                    return data.decode(charset)
        return data.decode("cp1252", "replace")


_NON_BREAKING: Final = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f", " "))
"""Non-breaking spaces, as web pages have them."""
_QUOTED: Final = re.compile(r"^[ \t]*(?:> ?)+", re.MULTILINE)
"""What a mail puts before a line that it quotes."""
_LINE: Final = re.compile(r"^.*\S", re.MULTILINE)


def plain_text(text: str) -> str:
    """Return the text of a mail or a web page with plain blanks, and without the marks of quoted lines.

    A mail quotes most of its lines; where few begin with the mark, it is part of a name.
    """
    text = text.translate(_NON_BREAKING) if not text.isascii() else text
    quoted = len(_QUOTED.findall(text)) if ">" in text else 0
    return _QUOTED.sub("", text) if quoted * 2 > len(_LINE.findall(text)) else text


class Format(enum.Enum):
    """A format of matches; the value is its name on the command line."""

    MAT = "mat"
    SGF = "sgf"
    OLDMOVES = "oldmoves"
    JSON = "json"
    CSV = "csv"
    GNUBG_IDS = "gnubg-ids"
    XGID = "xgid"
    SNOWIE = "snowie"
    POSITIONS = "positions"
    SHEET = "sheet"
    ANALYSIS = "analysis"
    JAVAFIBS = "javafibs"
    XG = "xg"
    BGF = "bgf"

    @property
    def extension(self) -> str:
        """The extension of file names."""
        return f".{self.value}"

    @property
    def readable(self) -> bool:
        """Whether matches can be read from it."""
        return self in READABLE

    @property
    def writable(self) -> bool:
        """Whether matches can be written in it."""
        return self not in READ_ONLY


READ_ONLY: Final = (Format.ANALYSIS, Format.JAVAFIBS, Format.XG, Format.BGF)
READABLE: Final = (Format.MAT, Format.SGF, Format.OLDMOVES, Format.JSON, *READ_ONLY)
_SGF_CHARSET: Final = re.compile(
    rb"\(\s*;(?:[^\[\]();]|\[(?:\\.|[^\]\\])*\])*?(?<![a-z])CA\s*\[\s*([a-z0-9_.:-]{1,40})\s*\]",
    re.DOTALL | re.IGNORECASE,
)
"""The beginning of an SGF file whose property CA names its encoding."""
_ALPHABETS: Final = re.compile(r"iso8859-(?!1$)|koi8|cp(?:12|[789])\d\d$|mac-|big5|gb|euc_|shift_jis|tis-620")
"""Python's names of encodings in which people write; ISO 8859-1 is read as the code page that has more letters.

Others, such as Punycode, take minutes for a long text, or make control characters of it.
"""
_SGF_HEAD: Final = 2000
"""Bytes in which it is looked for."""
EXTENSIONS: Final = {kind.extension: kind for kind in Format if kind.writable}
"""The formats by file name extension."""

JSON_BEGINNING: Final = '{"fibsbot_transcript":'
"""The beginning of a transcript in our JSON format."""

_BEGINNINGS: Final = {
    Format.JSON: re.compile(re.escape(JSON_BEGINNING)),
    Format.SGF: re.compile(r"\(\s*;(?=[^()]{0,400}?(?:GM\s*\[\s*6|FF\s*\[))"),
    Format.MAT: re.compile(r"(?:\s*;[^\n]*\n|\s*\n)*\s*\d{1,9}\s+point\s+match\b", re.IGNORECASE),
    Format.ANALYSIS: re.compile(r"The score \(after [0-9]+ games?\) is: "),
    Format.JAVAFIBS: re.compile(r"JavaFIBS internal match representation", re.IGNORECASE),
    Format.XG: re.compile(r"RGMH"),
    Format.BGF: re.compile(r'\{[^{}\n]{0,200}"format"\s*:\s*"BGF"'),
    Format.OLDMOVES: re.compile(r"[^\n]{0,200}?Score is \d+-\d+ in an? [^\n]*match\.?\s+[^\n]* is X - [^\n]* is O"),
}
"""The beginning of a text in each format, without blanks and a byte order mark."""

_MAT_AFTER_TEXT: Final = re.compile(
    r"[\r\n][ \t]*(?:\d{1,9} ?points?|unlimited|money) (?:match|session|game)\b[^\r\n]*[\r\n]\s*"
    r"(?:[;#][^\r\n]*[\r\n]\s*)*Game[ \t]+\d{1,9}[ \t]*[\r\n]",
    re.IGNORECASE,
)
"""The beginning of a `.mat` below other text: the length of the match, and below it the number of its first game."""


def detect_format(head: str, name: str = "") -> Format | None:
    """Return the format of a file by its beginning, else by its name; None if it is unknown.

    Any text may precede a `.mat`, as gnubg skips it. `head` is the beginning of the file, a few thousand characters;
    if it is empty, the name decides.
    """
    text = plain_text(head).lstrip("\ufeff \t\r\n")
    found = next((kind for kind, beginning in _BEGINNINGS.items() if beginning.match(text)), None)
    if found is None and _MAT_AFTER_TEXT.search(text):
        return Format.MAT
    return found or EXTENSIONS.get(PurePath(name).suffix.lower())


# -- files that hold no match that can be read ------------------------------------------------------------------------

_CONVERT: Final = "convert it with GNU Backgammon to .mat"
_SHOW: Final = "`fibsbot show FILE` shows it"

_FOREIGN_KINDS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (
        rb"(?:MatchI[dD]|GameI[dD])\s*:",
        "a match of TrueMoneygames",
        _CONVERT,
    ),
    (
        rb"[^\n]{1,60} vs\. [^\n]{1,60}\r?\n",
        "a match of GamesGrid",
        _CONVERT,
    ),
    (rb"XGID=", "a position text of eXtreme Gammon or BGBlitz", _SHOW),
    (rb"(?:-?[0-9]{1,9};){5}[^;\n]{0,80};[^;\n]{0,80};(?:-?[0-9]{1,9};){4}", "a position line of Snowie", _SHOW),
    (rb"PK\x03\x04|PK\x05\x06", "a zip file", "unpack it, or add it to an archive with `fibsbot archive add`"),
    (rb"(?s).{257}ustar", "a tar file", "unpack it, or add it to an archive with `fibsbot archive add`"),
    (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|\xfd7zXZ\x00|BZh[1-9]|\x28\xb5\x2f\xfd", "a compressed file", "unpack it"),
    (rb"SQLite format 3\x00", "a store or another database", "name a store with --store"),
    (rb"PAR1", "a table of an archive", "`fibsbot archive` has commands for archives"),
    (rb"(?i)(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html)\b", "a web page", "export the match as .mat where it was made"),
    (rb"%PDF-|\x89PNG|\xff\xd8\xff|GIF8|%!PS", "a document or a picture", "no match can be read from it"),
)
"""The beginning of a file as a regular expression, what the file is, and what to do."""
_FOREIGN_BEGINNINGS: Final = tuple((re.compile(pattern), kind, advice) for pattern, kind, advice in _FOREIGN_KINDS)
_XGID: Final = re.compile(rb"(?m)^[^\n]{0,40}XGID=[-A-Oa-o]{26}:")
"""A line with an XGID, which stands below the board in a position text of BGBlitz."""


def describe_foreign(head: bytes) -> str:
    """Return what a file is and what to do with it, by its first bytes; empty if it is not known."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    for beginning, kind, advice in _FOREIGN_BEGINNINGS:
        if beginning.match(text):
            return f"{kind}: {advice}"
    return f"a position text with an XGID: {_SHOW}" if _XGID.search(head) else ""
