"""Tabula is the game of the Roman emperors. Both sides go the same way from the same corner, with three dice.

All 15 checkers of each side start off the board. A roll of three numbers moves one, two or three checkers; doubles and
triplets have no advantage. No checker advances until all of a side are on the board. A single checker is hit as in
backgammon, and a checker that was hit enters before any other moves. The whole roll has to be played even if that
endangers checkers; what the opponent blocks is lost. No checker is borne off until all are in the home table, and
after a hit none until that checker has come home. The player who first bears off all checkers wins a single game.
"""

from __future__ import annotations

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules import shared_laws
from fibsbot.rules.errors import AnyLaw, Law, NamedLaw
from fibsbot.rules.ruleset import Opening, Option, move_law
from fibsbot.rules.sides import HAND, OFF, START, Course, Mark, Sides


@move_law("until all are on the board, no checker moves beyond the first half of the course")
def second_half_waits(sides: Sides, _source: int, target: int) -> bool:
    """Forbid the second half of the course while a checker is in hand."""
    return sides.own.row[HAND] > 0 and target <= START // 2


COMING_HOME = NamedLaw("after a hit no checker is borne off until all are home again")


def any_time(sides: Sides, source: int, number: int) -> int | AnyLaw:
    """Bear off from the number's point, whatever the others do; by a higher number from the farthest checker only."""
    if Mark.HIT in sides.own.marks:
        return COMING_HOME
    return Law.HIGHER_POINT if number > source and sides.own.farthest > source else OFF


def remember_hit(before: Sides, after: Sides, _source: int, _target: int) -> Sides:
    """Note that a checker was hit, until all checkers of its side are home."""
    own, opponent = after.own, after.opponent
    if opponent.hit > before.opponent.hit:
        opponent = opponent.marked(Mark.HIT)
    if Mark.HIT in own.marks and own.all_home:
        own = fast_evolve(own, marks=own.marks & ~Mark.HIT)
    return Sides(own, opponent)


RULES = shared_laws.like_backgammon(
    name="tabula",
    title="Tabula",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Tabula"',
    setup=shared_laws.IN_HAND,
    course=Course.SAME,
    dice=3,
    opening=Opening.RETHROW,
    divide=shared_laws.each_once,
    readings=(
        "A number enters a checker on the point of that number, counted from the start, as in all reconstructions.",
        "As many of the three numbers as possible are played, and of plays of equally many those with the highest sum.",
        "A number higher than any point with a checker bears off from the farthest.",
        "The text calls it optional that no checker is borne off before all are home. Reconstructions have it.",
        "Without that rule, too, no checker is borne off after a hit until all are home: checkers look alike.",
        "The opening throw has one die each; its winner rolls all three.",
        "What a game counts is not in the text: 1, without gammons.",
    ),
    options=(
        Option("free", "A checker may be borne off before all are home.", {
            "bearing_off": any_time, "on_move": (remember_hit,),
        }),
        Option("exact", "A checker is borne off by the exact number only.", {"bearing_off": shared_laws.exact}),
        Option("second-half", "Before all are on the board, checkers move, but only in the first half of the course.", {
            "move_laws": (shared_laws.hit_enter_first, second_half_waits),
        }),
    ),
)  # fmt: skip
