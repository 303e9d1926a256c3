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

The packages are `messages`, `commands` and `grammar`, which says how they are written.
"""
