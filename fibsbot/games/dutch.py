"""Dutch backgammon starts with all checkers off the board, and nobody hits before having come home.

All 15 checkers of each side enter before any other moves. No blot is hit, not even in passing or entering, until the
hitter has brought a checker to the home table. Otherwise as in backgammon.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import TRIPLE, Option, move_law
from fibsbot.rules.sides import HOME, OFF, Course, Sides


@move_law("nobody hits before having brought a checker home")
def home_before_hitting(sides: Sides, _source: int, target: int) -> bool:
    """Forbid hits while no checker is in the home table."""
    blot = target != OFF and sides.opponent.row[Course.CONTRARY.facing(target)] == 1
    return blot and not any(sides.own.row[: HOME + 1])


RULES = shared_laws.like_backgammon(
    name="dutch",
    title="Dutch backgammon",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Acey Deucy"; laws of 1931, list of names',
    setup=shared_laws.IN_HAND,
    divide=shared_laws.doubles_twice,
    move_laws=(shared_laws.all_enter_first, home_before_hitting),
    laws=TRIPLE,
    readings=("The documents only name this game; that nobody hits before being home is how it is played elsewhere.",),
    options=(
        Option("early", "Checkers in hand may wait while others move; only one that was hit enters first.", {
            "move_laws": (shared_laws.hit_enter_first, home_before_hitting),
        }),
    ),
)  # fmt: skip
