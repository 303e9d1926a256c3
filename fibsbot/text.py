"""Text for people: errors in one line, counts with their nouns, durations and percentages."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def one_line(value: object) -> str:
    """Return the text of a value in one line; for an error without a text, the name of its type."""
    text = " ".join(str(value).split())
    return text or (type(value).__name__ if isinstance(value, BaseException) else "")


def describe_error(error: BaseException) -> str:
    """Return the type and the text of an error in one line, as a traceback ends: `KeyError: 'name'`."""
    name, text = type(error).__name__, " ".join(str(error).split())
    return f"{name}: {text}" if text else name


@contextlib.contextmanager
def errors_as(*kinds: tuple[type[Exception], Callable[[str], Exception]]) -> Iterator[None]:
    """Raise errors of the block as errors of another kind with the same text.

    Args:
        kinds: pairs of what the block raises and what is raised in its place; the first pair that fits counts.
    """
    try:
        yield
    except Exception as error:
        for inner, outer in kinds:
            if isinstance(error, inner):
                raise outer(str(error)) from None
        raise


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 match`, `2,000 matches`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "es" if noun.endswith("ch") else "s")


def predicate(name: str, words: str) -> str:
    """Return what a player does in words that go with the player's name: `wins` with `ann`, but `win` with `you`."""
    verb, blank, rest = words.partition(" ")
    if name == "you" and verb.endswith("s"):
        verb = "do" if verb == "does" else verb.removesuffix("es" if verb.endswith("sses") else "s")
    return verb + blank + rest


def join_words(words: Sequence[str], conjunction: str = "and") -> str:
    """Return words as a list in English: `plakoto`, `plakoto and fevga`, `plakoto, fevga and tabula`."""
    *others, last = words
    return f"{', '.join(others)} {conjunction} {last}" if others else last


def format_duration(seconds: float) -> str:
    """Return a duration in words, rounded up: `5 minutes`, `61 minutes`, `4 hours`."""
    whole = max(math.ceil(seconds), 1)
    unit, name = next((unit, name) for unit, name in _UNITS if whole % unit == 0 or whole >= 3 * unit)
    return plural(-(-whole // unit), name)


def short_duration(seconds: float) -> str:
    """Return a duration in its largest unit, rounded down: `4 d`, `23 h`, `5 min`, `12 s`."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def format_percent(share: float, digits: int = 1) -> str:
    """Return a share of 1 in percent: `12.5 %`."""
    return f"{100 * share:.{digits}f} %"
