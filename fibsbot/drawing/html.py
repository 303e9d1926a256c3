"""HTML elements with escaping on by default: text is escaped where it becomes HTML, and nowhere else.

Names, reasons and headers come from other people and from files, and may contain anything. Control characters and marks
that change the text direction are replaced as well, which HTML libraries leave to each caller.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

from fibsbot.drawing.markup import escape


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


Child: TypeAlias = "Html | str | int | None"
"""A child of an element: HTML is used as it is, text and numbers are escaped, None is left out."""

VOID: Final = frozenset({"br", "hr", "input", "link", "meta"})
"""Elements without an end tag."""


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """Return an element.

    An attribute's name may end in an underscore where Python wants it so, and other underscores become hyphens. True
    gives an attribute without a value; None and False leave it out.
    """
    words = [name]
    for key, value in attributes.items():
        label = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(label)
        elif value is not None and value is not False:
            words.append(f'{label}="{escape(str(value))}"')
    opened = f"<{' '.join(words)}>"
    return Html(opened) if name in VOID else Html(f"{opened}{join_html(*children)}</{name}>")


def join_html(*children: Child) -> Html:
    """Return the concatenated children."""
    return Html(
        "".join(child if isinstance(child, Html) else escape(str(child)) for child in children if child is not None)
    )


_IN_SCRIPT: Final = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})


def script_json(value: Any) -> Html:
    """Return JSON for a script element: nothing in it ends the element or starts a comment."""
    return Html(json.dumps(value, separators=(",", ":")).translate(_IN_SCRIPT))
