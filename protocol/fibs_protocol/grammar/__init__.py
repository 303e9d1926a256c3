"""The grammar: what each line says, as a table that is used both to read and to write.

`parse` and `write` are for messages, `parse_command` and `write_command` for commands, and `write_telnet` says a
message to somebody who has no client.
"""

from fibs_protocol.grammar.commands import parse_command, write_command
from fibs_protocol.grammar.table import holds_free_text, parse, write
from fibs_protocol.grammar.telnet import write_telnet

__all__ = ["holds_free_text", "parse", "parse_command", "write", "write_command", "write_telnet"]
