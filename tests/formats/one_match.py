"""Readers of texts with a single match."""

from __future__ import annotations

from fibsbot.formats import Format
from fibsbot.formats.conversion import READERS
from fibsbot.transcript import Transcript


def read_mat(text: str) -> Transcript:
    """Read the only match of a `.mat`."""
    return _only(Format.MAT, text)


def read_sgf(text: str) -> Transcript:
    """Read the only match of an SGF text."""
    return _only(Format.SGF, text)


def read_oldmoves(text: str) -> Transcript:
    """Read the only match of a text of `oldmoves`."""
    return _only(Format.OLDMOVES, text)


def read_json(text: str) -> Transcript:
    """Read the only match of a text in our own format."""
    return _only(Format.JSON, text)


def _only(kind: Format, text: str) -> Transcript:
    (match,) = READERS[kind](text)
    return match
