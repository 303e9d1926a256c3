"""The only place that converts between `table:` lines and games of the family."""

from __future__ import annotations

from typing import Final

from fibs_protocol.table_state import SideState, TableCourse, TablePlayer, TableStage, TableState
from fibs_protocol.words import UNLIMITED, TableNaming
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.games.game import Naming, TableGame
from fibsbot.games.ruleset import Ruleset
from fibsbot.games.table import Course, Mark, Side, Table
from fibsbot.games.text import TableTextError, parse_turn
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Resignation, Seat, Stage

_COURSES: Final = {course: TableCourse[course.name] for course in Course}
_MARKS: Final = {str(mark.name).lower(): mark for mark in Mark}
_SEATS: Final = {TablePlayer.PLAYER: Seat.A, TablePlayer.OPPONENT: Seat.B, None: None}


class TableStateError(ValueError):
    """A `table:` line that shows no state of its game."""


def game_from_state(state: TableState) -> TableGame:
    """Return the game that a line shows; the player of the line has seat A.

    Raises TableStateError if the game is not known, or cannot be as the line says.
    """
    try:
        rules = load_ruleset(state.game)
        todo = parse_turn(" ".join(state.todo))
        player, opponent = (_side(side, rules) for side in (state.side, state.opponent_side))
    except (UnknownGameError, TableTextError) as error:
        raise TableStateError(str(error)) from error
    if _COURSES[rules.course] is not state.course:
        raise TableStateError(f"expected the course of {rules.name}, got {state.course.value}")
    turn = _SEATS[state.turn] or Seat.A
    decides = _SEATS[state.decides]
    offered = bool(state.resignation) and decides is not None
    return TableGame(
        rules=rules,
        laws=rules.laws,
        length=0 if state.length == UNLIMITED else state.length,
        scores=(state.score, state.opponent_score),
        crawford=False,
        post_crawford=False,
        table=Table(player, opponent) if turn is Seat.A else Table(opponent, player),
        turn=turn,
        stage=Stage(state.stage.value),
        dice=state.dice or None,
        cube=state.cube,
        owner=_owner(state),
        offered=state.offered,
        answering=decides if state.stage is TableStage.DOUBLED and not offered else None,
        resignation=_resignation(state, decides) if offered and decides is not None else None,
        todo=todo,
        naming=None if state.naming is None else Naming[state.naming.name],
        namer=None if state.naming is None else decides,
        passed=state.passed,
        throws=state.rolls,
    )


def _side(side: SideState, rules: Ruleset) -> Side:
    """Return one side of the board."""
    unknown = set(side.marks) - set(_MARKS)
    if unknown or sum(side.row) != rules.checkers:
        what = f"marks {', '.join(sorted(unknown))}" if unknown else f"{sum(side.row)} checkers"
        raise TableStateError(f"expected {rules.checkers} checkers and known marks in {rules.name}, got {what}")
    marks = Mark.NONE
    for mark in side.marks:
        marks |= _MARKS[mark]
    return Side(
        row=side.row,
        pinned=sum(1 << point for point in side.pinned),
        hit=side.hit,
        throws=side.throws,
        marks=marks,
        head=side.head,
        held=sum(1 << point for point in side.held),
    )


def _owner(state: TableState) -> Seat | None:
    """Return who owns the cube, as far as who may double says it."""
    if state.cube == 1 or state.may_double is state.opponent_may_double:
        return None
    return Seat.A if state.may_double else Seat.B


def _resignation(state: TableState, decides: Seat) -> Resignation:
    level = min(max(state.resignation // state.cube, 1), max(Level))
    return Resignation(decides.other, Level(level), state.resignation)


NAMINGS: Final = {naming: TableNaming[naming.name] for naming in Naming}
"""What has to be named, as the protocol says it."""
