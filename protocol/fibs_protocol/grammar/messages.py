"""Parses and writes messages: all wordings, indexed so that a line is not matched against all of them.

A CLIP line is selected by its number, a `board:` or `table:` line by its first word. For every other line the first
four words are the key: each wording is indexed by those of its first four words that are fixed, and a line is looked up
in the groups with the most fixed words first. This leaves few patterns to try, usually one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

from fibs_protocol.board import PREFIX, BoardState
from fibs_protocol.errors import BoardError, LocalProtocolError
from fibs_protocol.grammar.blocks import BLOCKS
from fibs_protocol.grammar.clip import BOARD, CLIP, HEARD
from fibs_protocol.grammar.fields import TEXT
from fibs_protocol.grammar.game import GAME, OTHER_GAMES, TABLE
from fibs_protocol.grammar.lobby import LOBBY
from fibs_protocol.grammar.refusals import REFUSALS
from fibs_protocol.grammar.templates import KEY_WORDS, Key, Slot, Wording
from fibs_protocol.messages import Board, Message, RefusedBoard, TableBoard, Unknown
from fibs_protocol.table_state import PREFIX as TABLE_PREFIX
from fibs_protocol.table_state import TableState

Shape: TypeAlias = tuple[bool, bool, bool, bool]
"""Which of a key's words are fixed."""

CACHED_SENTENCES: Final = 512
"""Number of cached sentences, because a game repeats the same ones."""
SENTENCES: Final = (*GAME, *OTHER_GAMES, *LOBBY, *REFUSALS, *HEARD)
"""All wordings that are looked up by their first words."""
WORDINGS: Final = (*CLIP, BOARD, TABLE, *SENTENCES)
"""All wordings that a line can have."""

_BY_NUMBER: Final = {wording.template.split(" ", 1)[0]: wording for wording in CLIP}


class _Index:
    """The sentences by their keys, and which shapes of keys a line's first words leave; made at the first sentence."""

    def __init__(self, wordings: Iterable[Wording[Any]]) -> None:
        self.by_key: dict[Key, tuple[Wording[Any], ...]] = {}
        by_first: dict[str | None, set[Shape]] = {}
        by_second: dict[str | None, set[Shape]] = {}
        for wording in wordings:
            a, b, c, d = key = wording.key()
            self.by_key[key] = (*self.by_key.get(key, ()), wording)
            shape = (a is not None, b is not None, c is not None, d is not None)
            (by_second.setdefault(b, set()) if a is None else by_first.setdefault(a, set())).add(shape)
        self.others = _most_words_first(by_second.pop(None, ()))
        """The shapes that fix neither of the first two words."""
        self.by_first = {word: _most_words_first(shapes) for word, shapes in by_first.items()}
        """Those of the keys that begin with a word: only these have to be looked up."""
        self.by_second = {word: _most_words_first(shapes) for word, shapes in by_second.items()}
        """The same for the second word where the first is a field, such as a name."""


def _most_words_first(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    return tuple(sorted(shapes, reverse=True, key=lambda shape: (sum(shape), shape)))


@cache
def _index() -> _Index:
    return _Index(SENTENCES)


_TEXT: Final = Slot("text", TEXT)


def _by_class() -> dict[type[Message], tuple[Wording[Any], ...]]:
    found: dict[type[Message], tuple[Wording[Any], ...]] = {}
    in_blocks = [wording for block in BLOCKS.values() for wording in (block.row, block.end) if wording]
    for wording in dict.fromkeys((*WORDINGS, *in_blocks)):
        if wording.spoken:
            found[wording.cls] = (*found.get(wording.cls, ()), wording)
    return found


_BY_CLASS: Final = _by_class()


def parse(text: str) -> Message:
    """Parse a line; return `Unknown` if no wording matches. Never raises.

    Args:
        text: one logical line without its end, as `LineSplitter` gives it.
    """
    if text[:1].isdigit():
        wording = _BY_NUMBER.get(text.partition(" ")[0])
        if wording is not None:
            message: Message | None = wording.read(text)
            if message is not None:
                return message
    line = text.lstrip()
    try:
        if line.startswith(PREFIX):
            return Board(*BoardState.read(line.rstrip()))
        if line.startswith(TABLE_PREFIX):
            return TableBoard(TableState.from_line(line.rstrip()))
    except BoardError as error:
        return RefusedBoard(line.rstrip(), str(error))
    if not line.isascii():
        return Unknown(text.rstrip())
    return _parse_sentence(line) or Unknown(text.rstrip())


@lru_cache(CACHED_SENTENCES)
def _parse_sentence(line: str) -> Message | None:
    words = line.rstrip(" .").replace("'", "").split(None, KEY_WORDS)
    first, second, third, fourth = (*words, "", "", "", "")[:KEY_WORDS]
    index = _index()
    for a, b, c, d in (*index.by_first.get(first, ()), *index.by_second.get(second, ()), *index.others):
        drawer = index.by_key.get(
            (first if a else None, second if b else None, third if c else None, fourth if d else None)
        )
        if drawer:
            for wording in drawer:
                message: Message | None = wording.read(line)
                if message is not None:
                    return message
    return None


def write(message: Message) -> str:
    """Return a message as the line that the server sends to a CLIP client, without its end.

    Raises:
        LocalProtocolError: if a line cannot carry a field: a name with a blank, a text with a newline.
    """
    if isinstance(message, Unknown | RefusedBoard):
        return _TEXT.write(message.text, message.kind())
    wordings = _BY_CLASS.get(type(message))
    if wordings is None:
        raise LocalProtocolError(f"expected a message of a server, got {type(message).__name__}")
    for wording in wordings:
        if wording.fits(message):
            return wording.write(message)
    raise LocalProtocolError(f"no wording says this {message.kind()}")


def holds_free_text(message: Message) -> bool:
    """Return whether messages of this kind contain text chosen by a user, after which no other field can be found."""
    return isinstance(message, Unknown | RefusedBoard) or any(wording.free for wording in _BY_CLASS[type(message)])
