"""Texts for people: banner, message of the day, about, help. Each is a file in this package."""

from __future__ import annotations

import functools
import importlib.resources
import itertools
from typing import Final

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibsbot.server.texts.games import help_on_games, is_topic

OWN_TOPICS: Final = ("laws", "rethrow")
"""Topics that FIBS does not have, only shown by their full names: short names mean what they mean there."""
NO_HELP: Final = "** No help available on '{}'."


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
    if is_topic(name):
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
