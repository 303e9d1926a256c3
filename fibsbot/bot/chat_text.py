"""The texts of the chat: recognising what people ask the bot, and writing its replies. Pure functions."""

from __future__ import annotations

import enum
import re
from itertools import groupby
from typing import Final

from fibsbot.bot.context import Counters
from fibsbot.bot.orders import Order
from fibsbot.text import format_duration, plural

LONGEST_QUESTION: Final = 80
"""Characters of a line that may be a question; longer ones are talk."""


class Topic(enum.Enum):
    """A topic that the bot answers questions about; the value is the word to ask with."""

    HELP = "help"
    SETTINGS = "settings"
    STATS = "stats"
    SCORE = "score"
    WHO = "who are you"


class Nudge(enum.Enum):
    """A reminder by an opponent who waits for us."""

    LOOK = "move"
    """It is our turn in the game."""
    JOIN = "join"
    """The next game can be joined."""


_WORDINGS: Final[dict[Topic, tuple[str, ...]]] = {
    Topic.HELP: ("help", "help me", "commands", "info", "what can you do"),
    Topic.SETTINGS: ("settings", "setting", "policy", "rules", "what do you play"),
    Topic.STATS: ("stats", "stat", "statistics"),
    Topic.SCORE: ("score", "the score", "what is the score", "whats the score"),
    Topic.WHO: (
        *("who are you", "who r u", "who are u", "who r you", "whoru", "who is this", "what are you", "what r u"),
        *("are you a bot", "are u a bot", "r u a bot", "are you bot", "r u bot", "you a bot", "a bot", "bot"),
        *("are you a computer", "are you a robot", "are you human", "are you a human", "are you real"),
    ),
}
_TOPICS: Final = {wording: topic for topic, wordings in _WORDINGS.items() for wording in wordings}
_NUDGES: Final = {
    **dict.fromkeys(("move", "roll", "play", "your turn", "your move", "your roll", "ur turn"), Nudge.LOOK),
    "join": Nudge.JOIN,
}
_CALLS: Final = frozenset({"hello", "hallo", "hi", "hey", "are you there", "you there"})
"""With a question mark they mean: why don't you move?"""
_COURTESIES: Final = frozenset(
    {
        *("hi", "hello", "hallo", "hey", "hi there", "good morning", "good evening", "good luck", "gl", "have fun"),
        *("thanks", "thank you", "thx", "ty", "tks", "tyvm", "ok", "okay", "well played", "wp", "nice", "lol", "sorry"),
        *("good game", "gg", "good match", "bye", "bye bye", "cu", "see you", "good night", "np", "yw", "congrats"),
    }
)
_PADDING: Final = frozenset({"please", "pls", "plz", "hi", "hello", "hey", "dear", "oh", "so", "ok", "now"})
"""Words that may precede or follow a question."""
_WORD: Final = re.compile(r"[a-z0-9_]+")


def topic_of(text: str, own_name: str) -> Topic | None:
    """Return the topic of a question; None for anything else."""
    return _TOPICS.get(_without_padding(text, own_name)) if len(text) <= LONGEST_QUESTION else None


def nudge_of(text: str, own_name: str) -> Nudge | None:
    """Return which nudge a line is; None for anything else."""
    if len(text) > LONGEST_QUESTION:
        return None
    called = "?" in text and " ".join(_words(text, own_name)) in _CALLS
    return Nudge.LOOK if called else _NUDGES.get(_without_padding(text, own_name))


def is_courtesy(text: str, own_name: str) -> bool:
    """Whether a line is empty or only polite, so that it needs no answer."""
    words = " ".join(_words(text, own_name))
    return not words or words in _COURTESIES


def _words(text: str, own_name: str) -> list[str]:
    """Return the words without case, punctuation, our own name and repetitions."""
    words = _WORD.findall(text.lower().replace("'", ""))
    return [word for word, _ in groupby(word for word in words if word != own_name.lower())]


def _without_padding(text: str, own_name: str) -> str:
    """Return the words without padding at either end."""
    words = _words(text, own_name)
    while len(words) > 1 and words[0] in _PADDING:
        del words[0]
    while len(words) > 1 and words[-1] in _PADDING:
        del words[-1]
    return " ".join(words)


LONGEST_REPLY: Final = 240
"""Characters of a line; servers cut at 255 or later."""
HINT: Final = "I'm a bot and understand only a few commands. Tell me `help` for a list."
WELCOME: Final = "Welcome! I'm a bot; tell me `help` for what I understand."
"""For somebody who starts to watch us."""
QUITTING: Final = "Logging out now."


def chat_line(text: str) -> str:
    """Return a text as one line that every server takes: printable ASCII, bounded, without the stars of its errors.

    What is too long ends with its last whole sentence, or with dots if not even the first one has room.
    """
    plain = "".join(character if " " <= character <= "~" else "?" for character in " ".join(text.split()))
    while "**" in plain:
        plain = plain.replace("**", "*")
    if len(plain) <= LONGEST_REPLY:
        return plain
    end = plain.rfind(". ", 0, LONGEST_REPLY) + 1
    return plain[:end] or plain[: LONGEST_REPLY - 3].rstrip() + "..."


def as_sentence(text: str) -> str:
    """Return a text as a sentence: with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def help_text(*, operator: bool) -> str:
    """Return the answer to `help`; operators also get the list of orders."""
    topics = ", ".join(topic.value for topic in Topic if topic is not Topic.HELP)
    asked = f"Tell me one of these: {topics}. If I stop moving, kibitz move, roll or join."
    return asked + (f" Your orders: {', '.join(order.value for order in Order)}." if operator else "")


def who_text(program: str) -> str:
    """Return the answer to `who are you`."""
    return f"I'm a bot ({program}) and play without human help. I know only a few commands; tell me `help` for a list."


def stats_text(counters: Counters, seconds: float) -> str:
    """Return the answer to `stats`; the run started `seconds` ago."""
    since = f"Since I started {format_duration(seconds)} ago I have"
    if not counters.matches:
        return f"{since} not finished a match yet."
    return f"{since} finished {plural(counters.matches, 'match')} and won {counters.wins}."


def score_text(opponent: str | None, length: int | None, score: tuple[int, int] | None, *, to_opponent: bool) -> str:
    """Return the answer to `score`; `length` is 0 for unlimited, the score is ours first, None means unknown."""
    if opponent is None:
        return "I'm not in a match right now."
    match = {None: "a match", 0: "an unlimited match"}.get(length, f"a {length}-point match")
    played = f"we're playing {match}" if to_opponent else f"I'm playing {match} with {opponent}"
    if score is None:
        return as_sentence(f"{played}; I don't know the score yet")
    ours, theirs = score
    if ours == theirs:
        stands = f"it is {ours}-{theirs}"
    elif ours > theirs:
        stands = f"I lead {ours}-{theirs}"
    else:
        stands = f"{'you lead' if to_opponent else f'{opponent} leads'} {theirs}-{ours}"
    return as_sentence(f"{played}; {stands}")
