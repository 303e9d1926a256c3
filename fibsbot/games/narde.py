"""Narde is long backgammon as played in Russia. One checker holds a point, and nobody is hit.

All 15 checkers of each side start on its farthest point, the head; both sides go the same way from opposite corners.
Only one checker leaves the head in a turn; on a player's first roll two, if it is 3-3, 4-4 or 6-6. No play may end with
six points held in a row unless a checker of the opponent has passed them. The winner of the opening throw rolls anew,
and the winner of a game begins the next. A game counts 2 if the loser has borne off nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import (
    TRIPLE,
    Numbers,
    Option,
    Outcome,
    Ruleset,
    move_law,
    play_law,
)
from fibsbot.rules.sides import HOME, START, Course, Sides

TWO_OFF_THE_HEAD = {(3, 3), (4, 4), (6, 6)}
"""First rolls of which one checker alone could not play more than one or two moves."""


def note_roll(sides: Sides, dice: Numbers) -> Sides:
    """Count the roll, and allow one checker to leave the head, or two."""
    own = shared_laws.count_throws(sides, dice).own
    return Sides(fast_evolve(own, head=2 if own.throws == 1 and dice in TWO_OFF_THE_HEAD else 1), sides.opponent)


def note_first_roll(sides: Sides, dice: Numbers) -> Sides:
    """Count the roll, and allow two checkers to leave the head on the first."""
    own = shared_laws.count_throws(sides, dice).own
    return Sides(fast_evolve(own, head=2 if own.throws == 1 else 1), sides.opponent)


@move_law("only one checker leaves the head in a turn, on some first rolls two")
def one_off_the_head(sides: Sides, source: int, _target: int) -> bool:
    """Forbid more checkers to leave the head than this turn allows."""
    return source == START and not sides.own.head


def note_head(_before: Sides, after: Sides, source: int, _target: int) -> Sides:
    """Note that a checker has left the head."""
    return Sides(fast_evolve(after.own, head=after.own.head - 1), after.opponent) if source == START else after


def _primes(sides: Sides) -> Iterator[int]:
    """Yield the lowest of each six points in a row that are held, in the opponent's numbering."""
    run = 0
    for point in range(1, START + 1):
        run = run + 1 if sides.own.row[Course.DIAGONAL.facing(point)] else 0
        if run >= 6:
            yield point - 5


@play_law("six points in a row are held only if a checker of the opponent has passed them")
def no_prime_before_all(_before: Sides, after: Sides) -> bool:
    """Forbid a prime that no checker of the opponent has passed."""
    return any(not any(after.opponent.row[:lowest]) for lowest in _primes(after))


@play_law("six points in a row are held only if a checker of the opponent is home")
def no_prime_before_home(_before: Sides, after: Sides) -> bool:
    """Forbid a prime before a checker of the opponent has come home."""
    return not any(after.opponent.row[: HOME + 1]) and any(_primes(after))


def borne_off_before_all_are_home(rules: Ruleset, before: Sides, after: Sides) -> Outcome | None:
    """Win by bearing off all checkers: 3 points if the loser has a checker outside the home table."""
    ended = shared_laws.borne_off(rules, before, after)
    return ended if ended is None or after.opponent.all_home else Outcome(1, 3, ended.reason)


RULES = shared_laws.running_game(
    name="narde",
    title="Narde",
    text=__doc__,
    source="a game of today",
    on_roll=note_roll,
    divide=shared_laws.doubles_twice,
    move_laws=(one_off_the_head,),
    on_move=(note_head,),
    play_laws=(no_prime_before_all,),
    readings=(
        "Primes are looked for at the end of a play.",
        "No game counts 4: some rules have such scores, but no source says exactly enough when.",
    ),
    options=(
        Option("two-first", "On a player's first roll two checkers may leave the head, whatever it is.", {
            "on_roll": note_first_roll,
        }),
        Option("home", "Six points in a row are forbidden until a checker of the opponent is home.", {
            "play_laws": (no_prime_before_home,),
        }),
        Option("home-mars", "A game counts 3 if the loser has not brought all checkers home.", {
            "ends": (borne_off_before_all_are_home,), "laws": TRIPLE,
        }),
    ),
)  # fmt: skip
