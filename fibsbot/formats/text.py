"""Text of unknown origin, made fit for a line of a file."""

from __future__ import annotations

import unicodedata
from typing import Final

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


def decoded(data: bytes) -> str:
    """Return a file's text: UTF-8, or where it is none, what Windows wrote in the West before."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
