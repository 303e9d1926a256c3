"""Laws as words: `1931 point add-one limit 4`, as invitations, options and files have them, and as sentences.

The first word is the name of a set; each of the others changes one option of it. Options of commands, the words of
`invite NAME 5 laws ...` and the lines that a server sends about them all follow from TERMS.
"""

from __future__ import annotations

import re
from typing import Any, Final

from attrs import evolve, frozen

from fibsbot.rules.laws import FIBS, LAWS, AutomaticRaise, Laws, with_board_limit

LIMIT_WORD: Final = "limit"
"""The word before the highest value that automatic raises and rejected rolls may reach."""
MOST_LIMIT: Final = 4096


class LawWordsError(ValueError):
    """Words that name no laws; one line."""


@frozen
class LawTerm:
    """A word that changes one option of a set of laws."""

    word: str
    option: str
    """The field of Laws."""
    value: Any
    text: str
    """The meaning, as a part of a sentence."""


TERMS: Final = (
    LawTerm("point", "point_game", value=True, text="the Point Game: the winner scores for each checker that is left"),
    LawTerm("double", "automatic", AutomaticRaise.DOUBLE, "a tie in the opening roll doubles the cube"),
    LawTerm("add-one", "automatic", AutomaticRaise.ADD_ONE, "a tie in the opening roll adds one to the cube"),
    LawTerm("reject", "reject_first_throw", value=True, text="the first roll may be rejected, which doubles the cube"),
    LawTerm("no-triple", "triple", value=False, text="a backgammon counts as a gammon"),
    LawTerm("no-cube", "cube", value=False, text="no doubling cube"),
)
"""The words, in the order in which they are written; `limit N` comes after those that raise the cube."""
_BY_WORD: Final = {term.word: term for term in TERMS}
_SETS: Final = {"fibs": "the laws of FIBS", "modern": "the modern laws"}


def parse_law_words(text: str) -> Laws:
    """Return the laws that words name, without regard to case. Raises LawWordsError."""
    name, *words = text.lower().split() or [""]
    laws = LAWS.get(name)
    if laws is None:
        raise LawWordsError(f"expected laws such as {', '.join(LAWS)}, got {name[:20]!r}")
    left = iter(words)
    for word in left:
        if word == LIMIT_WORD:
            laws = evolve(laws, automatic_limit=_limit(next(left, "")))
        elif (term := _BY_WORD.get(word)) is None:
            raise LawWordsError(f"expected {', '.join(_BY_WORD)} or {LIMIT_WORD}, got {word[:20]!r}")
        elif getattr(laws, term.option) != getattr(LAWS[name], term.option):
            raise LawWordsError(f"expected one word about {term.option.replace('_', ' ')}, got another: {word!r}")
        else:
            laws = evolve(laws, **{term.option: term.value})
    _check(laws)
    return laws


def _limit(text: str) -> int:
    if not (re.fullmatch("[0-9]{1,4}", text) and 1 < int(text) <= MOST_LIMIT):
        raise LawWordsError(f"expected a number from 2 to {MOST_LIMIT} after {LIMIT_WORD}, got {text[:20]!r}")
    return int(text)


def _check(laws: Laws) -> None:
    raised = laws.automatic is not AutomaticRaise.NONE or laws.reject_first_throw
    if raised and not laws.cube:
        raise LawWordsError("expected a cube where rolls can raise it, got no-cube")
    if laws.automatic_limit is not None and not raised:
        raise LawWordsError(f"expected double, add-one or reject with {LIMIT_WORD}, got {LIMIT_WORD} alone")


def _terms_of(laws: Laws) -> list[LawTerm]:
    base = LAWS.get(laws.name, FIBS)
    return [
        term for term in TERMS if getattr(laws, term.option) == term.value and getattr(base, term.option) != term.value
    ]


def law_words(laws: Laws) -> str:
    """Return the words that `parse_law_words` reads; what they cannot say is left out.

    Laws of another name, as those of other tables games, are those of FIBS with what differs.
    """
    words = [laws.name if laws.name in LAWS else FIBS.name, *(term.word for term in _terms_of(laws))]
    if laws.automatic_limit is not None:
        words += [LIMIT_WORD, str(laws.automatic_limit)]
    return " ".join(words)


def name_same_laws(words: str, others: str) -> bool:
    """Return whether two texts name laws that are the same on a server, which adds a limit of its own.

    Raises LawWordsError.
    """
    return with_board_limit(parse_law_words(words)) == with_board_limit(parse_law_words(others))


def describe_laws(laws: Laws) -> str:
    """Return the laws in plain words, one line: `the laws of 1931; the Point Game: ...`."""
    parts = [_SETS.get(laws.name, f"the laws of {laws.name}"), *(term.text for term in _terms_of(laws))]
    if laws.automatic_limit is not None:
        parts.append(f"to {laws.automatic_limit} at most")
    return "; ".join(parts)


def is_by_other_laws(laws: Laws) -> bool:
    """Return whether laws count or open games otherwise than FIBS can, which files of other programs cannot say."""
    return laws.point_game or not laws.triple or laws.reject_first_throw or laws.automatic is AutomaticRaise.ADD_ONE
