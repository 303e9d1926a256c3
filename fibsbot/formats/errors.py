"""What goes wrong with a file."""

from __future__ import annotations


class FormatError(ValueError):
    """A file is not what it should be; the text is one line: what was expected, what came, in which line."""


def expected(what: str, got: str, line: int | None = None) -> FormatError:
    """Return the error that says so."""
    place = f"line {line}: " if line is not None else ""
    return FormatError(f"{place}expected {what}, got {got[:80]!r}")
