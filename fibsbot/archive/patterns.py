"""Patterns of positions, such as `4 behind, 5-point held`, and position IDs, as conditions of SQL.

A pattern is a list of terms with commas between them, all of which must hold. A term is about the player who decides,
or about the opponent if it begins with `opponent`. TERMS has all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from attrs import frozen

from fibsbot.archive.columns import position_columns
from fibsbot.engine.arrays import boards_of
from fibsbot.notation.position_ids import NotationError, parse_position_id
from fibsbot.position import Position

_PLAYS: Final = "kind = 'play'"
"""The condition where nothing else is said: a position is there before the roll as well."""
_ANCHORS: Final = sum(1 << point - 1 for point in range(19, 25))


class PatternError(ValueError):
    """A text that is neither a Position ID nor a pattern; one line."""


@frozen
class Term:
    """A kind of term."""

    form: str
    """What it looks like."""
    meaning: str
    pattern: re.Pattern[str]
    condition: Callable[[re.Match[str], str], str]
    """The condition of SQL, by the match and the side, `own` or `opponent`."""


def _term(form: str, meaning: str, pattern: str, condition: Callable[[re.Match[str], str], str]) -> Term:
    return Term(form, meaning, re.compile(pattern), condition)


def _bit(point: str) -> int:
    number = int(point)
    if not 1 <= number <= 24:
        raise PatternError(f"expected a point from 1 to 24, got {number}")
    return 1 << number - 1


def _count(found: re.Match[str], column: str) -> str:
    return f"{column} {'>=' if found[2] else '='} {int(found[1])}"


TERMS: Final = (
    _term(
        "N behind",
        "N checkers in the other side's home board or on the bar; `N+` is N or more",
        r"(\d{1,2})(\+?) (?:behind|back)",
        lambda found, side: _count(found, f"{side}_back"),
    ),
    _term(
        "N-point held",
        "two checkers or more on the point, counted from the side's own home",
        r"(\d{1,2})-?point(?: held)?",
        lambda found, side: f"{side}_held & {_bit(found[1])} <> 0",
    ),
    _term(
        "N-point open",
        "at most one checker on the point",
        r"(\d{1,2})-?point (?:open|free)",
        lambda found, side: f"{side}_held & {_bit(found[1])} = 0",
    ),
    _term(
        "blot on N",
        "one checker on the point",
        r"blot on (?:the )?(\d{1,2})(?:-?point)?",
        lambda found, side: f"{side}_blots & {_bit(found[1])} <> 0",
    ),
    _term("no blot", "no point with one checker", r"no blots?", lambda _, side: f"{side}_blots = 0"),
    _term(
        "anchor",
        "a point held in the other side's home board",
        r"anchor",
        lambda _, side: f"{side}_held & {_ANCHORS} <> 0",
    ),
    _term("no anchor", "no such point", r"no anchor", lambda _, side: f"{side}_held & {_ANCHORS} = 0"),
    _term(
        "N points held",
        "N points held in all; `N+` is N or more",
        r"(\d{1,2})(\+?) points(?: held)?",
        lambda found, side: _count(found, f"bit_count({side}_held)"),
    ),
    _term(
        "N home points",
        "N points held in the player's home board; `N+` is N or more",
        r"(\d)(\+?) home points?",
        lambda found, side: _count(found, f"bit_count({side}_held & 63)"),
    ),
    _term(
        "N on bar",
        "N checkers on the bar; `N+` is N or more",
        r"(\d{1,2})(\+?) on (?:the )?bar",
        lambda found, side: _count(found, f"{side}_bar"),
    ),
    _term(
        "N off",
        "N checkers borne off; `N+` is N or more",
        r"(\d{1,2})(\+?) off",
        lambda found, side: _count(found, f"{side}_off"),
    ),
    _term(
        "N pips ahead",
        "the pip count is lower by N or more",
        r"(\d{1,3}) pips ahead",
        lambda found, side: f"{_other(side)}_pips - {side}_pips >= {int(found[1])}",
    ),
    _term(
        "N pips behind",
        "the pip count is higher by N or more",
        r"(\d{1,3}) pips behind",
        lambda found, side: f"{side}_pips - {_other(side)}_pips >= {int(found[1])}",
    ),
    _term(
        "N away",
        "N points to go in the match",
        r"(\d{1,3}) away",
        lambda found, side: f"length - {side}_score = {int(found[1])} AND length > 0",
    ),
    _term("money", "an unlimited match", r"money|unlimited", lambda _, _side: "length = 0"),
    _term("cube N", "the value of the cube", r"cube (\d{1,7})", lambda found, _: f"cube = {int(found[1])}"),
    _term(
        "own cube",
        "the side owns the cube",
        r"own cube",
        lambda _, side: f"owner = '{'player' if side == 'own' else 'opponent'}'",
    ),
    _term("centred cube", "nobody owns the cube", r"centred cube", lambda _, _side: "owner = 'centred'"),
    _term(
        "roll 31",
        "the roll",
        r"roll ([1-6])-?([1-6])",
        lambda found, _: f"dice = '{max(found[1], found[2])}{min(found[1], found[2])}'",
    ),
    _term(
        "play",
        "the kind of the decision: `play` (as a rule), `double` or `take`",
        r"(play|double|take)",
        lambda found, _: f"kind = '{found[1]}'",
    ),
)
"""All kinds of terms."""


def _other(side: str) -> str:
    return "opponent" if side == "own" else "own"


@frozen
class Likeness:
    """What to look for: a condition, and how far a position is from the one that is looked for."""

    condition: str
    distance: str
    position: Position | None


def parse_pattern(text: str) -> Likeness:
    """Return what a Position ID or a pattern looks for. Raises PatternError."""
    try:
        position = parse_position_id(text.strip())
    except NotationError:
        return Likeness(_conditions(text), "0", None)
    return Likeness(_PLAYS, _distance(position), position)


def _conditions(text: str) -> str:
    found: list[str] = []
    kinds: list[str] = []
    for part in text.lower().split(","):
        words = " ".join(part.split())
        side, words = ("opponent", words.removeprefix("opponent ")) if words.startswith("opponent ") else ("own", words)
        term = next((known for known in TERMS if known.pattern.fullmatch(words)), None)
        if term is None or not (match := term.pattern.fullmatch(words)):
            forms = ", ".join(known.form for known in TERMS)
            raise PatternError(
                f"expected a Position ID, or terms with commas between them ({forms}; `opponent` before a term makes "
                f"it one about the opponent), got {part.strip()!r}"
            )
        found.append(f"({term.condition(match, side)})")
        kinds += [words] if term.form == "play" else []
    return " AND ".join(found if kinds else [*found, _PLAYS])


def _distance(position: Position) -> str:
    """Return how far a position is: points held or not, blots, checkers back, and pips, eight of them as a point."""
    own = {name: column[0] for name, column in position_columns(boards_of([position])).items() if name != "position"}
    terms = []
    for side in ("own", "opponent"):
        held, blots = f"{side}_held", f"{side}_blots"
        terms += [f"bit_count(xor({held}, {own[held]}))", f"bit_count(xor({blots}, {own[blots]})) * 0.5"]
        terms += [f"abs({side}_{name} - {own[f'{side}_{name}']})" for name in ("back", "bar", "off")]
        terms.append(f"abs({side}_pips - {own[f'{side}_pips']}) / 8.0")
    return " + ".join(terms)
