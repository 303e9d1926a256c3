"""What people mean by what they say: pure functions that look at single lines."""

from __future__ import annotations

import enum
import re
from itertools import groupby
from typing import Final

LONGEST: Final = 80
"""Characters of a line that may be a question; longer ones are talk."""


class Topic(enum.Enum):
    """What the bot answers questions about, by the word that asks."""

    HELP = "help"
    SETTINGS = "settings"
    STATS = "stats"
    SCORE = "score"
    WHO = "who are you"


class Nudge(enum.Enum):
    """What an opponent says who waits for us."""

    LOOK = "move"
    """There is something to be done in the game."""
    JOIN = "join"
    """The next game waits to be joined."""


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
"""Words around what somebody means."""
_WORD: Final = re.compile(r"[a-z0-9_]+")


def topic_of(text: str, own_name: str) -> Topic | None:
    """Return what somebody asks about; None if it is no question that we answer."""
    return _TOPICS.get(_core(text, own_name)) if len(text) <= LONGEST else None


def nudge_of(text: str, own_name: str) -> Nudge | None:
    """Return what an opponent wants us to look for; None if it is no nudge."""
    if len(text) > LONGEST:
        return None
    called = "?" in text and " ".join(_words(text, own_name)) in _CALLS
    return Nudge.LOOK if called else _NUDGES.get(_core(text, own_name))


def is_courtesy(text: str, own_name: str) -> bool:
    """Whether nothing but politeness was said, or nothing at all: no answer is waited for."""
    words = " ".join(_words(text, own_name))
    return not words or words in _COURTESIES


def _words(text: str, own_name: str) -> list[str]:
    """Return the words without case, punctuation, our own name and repetitions."""
    words = _WORD.findall(text.lower().replace("'", ""))
    return [word for word, _ in groupby(word for word in words if word != own_name.lower())]


def _core(text: str, own_name: str) -> str:
    """Return the words without what only leads to them or follows them."""
    words = _words(text, own_name)
    while len(words) > 1 and words[0] in _PADDING:
        del words[0]
    while len(words) > 1 and words[-1] in _PADDING:
        del words[-1]
    return " ".join(words)
