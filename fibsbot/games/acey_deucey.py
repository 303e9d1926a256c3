"""Acey-Deucey is the game of the U.S. Navy. A roll of 1-2 brings a double of one's choice, and another roll.

All 15 checkers of each side start off the board and enter before any other moves. After playing a 1-2 the player names
a double, plays it, and rolls again; the same holds for the second roll. A third 1-2 in a turn ends it. Otherwise as in
backgammon, but every game counts 1.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import Numbers, Opening, Option, Outcome, Part, Ruleset, Then, Turn
from fibsbot.rules.sides import OFF, Sides

ACEY_DEUCEY = (1, 2)
LAST_ROLL = 3


def acey_deucey(sides: Sides, dice: Numbers, throws: int) -> Turn:
    """Divide a roll; a 1-2 brings a double and another roll, and the third one nothing."""
    if not is_acey_deucey(dice):
        return shared_laws.doubles_twice(sides, dice, throws)
    return () if throws == LAST_ROLL else (Part(dice), Then.NAME_DOUBLE, Then.ROLL)


def third_is_played(sides: Sides, dice: Numbers, throws: int) -> Turn:
    """Divide a roll; the third 1-2 is played, but brings nothing."""
    last = throws == LAST_ROLL and is_acey_deucey(dice)
    return (Part(dice),) if last else acey_deucey(sides, dice, throws)


def is_acey_deucey(dice: Numbers) -> bool:
    """Return whether a roll is a 1-2."""
    return tuple(sorted(dice)) == ACEY_DEUCEY


def checkers_left(_rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Win as many points as the loser has checkers left."""
    if not after.own.all_off:
        return None
    return Outcome(1, after.opponent.checkers - after.opponent.row[OFF], "borne off all checkers")


RULES = shared_laws.like_backgammon(
    name="acey-deucey",
    title="Acey-Deucey",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Acey Deucy"',
    setup=shared_laws.IN_HAND,
    opening=Opening.RETHROW,
    divide=acey_deucey,
    readings=(
        "A 1-2 of which only one number can be played brings neither a double nor a roll.",
        "The third 1-2 of a turn is not played.",
        "A double may be named if one move of it can be made; it is played as far as it goes.",
        "The opening throw has one die each, and its winner rolls anew, so that a 1-2 on it brings nothing.",
        "What a game counts without stakes is not in the text: 1, without gammons.",
    ),
    options=(
        Option("navy", "Checkers may move while others wait to enter.", {"move_laws": ()}),
        Option("stakes", "Each 1-2 doubles what the game counts.", {"raises_stake": is_acey_deucey}),
        Option("checkers-left", "The winner scores 1 for each checker that the loser has left, resigning or not.", {
            "ends": (checkers_left,), "counts_checkers": True,
        }),
        Option("extra-needs-all", "There is no further roll if a part of the named double cannot be played.", {
            "named_double_ends_turn": True,
        }),
        Option("play-third", "The third 1-2 of a turn is played.", {"divide": third_is_played}),
        Option("exact", "A checker is borne off by the exact number only.", {"bearing_off": shared_laws.exact}),
    ),
)  # fmt: skip
