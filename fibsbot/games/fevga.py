"""Fevga is the Greek running game. One checker holds a point, and nobody is hit.

All 15 checkers of each side start on its farthest point; both sides go the same way from opposite corners. Until one
checker, the runner, has passed the opponent's start, no other leaves its own. The six points of a player's first table
may not all be held at the end of a play. A player who has walled in all of the opponent's checkers, six points held
right in front of the one point on which they stand, has to open one of the six if that is possible. The winner of the
opening throw rolls anew, and the winner of a game begins the next. A game counts 2 if the loser has borne off nothing.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import Option, move_law, play_law
from fibsbot.rules.sides import START, Course, Side, Sides

OPPONENTS_START = Course.DIAGONAL.facing(START)


@move_law("no other checker leaves the start until the runner has passed the opponent's start")
def runner_first(sides: Sides, source: int, _target: int) -> bool:
    """Forbid a second checker off the start before one has passed the opponent's."""
    row = sides.own.row
    passed = any(row[:OPPONENTS_START])
    return source == START and not passed and any(row[OPPONENTS_START:START])


@play_law("the six points of the first table are not all held at the end of a play")
def first_table_stays_open(_before: Sides, after: Sides) -> bool:
    """Forbid holding all six points of the player's first table."""
    return all(after.own.row[point] for point in range(19, START + 1))


@play_law("no more than four of the points from 12 to 7 are held at the end of a play")
def four_of_the_third_table(_before: Sides, after: Sides) -> bool:
    """Forbid holding more than four points of the player's third table."""
    return sum(after.own.row[point] > 0 for point in range(7, 13)) > 4


@play_law("who has walled in all of the opponent's checkers opens the wall if possible")
def wall_opens(_before: Sides, after: Sides) -> bool:
    """Forbid leaving six points held right in front of the one point with all checkers of the opponent."""
    stand = _only_point(after.opponent)
    if stand is None:
        return False
    wall = range(stand - 6, stand)
    return wall[0] > 0 and all(after.own.row[Course.DIAGONAL.facing(point)] for point in wall)


def _only_point(side: Side) -> int | None:
    """Return the point on which all checkers on the board stand; None if there are several."""
    points = [point for point in range(1, START + 1) if side.row[point]]
    return points[0] if len(points) == 1 else None


RULES = shared_laws.running_game(
    name="fevga",
    title="Fevga",
    text=__doc__,
    source="a game of today",
    divide=shared_laws.doubles_twice,
    move_laws=(runner_first,),
    play_laws=(first_table_stays_open,),
    preferences=(wall_opens,),
    readings=("As soon as the runner has passed, the rest of the same roll is free.",),
    options=(
        Option("moultezim", "Instead of these two laws, no more than four of the points 12 to 7 are held.", {
            "play_laws": (four_of_the_third_table,), "preferences": (),
        }),
    ),
)  # fmt: skip
