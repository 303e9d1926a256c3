"""Plakoto is the Greek game of pinning. Nobody is hit.

All 15 checkers of each side start on its farthest point. A single checker that is landed on stays where it is, and
cannot move as long as an opposing checker is on the point. All checkers have to be home before any is borne off.
A player who traps a checker on the last point of their own home table, the other's start, wins at once. Otherwise as
in backgammon.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.errors import AnyLaw, NamedLaw
from fibsbot.rules.ruleset import GAMMONS, TRIPLE, Option, Outcome, Ruleset
from fibsbot.rules.sides import HOME, START, Sides

PINNED_AT_HOME = NamedLaw("no checker is borne off while one lies under the opponent's")


def trapped_on_the_last_point(_rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Win by pinning a checker on its start."""
    if not after.opponent.pinned >> START & 1:
        return None
    return Outcome(1, 2, "trapped a checker on the last point")


def trapped_after_leaving(rules: Ruleset, before: Sides, after: Sides) -> Outcome | None:
    """Win by pinning a checker on its start, once none of the player's checkers is left on their own start."""
    return None if after.own.row[START] else trapped_on_the_last_point(rules, before, after)


def no_pinned_checker(sides: Sides, source: int, number: int) -> int | AnyLaw:
    """Bear off as usual, but not while a checker in the home table is pinned."""
    if sides.own.pinned & ((1 << HOME + 1) - 1):
        return PINNED_AT_HOME
    return shared_laws.all_home_first(sides, source, number)


RULES = shared_laws.like_backgammon(
    name="plakoto",
    title="Plakoto",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Plakato"',
    setup=shared_laws.FARTHEST,
    divide=shared_laws.doubles_twice,
    move_laws=(),
    landing=shared_laws.pins,
    ends_at_once=(trapped_on_the_last_point,),
    laws=TRIPLE,
    readings=(
        'The "home point" to which all checkers have to come is the home table.',
        "A checker that is pinned in the home table does not keep others from being borne off.",
        "A checker trapped on its start counts 2, and wins as soon as it is trapped, whatever numbers are left.",
    ),
    options=(
        Option(
            "exception",
            "A checker trapped on its start wins only if the other has none left on their start; if both are "
            "trapped, the game is drawn.",
            {"ends_at_once": (shared_laws.both_last_pinned, trapped_after_leaving)},
        ),
        Option("pinned-stops", "No checker is borne off while one is pinned at home.", {
            "bearing_off": no_pinned_checker,
        }),
        Option("no-triple", "A backgammon counts as a gammon.", {"laws": GAMMONS}),
    ),
)  # fmt: skip
