"""Plays as engines write them to each other: every checker's every step, `bar/22 24/18 6/off`, no `*` and no `(2)`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from fibsbot.match import MatchState
from fibsbot.position import BAR, OFF, Move, Play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.plays import check_play
from fibsbot.strategies.foreign.errors import EngineError

_POINT: Final = re.compile(r"(bar|off|[0-9]{1,2})\*?")
_SEPARATORS: Final = re.compile(r"[ /-]")
_WORDS: Final = {"bar": BAR, "off": OFF}
MeaningT = TypeVar("MeaningT")


def written(play: Play) -> str:
    """Write a play; the empty one is the empty text."""
    return " ".join(map(str, play.moves))


def chosen(text: str, state: MatchState, plays: Sequence[Play]) -> Play:
    """Return which of the legal plays an engine means; raise EngineError where it is none of them.

    Steps may be written `8/5 6/5`, `8-5 6-5` and `8 5 6 5`; the bar may be 25, and off may be 0. A
    hit may be marked by `*`, which says nothing that the board doesn't.
    """
    assert state.dice is not None  # noqa: S101 - phase MOVE
    words = [word for word in _SEPARATORS.split(text.strip()) if word]
    if len(words) > 8 or len(words) % 2 or not all(map(_POINT.fullmatch, words)):
        raise EngineError(f"expected a play such as 24/18 13/11, got {text[:80]!r}")
    names = [word.rstrip("*") for word in words]
    points = [_WORDS[name] if name in _WORDS else int(name) for name in names]
    meant = Play(tuple(Move(source, target) for source, target in zip(points[::2], points[1::2], strict=True)))
    try:
        result = state.position.play(check_play(state.position, state.dice, meant))
    except PlayError as error:
        raise EngineError(f"expected a legal play, got {text[:80]!r}: {error}") from None
    for play in plays:
        if state.position.play(play) == result:
            return play
    raise EngineError(f"expected one of the {len(plays)} plays offered, got {text[:80]!r}")


def one_of(words: Mapping[str, MeaningT], text: str) -> MeaningT:
    """Return what an engine's word means; raise EngineError where it is none of these."""
    if text not in words:
        raise EngineError(f"expected {' or '.join(words)}, got {text[:80]!r}")
    return words[text]
