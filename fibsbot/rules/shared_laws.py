"""Laws that several tables games share: entering, landing, bearing off, dividing a roll, winning.

The wording follows the standard rules of MacGregor's booklet, from which its historical games differ.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules.errors import AnyLaw, Law, NamedLaw
from fibsbot.rules.laws import Level
from fibsbot.rules.ruleset import GAMMONS, Numbers, Opening, Outcome, Part, Ruleset, Turn, move_law
from fibsbot.rules.sides import HAND, HOME, OFF, START, Course, Side, Sides

FARTHEST: Final = {START: 15}
"""All checkers on the first point of the course."""
IN_HAND: Final = {HAND: 15}
"""All checkers off the board, waiting to enter."""
BACKGAMMON: Final = {24: 2, 13: 5, 8: 3, 6: 5}
"""The set-up of backgammon."""
BLOCKED: Final = NamedLaw("no checker lands on a point where the opponent has one")
PINNED: Final = NamedLaw("a checker that lies under one of the opponent's does not move")
UNDER: Final = NamedLaw("no checker lands on a point where one of its own side lies under the opponent's")
HELD: Final = NamedLaw("a checker that has hit in its home table does not move on in that turn")
ALL_OFF: Final = "borne off all checkers"
"""How most games are won; see `Outcome.reason`."""
EXACT: Final = NamedLaw("a checker is borne off only by the exact number")


# entering


@move_law("a checker in hand or on the bar enters before any other moves")
def all_enter_first(sides: Sides, source: int, _target: int) -> bool:
    """Forbid moves on the board while a checker is in hand."""
    return source != HAND and sides.own.row[HAND] > 0


@move_law("a checker that was hit enters before any other moves")
def hit_enter_first(sides: Sides, source: int, _target: int) -> bool:
    """Forbid moves on the board while a checker is on the bar; those that never were on the board may wait."""
    return source != HAND and sides.own.hit > 0


# landing


def hits(_own: Side, opponent: Side, _point: int, facing: int) -> Side | AnyLaw:
    """Land as in backgammon: two or more hold a point, one is hit."""
    there = opponent.row[facing]
    if there > 1:
        return Law.POINT_HELD
    return fast_evolve(opponent.moved(facing, HAND), hit=opponent.hit + 1) if there else opponent


def blocks(_own: Side, opponent: Side, _point: int, facing: int) -> Side | AnyLaw:
    """Land where the opponent has no checker: one holds a point."""
    return BLOCKED if opponent.row[facing] else opponent


def pins(own: Side, opponent: Side, point: int, facing: int) -> Side | AnyLaw:
    """Land on a single checker without hitting it: it cannot move while any of ours is there."""
    if own.pinned >> point & 1:
        return UNDER
    if opponent.row[facing] > 1:
        return Law.POINT_HELD
    return fast_evolve(opponent, pinned=opponent.pinned | 1 << facing) if opponent.row[facing] else opponent


# bearing off


def all_home_first(sides: Sides, source: int, number: int) -> int | AnyLaw:
    """Bear off when all are home, by the exact number, or by a higher one from the farthest point."""
    if not sides.own.all_home:
        return Law.TOO_EARLY
    if number > source and sides.own.farthest > source:
        return Law.HIGHER_POINT
    return OFF


def exact(sides: Sides, source: int, number: int) -> int | AnyLaw:
    """Bear off when all are home, by the exact number only."""
    if not sides.own.all_home:
        return Law.TOO_EARLY
    return EXACT if number > source else OFF


# dividing a roll


def doubles_twice(_sides: Sides, dice: Numbers, _throws: int) -> Turn:
    """Play each number once, a double four times."""
    return (Part(dice * 2 if dice[0] == dice[1] else dice),)


def each_once(_sides: Sides, dice: Numbers, _throws: int) -> Turn:
    """Play each number once; a double has no advantage."""
    return (Part(dice),)


def series(_sides: Sides, dice: Numbers, _throws: int) -> Turn:
    """Play a double four times, and then each higher double four times."""
    if dice[0] != dice[1]:
        return (Part(dice),)
    return tuple(Part((number,) * 4) for number in range(dice[0], 7))


def count_throws(sides: Sides, _dice: Numbers) -> Sides:
    """Note that the player has rolled."""
    return Sides(fast_evolve(sides.own, throws=sides.own.throws + 1), sides.opponent)


# winning


def borne_off(rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Win by bearing off all checkers."""
    if not after.own.all_off:
        return None
    return Outcome(1, _level(rules, after), ALL_OFF)


def _level(rules: Ruleset, sides: Sides) -> int:
    """Return what a game counts that ended by bearing off, seen by the winner."""
    loser = sides.opponent
    if loser.row[OFF] or not rules.laws.gammon:
        return Level.SINGLE
    in_winners_home = any(loser.row[rules.course.facing(point)] for point in range(1, HOME + 1)) or loser.row[HAND]
    return Level.BACKGAMMON if in_winners_home and rules.laws.triple else Level.GAMMON


def both_last_pinned(_rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Draw when each side's checker on its start is pinned: neither can ever bear off."""
    if after.own.pinned >> START & after.opponent.pinned >> START & 1:
        return Outcome(0, 0, "the last checkers of both sides are pinned on their starts")
    return None


# games with most of these laws

like_backgammon: Final = partial(
    Ruleset,
    setup=BACKGAMMON,
    move_laws=(all_enter_first,),
    landing=hits,
    bearing_off=all_home_first,
    ends=(borne_off,),
)
"""Declares a game whose checkers start, enter, hit and are borne off as in backgammon, unless it says otherwise."""
running_game: Final = partial(
    Ruleset,
    setup=FARTHEST,
    course=Course.DIAGONAL,
    opening=Opening.RETHROW,
    winner_begins=True,
    landing=blocks,
    bearing_off=all_home_first,
    ends=(borne_off,),
    laws=GAMMONS,
)
"""Declares a game in which both sides go the same way from opposite corners, and nobody is hit."""
