"""Gioul is a Middle Eastern game of blocking, in which doubles go on up to 6-6.

All 15 checkers of each side start on its farthest point. Nobody is hit: one checker blocks a point. Who rolls a double
plays it four times, then the next higher double, and so on up to 6-6. As soon as a number cannot be played, the
opponent takes what is left of the series, as far as possible, and then rolls.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import GAMMONS, TRIPLE, Option, Rest

RULES = shared_laws.like_backgammon(
    name="gioul",
    title="Gioul",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Gioul"',
    setup=shared_laws.FARTHEST,
    divide=shared_laws.series,
    rest=Rest.TO_OPPONENT,
    move_laws=(),
    landing=shared_laws.blocks,
    laws=TRIPLE,
    readings=(
        "What is left of the current double passes to the opponent, too.",
        "The opponent has to play what passes to him, as far as he can.",
        "Only doubles pass; what cannot be played of two different numbers is lost.",
        "A gammon counts 2 and a backgammon 3, as in backgammon.",
    ),
    options=(
        Option("whole", "Only the doubles that follow pass to the opponent.", {"rest": Rest.FOLLOWING_TO_OPPONENT}),
        Option("may", "The opponent plays as much as he likes of what passes to him.", {"rest": Rest.OFFERED}),
        Option("no-triple", "A backgammon counts as a gammon.", {"laws": GAMMONS}),
    ),
)
