"""The answers to built-in questions as HTML pages, with the boards, tables and styles of match reports."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from fibsbot.archive.answers import Answer, AnswerSection
from fibsbot.archive.figures import Figure
from fibsbot.archive.performance import RareValue
from fibsbot.drawing.html import Html, tag
from fibsbot.drawing.markup import clean
from fibsbot.engine import short_details
from fibsbot.report.page import document

_STYLE: Final = """
.boards { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0; }
.boards figure { margin: 0; flex: 0 1 21rem; }
.boards svg { display: block; width: 100%; height: auto; }
.beside { display: flex; flex-wrap: wrap; gap: 1rem 3rem; align-items: flex-start; }
.figures { width: auto; }
.figures :is(th, td) { text-align: right; }
.figures .text, .figures thead th.text { text-align: left; }
.plot { max-width: 48rem; }
details summary { cursor: pointer; color: var(--accent); margin: 0.75rem 0; }
"""


def answer_page(answer: Answer) -> str:
    """Return the page of an answer."""
    judge = clean(short_details(answer.judge))
    facts = tag("p", tag("span", f"Judged by {judge}"), class_="facts") if judge else None
    body = [tag("header", tag("h1", clean(answer.title)), facts), tag("main", *map(_section, answer.sections))]
    return document(clean(answer.title), body, style=_STYLE)


def _section(section: AnswerSection) -> Html:
    boards = list(_figures(section, charts=False))
    pictures = tag("div", *boards, class_="boards") if boards else None
    if pictures and section.folded:
        pictures = tag("details", tag("summary", f"Boards ({len(boards)})"), pictures)
    rows = _table(section) if section.columns else None
    content = [tag("div", rows, pictures, class_="beside")] if len(boards) == 1 else [rows, pictures]
    return tag(
        "section",
        tag("h2", clean(section.heading)),
        *(tag("p", clean(line), class_="note") for line in section.note.splitlines()),
        *_figures(section, charts=True),
        *content,
    )


def _figures(section: AnswerSection, *, charts: bool) -> Iterator[Html]:
    for figure in section.figures:
        if _is_chart(figure) is charts:
            caption = tag("figcaption", clean(figure.caption)) if figure.caption else None
            yield tag("figure", *(_chart(figure) if charts else [Html(figure.svg)]), caption)


def _chart(figure: Figure) -> Iterator[Html]:
    for size in ("wide", "narrow") if figure.narrow else ("",):
        svg = figure.narrow if size == "narrow" else figure.svg
        yield tag("div", Html(svg), class_=f"plot {size}".strip())


def _is_chart(figure: Figure) -> bool:
    return "data-plot=" in figure.svg[:1000]


def _table(section: AnswerSection) -> Html:
    texts = text_columns(section)
    head = tag(
        "tr", *(_cell("th", name, is_text=is_text) for name, is_text in zip(section.columns, texts, strict=True))
    )
    body = (
        tag(
            "tr",
            *(
                _cell("td", format_value(name, value), is_text=is_text)
                for name, value, is_text in zip(section.columns, row, texts, strict=True)
            ),
        )
        for row in section.rows
    )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body), class_="figures"), class_="scroll")


def _cell(name: str, text: str, *, is_text: bool) -> Html:
    return tag(name, text, class_="text" if is_text else None)


def text_columns(section: AnswerSection) -> list[bool]:
    """Return which columns have texts, which stand on the left; all others are numbers."""
    if not section.rows:
        return [True] * len(section.columns)
    return [any(isinstance(value, str) for value in column) for column in zip(*section.rows, strict=True)]


def format_value(column: str, value: Any) -> str:
    """Return a value of an answer for people, by the name of its column."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return _format_number(column, value) + ("*" if isinstance(value, RareValue) else "")
    return f"{value:,}" if isinstance(value, int) and column not in _KEYS else clean(str(value), 200)


def _format_number(column: str, value: float) -> str:
    if column in _SHARES:
        return f"{value:.1%}"
    if column in _SIGNED_SHARES:
        return f"{value:+.1%}"
    if column == "change":
        return f"{round(value, 1) + 0.0:+.1f}"  # not -0.0
    return f"{value:.1f}" if column in _ROUGH or column.startswith("PR") else f"{value:.3f}"


_SHARES: Final = frozenset({"share", "matches won", "taken", "right to take", "without luck", "its margin"})
_SIGNED_SHARES: Final = frozenset({"luck"})
_ROUGH: Final = frozenset({"margin", "rating", "mean rating", "distance"})
_KEYS: Final = frozenset({"match", "game", "turn"})
