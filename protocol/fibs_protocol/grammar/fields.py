"""The written forms of fields: one FieldType per form, which parses and writes it."""

from __future__ import annotations

import datetime as dt
import enum
import math
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

from attrs import field, frozen

from fibs_protocol.board import BoardState
from fibs_protocol.table_state import TableState
from fibs_protocol.words import UNLIMITED, Colour, Dice, FibsMove, Setting, TableNaming, Toggle

_BLANKS_AROUND: Final = re.compile(r"^ \*| \*$|\(\?[=!][^)]*\)")
"""Parts of a pattern that match blanks before or after a field, or consume nothing."""


@frozen(eq=False)
class FieldType:
    """A written form of a value in a line."""

    name: str
    pattern: str
    """A regular expression without groups that matches the written form."""
    read: Callable[[str], Any]
    """Converts the written form into the value; raises ValueError or KeyError for other text."""
    write: Callable[[Any], str] = str
    rest: bool = False
    """Whether the field is free text up to the end of the line, including blanks."""
    source: str = "{read}({text})"
    """What converts `{text}` in Python, where `{read}` stands for the function."""
    word: bool = field(init=False)
    """Whether the written form contains no blank, except before and after it."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed."""
        return re.compile(self.pattern, re.ASCII)

    @word.default
    def _has_no_blank(self) -> bool:
        return " " not in _BLANKS_AROUND.sub("", self.pattern)


FIELD_TYPES: Final[dict[str, FieldType]] = {}
"""All forms by their names, as templates use them."""


def _add(kind: FieldType) -> FieldType:
    FIELD_TYPES[kind.name] = kind
    return kind


def _text(value: str) -> str:
    return value


def _text_form(name: str, pattern: str, *, rest: bool = False) -> FieldType:
    return _add(FieldType(name, pattern, _text, _text, rest, source="{text}"))


# -- words and texts ------------------------------------------------------------------------------------------------

NAME: Final = _text_form("name", r"(?=[^A-Za-z_ ]{0,63}[A-Za-z_])[!-)+-9;-~]{0,63}[!-)+\-/-9;-~]")
"""A user's name. FIBS allows letters and `_`; digits and signs are accepted, too, but there must be a letter, or a name
could look like the number of a CLIP line. It contains neither a colon nor an asterisk, and does not end with a
full stop, which would belong to the sentence."""
TYPED: Final = _text_form("typed", r"(?!')[!-~]{0,254}[!-\-/-~]")
"""Text typed as a name; such lines begin with other words, so it may be almost anything."""
WORD: Final = _text_form("word", r"[!-~]{1,255}")
"""A host, an address, a client: anything without blanks."""
HOST: Final = _text_form("host", r"[!-~]*[.:][!-~]*")
"""A host's name or address. It must contain a dot, or `greetings from someone` would match."""
VALUE: Final = _text_form("value", r"[!-~]{0,63}[!-&(-\-/-~]")
"""The value of a variable: `3`, `none`, `Europe/Berlin`. It does not end with a full stop or a quote."""
QUOTED: Final = _text_form("quoted", r"[!-~](?:[ -~]{0,253}[!-~])?")
"""Quoted text: it may contain blanks, but neither begins nor ends with one."""
SENTENCE: Final = _text_form("sentence", r"[!-~](?:[ -~]*?[!-~])?")
"""Text inside a line, matched lazily."""
PHRASE: Final = _text_form("phrase", r"[!-\-/-~]|[!-~][ -~]*?[!-\-/-~]")
"""The same without a full stop at its end, which would belong to the line."""
TEXT: Final = _text_form("text", r"[ -~]*", rest=True)
"""User text, unchanged: the rest of the line after one blank."""


def _read_dash(text: str) -> str | None:
    return None if text == "-" else text


def _write_dash(value: str | None) -> str:
    return "-" if value is None else value


DASH: Final = _add(FieldType("dash", WORD.pattern, _read_dash, _write_dash, source="None if {text} == '-' else {text}"))
"""A word, or `-` for none."""


def _read_names(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(filter(None, text.split(",")))


def _write_names(names: tuple[str, ...]) -> str:
    return ",".join(names) or "none"


def _read_list(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in text.split(","))))


LIST: Final = _add(FieldType("list", r"[!-+\--~]{1,64}(?: *, *[!-+\--~]{1,64})* *,?", _read_list, ", ".join))
"""`a, b` or `a , b`, perhaps with a comma at the end."""
ZONES: Final = _add(FieldType("zones", LIST.pattern, _read_list, lambda names: ", ".join(names) + ","))
"""The same, with a comma at the end when it is written."""
NAMES: Final = _add(FieldType("names", r"[!-~]*[!-\-/-~]", _read_names, _write_names))
"""`a,b`; servers leave empty items between commas. `none` means no names."""

# -- numbers --------------------------------------------------------------------------------------------------------


def _integer(text: str) -> int:
    if len(text) > 19 or "_" in text:
        raise ValueError(text)
    return int(text)


def _write_integer(value: int) -> str:
    return f"{value:d}"


NUMBER: Final = _add(FieldType("number", r"[0-9]{1,18}", _integer, _write_integer))
SECONDS: Final = _add(FieldType("seconds", r"-?[0-9]{1,18}", _integer, _write_integer))
"""Seconds since 1970; may be negative."""
DIE: Final = _add(FieldType("die", r"[1-6]", _integer, _write_integer))


def _decimal(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or "_" in text:
        raise ValueError(text)
    return value


_DECIMAL: Final = r"-?[0-9]{1,12}(?:\.[0-9]{1,9})?"
RATING: Final = _add(FieldType("rating", _DECIMAL, _decimal, "{:.2f}".format))
"""Two decimals; some servers write `6.93` where FIBS writes `1500.00`, some none at all."""
TENTH: Final = _add(FieldType("tenth", _DECIMAL, _decimal, "{:.1f}".format))
"""One decimal."""
DECIMAL: Final = _add(FieldType("decimal", _DECIMAL, _decimal, "{:.6f}".format))
"""Six decimals, as in the rating calculation."""
_PRODUCT: Final = "4*K*sqrt(N)*P="
CHANGE: Final = _add(
    FieldType(
        "change",
        rf"-?{re.escape(_PRODUCT)}{_DECIMAL}",
        lambda text: _decimal(text.partition("=")[2]),
        lambda value: f"{'-' if value < 0 else ''}{_PRODUCT}{value:.6f}",
    )
)
"""`4*K*sqrt(N)*P=2.930831`, `-4*K*sqrt(N)*P=-9.173502`"""


def _count(name: str, singular: str, plural: str, none: str | None = None) -> FieldType:
    """`1 point`, `2 points`, perhaps `no points`."""

    def read(text: str) -> int:
        number = text.split(None, 1)[0]
        return 0 if number == none else _integer(number)

    def write(value: int) -> str:
        return f"{none if none and not value else _write_integer(value)} {singular if value == 1 else plural}"

    numbers = r"[0-9]{1,18}" + (f"|{none}" if none else "")
    return _add(FieldType(name, rf"(?:{numbers}) +(?:{plural}|{singular})", read, write))


POINTS: Final = _count("points", "point", "points")
PIECES: Final = _count("pieces", "piece", "pieces")
USERS: Final = _count("users", "user", "users")
SAVED_GAMES: Final = _count("saved_games", "saved game", "saved games", "no")


def _length(name: str, *, article: bool, joint: str, tail: str) -> FieldType:
    """A match length among its words: `a 5 point match`, `unlimited match`, `13-point match`."""

    def read(text: str) -> int:
        if "unlimited" in text:
            return UNLIMITED
        return _integer(text.replace("-", " ").split()[-len(tail.split()) - 2 if tail else -2])

    def write(value: int) -> str:
        if value == UNLIMITED:
            return ("an " if article else "") + "unlimited" + tail
        return f"{'a ' if article else ''}{_write_integer(value)}{joint}point{tail}"

    before = "(?:an? +)?" if article else ""
    return _add(FieldType(name, rf"{before}(?:[0-9]{{1,9}}[ -]+point|unlimited){tail.replace(' ', ' +')}", read, write))


MATCH: Final = _length("match", article=True, joint=" ", tail=" match")
BARE_MATCH: Final = _length("bare_match", article=False, joint=" ", tail=" match")
HYPHEN_MATCH: Final = _length("hyphen_match", article=False, joint="-", tail=" match")


def _read_length(text: str) -> int:
    return UNLIMITED if "unlimited" in text else _integer(text.strip())


def _write_length(value: int) -> str:
    return "unlimited" if value == UNLIMITED else _write_integer(value)


LENGTH: Final = _add(FieldType("length", r"[0-9]{1,9}|unlimited", _read_length, _write_length))
"""A length in a column: `5`, `unlimited`."""

_ORDINALS: Final = ("first", "second", "third", "fourth")
ORDINAL: Final = _add(
    FieldType(
        "ordinal",
        "|".join(_ORDINALS),
        lambda text: _ORDINALS.index(text) + 1,
        lambda value: _ORDINALS[value - 1] if 1 <= value <= 4 else "",
    )
)


def _read_redoubles(text: str) -> int | None:
    return {"unlimited": None, "none": 0}[text] if text.isalpha() else _integer(text)


REDOUBLES: Final = _add(
    FieldType(
        "redoubles",
        r"[0-9]{1,9}|none|unlimited",
        _read_redoubles,
        lambda value: "unlimited" if value is None else _write_integer(value),
    )
)
"""A number; 0 is `none`, None is `unlimited`."""


def _read_idle(text: str) -> int:
    clock, unit = text.split()[:2]
    if unit.startswith("second"):
        return _integer(clock)
    minutes, seconds = clock.split(":")
    return 60 * _integer(minutes) + _integer(seconds)


def _write_idle(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < 60 else f"{seconds // 60}:{seconds % 60:02d} minutes"


IDLE: Final = _add(
    FieldType("idle", r"[0-9]{1,9} +seconds?|[0-9]{1,9}:[0-9]{2} +minutes?", _read_idle, _write_idle),
)
"""`4 seconds`, `10:04 minutes`; the value is in seconds."""


def _read_watching(text: str) -> str | None:
    return None if text == "not watching" else text.split()[1]


WATCHING: Final = _add(
    FieldType(
        "watching",
        rf"not watching|watching +{NAME.pattern}",
        _read_watching,
        lambda name: "not watching" if name is None else f"watching {name}",
    )
)


def _write_saved_length(value: int) -> str:
    """Write the length in nine characters, to align the columns of the list."""
    return _write_length(value) if value == UNLIMITED else f"{value:>6d}   "


SAVED_LENGTH: Final = _add(
    FieldType("saved_length", r" *(?:[0-9]{1,9}|unlimited) *", _read_length, _write_saved_length)
)
STARS: Final = _add(FieldType("stars", r"[* ]{0,2}", lambda text: text.count("*"), lambda n: f"{'*' * n:>2}"))
STAR: Final = _add(FieldType("star", r"[* ]?", lambda text: text == "*", lambda value: "*" if value else " "))

# -- choices --------------------------------------------------------------------------------------------------------


def _choice(name: str, forms: dict[Any, str]) -> FieldType:
    """Build the form of a value that has one of a few written forms."""
    values = {form: value for value, form in forms.items()}
    pattern = "|".join(re.escape(form) for form in values)
    return _add(FieldType(name, pattern, values.__getitem__, forms.__getitem__))


def _members(kind: type[enum.Enum]) -> dict[Any, str]:
    return {member: member.value for member in kind}


FLAG: Final = _choice("flag", {False: "0", True: "1"})
YES_NO: Final = _choice("yes_no", {False: "NO", True: "YES"})
READY: Final = _choice("ready", {False: "not ready", True: "ready"})
RESTART: Final = _choice("restart", {False: "shut down", True: "restart"})
COLOUR: Final = _choice("colour", {Colour.X: "X", Colour.O: "O"})
TOGGLE: Final = _choice("toggle", _members(Toggle))
SETTING: Final = _choice("setting", _members(Setting))
ANIMAL: Final = _choice("animal", {"beaver": "a beaver", "raccoon": "a raccoon", "otter": "an otter"})

# -- dice, moves, boards --------------------------------------------------------------------------------------------


def _read_dice(text: str) -> Dice:
    return int(text[0]), int(text[-1])


DICE: Final = _add(FieldType("dice", r"[1-6] +and +[1-6]", _read_dice, lambda dice: f"{dice[0]} and {dice[1]}"))
DICE_PAIR: Final = _add(FieldType("dice_pair", r"[1-6] +[1-6]", _read_dice, lambda dice: f"{dice[0]} {dice[1]}"))

_PLACE: Final = r"(?:[1-9]|1[0-9]|2[0-4])"


def _write_move(move: FibsMove) -> str:
    return f"{'bar' if move.source is None else move.source}-{'off' if move.target is None else move.target}"


_POINTS: Final = (None, *range(1, 25))
_ALL_MOVES = {_write_move(move): move for move in (FibsMove(a, b) for a in _POINTS for b in _POINTS)}
_ALL_MOVES |= {name.replace("off", "home"): move for name, move in _ALL_MOVES.items()}


def _read_moves(text: str) -> tuple[FibsMove, ...]:
    return tuple(map(_ALL_MOVES.__getitem__, text.split()))


def _write_moves(moves: tuple[FibsMove, ...]) -> str:
    return " ".join(map(_write_move, moves))


_MOVE: Final = rf"(?:bar|{_PLACE})-(?:off|home|{_PLACE})"
MOVES: Final = _add(FieldType("moves", rf"{_MOVE}(?: +{_MOVE}){{0,3}}", _read_moves, _write_moves))
"""`bar-21 6-off`: one to four moves; some servers write `home` for `off`."""


def _read_offs(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.replace("o", " ").split()))


OFFS: Final = _add(
    FieldType(
        "offs", rf"{_PLACE} *o(?: +{_PLACE} *o){{0,3}}", _read_offs, lambda points: " ".join(f"{n} o" for n in points)
    )
)
"""`6 o 5 o`: the points that checkers are borne off from."""
BOARD: Final = _add(FieldType("board", r"board:[!-~ ]*", BoardState.from_line, BoardState.to_line))
TABLE: Final = _add(FieldType("table", r"table:[!-~ ]*", TableState.from_line, TableState.to_line))
NAMING: Final = _choice("naming", {TableNaming.DOUBLE: "double to play", TableNaming.POINT: "point to open"})


def _read_numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall("[0-9]+", text)))


def _write_three(dice: tuple[int, ...]) -> str:
    first, second, third = dice
    return f"{first}, {second} and {third}"


def _write_part(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


THREE_DICE: Final = _add(FieldType("three_dice", r"[1-6], +[1-6] +and +[1-6]", _read_numbers, _write_three))
PART: Final = _add(FieldType("part", r"[1-6](?: +[1-6]){0,3}", _read_numbers, _write_part))
"""`5 5 5 5`: the numbers that are played together."""
ODD_PART: Final = _add(FieldType("odd_part", r"[1-6](?:(?: +[1-6]){2,3})?", _read_numbers, _write_part))
"""The same without those of two numbers, which are written as a roll."""
CHOICES: Final = _add(
    FieldType(
        "choices", r"[0-9]{1,2}(?:, *[0-9]{1,2}){0,23}", _read_numbers, lambda choices: ", ".join(map(str, choices))
    )
)
"""`1, 2, 5`"""


def _read_game(text: str) -> str:
    name, _, options = text.rstrip(")").partition(" (")
    return ":".join((name[0].lower() + name[1:], *filter(None, options.split(", "))))


def _write_game(game: str) -> str:
    name, *options = game.split(":")
    return name[:1].upper() + name[1:] + (f" ({', '.join(options)})" if options else "")


_WORD_OF_GAME: Final = "[a-z0-9-]{1,32}"
GAME: Final = _add(
    FieldType(
        "game",
        rf"[A-Z][a-z0-9-]{{0,31}}(?: \({_WORD_OF_GAME}(?:, {_WORD_OF_GAME}){{0,7}}\))?",
        _read_game,
        _write_game,
    )
)
"""The name of a game, with options: `plakoto:exception` is `Plakoto (exception)`."""

WEEKTIME: Final = _text_form("weektime", r"[A-Z][a-z]{2} +[0-9]{1,2}:[0-9]{2} +[!-9;-~]{1,16}")
"""`Wed 11:08 UTC`"""

PERIOD: Final = _text_form("period", r"[0-9]{2}:[0-9]{2}-[0-9]{2}:[0-9]{2}")

# -- time -----------------------------------------------------------------------------------------------------------

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _read_utc(text: str) -> dt.datetime:
    _, month, day, clock, year, _ = text.split()
    hour, minute, second = map(int, clock.split(":"))
    return dt.datetime(int(year), _MONTHS.index(month) + 1, int(day), hour, minute, second, tzinfo=dt.UTC)


def _write_utc(time: dt.datetime) -> str:
    """Write the time as C's `asctime` does, independent of the locale."""
    utc = time.astimezone(dt.UTC)
    return f"{_DAYS[utc.weekday()]} {_MONTHS[utc.month - 1]} {utc.day:2d} {utc:%H:%M:%S} {utc.year:04d} UTC"


LOCAL: Final = _text_form("local", r"[A-Z][a-z]+day, [ -~]*?[!-~]")
"""`Friday, July 03 18:04:27 MEST`"""
UTC: Final = _add(
    FieldType(
        "utc",
        r"[A-Z][a-z]{2} +[A-Z][a-z]{2} +[0-9]{1,2} +[0-9]{1,2}:[0-9]{2}:[0-9]{2} +[0-9]{4} +UTC",
        _read_utc,
        _write_utc,
    )
)
"""`Fri Jul  3 16:04:27 2020 UTC`; whole seconds."""
