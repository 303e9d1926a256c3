"""Which format a file has: told by how it begins, or by its name."""

from __future__ import annotations

import enum
import re
from pathlib import PurePath
from typing import Final


class Format(enum.Enum):
    """What a transcript can be written as; the value is what people call it on the command line."""

    MAT = "mat"
    SGF = "sgf"
    OLDMOVES = "oldmoves"
    JSON = "json"
    CSV = "csv"
    GNUBG_IDS = "gnubg-ids"
    XGID = "xgid"
    SNOWIE = "snowie"

    @property
    def extension(self) -> str:
        """How the name of a file ends."""
        return f".{self.value}"

    @property
    def readable(self) -> bool:
        """Whether matches can be read from it; from the others, only positions or nothing."""
        return self in READABLE


READABLE: Final = (Format.MAT, Format.SGF, Format.OLDMOVES, Format.JSON)
EXTENSIONS: Final = {kind.extension: kind for kind in Format}
"""The formats by the ends of files' names."""

JSON_MARK: Final = '{"fibsbot_transcript":'
"""How a line of ours begins that is a transcript."""

_BEGINNINGS: Final = {
    Format.JSON: re.compile(re.escape(JSON_MARK)),
    Format.SGF: re.compile(r"\(\s*;(?=[^()]{0,400}?(?:GM\s*\[\s*6|FF\s*\[))"),
    Format.MAT: re.compile(r"(?:\s*;[^\n]*\n|\s*\n)*\s*\d{1,9}\s+point\s+match\b", re.IGNORECASE),
    Format.OLDMOVES: re.compile(r"[^\n]{0,200}?Score is \d+-\d+ in an? [^\n]*match\.?\s+[^\n]* is X - [^\n]* is O"),
}
"""How a text of each format begins, blanks and a byte order mark left out."""

_MAT_BELOW: Final = re.compile(
    r"[\r\n][ \t]*(?:\d{1,9} ?points?|unlimited|money) (?:match|session|game)\b[^\r\n]*[\r\n]\s*"
    r"(?:[;#][^\r\n]*[\r\n]\s*)*Game[ \t]+\d{1,9}[ \t]*[\r\n]",
    re.IGNORECASE,
)
"""How a `.mat` begins below words that belong to no game: the match's length, and below it its first game's number."""


def format_of(head: str, name: str = "") -> Format | None:
    """Tell the format of a file by how it begins, else by its name; None for what is neither known nor named.

    Anything may stand above a `.mat`, as gnubg skips it.

    `head` is the beginning of the file, of a few thousand characters; without one the name alone decides.
    """
    text = head.lstrip("\ufeff \t\r\n")
    found = next((kind for kind, beginning in _BEGINNINGS.items() if beginning.match(text)), None)
    if found is None and _MAT_BELOW.search(text):
        return Format.MAT
    return found or EXTENSIONS.get(PurePath(name).suffix.lower())
