"""Columns as text and as HTML: how results of the library are shown at a prompt and in a notebook."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from fibsbot.text import format_percent

MOST_ROWS: Final = 20
"""Rows that are shown, so that a screen has room for them; what has more says how many are left out."""
MOST_OF_NAME: Final = 12
"""Characters of a player's name that are shown."""


class Printed(ABC):
    """Something that is shown as columns, text to the left and numbers to the right."""

    @abstractmethod
    def columns(self) -> Sequence[str]:
        """Return the headings; what is below a heading that begins with a blank is a number."""

    @abstractmethod
    def rows(self) -> Sequence[Sequence[str]]:
        """Return the cells of each row."""

    def note(self) -> str:
        """Return a line to stand below; may be empty."""
        return ""

    def __str__(self) -> str:
        """Return the columns as text."""
        headings, rows = self.columns(), self.rows()
        shown = [[heading.strip() for heading in headings], *rows[:MOST_ROWS]]
        widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if heading.startswith(" ") else cell.ljust(width)
                for cell, width, heading in zip(row, widths, headings, strict=True)
            ).rstrip()
            for row in shown
        ]
        return "\n".join([*lines, *self._below(rows)])

    def __repr__(self) -> str:
        """Return the same, for a prompt."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        headings, rows = self.columns(), self.rows()
        aligned = ["right" if heading.startswith(" ") else "left" for heading in headings]

        def row(cells: Sequence[str], tag: str) -> str:
            pairs = zip(cells, aligned, strict=True)
            inside = "".join(
                f'<{tag} style="text-align:{side}">{html.escape(cell.strip())}</{tag}>' for cell, side in pairs
            )
            return f"<tr>{inside}</tr>"

        body = "".join(row(cells, "td") for cells in rows[:MOST_ROWS])
        below = "".join(f"<p>{html.escape(line)}</p>" for line in self._below(rows))
        return f"<table><thead>{row(headings, 'th')}</thead><tbody>{body}</tbody></table>{below}"

    def _below(self, rows: Sequence[Sequence[str]]) -> list[str]:
        left_out = len(rows) - MOST_ROWS
        return [line for line in (f"and {left_out} more" if left_out > 0 else "", self.note()) if line]


def signed(value: float) -> str:
    """Return an equity as text."""
    return f"{value:+.3f}"


def percent(chance: float | None) -> str:
    """Return a chance in percent; nothing if it is not known."""
    return "" if chance is None else format_percent(chance, 1)


def short_name(name: str) -> str:
    """Return a player's name, or its beginning."""
    return name if len(name) <= MOST_OF_NAME else f"{name[: MOST_OF_NAME - 1]}\u2026"
