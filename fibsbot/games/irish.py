"""Irish is the backgammon of the 17th century: the set-up and the moves are the same.

A double has no advantage: each number is played once. All games count 1.
"""

from __future__ import annotations

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import TRIPLE, Numbers, Option, Outcome, Ruleset
from fibsbot.rules.sides import HAND, HOME, Mark, Sides

_HOME = range(HOME, 0, -1)


def bound_points(sides: Sides) -> tuple[int, ...]:
    """Return the home points if all six are made while the opponent has a checker to enter: the tables are bound."""
    bound = sides.opponent.row[HAND] > 0 and all(sides.own.row[point] > 1 for point in _HOME)
    return tuple(_HOME) if bound else ()


def open_point(sides: Sides, point: int) -> Sides:
    """Take all checkers but one of a point to the bar, as if they had been hit."""
    more = sides.own.row[point] - 1
    own = sides.own.moved(point, HAND, more)
    return Sides(fast_evolve(own, hit=own.hit + more), sides.opponent)


def note_double(sides: Sides, dice: Numbers) -> Sides:
    """Note whether the roll is a double."""
    own = shared_laws.count_throws(sides, dice).own
    marks = own.marks | Mark.DOUBLE if dice[0] == dice[1] else own.marks & ~Mark.DOUBLE
    return Sides(fast_evolve(own, marks=marks), sides.opponent)


def borne_off_in_1665(_rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Win by bearing off all checkers: 1, and 1 more each for a last roll that is a double and a loser not home."""
    if not after.own.all_off:
        return None
    points = 1 + (Mark.DOUBLE in after.own.marks) + (not after.opponent.all_home)
    return Outcome(1, points, "borne off all checkers")


RULES = shared_laws.like_backgammon(
    name="irish",
    title="Irish",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Irish"',
    divide=shared_laws.each_once,
    readings=(
        "The text breaks off where it begins to explain the binding of the tables, so that this law is an option here.",
        "Only single games are won (Willughby).",
    ),
    options=(
        Option(
            "binding",
            "Who has made all six home points while the opponent has a checker to enter must open one of them: both "
            "throw two dice, the higher total names the point, and all its checkers but one enter anew (after "
            "Willughby; a reading, the wording is lost).",
            {"points_to_open": bound_points, "open_point": open_point},
        ),
        Option(
            "1665",
            "Backgammon as Willughby describes it about 1665: a double is played four times; a game counts 2 if its "
            "last roll is a double or the loser has a checker outside the home table, 3 for both.",
            {
                "divide": shared_laws.doubles_twice,
                "on_roll": note_double,
                "ends": (borne_off_in_1665,),
                "laws": TRIPLE,
            },
        ),
    ),
)
