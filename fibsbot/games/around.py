"""Around the World is backgammon with exact bearing off.

The exact number is needed to bear a checker off. A checker moved by a higher number goes around the world: it ends its
move at the beginning of the course, and makes the whole trek again.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.errors import AnyLaw, Law
from fibsbot.rules.ruleset import TRIPLE, Option
from fibsbot.rules.sides import HAND, OFF, Sides


def around_the_world(sides: Sides, source: int, number: int) -> int | AnyLaw:
    """Bear off by the exact number; go on from the start with what is left of a higher one."""
    if not sides.own.all_home:
        return Law.TOO_EARLY
    return OFF if number == source else HAND - (number - source)


RULES = shared_laws.like_backgammon(
    name="around",
    title="Around the World",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Around the World / Exact-off"',
    divide=shared_laws.doubles_twice,
    bearing_off=around_the_world,
    laws=TRIPLE,
    readings=(
        "Leaving the board counts as one step, so that a number one too high brings a checker to its 24-point.",
        "Going around is a move as any other: it hits, it is blocked, and it is made if no other is possible.",
        "The score is not in the text: a gammon counts 2 and a backgammon 3, as in backgammon.",
    ),
    options=(
        Option("exact", "A number that is too high for a checker cannot be used.", {"bearing_off": shared_laws.exact}),
    ),
)
