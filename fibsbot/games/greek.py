"""Greek is a game of blocking instead of hitting.

All 15 checkers of each side start on its farthest point. A single checker is not hit but blocked: it cannot move as
long as an opposing checker is on its point. Otherwise as in backgammon.
"""

from __future__ import annotations

from fibsbot.games import plakoto
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import TRIPLE, Option

RULES = shared_laws.like_backgammon(
    name="greek",
    title="Greek",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Greek"',
    setup=shared_laws.FARTHEST,
    divide=shared_laws.doubles_twice,
    move_laws=(),
    landing=shared_laws.pins,
    ends=(shared_laws.both_last_pinned, shared_laws.borne_off),
    laws=TRIPLE,
    readings=(
        "If the last checkers of both sides are blocked on their starts, neither can ever come home: a draw.",
        "A gammon counts 2 and a backgammon 3, as in backgammon.",
        "A checker that is pinned in the home table does not keep others from being borne off.",
    ),
    options=(
        Option("pinned-stops", "No checker is borne off while one is pinned at home.", {
            "bearing_off": plakoto.no_pinned_checker,
        }),
    ),
)  # fmt: skip
