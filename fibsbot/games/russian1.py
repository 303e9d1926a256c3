"""Russian I starts with all checkers off the board, and both sides go the same way to the same home table.

Two checkers have to be on the board before any advances; after that a checker that cannot enter leaves the number to
those on the board. A checker that was hit enters before any other moves. Who rolls a double plays it four times, then,
except on the first roll, the complementary double (what the dice show below, so that both make seven) four times, and
rolls again. If any part is blocked, the rest and the extra roll are lost. Every game counts 1.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import GAMMONS, Numbers, Opening, Option, Part, Then, Turn, move_law
from fibsbot.rules.sides import HAND, START, Course, Mark, Side, Sides


def complementary_doubles(sides: Sides, dice: Numbers, _throws: int) -> Turn:
    """Divide a roll: a double is followed by the complementary one and another roll, except on the first roll."""
    number = dice[0]
    if number != dice[1]:
        return (Part(dice),)
    if sides.own.throws == 1:
        return (Part((number,) * 4),)
    return (Part((number,) * 4), Part((7 - number,) * 4), Then.ROLL)


@move_law("two checkers enter before any advances")
def two_enter_first(sides: Sides, source: int, _target: int) -> bool:
    """Forbid moves on the board until two checkers have been on it."""
    return source != HAND and Mark.STARTED not in sides.own.marks


@move_law("a checker that can enter enters before any other moves")
def enter_if_possible(sides: Sides, source: int, target: int) -> bool:
    """Forbid a move on the board by a number that could enter a checker."""
    point = HAND - (source - target)
    return source != HAND and sides.own.row[HAND] > 0 and sides.opponent.row[Course.SAME.facing(point)] < 2


def note_start(_before: Sides, after: Sides, _source: int, _target: int) -> Sides:
    """Note that two checkers are on the board."""
    return Sides(has_started(after.own), after.opponent)


def has_started(own: Side) -> Side:
    """Mark a side of which two checkers are on the board, or have been."""
    return own if sum(own.row[: START + 1]) < 2 else own.marked(Mark.STARTED)


RULES = shared_laws.like_backgammon(
    name="russian1",
    title="Russian I",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Russian I"',
    setup=shared_laws.IN_HAND,
    course=Course.SAME,
    opening=Opening.RETHROW,
    on_roll=shared_laws.count_throws,
    divide=complementary_doubles,
    move_laws=(shared_laws.hit_enter_first, two_enter_first),
    on_move=(note_start,),
    marks_shown=has_started,
    readings=(
        "Once two checkers have been on the board, a player is free to enter others or to move.",
        "The extra roll has to be made, and nothing limits how often.",
        "If the thrown double is blocked, its complement is lost, too, not only the rest of that double.",
        "The first roll is each player's first roll; a double on it is played four times and brings nothing more.",
        "The winner of the opening throw rolls anew, so that the first roll of either player may be a double.",
        "What a game counts is not in the text: 1, without gammons.",
    ),
    options=(
        Option("enter-first", "A number that can enter a checker has to be used for that.", {
            "move_laws": (shared_laws.hit_enter_first, two_enter_first, enter_if_possible),
        }),
        Option("all-first", "All checkers enter before any advances.", {"move_laws": (shared_laws.all_enter_first,)}),
        Option("gammon", "A game counts 2 if the loser has borne off nothing.", {"laws": GAMMONS}),
    ),
)  # fmt: skip
