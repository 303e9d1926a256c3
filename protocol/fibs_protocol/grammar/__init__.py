"""The grammar: the wordings of all lines, each written once and used both for parsing and for writing.

`parse` and `write` are for messages, `parse_command` and `write_command` for commands, and `write_telnet` writes a
message for a user without a client.

The modules:

    messages.py  parses and writes messages
    templates.py compiles the template of a wording
    fields.py    the written forms of fields
    clip.py      the wordings of numbered lines
    lobby.py     those outside of matches
    game.py      those of matches, games and the cube
    refusals.py  those of refusals
    blocks.py    lines that are known by the line before them
    commands.py  parses and writes commands
    arguments.py the arguments of commands
    prose.py     lines for users without a client
"""

from fibs_protocol.grammar.commands import parse_command, write_command
from fibs_protocol.grammar.messages import holds_free_text, parse, write
from fibs_protocol.grammar.prose import write_telnet

__all__ = ["holds_free_text", "parse", "parse_command", "write", "write_command", "write_telnet"]
