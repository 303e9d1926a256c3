"""Dutch backgammon starts with all checkers off the board, and nobody hits before having come home.

All 15 checkers of each side enter before any other moves. No blot is hit, not even in passing or entering, until the
hitter has brought a checker to the home table. Otherwise as in backgammon.
"""

from __future__ import annotations

from fibsbot.games import standard
from fibsbot.games.ruleset import TRIPLE, Option, move_law
from fibsbot.games.table import HOME, OFF, Course, Table


@move_law("nobody hits before having brought a checker home")
def home_before_hitting(table: Table, _source: int, target: int) -> bool:
    """Forbid hits while no checker is in the home table."""
    blot = target != OFF and table.opponent.row[Course.CONTRARY.facing(target)] == 1
    return blot and not any(table.own.row[: HOME + 1])


RULES = standard.like_backgammon(
    name="dutch",
    title="Dutch backgammon",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Acey Deucy"; laws of 1931, list of names',
    setup=standard.IN_HAND,
    divide=standard.doubles_twice,
    move_laws=(standard.all_enter_first, home_before_hitting),
    laws=TRIPLE,
    readings=("The documents only name this game; that nobody hits before being home is how it is played elsewhere.",),
    options=(
        Option("early", "Checkers in hand may wait while others move; only one that was hit enters first.", {
            "move_laws": (standard.hit_enter_first, home_before_hitting),
        }),
    ),
)  # fmt: skip
