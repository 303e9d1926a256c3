"""Backgammon among the tables games: its ruleset, and its compact board.

Plays of backgammon, and of games that move and win as it does, are found on a `Position` by `plays`, much faster than
on `Sides` by `general_plays`; both find the same.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, TypeAlias

from attrs import fields

from fibsbot.fast_evolve import fast_evolve
from fibsbot.position import CHECKERS, Position
from fibsbot.rules import shared_laws
from fibsbot.rules.laws import FIBS
from fibsbot.rules.ruleset import CUBE, Opening, Ruleset
from fibsbot.rules.sides import HAND, OFF, Side, Sides

Board: TypeAlias = Position | Sides
"""The checkers as seen by the player on turn: a `Position` where `is_backgammon` is true."""

BACKGAMMON: Final = shared_laws.like_backgammon(
    name="backgammon",
    title="Backgammon",
    text="Backgammon: two sides run in opposite directions, a single checker is hit, and the first to bear off all "
    "15 checkers wins.",
    source="laws of 1931 and 1970; docs/reference/rules.md",
    divide=shared_laws.doubles_twice,
    laws=FIBS,
)

_MAY_DIFFER: Final = frozenset({
    *("name", "title", "text", "source", "setup", "opening", "winner_begins", "laws", "readings", "options", "chosen"),
})  # fmt: skip
"""The fields of a ruleset that change neither which plays are legal nor who wins. What a game counts is in its laws."""


@cache
def is_backgammon(rules: Ruleset) -> bool:
    """Return whether a game is backgammon from another set-up or with another count, so that its boards are positions.

    Course, checkers, moves, plays and how a game is won are those of backgammon.
    """
    if rules is BACKGAMMON:
        return True
    same = (
        getattr(rules, attribute.name) == getattr(BACKGAMMON, attribute.name)
        for attribute in fields(Ruleset)
        if attribute.name not in _MAY_DIFFER
    )
    return rules.checkers == CHECKERS and all(same)


def is_another_set_up(rules: Ruleset) -> bool:
    """Return whether a game is backgammon but for its set-up, and perhaps without a cube."""
    return (
        is_backgammon(rules)
        and rules.opening is Opening.BOTH
        and not rules.winner_begins
        and fast_evolve(rules.laws, name=CUBE.name, cube=True, crawford=True) == CUBE
    )


def board_of(rules: Ruleset, sides: Sides) -> Board:
    """Return the board of a game in the form in which its states have it."""
    return position_of(sides) if is_backgammon(rules) else sides


def position_of(sides: Sides) -> Position:
    """Return a board of a game that is backgammon as a position."""
    own, opponent = sides.own.row, sides.opponent.row
    cells = [own[place] - opponent[HAND - place] for place in range(OFF + 1, HAND)]
    return Position((-opponent[HAND], *cells, own[HAND]))


@lru_cache(256)
def sides_of(board: Board) -> Sides:
    """Return a board as two sides, each in its own numbering."""
    if isinstance(board, Sides):
        return board
    cells = board.points
    own = (board.off, *(max(n, 0) for n in cells[1:]))
    opponent = (board.opponent_off, *(max(-n, 0) for n in cells[HAND - 1 :: -1]))
    return Sides(Side(own, hit=own[HAND]), Side(opponent, hit=opponent[HAND]))


@cache
def first_board(rules: Ruleset) -> Board:
    """Return the board before the first roll."""
    return board_of(rules, rules.start())
