"""The rules of a tables game as a page of text: our words, the set-up drawn, source, readings and options."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from fibsbot.draw.table_text import draw_table
from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.game import start_match
from fibsbot.games.ruleset import Ruleset
from fibsbot.games.table import HAND, Course
from fibsbot.rules.state import Seat


def list_games() -> list[str]:
    """Return a line for each game: its name, its title and the names of its options."""
    rulesets = [load_ruleset(name) for name in GAMES]
    names, titles = (max(map(len, column)) for column in zip(*((it.name, it.title) for it in rulesets), strict=True))
    return [
        f"{it.name:{names}}  {it.title:{titles}}  {', '.join(option.name for option in it.options)}".rstrip()
        for it in rulesets
    ]


def describe_rules(rules: Ruleset, width: int = 80) -> list[str]:
    """Return the rules of a game in lines."""
    lines = [rules.title, "", *_paragraphs(rules.text, width), ""]
    board = draw_table(start_match(rules, 1), Seat.A, ("player", "opponent"))
    lines += [line.split(" - score")[0].replace("    1-point match, ", "    ") for line in board]
    lines += ["", *_wrapped(_facts(rules), width), "", *textwrap.wrap(f"Source: {rules.source}.", width)]
    if rules.readings:
        lines += ["", "Where the text leaves something open:", *_items(rules.readings, width)]
    if rules.options:
        lines += ["", f"Options, as in {rules.name}:{rules.options[0].name}:"]
        lines += _items((f"{option.name}: {option.sentence}" for option in rules.options), width)
    if rules.chosen:
        lines += ["", f"Chosen: {', '.join(rules.chosen)}."]
    return lines


def _paragraphs(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text: paragraphs are separated by empty lines, a numbered sentence begins a line."""
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ""
        for part in re.split(r"\n(?=\d\. )", paragraph):
            yield from textwrap.wrap(part, width, subsequent_indent="   " if part[1:3] == ". " else "")


def _items(sentences: Iterable[str], width: int) -> Iterator[str]:
    for sentence in sentences:
        yield from textwrap.wrap(sentence, width, initial_indent="- ", subsequent_indent="  ")


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    return textwrap.wrap(" ".join(sentences), width)


def _facts(rules: Ruleset) -> Iterator[str]:
    """Yield a sentence for each of the facts that the text need not have."""
    yield f"Each side has {rules.checkers} checkers{', all in hand' if rules.setup.get(HAND) else ''}."
    if rules.course is not Course.CONTRARY:
        yield f"The sides go {rules.course.value}."
    dice = {1: "one die", 2: "two dice", 3: "three dice"}[rules.dice]
    yield f"It is played with {dice}; {rules.opening.value}."
    if rules.winner_begins:
        yield "Who wins a game begins the next."
    most = 1 + rules.laws.gammon + (rules.laws.gammon and rules.laws.triple)
    counts = "every game counts 1" if most == 1 else f"a game counts up to {most}"
    yield f"Unless the text says otherwise, {counts}{', times the cube' if rules.laws.cube else ''}."
