"""Telnet as a server has to know it: options asked for and refused, and lines out of what people type (RFC 854, 857).

The protocol's own `LineSplitter` is for the server's side of the conversation, with its prompts; what clients send is
simpler, but comes from people: it may hold backspaces.
"""

from __future__ import annotations

from collections import deque
from typing import Final

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
ECHO: Final = 1

ECHO_OFF: Final = bytes((IAC, WILL, ECHO))
"""Asks the user's program not to echo what is typed: a password (specification: "Guest Log In")."""
ECHO_ON: Final = bytes((IAC, WONT, ECHO))

MAX_ANSWERS: Final = 64
"""Options that are refused on one connection; who asks for more gets no answer."""

_BACKSPACE, _DELETE = 0x08, 0x7F
_LF, _CR, _NUL, _TAB = 0x0A, 0x0D, 0x00, 0x09
_ENDS: Final = frozenset((_LF, _CR))
_ERASES: Final = frozenset((_BACKSPACE, _DELETE))


class TelnetInput:
    """Cuts what a client sends into lines, whatever way it comes in pieces.

    A line ends with CR LF, CR NUL, LF or CR. Bytes that are no printable ASCII become `?`, control characters vanish:
    what one user writes must not move about on another's screen. What is longer than the bound is cut off.
    """

    def __init__(self, max_line: int) -> None:
        """Take the bound in bytes."""
        self.lines: deque[str] = deque()
        """Complete lines that nobody has taken yet."""
        self.answers = bytearray()
        """Refusals of options, to be sent to the client."""
        self._max_line = max_line
        self._line = bytearray()
        self._after_cr = False
        self._command: list[int] = []
        """The bytes of a telnet command that is not complete, after IAC; empty outside of one."""
        self._in_command = False
        self._answered = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if not self._in_command and IAC not in data and not self._after_cr and data.isascii():
            self._feed_text(data)
            return
        for byte in data:
            if self._in_command:
                self._feed_command(byte)
            elif byte == IAC:
                self._in_command = True
            else:
                self._feed_byte(byte)

    def _feed_text(self, data: bytes) -> None:
        """Take bytes without surprises, the usual case: whole printable lines that end with CR LF or LF."""
        head, newline, tail = data.rpartition(b"\n")
        body = head.replace(b"\r\n", b"\n").removesuffix(b"\r") + newline
        if newline and not tail and not self._line and all(32 <= byte < 127 or byte == _LF for byte in body):
            for line in body[:-1].split(b"\n"):
                self.lines.append(line[: self._max_line].decode("ascii"))
            return
        for byte in data:
            self._feed_byte(byte)

    def _feed_byte(self, byte: int) -> None:
        after_cr, self._after_cr = self._after_cr, byte == _CR
        if byte in _ENDS:
            if not (after_cr and byte == _LF):
                self.lines.append(self._line.decode("ascii"))
                self._line.clear()
        elif byte in _ERASES:
            del self._line[-1:]
        elif byte == _TAB:
            self._add(0x20)
        elif byte >= 0x80:
            self._add(0x3F)
        elif byte >= 0x20:
            self._add(byte)

    def _add(self, byte: int) -> None:
        if len(self._line) < self._max_line:
            self._line.append(byte)

    def _feed_command(self, byte: int) -> None:
        """Take a byte after IAC. Of a subnegotiation only what shows its end is kept."""
        command = self._command
        command.append(byte)
        first = command[0]
        if first == SB:
            if command[-2:] == [IAC, SE]:
                self._end_command()
            elif command[-2:] == [IAC, IAC]:  # an escaped byte of the data, which begins no command
                del command[1:]
            elif len(command) > 2:
                del command[1:-1]
        elif first in (WILL, WONT, DO, DONT):
            if len(command) == 2:
                self._refuse(first, byte)
                self._end_command()
        else:
            self._end_command()
            if first == IAC:
                self._add(0x3F)

    def _end_command(self) -> None:
        self._command.clear()
        self._in_command = False

    def _refuse(self, verb: int, option: int) -> None:
        """Refuse an option. Only offers and requests are answered, never refusals, so that two refusals do not loop."""
        if option == ECHO or verb not in (WILL, DO) or self._answered >= MAX_ANSWERS:
            return
        self._answered += 1
        self.answers += bytes((IAC, DONT if verb == WILL else WONT, option))
