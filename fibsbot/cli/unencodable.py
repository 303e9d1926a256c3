"""Characters that the encoding of an output stream lacks, as in a Latin-1 or ASCII locale: what is written instead."""

from __future__ import annotations

import codecs
from typing import Final, TextIO

HANDLER: Final = "fibsbot.plain"
"""The name of the error handler for `open` and `reconfigure`."""

_SIMILAR: Final = {"●": "O", "○": "X", "─": "-", "\N{EN DASH}": "-", "│": "|", "┤": "|", "└": "+", "±": "~", "…": "."}
"""Signs that we write ourselves, each with one of the same width, so that columns stay aligned; in drawings O and X are
the colours of the checkers."""
_BRAILLE: Final = range(0x2800, 0x2900)
"""Dots of curves; the first has none."""


def replace_unencodable(file: TextIO) -> None:
    """Let a stream write a similar sign, or a question mark, for a character that its encoding lacks."""
    if getattr(file, "errors", None) in {"strict", "surrogateescape"} and hasattr(file, "reconfigure"):
        file.reconfigure(errors=HANDLER)


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what is written for the first character that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    replacement: str | bytes = _SIMILAR.get(character, "?")
    if 0xDC80 <= ord(character) <= 0xDCFF:  # a byte of a file's name that is no text: it is written as it is
        replacement = bytes([ord(character) - 0xDC00])
    elif ord(character) in _BRAILLE:
        replacement = " " if ord(character) == _BRAILLE[0] else "*"
    return replacement, error.start + 1


codecs.register_error(HANDLER, _replace)
