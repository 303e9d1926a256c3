"""Positions and plays as people and programs write them down.

`plays` reads and writes moves, `gnubg` GNU Backgammon's Position ID and Match ID, `xgid` eXtreme Gammon's XGID.
"""

from __future__ import annotations

from fibsbot.match import MatchState
from fibsbot.notation.errors import NotationError
from fibsbot.notation.gnubg import format_gnubg_id, parse_gnubg_id
from fibsbot.notation.plays import format_play, parse_play
from fibsbot.notation.xgid import Xgid

__all__ = ["NotationError", "Xgid", "format_gnubg_id", "format_play", "parse_gnubg_id", "parse_play", "parse_state"]


def parse_state(text: str) -> MatchState:
    """Read an XGID or a GNUbg ID (`PositionID:MatchID`), whichever it is. Raises NotationError."""
    text = text.strip()
    return parse_gnubg_id(text) if text.count(":") == 1 else Xgid.parse(text).state()
