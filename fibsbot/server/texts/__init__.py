"""Texts for people: banner, message of the day, about, help. Each is a file in this package.

Help on games other than backgammon is made of their rulesets, one screen for each.
"""

from __future__ import annotations

import functools
import importlib.resources
import itertools
import re
import textwrap
from collections.abc import Sequence
from typing import Final

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibsbot.games import GAMES, load_ruleset
from fibsbot.rules.ruleset import Option

OWN_TOPICS: Final = ("laws", "rethrow")
"""Topics that FIBS does not have, only shown by their full names: short names mean what they mean there."""
NO_HELP: Final = "** No help available on '{}'."

GAMES_TOPIC: Final = "games"
SCREEN: Final = (80, 24)
"""Columns and lines of a screen."""
_WIDTH: Final = SCREEN[0] - 1
_NAME_WIDTH: Final = 18
_TITLE_WIDTH: Final = 20
_OPTION_WIDTH: Final = 16

_INTRODUCTION: Final = """\
Besides backgammon these games can be played here. 'help <game>' explains one;
'invite <name> <points> <game>' invites to it, with options after a colon:
'invite bob 3 plakoto:exception'. Most have 'both' or 'rethrow' (what the
winner of the opening throw plays), 'winner-begins' and 'cube', too.
Programs first have to say 'set games on'.
"""
_CONCLUSION: Final = """\
Both players count the points from where their own checkers start, 24, down to
1, and type 'move' as in backgammon; 'bar' is the hand, too. A turn may come in
parts, each with a 'move' of its own. 'name 5' names a double or a point.
'ratings <game>' is the rating list of a game; backgammon has its own.
"""


@functools.cache
def _lines(name: str) -> tuple[str, ...]:
    text = (importlib.resources.files(__name__) / name).read_text(encoding="ascii")
    return tuple(text.splitlines())


def banner() -> tuple[Message, ...]:
    """Return the banner of a connection."""
    return tuple(map(m.Unknown, _lines("banner.txt")))


def guest() -> tuple[Message, ...]:
    """Return the instructions for guests."""
    return (m.GuestWelcome(), *map(m.Unknown, _lines("guest.txt")))


def motd() -> tuple[Message, ...]:
    """Return the message of the day."""
    return (m.MotdStart(), *map(m.MotdLine, _lines("motd.txt")), m.MotdEnd())


def about() -> tuple[Message, ...]:
    """Return the description of this server."""
    return tuple(map(m.Unknown, _lines("about.txt")))


def goodbye() -> tuple[Message, ...]:
    """Return the farewell."""
    return (m.Goodbye(), *map(m.Unknown, _lines("goodbye.txt")))


@functools.cache
def topics() -> dict[str, tuple[str, ...]]:
    """Return the lines of each help topic by its name."""
    found: dict[str, tuple[str, ...]] = {}
    groups = itertools.groupby(_lines("help.txt"), lambda line: line.startswith("= "))
    names: list[str] = []
    for heading, lines in groups:
        if heading:
            names = list(lines)[-1].removeprefix("= ").split()
        else:
            text = tuple(lines)
            while text and not text[-1]:
                text = text[:-1]
            found.update(dict.fromkeys(names, text))
    return found


def help_on(topic: str | None) -> tuple[Message, ...]:
    """Return the help on a topic, given by its name or an unambiguous prefix."""
    name = (topic or "help").strip().lower()
    if is_game_topic(name):
        return tuple(map(m.Unknown, help_on_games(name)))
    found = (
        [name]
        if name in topics()
        else [known for known in topics() if known.startswith(name) and known not in OWN_TOPICS]
    )
    texts = {topics()[known] for known in found}
    if len(texts) != 1:
        return (m.Unknown(NO_HELP.format(name[:40])),)
    return tuple(map(m.Unknown, texts.pop()))


# -- help on other games -----------------------------------------------------------------------------------------------


def is_game_topic(name: str) -> bool:
    """Return whether there is help on games of this name, which may have options after a colon."""
    return name == GAMES_TOPIC or name.partition(":")[0] in GAMES


@functools.cache
def help_on_games(name: str) -> tuple[str, ...]:
    """Return the help on a topic for which `is_game_topic` holds."""
    return _list_of_games() if name == GAMES_TOPIC else _help_on_game(name.partition(":")[0])


def _list_of_games() -> tuple[str, ...]:
    entries = [f"{name:<{_NAME_WIDTH}}{load_ruleset(name).title:<{_TITLE_WIDTH}}" for name in GAMES]
    half = (len(entries) + 1) // 2
    rows = [f"   {first}{second}".rstrip() for first, second in zip(entries, [*entries[half:], ""], strict=False)]
    return (*_INTRODUCTION.splitlines(), "", *rows[:half], "", *_CONCLUSION.splitlines())


def _help_on_game(name: str) -> tuple[str, ...]:
    rules = load_ruleset(name)
    title = (f"{rules.title} ('invite <name> <points> {name}')", "")
    common = rules.common_options
    heading = f"Options, as in {name}:{(*rules.options, *common)[0].name}"
    brief = f"{heading} (also {', '.join(option.name for option in common)}: 'help games')"
    endings = [(heading, *_listed((*rules.options, *common))), (brief, *_listed(rules.options))]
    texts = [_wrapped(separator, rules.text) for separator in (r"\n\n|\n(?=\d\. )", r"\n\n")]
    # What is too long for a screen has the items of a list one behind the other, or less about common options.
    screens = [(*title, *text, "", *ending) for ending in endings for text in texts]
    return next((screen for screen in screens if len(screen) <= SCREEN[1]), screens[-1])


def _listed(options: Sequence[Option]) -> list[str]:
    """Return the lines of a list of options."""
    indent = " " * _OPTION_WIDTH
    return [
        line
        for option in options
        for line in textwrap.wrap(f"{option.name:<{_OPTION_WIDTH}}{option.sentence}", _WIDTH, subsequent_indent=indent)
    ]


def _wrapped(separator: str, text: str) -> list[str]:
    """Return the lines of a text of several paragraphs."""
    return [line for paragraph in re.split(separator, text.strip()) for line in textwrap.wrap(paragraph, _WIDTH)]
