"""Constants, enumerations and small types that messages, commands and boards share."""

from __future__ import annotations

import enum
from typing import Final, TypeAlias

from attrs import frozen

YOU: Final = "You"
"""The name by which the server addresses the user; no account can have it."""

GUEST: Final = "guest"
"""The name by which servers let people in who want to register; no account can have it."""

UNLIMITED: Final = 9999
"""Match length of an unlimited match, as field 3 of a `board:` line writes it."""

Dice: TypeAlias = tuple[int, int]
"""Two dice, each 1 to 6; (0, 0) if they are not rolled."""


@frozen
class FibsMove:
    """One checker's move in the server's numbering, 1 to 24 for both players."""

    source: int | None
    """Point that the checker leaves; None is the bar."""
    target: int | None
    """Point that it moves to; None is off the board."""


class Colour(enum.IntEnum):
    """The two colours, with the sign that their checkers have in a `board:` line."""

    X = -1
    O = 1  # noqa: E741 - the protocol's own name


class Departure(enum.Enum):
    """The way in which an opponent left a match that was saved."""

    LEFT = "left"
    TERMINATED = "terminated"
    LOGGED_OUT = "logged out"
    DROPPED = "dropped connection"
    TIMED_OUT = "timed out"
    RECONNECTED = "old connection closed"
    NETWORK_ERROR = "network error"


class Toggle(enum.Enum):
    """The switches of the `toggle` command."""

    ALLOWPIP = "allowpip"
    AUTOBOARD = "autoboard"
    AUTODOUBLE = "autodouble"
    AUTOMOVE = "automove"
    BELL = "bell"
    CRAWFORD = "crawford"
    DOUBLE = "double"
    GREEDY = "greedy"
    MOREBOARDS = "moreboards"
    MOVES = "moves"
    NOTIFY = "notify"
    RATINGS = "ratings"
    READY = "ready"
    REPORT = "report"
    SILENT = "silent"
    TELNET = "telnet"
    WRAP = "wrap"


class Setting(enum.Enum):
    """The variables of the `set` command."""

    BOARDSTYLE = "boardstyle"
    LINELENGTH = "linelength"
    PAGELENGTH = "pagelength"
    REDOUBLES = "redoubles"
    SORTWHO = "sortwho"
    TIMEZONE = "timezone"
    GAMES = "games"
    """Whether the client plays games other than backgammon: `on` or `off`. FIBS does not have it."""


class TableNaming(enum.Enum):
    """What a player may have to name in games other than backgammon."""

    DOUBLE = "double"
    """The double to play, 1 to 6."""
    POINT = "point"
    """The point to open, in the player's own numbering."""
