"""Ticktack is a fast gambling game of the 16th century, usually over after a few rolls.

All 15 checkers of each side start on its ace point, the farthest from home. Two dice, doubles have no advantage. The
document promises five ways to win and breaks off after the first: hitting a blot, which counts 1. The other four are a
reading of Cotton's "Complete Gamester" (1674) and count 2: going in (two checkers on the opponent's eleventh point),
the second table (its six points all made), toots (all six points of the first table made), and boveries (a checker on
one's own and one on the opponent's eleventh point). Bearing off all checkers counts 1. The best way that a play reaches
counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import End, Option, Outcome, Ruleset
from fibsbot.rules.sides import HAND, HOME, START, Sides

Way: TypeAlias = tuple[Callable[[Sides, Sides], bool], int, str]
"""Whether a play from one table to another wins in this way, what it counts, and how it is called."""
OWN_ELEVENTH = HAND - 11
OPPONENTS_ELEVENTH = 11


def hit(_before: Sides, after: Sides) -> bool:
    """Hit a blot, also in passing."""
    return after.opponent.row[HAND] > 0


def going_in(_before: Sides, after: Sides) -> bool:
    """Have two checkers on the opponent's eleventh point."""
    return after.own.row[OPPONENTS_ELEVENTH] > 1


def going_in_together(before: Sides, after: Sides) -> bool:
    """Bring two checkers to the opponent's eleventh point in one play."""
    return after.own.row[OPPONENTS_ELEVENTH] - before.own.row[OPPONENTS_ELEVENTH] > 1


def second_table(_before: Sides, after: Sides) -> bool:
    """Have made all six points of the second table of the course."""
    return all(after.own.row[point] > 1 for point in range(13, 19))


def toots(_before: Sides, after: Sides) -> bool:
    """Have made all six points of the first table of the course."""
    return all(after.own.row[point] > 1 for point in range(19, START + 1))


def boveries(_before: Sides, after: Sides) -> bool:
    """Have a checker on the player's own and one on the opponent's eleventh point."""
    return after.own.row[OWN_ELEVENTH] > 0 and after.own.row[OPPONENTS_ELEVENTH] > 0


def flyers(_before: Sides, after: Sides) -> bool:
    """Come home while the opponent has no checker past the first table."""
    return any(after.own.row[: HOME + 1]) and not any(after.opponent.row[: START - HOME + 1])


def home_first(_before: Sides, after: Sides) -> bool:
    """Bear off all checkers."""
    return after.own.all_off


HIT: Way = (hit, 1, "hit a blot")
GOING_IN: Way = (going_in, 2, "gone in: two checkers on the opponent's eleventh point")
GOING_IN_TOGETHER: Way = (going_in_together, 2, GOING_IN[2])
SECOND_TABLE: Way = (second_table, 2, "filled the second table")
TOOTS: Way = (toots, 2, "made toots: the first table is filled")
BOVERIES: Way = (boveries, 2, "made boveries: a checker on each eleventh point")
FLYERS: Way = (flyers, 2, "made flyers: home before the opponent has left the first table")
BEARING_OFF: Way = (home_first, 1, "borne off all checkers")


def ways_to_win(*ways: Way) -> End:
    """Return a law by which the best of these ways wins."""
    best_first = sorted(ways, key=lambda way: -way[1])

    def win(_rules: Ruleset, before: Sides, after: Sides) -> Outcome | None:
        wins = (Outcome(1, points, reason) for reached, points, reason in best_first if reached(before, after))
        return next(wins, None)

    return win


WAYS = (HIT, GOING_IN, SECOND_TABLE, TOOTS, BOVERIES, BEARING_OFF)
RULES = shared_laws.like_backgammon(
    name="ticktack",
    title="Ticktack",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Ticktack"; ways two to five after Cotton (1674)',
    setup=shared_laws.FARTHEST,
    divide=shared_laws.each_once,
    ends=(ways_to_win(*WAYS),),
    readings=(
        "Only the hit is in the document; which are the other four ways, and what they count, is a reading of Cotton.",
        "The sides go in opposite directions, so that the opponent's ace point is the end of one's own course.",
        "A table is filled when all its six points have two or more checkers.",
        "Going in takes two checkers on that point at the end of a play; they need not come together.",
        "Each option says which ways win, so that only one of them can be chosen.",
        "Who could have won and did not see it loses nothing: that law of Willughby is for the board.",
    ),
    options=(
        Option("plain", "Only a hit and bearing off win.", {"ends": (ways_to_win(HIT, BEARING_OFF),)}),
        Option("common", "Toots and boveries, which only some play, do not win.", {
            "ends": (ways_to_win(*(way for way in WAYS if way not in {TOOTS, BOVERIES})),),
        }),
        Option("together", "Going in takes two checkers in one play.", {
            "ends": (ways_to_win(GOING_IN_TOGETHER, *(way for way in WAYS if way is not GOING_IN)),),
        }),
        Option("flyers", "Coming home before the opponent has left the first table wins 2, too.", {
            "ends": (ways_to_win(FLYERS, *WAYS),),
        }),
    ),
)  # fmt: skip
