"""What the bot says to people: each text is one line of plain ASCII."""

from __future__ import annotations

from typing import Final

from fibsbot.bot.desk import Counters
from fibsbot.bot.hearing import Topic
from fibsbot.bot.orders import Order
from fibsbot.policy.wording import counted, duration

LONGEST: Final = 240
"""Characters of a line; servers cut at 255 or later."""
HINT: Final = "I am a computer program and understand little. Tell me `help` to see what."
WELCOME: Final = "Welcome! I am a computer program; tell me `help` for more."
"""For somebody who watches us."""
QUITTING: Final = "I log out now."


def line(text: str) -> str:
    """Return a text as one line that every server takes: printable ASCII, bounded, without the stars of its errors.

    What is too long ends with its last whole sentence, or with dots if not even the first one has room.
    """
    plain = "".join(character if " " <= character <= "~" else "?" for character in " ".join(text.split()))
    while "**" in plain:
        plain = plain.replace("**", "*")
    if len(plain) <= LONGEST:
        return plain
    end = plain.rfind(". ", 0, LONGEST) + 1
    return plain[:end] or plain[: LONGEST - 3].rstrip() + "..."


def sentence(text: str) -> str:
    """Return a text as a sentence: with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def help_text(*, operator: bool) -> str:
    """Say what can be asked, and what an operator can order."""
    topics = ", ".join(topic.value for topic in Topic if topic is not Topic.HELP)
    asked = f"Tell me one of these: {topics}. If I stop moving in our match, kibitz move, roll or join."
    return asked + (f" Your orders: {', '.join(order.value for order in Order)}." if operator else "")


def who_text(program: str) -> str:
    """Say that no person plays here."""
    return f"I am a computer program ({program}) and play without help. I understand a few words only: tell me help."


def stats_text(counters: Counters, seconds: float) -> str:
    """Say what happened since the start of the run, so many seconds ago."""
    since = f"Since I began {duration(seconds)} ago I have"
    if not counters.matches:
        return f"{since} finished no match yet."
    return f"{since} finished {counted(counters.matches, 'match')} and won {counters.wins}."


def score_text(opponent: str | None, length: int | None, score: tuple[int, int] | None, *, to_opponent: bool) -> str:
    """Say how the match stands; `length` is 0 for unlimited, and the score is ours first. What is None is not known."""
    if opponent is None:
        return "I am in no match now."
    match = {None: "a match", 0: "an unlimited match"}.get(length, f"a {length} point match")
    played = f"we play {match}" if to_opponent else f"I play {match} with {opponent}"
    if score is None:
        return sentence(f"{played}; I don't know the score yet")
    ours, theirs = score
    if ours == theirs:
        stands = f"it is {ours}-{theirs}"
    elif ours > theirs:
        stands = f"I lead {ours}-{theirs}"
    else:
        stands = f"{'you lead' if to_opponent else f'{opponent} leads'} {theirs}-{ours}"
    return sentence(f"{played}; {stands}")
