"""Boards and turns as text, written and read.

A board is two rows, the side on roll first, each in its own numbering: `24:12 23 21 20 / 24:15`. A place without a
count has one checker, 25 is hand and bar, checkers that are not named are off. What has to be remembered about a side
follows its row: `25:2 20:13 hit=1 throws=4 marks=released,five_left pinned=7,12`.
"""

from __future__ import annotations

from typing import Any, Final

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import Part, Ruleset, Then, Turn
from fibsbot.rules.sides import HAND, OFF, Mark, Side, Sides, side

_COUNTS: Final = ("hit", "throws", "head")
_POINTS: Final = ("pinned", "held")


class SidesTextError(ValueError):
    """A text that is no board of the game."""


def format_sides(sides: Sides) -> str:
    """Write a board, the side on roll first."""
    return f"{_format_side(sides.own)} / {_format_side(sides.opponent)}"


def _format_side(side: Side) -> str:
    places = ((place, side.row[place]) for place in range(HAND, OFF, -1) if side.row[place])
    words = [f"{place}:{count}" if count > 1 else str(place) for place, count in places]
    words += [f"{name}={getattr(side, name)}" for name in _COUNTS if getattr(side, name)]
    words += [f"{name}={','.join(map(str, _bits(getattr(side, name))))}" for name in _POINTS if getattr(side, name)]
    if side.marks:
        words.append(f"marks={','.join(str(mark.name).lower() for mark in side.marks)}")
    return " ".join(words)


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(HAND + 1) if mask >> bit & 1]


def parse_sides(text: str, rules: Ruleset) -> Sides:
    """Read a board of a game. Raises SidesTextError for a text that is none."""
    rows = text.split("/")
    if len(rows) != 2:
        raise SidesTextError(f"expected two rows of checkers with a slash between them, got {text!r}")
    own, opponent = (_parse_side(row, rules.checkers) for row in rows)
    for point in range(OFF + 1, HAND):
        facing = rules.course.facing(point)
        pins = (own.pinned >> point & 1) + (opponent.pinned >> facing & 1)
        both = own.row[point] > 0 < opponent.row[facing]
        if both and rules.landing is not shared_laws.pins:
            raise SidesTextError(f"expected no point with checkers of both sides, got both on {point} / {facing}")
        if pins != both:
            raise SidesTextError(f"expected pinned=... where both sides are and only there, got {point} / {facing}")
    return Sides(rules.marks_shown(own), rules.marks_shown(opponent))


def _parse_side(text: str, checkers: int) -> Side:
    places: dict[int, int] = {}
    facts: dict[str, Any] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if equals:
            _add(facts, name, _parse_fact(name, value), word)
            continue
        place, _, count = word.partition(":")
        _add(places, _number(place, HAND, word), _number(count or "1", checkers, word), word)
    missing = checkers - sum(count for place, count in places.items() if place != OFF)
    if missing < 0 or places.get(OFF, missing) != missing:
        raise SidesTextError(f"expected {checkers} checkers, got {sum(places.values())} in {text.strip()!r}")
    row = fast_evolve(side({**places, OFF: missing}), **facts)
    if row.hit > row.row[HAND] or any(row.row[point] != 1 for point in _bits(row.pinned)):
        raise SidesTextError(f"expected hit and pinned checkers where the row has them, got {text.strip()!r}")
    return row


def _add(values: dict[Any, Any], key: object, value: object, word: str) -> None:
    if key in values:
        raise SidesTextError(f"expected each place and each fact once, got {key} twice: {word!r}")
    values[key] = value


def _parse_fact(name: str, value: str) -> Any:
    if name in _COUNTS:
        return _number(value, 9999, f"{name}={value}")
    if name in _POINTS:
        return sum(1 << _number(point, HAND - 1, f"{name}={value}") for point in value.split(","))
    names = {str(mark.name).lower(): mark for mark in Mark}
    if name != "marks" or not set(value.split(",")) <= set(names):
        raise SidesTextError(
            f"expected {', '.join((*_COUNTS, *_POINTS))} or marks of {', '.join(names)}, got {name}={value}"
        )
    marks = Mark.NONE
    for mark in value.split(","):
        marks |= names[mark]
    return marks


def _number(text: str, most: int, word: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= most):
        raise SidesTextError(f"expected numbers up to {most}, got {word!r}")
    return int(text)


def format_turn(turn: Turn) -> str:
    """Write what is to be done in a turn, such as `4444 5555 roll`.

    After the numbers stand `<` for their order, `=` for one checker, `?` if they are offered, `+` if the turn goes on.
    """
    return " ".join(part.name.lower() if isinstance(part, Then) else _format_part(part) for part in turn)


def _format_part(part: Part) -> str:
    flags = ((part.ordered, "<"), (part.one_checker, "="), (not part.compulsory, "?"), (not part.ends_turn, "+"))
    return "".join(map(str, part.numbers)) + "".join(sign for is_on, sign in flags if is_on)


def parse_turn(text: str) -> Turn:
    """Read what `format_turn` wrote. Raises SidesTextError for anything else."""
    return tuple(_parse_todo(word) for word in text.split())


def _parse_todo(word: str) -> Part | Then:
    if word.upper() in Then.__members__:
        return Then[word.upper()]
    numbers = word.rstrip("<=?+")
    signs = word[len(numbers) :]
    if not numbers or not set(numbers) <= set("123456"):
        raise SidesTextError(f"expected numbers of dice, got {word!r}")
    return Part(tuple(map(int, numbers)), "<" in signs, "=" in signs, "?" not in signs, "+" not in signs)
