"""Recognises files that hold no match that can be read, by their first bytes, and says what to do with them."""

from __future__ import annotations

import re
from typing import Final

_EXPORT: Final = "export the match there as .mat"
_CONVERT: Final = "convert it with GNU Backgammon to .mat"
_SHOW: Final = "`fibsbot show FILE` shows it"

_KINDS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (rb"RGMH", "a file of eXtreme Gammon", _EXPORT),
    (rb'\{[^{}]{0,200}"format"\s*:\s*"BGF"', "a match file of BGBlitz", _EXPORT),
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
_BEGINNINGS: Final = tuple((re.compile(pattern), kind, advice) for pattern, kind, advice in _KINDS)
_XGID: Final = re.compile(rb"(?m)^[^\n]{0,40}XGID=[-A-Oa-o]{26}:")
"""A line with an XGID, which stands below the board in a position text of BGBlitz."""


def describe_foreign(head: bytes) -> str:
    """Return what a file is and what to do with it, by its first bytes; empty if it is not known."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    for beginning, kind, advice in _BEGINNINGS:
        if beginning.match(text):
            return f"{kind}: {advice}"
    return f"a position text with an XGID: {_SHOW}" if _XGID.search(head) else ""
