"""Buff de Baldriac is a forerunner of Acey-Deucey from the book of King Alfonso (about 1280), with three dice.

All 15 checkers of each side start off the board and enter before any other moves, each side in the table in which the
other bears off, so that both can hit each other all the time. Each of the three numbers is played once; doubles and
triplets have no advantage. Every game counts 1.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import Opening, Option

RULES = shared_laws.like_backgammon(
    name="buff",
    title="Buff de Baldriac",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Buff de Baldriac"',
    setup=shared_laws.IN_HAND,
    dice=3,
    opening=Opening.RETHROW,
    divide=shared_laws.each_once,
    readings=(
        "The diagram is lost; that the sides go in opposite directions is a reading, after King Alfonso's book.",
        "The number of dice is not given; three are used in King Alfonso's book.",
        "Entering, hitting, bearing off and the score are not in the text: as in backgammon, but every game counts 1.",
        "The opening throw has one die each; its winner rolls all three.",
    ),
    options=(Option("two-dice", "The game is played with two dice.", {"dice": 2, "opening": Opening.BOTH}),),
)
