"""The rules of a game as a page of text: our words, the set-up drawn, source, readings and options.

Those of the tables games come from their rulesets; the pages of backgammon and chouette are in `backgammon_rules.py`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from fibsbot.drawing.backgammon_rules import PAGES, Page
from fibsbot.drawing.board_text import draw_game, draw_state
from fibsbot.games import GAMES, load_ruleset
from fibsbot.match import MatchState
from fibsbot.position import Position
from fibsbot.rules.game import start_match_of
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.sides import HAND, Course
from fibsbot.rules.state import Seat


def list_games() -> list[str]:
    """Return a line for each game: its name, its title and the names of its options."""
    rulesets = [load_ruleset(name) for name in GAMES]
    rows: list[tuple[str, str, tuple[str, ...]]] = [(page.name, page.title, ()) for page in PAGES]
    rows += [(rules.name, rules.title, tuple(option.name for option in rules.options)) for rules in rulesets]
    names, titles = (max(len(row[column]) for row in rows) for column in (0, 1))
    return [f"{name:{names}}  {title:{titles}}  {', '.join(options)}".rstrip() for name, title, options in rows]


def describe_page(page: Page, width: int = 80) -> list[str]:
    """Return the rules of backgammon or chouette in lines."""
    lines = [page.title, "", *_paragraphs(page.text, width)]
    if page.board:
        lines += ["", *(_without_score(line) for line in draw_state(MatchState(Position.start(), 1)))]
    lines += ["", *textwrap.wrap(f"Source: {page.source}.", width)]
    for heading, sentences in page.lists:
        lines += ["", heading, *_items(sentences, width)]
    return lines


def describe_rules(rules: Ruleset, width: int = 80) -> list[str]:
    """Return the rules of a game in lines."""
    lines = [rules.title, "", *_paragraphs(rules.text, width), ""]
    board = draw_game(start_match_of(rules, 1), Seat.A, ("player", "opponent"))
    lines += map(_without_score, board)
    lines += ["", *_wrapped(_facts(rules), width), "", *textwrap.wrap(f"Source: {rules.source}.", width)]
    if rules.readings:
        lines += ["", "Where the text leaves something open:", *_items(rules.readings, width)]
    if rules.options:
        lines += ["", f"Options, as in {rules.name}:{rules.options[0].name}:"]
        lines += _items((f"{option.name}: {option.sentence}" for option in rules.options), width)
    common = load_ruleset(rules.name).common_options
    lines += ["", "Options that every game has, if they change it:"]
    lines += _items((f"{option.name}: {option.sentence}" for option in common), width)
    if rules.chosen:
        lines += ["", f"Chosen: {', '.join(rules.chosen)}."]
    return lines


def _without_score(line: str) -> str:
    return re.sub(r" - score: 0$|(?<=    )1-point match(, |$)", "", line).rstrip()


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
    if rules.laws.cube:
        yield "A match has a Crawford game: the first in which a player is a point away is played without the cube."
