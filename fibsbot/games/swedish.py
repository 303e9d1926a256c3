"""Swedish Tables is a survival of the tables games of the late Middle Ages, with two ways to win at one stroke.

All 15 checkers of each side start on its farthest point; both sides go the same way from opposite corners.
1. A double on a player's first roll moves one checker only. A 6-6 moves four, which a single checker can hit all
together as long as none of them has moved on.
2. No more than one checker may stand on a point until the side has had a checker on the farthest point of the
opponent's side of the board.
3. A later double is played four times, if possible.
4. A single checker is hit, and enters before any other moves.
5. No checker lands on two or more, unless they belong to six points in a row that are all held: then any of the six may
be landed on, and its two checkers are captured.
6. No checker leaves the opponent's side of the board until five have left the start.

Bearing off all checkers wins 1. Jan wins 15: the opponent has more captured checkers than points where they could
enter. So does janstork: he has no such point at all when he is hit.
"""

from __future__ import annotations

from functools import partial

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules import shared_laws
from fibsbot.rules.errors import AnyLaw, Law
from fibsbot.rules.ruleset import Numbers, Opening, Option, Outcome, Part, Ruleset, Turn, move_law
from fibsbot.rules.sides import HAND, HOME, OFF, START, Course, Mark, Side, Sides

FARTHEST_OF_OPPONENTS_SIDE = 13
STACK = START - 6
"""Where the four checkers of a first 6-6 stand."""
_ENTRY = range(START, START - HOME, -1)


def first_double_moves_one_checker(sides: Sides, dice: Numbers, _throws: int) -> Turn:
    """Rules 1 and 3: divide a roll."""
    if dice[0] != dice[1]:
        return (Part(dice),)
    return (Part(dice * 2, one_checker=sides.own.throws == 1 and dice[0] != HOME),)


def first_double_moves_once(sides: Sides, dice: Numbers, throws: int) -> Turn:
    """Divide a roll, the first double as one move."""
    first = sides.own.throws == 1 and dice[0] == dice[1] != HOME
    return (Part(dice[:1]),) if first else first_double_moves_one_checker(sides, dice, throws)


def note_roll(sides: Sides, dice: Numbers) -> Sides:
    """Count the roll, and note a first 6-6."""
    own = shared_laws.count_throws(sides, dice).own
    four = own.throws == 1 and dice == (6, 6)
    return Sides(own.marked(Mark.FOUR_SIXES) if four else own, sides.opponent)


@move_law("no more than one checker on a point before one has been on the farthest point of the opponent's side")
def one_on_a_point(sides: Sides, source: int, target: int) -> bool:
    """Rule 2."""
    own = sides.own
    first_sixes = Mark.FOUR_SIXES in own.marks and own.throws == 1 and (source, target) == (START, STACK)
    return Mark.RELEASED not in own.marks and target != OFF and own.row[target] > 0 and not first_sixes


@move_law("no more than one checker on a far point before one has been on the farthest point of the opponent's side")
def one_on_a_far_point(sides: Sides, source: int, target: int) -> bool:
    """Rule 2, read for the opponent's side only."""
    return target > START // 2 and one_on_a_point.forbids(sides, source, target)


@move_law("no checker leaves the opponent's side before five have left the start")
def five_leave_the_start(sides: Sides, source: int, target: int) -> bool:
    """Rule 6."""
    return source > START // 2 >= target and Mark.FIVE_LEFT not in sides.own.marks


def hits_and_breaks_blocks(_own: Side, opponent: Side, point: int, facing: int, most: int = 2) -> Side | AnyLaw:
    """Rules 1, 4 and 5: land on a point; `most` is how many checkers of a block are captured together."""
    there = opponent.row[facing]
    together = Mark.FOUR_SIXES in opponent.marks and facing == STACK
    if there > 1 and not together and (there > most or not _in_block_of_six(opponent, point)):
        return Law.POINT_HELD
    if not there:
        return opponent
    marks = opponent.marks & ~Mark.FOUR_SIXES if together else opponent.marks
    return fast_evolve(opponent.moved(facing, HAND, there), hit=opponent.hit + there, marks=marks)


def _in_block_of_six(opponent: Side, point: int) -> bool:
    """Return whether a point belongs to six in a row of our course that the opponent holds."""
    run = 1
    for direction in (1, -1):
        beside = point + direction
        while 1 <= beside <= START and opponent.row[Course.DIAGONAL.facing(beside)] > 1:
            run += 1
            beside += direction
    return run >= 6


def note_move(_before: Sides, after: Sides, source: int, target: int) -> Sides:
    """Note what rules 1, 2 and 6 ask for."""
    own = marks_shown(after.own)
    if Mark.FOUR_SIXES in own.marks and STACK in {source, target} and (source, target, own.throws) != (START, STACK, 1):
        own = fast_evolve(own, marks=own.marks & ~Mark.FOUR_SIXES)
    return Sides(own, after.opponent)


def marks_shown(own: Side) -> Side:
    """Mark what the checkers themselves show: one is on the farthest point, five have left the start."""
    if own.row[FARTHEST_OF_OPPONENTS_SIDE]:
        own = own.marked(Mark.RELEASED)
    return own.marked(Mark.FIVE_LEFT) if own.row[START] <= own.checkers - 5 else own


def note_release_while_there(_before: Sides, after: Sides, _source: int, _target: int) -> Sides:
    """Note which sides have a checker on the farthest point of the other's side, and are released for as long."""
    return Sides(_released_while_there(after.own), _released_while_there(after.opponent))


def _released_while_there(side: Side) -> Side:
    there = side.row[FARTHEST_OF_OPPONENTS_SIDE] > 0
    return side.marked(Mark.RELEASED) if there else fast_evolve(side, marks=side.marks & ~Mark.RELEASED)


def free_points(rules: Ruleset, sides: Sides) -> int:
    """Return how many points of the entry table the opponent's captured checkers could enter on.

    The points of a block of six count as one, as the block is broken when a checker has entered on one of them.
    """
    opponent, held = sides.opponent, [sides.own.row[Course.DIAGONAL.facing(point)] > 1 for point in _ENTRY]
    alone = Mark.RELEASED not in opponent.marks
    open_ones = [
        not (alone and opponent.row[point])
        and isinstance(rules.landing(opponent, sides.own, point, Course.DIAGONAL.facing(point)), Side)
        for point in _ENTRY
    ]
    single = sum(is_open and not is_held for is_open, is_held in zip(open_ones, held, strict=True))
    return single + (single < sum(open_ones))


def empty_points(sides: Sides) -> int:
    """Return how many points of the entry table have no checker at all."""
    return sum(not sides.own.row[Course.DIAGONAL.facing(point)] and not sides.opponent.row[point] for point in _ENTRY)


def jan(rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Win by jan, or by janstork if there is no free point at all."""
    return _jan(after, free_points(rules, after)) if after.opponent.row[HAND] else None


def jan_of_empty_points(_rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Win by jan, counting empty points only."""
    return _jan(after, empty_points(after))


def _jan(sides: Sides, free: int) -> Outcome | None:
    if sides.opponent.row[HAND] <= free:
        return None
    name = "jan: more checkers captured than points to enter on" if free else "janstork: no point left to enter on"
    return Outcome(1, 15, f"made {name}")


RULES = shared_laws.like_backgammon(
    name="swedish",
    title="Swedish Tables",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997); the heading of this section is lost',
    setup=shared_laws.FARTHEST,
    course=Course.DIAGONAL,
    opening=Opening.RETHROW,
    on_roll=note_roll,
    divide=first_double_moves_one_checker,
    move_laws=(shared_laws.all_enter_first, one_on_a_point, five_leave_the_start),
    landing=hits_and_breaks_blocks,
    on_move=(note_move,),
    marks_shown=marks_shown,
    ends_at_once=(jan,),
    readings=(
        "The diagram is lost; that both sides go round in the same direction from opposite corners is a reading.",
        "Rule 1: the one checker plays the number as often as it can, up to four times.",
        "Rule 2: once a checker has been on that point, if only in passing, its side is free for the rest of the game.",
        "Rule 5: a block runs along the mover's course, and a point of it with three or more cannot be taken.",
        "Jan is looked for after each move; points where a single checker could be hit count as free.",
        "Points of a block of six, on which rule 5 lets one checker enter, count together as one free point.",
        "Janstork counts 15 as jan does, and bearing off 1, without gammons: the text gives a score for jan only.",
        "The winner of the opening throw rolls anew, so that the first roll of either player may be a double.",
        (
            "Handsome positions, for which other rules give more, are not in the text, and no source defines them well "
            "enough."
        ),
    ),
    options=(
        Option("once", "Rule 1: the one checker plays the number once.", {"divide": first_double_moves_once}),
        Option("while", "Rule 2 holds whenever no checker is on that point.", {
            "on_move": (note_move, note_release_while_there),
        }),
        Option("far-side", "Rule 2 holds for the opponent's side of the board only.", {
            "move_laws": (shared_laws.all_enter_first, one_on_a_far_point, five_leave_the_start),
        }),
        Option("any", "Rule 5: all checkers of a point are captured, however many.", {
            "landing": partial(hits_and_breaks_blocks, most=15),
        }),
        Option("empty", "Jan counts only points with no checker at all.", {"ends_at_once": (jan_of_empty_points,)}),
    ),
)  # fmt: skip
