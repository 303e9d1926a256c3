"""What strategies are called, for whoever needs none of them."""

from __future__ import annotations

from typing import Final

DEFAULT: Final = "engine"
"""Who decides, and who judges, where nobody is asked for by name."""
FALLBACK: Final = "handmade"
"""Who decides where the chosen one fails: it needs nothing that could be missing, and takes no time."""
QUICK: Final = "engine:0"
"""Our engine where it does not look ahead."""


def plain_name(name: str) -> str:
    """Return what a strategy is installed as: what stands before the first colon, `ubgi` of `ubgi:engine --fast`."""
    return name.partition(":")[0]


def quick_judge(name: str) -> str:
    """Return who judges in place of a judge where very many questions are asked, as about luck.

    That is the same one, but our engine does not look ahead then: luck judged so is no less fair, and takes a twentieth
    of the time.
    """
    return QUICK if name.partition(":")[0] == DEFAULT else name
