"""FIBS and CLIP without I/O: parses and writes typed messages and commands, for both ends of a connection.

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
    lazy_attrs.py     attrs classes that are completed when they are first used

The packages are `messages`, `commands` and `grammar`, which says how they are written.
"""

from typing import Final

__version__: Final = "0.1.0"
