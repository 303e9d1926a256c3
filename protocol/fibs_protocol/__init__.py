"""FIBS and CLIP: parses and writes typed messages and commands, for both ends of a connection, without I/O.

    async with fibs_protocol.connect("fibs.com", name, password) as fibs:
        async for message in fibs: ...

The modules:

    words.py          names, numbers and enumerations that everything shares
    board.py          the `board:` line
    table_state.py    the `table:` line of other games
    drawing.py        the server's drawings of a board, written
    drawing_reader.py the same, read
    lines.py          bytes to lines
    stream.py         lines to messages
    session.py        the states of a connection
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

__version__: Final = "0.1.0"

__all__ = ["Connection", "LoginRefusedError", "connect"]


def __getattr__(name: str) -> Any:
    """Import a name of `connection` when it is first used: asyncio is slow to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("fibs_protocol.connection"), name)
