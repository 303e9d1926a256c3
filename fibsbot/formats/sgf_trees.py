"""The syntax of SGF: text to game trees and values to text (red-bean.com/sgf, FF[4]). Knows nothing of backgammon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.formats import expected

Properties: TypeAlias = dict[str, list[str]]
"""The values of each property of a node, unescaped."""


@frozen
class Node:
    """A node of a game tree."""

    line: int
    """Where it begins, counted from 1."""
    properties: Properties

    def value(self, name: str) -> str | None:
        """Return the first value of a property; None where it is missing."""
        values = self.properties.get(name)
        return values[0] if values else None


Tree: TypeAlias = list[Node]
"""The main line of a game tree: in each fork the first branch."""

_BEGIN: Final = re.compile(r"\(\s*;")
_TOKEN: Final = re.compile(r"\s*(?:(?P<mark>[();])|(?P<name>[A-Za-z]+)|(?P<value>\[))")
_CLOSE: Final = re.compile(r"\\.|\]", re.DOTALL)
"""The end of a value, unless it is escaped."""
_ESCAPED: Final = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)


def parse_trees(text: str) -> Iterator[Tree]:
    """Yield the main line of each game tree. Text before the first one is skipped.

    A text that breaks off is read as far as it goes. Raises FormatError where there is no tree, or something in one
    that cannot be there.
    """
    begin = _BEGIN.search(text)
    if begin is None:
        raise expected("SGF, which begins with `(;`", text.lstrip()[:40])
    yield from _Parser(text, begin.start()).trees()


class _Parser:
    """Goes through a text once, from the first tree to the end."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.line = text.count("\n", 0, place) + 1
        self.tree: Tree = []
        self.depth = 0
        self.branched = False
        """Whether the main line has come to its end; what follows in the tree are other branches."""
        self.name = ""
        """The property whose values are read."""

    def trees(self) -> Iterator[Tree]:
        """Yield one main line after another."""
        while token := self._token():
            if token == ("mark", "("):
                self.depth += 1
            elif token == ("mark", ")"):
                self.depth -= 1
                self.branched = True
                if self.depth <= 0:
                    yield from self._finished()
            elif self.depth and not self.branched:
                self._take(*token)
        yield from self._finished()

    def _token(self) -> tuple[str, str] | None:
        """Return whether the next token is a `mark`, a `name` or a `value`, and its text; None at the end."""
        token = _TOKEN.match(self.text, self.place)
        if token is None:
            rest = self.text[self.place : self.place + 80].strip()
            if rest and self.depth:
                raise expected("a node, a property or a value of SGF", rest, self.line)
            return None
        kind, end = str(token.lastgroup), token.end()
        text = token[kind]
        if kind == "value":
            close = next((found.start() for found in _CLOSE.finditer(self.text, end) if found[0] == "]"), None)
            if close is None:  # the text breaks off in a value
                return None
            text, end = self.text[end:close], close + 1
        self.line += self.text.count("\n", self.place, end)
        self.place = end
        return kind, text

    def _take(self, kind: str, text: str) -> None:
        if kind == "mark":
            self.tree.append(Node(self.line, {}))
            self.name = ""
        elif kind == "name":
            # Old versions of SGF allow small letters in a name, which do not count.
            self.name = "".join(letter for letter in text if letter.isupper())
        elif self.name and self.tree:
            self.tree[-1].properties.setdefault(self.name, []).append(_unescape_value(text))

    def _finished(self) -> Iterator[Tree]:
        if self.tree:
            yield self.tree
        self.tree, self.depth, self.branched, self.name = [], 0, False, ""


def _unescape_value(value: str) -> str:
    """Return what a value says: a backslash before a line's end joins lines, before anything else it means that."""
    return _ESCAPED.sub(lambda escape: "" if escape[1][0] in "\r\n" else escape[1], value) if "\\" in value else value


def escape_value(value: str) -> str:
    """Return a text as the value of a property."""
    return value.replace("\\", "\\\\").replace("]", "\\]")
