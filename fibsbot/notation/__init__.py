"""Notation of positions and plays.

`play_notation` reads and writes plays, `position_ids` the IDs of GNU Backgammon, `xgid` that of eXtreme Gammon.
"""

from __future__ import annotations

from typing import Final

from fibsbot.match import MatchState
from fibsbot.notation.play_notation import format_play, parse_play
from fibsbot.notation.position_ids import (
    POSITION_LETTERS,
    NotationError,
    format_gnubg_id,
    notation_error,
    parse_gnubg_id,
    parse_position_id,
)
from fibsbot.notation.xgid import XGID_PREFIX, Xgid

__all__ = [
    "NotationError",
    "Xgid",
    "bare_id",
    "format_gnubg_id",
    "format_play",
    "parse_gnubg_id",
    "parse_play",
    "parse_state",
]


def parse_state(text: str) -> MatchState:
    """Parse an XGID or a GNUbg ID (`PositionID:MatchID`). Raises NotationError.

    A Position ID alone is a position of an unlimited match before the roll.
    """
    text = text.strip()
    if ":" not in text and len(text) == POSITION_LETTERS:
        return MatchState(parse_position_id(text))
    if text.count(":") == 1:
        return parse_gnubg_id(text)
    if ":" not in text and not text.startswith(XGID_PREFIX):
        raise notation_error(f"an XGID, a PositionID:MatchID or a PositionID of {POSITION_LETTERS} characters", text)
    return Xgid.parse(text).state()


_AROUND_ID: Final = "\"'`\u00b4\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb<>()[].,;\u200b\ufeff"
"""Quotation marks, brackets, stops and invisible characters that come along when an ID is copied; no ID has one."""


def bare_id(text: str) -> str:
    """Return an ID without blanks and what is around it; other texts as they are, for the error that names them."""
    bare = "".join(text.split()).strip(_AROUND_ID)
    return bare if ":" in bare or len(bare) == POSITION_LETTERS else text
