"""Games as the `table:` line of the protocol has them (docs/reference/protocol.md), their moves in messages, and back.

A server makes the line of a GameState; a client makes the GameState again, as seat A, and asks the rules core.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fibs_protocol.table_state import SideState, TableCourse, TablePlayer, TableStage, TableState
from fibs_protocol.words import Colour, FibsMove, TableNaming
from fibsbot import fibs_numbering
from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import format_turn, parse_turn
from fibsbot.position import Move, Play
from fibsbot.rules.backgammon import board_of, is_backgammon
from fibsbot.rules.game import choices
from fibsbot.rules.laws import Level
from fibsbot.rules.permissions import crawford_of, refusal_to_double
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.sides import HAND, OFF, Mark, Side, Sides
from fibsbot.rules.state import GameState, Naming, Resignation, Seat, Stage

MOST_SHOWN: Final = 9999
"""The highest score that the line can show; an unlimited match may pass it."""


class TableLineError(ValueError):
    """A line that shows no state of the game that it names."""


# -- moves ------------------------------------------------------------------------------------------------------------


def moves_to_fibs(play: Play) -> tuple[FibsMove, ...]:
    """Return the moves of a play as commands and messages have them: in the player's own numbers, the hand as bar."""
    return tuple(
        FibsMove(None if move.source == HAND else move.source, None if move.target == OFF else move.target)
        for move in play.moves
    )


def play_of_moves(moves: Iterable[FibsMove]) -> Play:
    """Return the moves of a command or a message as a play."""
    return Play(
        tuple(
            Move(HAND if move.source is None else move.source, OFF if move.target is None else move.target)
            for move in moves
        )
    )


# -- writing --------------------------------------------------------------------------------------------------------


def table_state(game: GameState, seat: Seat, player: str, opponent: str, colour: Colour) -> TableState:
    """Return a game as the `table:` line shows it to one of the players, with the names to show."""
    sides, offer, named = game.sides_for(seat), game.resignation, game.stage is Stage.NAME
    in_turn = game.stage in {Stage.MOVE, Stage.NAME}
    nobody = game.stage in {Stage.OPENING, Stage.OVER}
    return TableState(
        player=player,
        opponent=opponent,
        game=game.rules.full_name,
        course=TableCourse[game.rules.course.name],
        length=fibs_numbering.length_to_fibs(game.length),
        score=min(game.scores[seat], MOST_SHOWN),
        opponent_score=min(game.scores[seat.other], MOST_SHOWN),
        colour=colour,
        stage=TableStage[game.stage.name],
        turn=None if nobody else _player(game.turn, seat),
        decides=_player(game.decides, seat),
        dice=(game.dice or ()) if in_turn else (),
        rolls=game.rolls_made,
        todo=tuple(format_turn(game.turn_left).split()) if in_turn else (),
        passed=game.passed,
        naming=TableNaming[game.naming.name] if named and game.naming else None,
        choices=choices(game) if named else (),
        cube=game.cube,
        offered=game.offered,
        resignation=offer.points if offer else 0,
        may_double=refusal_to_double(game, seat) is None,
        opponent_may_double=refusal_to_double(game, seat.other) is None,
        side=_side_state(sides.own),
        opponent_side=_side_state(sides.opponent),
    )


def _player(seat: Seat | None, own: Seat) -> TablePlayer | None:
    if seat is None:
        return None
    return TablePlayer.PLAYER if seat is own else TablePlayer.OPPONENT


def _side_state(side: Side) -> SideState:
    return SideState(
        row=side.row,
        pinned=_points(side.pinned),
        hit=side.hit,
        throws=side.throws,
        marks=tuple(str(mark.name).lower() for mark in side.marks),
        head=side.head,
        held=_points(side.held),
    )


def _points(mask: int) -> tuple[int, ...]:
    return tuple(point for point in range(1, 25) if mask >> point & 1)


# -- reading --------------------------------------------------------------------------------------------------------


def game_from_state(state: TableState) -> GameState:
    """Return the game of a `table:` line; the player is seat A.

    The line does not show how many turns the game has had, nor how it ended. With one player a point away it is that
    of the Crawford game if neither may double. If one may, that game is taken to have been played, although both
    players may have left the rule out, and so it is between the rolls of one turn, where a line does not tell.

    Raises:
        UnknownGameError: if there is no such game.
        TableLineError: if the game has another course, other checkers, dice or facts.
    """
    rules = load_ruleset(state.game)
    if rules.course.name != state.course.name:
        raise TableLineError(f"expected the course of {rules.name}, got {state.course.value}")
    own, opponent = _side(rules, state.side), _side(rules, state.opponent_side)
    turn = Seat.B if state.turn is TablePlayer.OPPONENT else Seat.A
    if state.dice and len(state.dice) != rules.dice:
        raise TableLineError(f"expected {rules.dice} dice, got {len(state.dice)}")
    answers, todo = _seat(state.decides), parse_turn(" ".join(state.todo))
    naming = None if state.naming is None else Naming[state.naming.name]
    length, scores = fibs_numbering.length_from_fibs(state.length), (state.score, state.opponent_score)
    crawford, post_crawford = crawford_of(rules.laws, length, scores, post_crawford=False)
    between_rolls = state.stage is TableStage.ROLL and state.rolls > 0
    if crawford and (state.may_double or state.opponent_may_double or between_rolls or state.cube > 1):
        crawford, post_crawford = False, True
    return GameState(
        rules=rules,
        board=board_of(rules, Sides(own, opponent) if turn is Seat.A else Sides(opponent, own)),
        turn=turn,
        laws=rules.laws,
        length=length,
        scores=scores,
        stage=Stage[state.stage.name],
        dice=state.dice or None,
        todo=() if is_backgammon(rules) else todo,
        naming=naming,
        namer=None if naming is None else turn if state.resignation else answers,
        passed=state.passed,
        throws=0 if is_backgammon(rules) else state.rolls,
        crawford=crawford,
        post_crawford=post_crawford,
        cube=state.cube,
        owner=_owner(state),
        offered=state.offered,
        answering=turn.other if state.offered else None,
        resignation=None if answers is None or not state.resignation else _resignation(state, answers),
    )


def _seat(player: TablePlayer | None) -> Seat | None:
    return None if player is None else Seat.A if player is TablePlayer.PLAYER else Seat.B


def _owner(state: TableState) -> Seat | None:
    """Return the owner of the cube: of two players who use one, the only one who may double."""
    if state.may_double is state.opponent_may_double:
        return None
    return Seat.A if state.may_double else Seat.B


def _resignation(state: TableState, answers: Seat) -> Resignation:
    level = state.resignation // state.cube
    return Resignation(answers.other, Level(level) if level in set(Level) else Level.SINGLE, state.resignation)


def _side(rules: Ruleset, state: SideState) -> Side:
    if sum(state.row) != rules.checkers:
        raise TableLineError(f"expected {rules.checkers} checkers a side in {rules.name}, got {sum(state.row)}")
    marks = Mark.NONE
    for name in state.marks:
        if name.upper() not in Mark.__members__:
            raise TableLineError(f"expected facts such as released, got {name!r}")
        marks |= Mark[name.upper()]
    return Side(
        row=state.row,
        pinned=_mask(state.pinned),
        hit=state.hit,
        throws=state.throws,
        marks=marks,
        head=state.head,
        held=_mask(state.held),
    )


def _mask(points: tuple[int, ...]) -> int:
    mask = 0
    for point in points:
        mask |= 1 << point
    return mask
