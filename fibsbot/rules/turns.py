"""What follows in a turn, and how a game ends."""

from __future__ import annotations

from fibsbot.fast_evolve import fast_evolve
from fibsbot.position import Position
from fibsbot.rules.general_plays import doubles_to_name, turn_over
from fibsbot.rules.laws import Level, game_multiplier, win_level
from fibsbot.rules.ruleset import Outcome, Part, Rest, Then, Turn, level_of
from fibsbot.rules.shared_laws import ALL_OFF
from fibsbot.rules.state import Ending, GameState, Naming, Result, Seat, Stage


def go_on(state: GameState) -> GameState:
    """Return the state in which the player on turn meets what is next in the turn."""
    todo = state.todo
    if todo and todo[0] is Then.NAME_DOUBLE and not doubles_to_name(state.rules, state.sides):
        todo = () if state.rules.named_double_ends_turn else todo[1:]
    rolls = bool(todo) and todo[0] is Then.ROLL
    if todo and isinstance(todo[0], Part):
        following = fast_evolve(state, stage=Stage.MOVE, todo=todo)
    elif todo and todo[0] is Then.NAME_DOUBLE:
        following = fast_evolve(state, stage=Stage.NAME, todo=todo[1:], naming=Naming.DOUBLE, namer=state.turn)
    elif rolls:
        following = fast_evolve(state, stage=Stage.ROLL, todo=(), dice=None)
    elif state.passed:  # what the opponent left is played; now comes the player's own roll
        following = fast_evolve(state, stage=Stage.ROLL, todo=(), dice=None, passed=False, throws=0)
    elif state.rules.points_to_open(state.sides):
        following = fast_evolve(state, stage=Stage.CONTEST, todo=(), dice=None)
    else:
        following = turn_to_opponent(state, ())
    return following


def stopped(state: GameState, part: Part, moves: int) -> GameState:
    """Return the state after a part could not be played to its end."""
    following = state.todo[1:]
    if not part.ends_turn:
        return go_on(fast_evolve(state, todo=following))
    rest = state.rules.rest
    if rest is Rest.LOST or state.passed or len(set(part.numbers)) > 1:
        return go_on(fast_evolve(state, todo=()))
    left: Turn = (Part(part.numbers[moves:]), *following) if rest is not Rest.FOLLOWING_TO_OPPONENT else following
    if rest is Rest.OFFERED:
        left = tuple(fast_evolve(step, compulsory=False) if isinstance(step, Part) else step for step in left)
    return turn_to_opponent(state, left)


def turn_to_opponent(state: GameState, left: Turn) -> GameState:
    """Return the state in which the opponent is on turn, perhaps with parts that the player left."""
    board = state.board
    return fast_evolve(
        state,
        board=board.swapped() if isinstance(board, Position) else turn_over(board),
        turn=state.turn.other,
        stage=Stage.MOVE if left else Stage.ROLL,
        dice=state.dice if left else None,
        todo=left,
        passed=bool(left),
        throws=0,
        rejected=False,
        turns=state.turns + 1,
    )


# -- ends -----------------------------------------------------------------------------------------------------------


def end_position(state: GameState, won: Position) -> GameState:
    """End a game of backgammon in a position in which the player on turn has borne off all checkers."""
    over = fast_evolve(state, board=won, dice=None, rejected=False, turns=state.turns + 1, reason=ALL_OFF)
    return end_game(over, state.turn, win_level(won), Ending.BORNE_OFF)


def end_sides(state: GameState, ended: Outcome) -> GameState:
    """End a game with an outcome that its ruleset found, seen by the player on turn; nobody may have won."""
    over = fast_evolve(state, stage=Stage.OVER, dice=None, todo=(), turns=state.turns + 1, reason=ended.reason)
    if not ended.winner:
        return fast_evolve(over, drawn=True)
    winner = state.turn if ended.winner > 0 else state.turn.other
    how = Ending.BORNE_OFF if over.sides_for(winner).own.all_off else Ending.OTHER
    return _counted(over, Result(winner, ended.points * state.cube, level_of(ended.points), how))


def end_game(state: GameState, winner: Seat, level: Level, how: Ending) -> GameState:
    """End a game that somebody has won, and count it."""
    return _counted(state, Result(winner, points_at_end(state, winner, level), level, how))


def _counted(state: GameState, result: Result) -> GameState:
    a, b = state.scores
    scores = (a + result.points, b) if result.winner is Seat.A else (a, b + result.points)
    return fast_evolve(state, stage=Stage.OVER, scores=scores, result=result)


def points_at_end(state: GameState, winner: Seat, level: Level) -> int:
    """Return the score of the game if it ends now.

    In the Point Game checkers count on their present points, also after a drop or a resignation, for which law 21 has
    no rule: a player who refuses loses "whatever his count may amount to at that time" (law 20).
    """
    counted = state.score_by_checkers(winner)
    if counted is not None:
        return state.cube * counted
    turned = state.owner is not None
    return state.cube * game_multiplier(state.laws, level, unlimited=not state.length, turned=turned)
