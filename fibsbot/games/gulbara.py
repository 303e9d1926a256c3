"""Gul Bara, also called Rosespring, is Narde without its laws of head and prime, in which doubles go on up to 6-6.

All 15 checkers of each side start on its farthest point; both sides go the same way from opposite corners. One checker
holds a point, and nobody is hit. From a player's fourth roll on a double is played four times, then the next higher
double, and so on up to 6-6; what cannot be played is lost, with the rest of the series. The winner of the opening throw
rolls anew, and the winner of a game begins the next. A game counts 2 if the loser has borne off nothing.
"""

from __future__ import annotations

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import narde
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import Numbers, Option, Part, Rest, Turn
from fibsbot.rules.sides import Sides

FIRST_SERIES = 4


def series_from_the_fourth_roll(sides: Sides, dice: Numbers, throws: int) -> Turn:
    """Divide a roll: a double goes on up to 6-6 from the player's fourth roll on."""
    divide = shared_laws.series if sides.own.throws >= FIRST_SERIES else shared_laws.doubles_twice
    return divide(sides, dice, throws)


def early_double_ends_turn(sides: Sides, dice: Numbers, throws: int) -> Turn:
    """Divide a roll; of a double that is no series nothing passes to the opponent."""
    turn = series_from_the_fourth_roll(sides, dice, throws)
    if sides.own.throws >= FIRST_SERIES:
        return turn
    return tuple(fast_evolve(part, ends_turn=False) for part in turn if isinstance(part, Part))


RULES = shared_laws.running_game(
    name="gulbara",
    title="Gul Bara",
    text=__doc__,
    source="a game of today",
    on_roll=shared_laws.count_throws,
    divide=series_from_the_fourth_roll,
    move_laws=(),
    readings=(
        "The first three rolls are each player's own.",
        "With both options no checker leaves the head by numbers that have passed over.",
    ),
    options=(
        Option("narde-laws", "The laws of head and prime hold as in Narde.", {
            "on_roll": narde.note_roll,
            "move_laws": (narde.one_off_the_head,),
            "on_move": (narde.note_head,),
            "play_laws": (narde.no_prime_before_all,),
        }),
        Option("passes", "What cannot be played of a series passes to the opponent.", {
            "rest": Rest.TO_OPPONENT, "divide": early_double_ends_turn,
        }),
    ),
)  # fmt: skip
