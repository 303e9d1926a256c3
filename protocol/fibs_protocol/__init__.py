"""FIBS and CLIP: parses and writes typed messages and commands, for both ends of a connection, without I/O.

    async with fibs_protocol.connect("fibs.com", name, password) as fibs:
        async for message in fibs: ...              # all that the server says
        async for decision in fibs.play("bob", 3): ...  # or a match, of which only the decisions are left to us

The modules:

    words.py          names, numbers and enumerations that everything shares
    board.py          the `board:` line
    table_state.py    the `table:` line of other games
    drawing.py        the server's drawings of a board, written
    drawing_reader.py the same, read
    lines.py          bytes to lines
    stream.py         lines to messages
    session.py        the states of a connection
    playing.py        a match as a client plays it: which decision is open
    errors.py         errors
    connection.py     a client's connection over TCP; the only one that does I/O
    lazy_attrs.py     attrs classes that are completed when they are first used

The packages are `messages`, `commands` and `grammar`, which says how they are written.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fibs_protocol.connection import Connection, LoginRefusedError, connect
    from fibs_protocol.playing import CommandRefusedError, DecisionKind, OpenDecision

__version__: Final = "1.0.0"

__all__ = ["CommandRefusedError", "Connection", "DecisionKind", "LoginRefusedError", "OpenDecision", "connect"]

_IN_PLAYING: Final = ("CommandRefusedError", "DecisionKind", "OpenDecision")


def __getattr__(name: str) -> Any:
    """Import a name of `connection` or `playing` when it is first used: asyncio is slow to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "playing" if name in _IN_PLAYING else "connection"
    return getattr(import_module(f"fibs_protocol.{module}"), name)
