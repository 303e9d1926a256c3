"""Drawn boards in the colours of a terminal. The only module of the package that needs rich."""

from __future__ import annotations

import re
from typing import Final

from rich.text import Text

COLOURS: Final = {"O": ("●", "bold yellow"), "X": ("○", "bold cyan")}
"""Sign and style of each colour; the signs differ also without colours."""

_COLOUR: Final = re.compile(r"(?<= )[OX](?= |: |-\d)")
"""A colour's letter: a checker, before a player's name, or before a count."""


def styled_board(lines: list[str]) -> Text:
    """Return a drawn board for a terminal, with signs and colours for the checkers."""
    text = Text("\n").join(_styled(line) for line in lines)
    text.no_wrap = True
    return text


def _styled(line: str) -> Text:
    text = Text(_COLOUR.sub(lambda letter: COLOURS[letter[0]][0], line))
    for sign, style in COLOURS.values():
        text.highlight_regex(re.escape(sign), style)
    return text
