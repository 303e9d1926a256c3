"""SMILE, Jackson's binary JSON: the reader.

By the published specification of version 0 (smile-format-specification, 1.0.4). Numbers of any length and binary data
have no use here: they are passed over and read as None.
"""

from __future__ import annotations

import struct
from typing import Any, Final, TypeAlias

from attrs import define, field

from fibsbot.formats import FormatError

MAGIC: Final = b":)\n"
"""The first bytes of a document."""
Value: TypeAlias = Any
"""What JSON can say: None, a truth value, a number, a text, or a list or dict of values."""

DEEPEST: Final = 64
"""Lists and objects within each other, at most."""
MOST_VALUES: Final = 2**21
"""Values of a document, at most: they need more memory than the bytes."""
_SHARED_NAMES, _SHARED_TEXTS = 1, 2
_MOST_SHARED: Final = 1024
"""Names, or texts, that can be referred to. One more, and they are forgotten."""
_LONGEST_NUMBER: Final = 10
"""Bytes of a number of 64 bits."""
_END_OF_TEXT: Final = b"\xfc"
_END: Final = object()
"""The end of a list or an object."""
_LITERALS: Final[dict[int, Value]] = {0x20: "", 0x21: None, 0x22: False, 0x23: True, 0xF9: _END}
_NAMES: Final[dict[int, str | None]] = {0x20: "", 0xFB: None}
"""The empty name, and the end of an object."""


def read_smile(data: bytes) -> Value:
    """Return the first value of a document. Raises FormatError for one that is damaged, too deep or too large."""
    if not data.startswith(MAGIC) or len(data) <= len(MAGIC):
        raise FormatError("expected a SMILE document, which begins with `:)`, got another beginning")
    if version := data[3] >> 4:
        raise FormatError(f"expected SMILE of version 0, got version {version}")
    return _Reader(data, bool(data[3] & _SHARED_NAMES), bool(data[3] & _SHARED_TEXTS)).value()


@define
class _Reader:
    """Reads a document from its beginning to its end."""

    data: bytes
    shares_names: bool
    shares_texts: bool
    at: int = 4
    names: list[str] = field(factory=list)
    """Names that can be referred to, by their number."""
    texts: list[str] = field(factory=list)
    """Texts that can be referred to, by their number."""
    values: int = 0

    def _wrong(self, what: str, got: str) -> FormatError:
        return FormatError(f"byte {self.at}: expected {what}, got {got}")

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise self._wrong("a whole SMILE document", "one that is cut off")
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise self._wrong("a whole SMILE document", "one that is cut off")
        self.at += count
        return self.data[self.at - count : self.at]

    def value(self, depth: int = 0) -> Value:
        """Return the next value."""
        found = self._token(self._byte(), depth)
        if found is _END:
            raise self._wrong("a value", "the end of a list")
        return found

    def _token(self, token: int, depth: int) -> Value:
        """Return the value that a byte begins, or _END."""
        self.values += 1
        if self.values > MOST_VALUES:
            raise self._wrong(f"at most {MOST_VALUES} values", "more")
        if token in _LITERALS:
            return _LITERALS[token]
        low = token & 0x3F
        match token >> 5:
            case 0:
                found: Value = self._shared(self.texts, low - 1, "text")
            case 1:
                found = self._number(token)
            case 2 | 3:
                found = self._text(low + 1)
            case 4 | 5:
                found = self._text(low + 2)
            case 6:
                found = _signed(low & 0x1F)
            case _:
                found = self._long(token, depth)
        return found

    def _long(self, token: int, depth: int) -> Value:
        """Return a long text, binary data as None, a text by its number, or a list or an object."""
        if token in {0xF8, 0xFA} and depth >= DEEPEST:
            raise self._wrong(f"lists and objects to a depth of {DEEPEST}", "deeper ones")
        match token:
            case 0xF8:
                return self._list(depth + 1)
            case 0xFA:
                return self._object(depth + 1)
            case 0xFD:
                self._bytes(self._unsigned())
                return None
            case 0xE8:
                return self._packed()
        match token & 0xFC:
            case 0xE0 | 0xE4:
                return self._until_end()
            case 0xEC:
                return self._shared(self.texts, (token & 3) << 8 | self._byte(), "text")
        raise self._wrong("a value", f"the byte {token:#x}")

    def _list(self, depth: int) -> list[Value]:
        found = []
        while (value := self._token(self._byte(), depth)) is not _END:
            found.append(value)
        return found

    def _object(self, depth: int) -> dict[str, Value]:
        found = {}
        while (name := self._name()) is not None:
            found[name] = self.value(depth)
        return found

    def _name(self) -> str | None:
        """Return the name of a field; None at the end of an object."""
        token = self._byte()
        if token in _NAMES:
            return _NAMES[token]
        if token == 0x34:
            return self._until_end()
        if 0x30 <= token < 0x34:
            return self._shared(self.names, (token & 3) << 8 | self._byte(), "name")
        if not 0x40 <= token < 0xF8:
            raise self._wrong("the name of a field", f"the byte {token:#x}")
        low = token & 0x3F
        if token < 0x80:
            return self._shared(self.names, low, "name")
        return self._new_name(low + 1 if token < 0xC0 else low + 2)

    def _new_name(self, length: int) -> str:
        name = self._bytes(length).decode("utf-8", "replace")
        if self.shares_names:
            _remember(self.names, name)
        return name

    def _text(self, length: int) -> str:
        text = self._bytes(length).decode("utf-8", "replace")
        if self.shares_texts:
            _remember(self.texts, text)
        return text

    def _until_end(self) -> str:
        end = self.data.find(_END_OF_TEXT, self.at)
        if end < 0:
            raise self._wrong("the end of a text", "none")
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text

    def _shared(self, known: list[str], number: int, what: str) -> str:
        """Return a text or a name that came before, by its number."""
        if not 0 <= number < len(known):
            raise self._wrong(f"the number of a {what} that came before", str(number))
        return known[number]

    def _number(self, token: int) -> Value:
        match token:
            case 0x24 | 0x25:
                return _signed(self._unsigned())
            case 0x26:
                return self._packed()
            case 0x28:
                return struct.unpack(">f", self._sevens(5).to_bytes(4, "big"))[0]
            case 0x29:
                return struct.unpack(">d", self._sevens(10).to_bytes(8, "big"))[0]
            case 0x2A:
                self._unsigned()
                return self._packed()
        raise self._wrong("a value", f"the byte {token:#x}")

    def _unsigned(self) -> int:
        """Return a number of variable length: 7 bits a byte, and 6 in the last one, which has the highest bit."""
        number = 0
        for _ in range(_LONGEST_NUMBER):
            byte = self._byte()
            if byte & 0x80:
                return number << 6 | byte & 0x3F
            number = number << 7 | byte
        raise self._wrong("a number of 64 bits", "a longer one")

    def _sevens(self, count: int) -> int:
        """Return the bits of a real number, 7 a byte, without those that its size has no room for."""
        bits = 0
        for byte in self._bytes(count):
            bits = bits << 7 | byte & 0x7F
        return bits & (1 << count // 5 * 32) - 1

    def _packed(self) -> None:
        """Pass over bytes that are written with 7 bits each."""
        self._bytes(-(-self._unsigned() * 8 // 7))


def _remember(known: list[str], text: str) -> None:
    if len(known) >= _MOST_SHARED:
        known.clear()
    known.append(text)


def _signed(number: int) -> int:
    """Return a number whose lowest bit is its sign."""
    return (number >> 1) ^ -(number & 1)
