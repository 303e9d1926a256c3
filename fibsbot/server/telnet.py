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

_ERASES: Final = b"\x08\x7f"
"""Backspace and delete."""
_DROPPED: Final = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r\x08")
_SHOWN: Final = bytes.maketrans(b"\t" + bytes(range(0x80, 0x100)), b" " + 0x80 * b"?")


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
        at = 0
        while at < len(data):
            if self._in_command:
                self._feed_command(data[at])
                at += 1
            else:
                end = data.find(IAC, at)
                self._in_command = end >= 0
                end = end if end >= 0 else len(data)
                self._feed_text(data[at:end].translate(_SHOWN, _DROPPED))
                at = end + 1

    def _feed_text(self, text: bytes) -> None:
        """Take characters that may stand in a line, ends of lines, and what erases characters."""
        if not text:
            return
        after_cr, self._after_cr = self._after_cr, text.endswith(b"\r")
        if after_cr:
            text = text.removeprefix(b"\n")
        *pieces, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for piece in pieces:
            self._add(piece)
            self.lines.append(self._line.decode("ascii"))
            self._line.clear()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        """Add to the line that is not complete, as far as it may grow."""
        if not (b"\b" in piece or b"\x7f" in piece):
            self._line += piece[: max(0, self._max_line - len(self._line))]
            return
        for byte in piece:
            if byte in _ERASES:
                del self._line[-1:]
            elif len(self._line) < self._max_line:
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
                self._add(b"?")

    def _end_command(self) -> None:
        self._command.clear()
        self._in_command = False

    def _refuse(self, verb: int, option: int) -> None:
        """Refuse an option. Only offers and requests are answered, never refusals, so that two refusals do not loop."""
        if option == ECHO or verb not in (WILL, DO) or self._answered >= MAX_ANSWERS:
            return
        self._answered += 1
        self.answers += bytes((IAC, DONT if verb == WILL else WONT, option))
