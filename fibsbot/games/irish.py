"""Irish is the backgammon of the 17th century: the set-up and the moves are the same.

A double has no advantage: each number is played once. All games count 1.
"""

from __future__ import annotations

from fibsbot.evolve import evolve
from fibsbot.games import standard
from fibsbot.games.ruleset import TRIPLE, Numbers, Option, Outcome, Ruleset
from fibsbot.games.table import HAND, HOME, Mark, Table

_HOME = range(HOME, 0, -1)


def bound_points(table: Table) -> tuple[int, ...]:
    """Return the home points if all six are made while the opponent has a checker to enter: the tables are bound."""
    bound = table.opponent.row[HAND] > 0 and all(table.own.row[point] > 1 for point in _HOME)
    return tuple(_HOME) if bound else ()


def open_point(table: Table, point: int) -> Table:
    """Take all checkers but one of a point to the bar, as if they had been hit."""
    more = table.own.row[point] - 1
    own = table.own.moved(point, HAND, more)
    return Table(evolve(own, hit=own.hit + more), table.opponent)


def note_double(table: Table, dice: Numbers) -> Table:
    """Note whether the roll is a double."""
    own = standard.count_throws(table, dice).own
    marks = own.marks | Mark.DOUBLE if dice[0] == dice[1] else own.marks & ~Mark.DOUBLE
    return Table(evolve(own, marks=marks), table.opponent)


def borne_off_in_1665(_rules: Ruleset, _before: Table, after: Table) -> Outcome | None:
    """Win by bearing off all checkers: 1, and 1 more each for a last roll that is a double and a loser not home."""
    if not after.own.all_off:
        return None
    points = 1 + (Mark.DOUBLE in after.own.marks) + (not after.opponent.all_home)
    return Outcome(1, points, "borne off all checkers")


RULES = standard.like_backgammon(
    name="irish",
    title="Irish",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Irish"',
    divide=standard.each_once,
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
                "divide": standard.doubles_twice,
                "on_roll": note_double,
                "ends": (borne_off_in_1665,),
                "laws": TRIPLE,
            },
        ),
    ),
)
