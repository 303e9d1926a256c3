"""What is allowed in a game just now: doubles, redoubles, rejected rolls, and who may act. Actions are in game.py.

If an action is not allowed for several reasons, the first of these is raised: the game is over, a resignation waits,
the opening roll comes first, a double waits, it is the other player's turn, the dice have or have not been rolled.
Doubling: law 20 of 1931, "Doubling game" of 1970.
"""

from __future__ import annotations

from fibsbot.rules.errors import (
    AlreadyRolledError,
    CubeRefusal,
    DoublePendingError,
    GameOverError,
    NothingToAnswerError,
    NotStartedError,
    NotYourTurnError,
    ResignationPendingError,
    RollFirstError,
)
from fibsbot.rules.laws import AutomaticRaise, Laws
from fibsbot.rules.state import GameState, Resignation, Seat, Stage


def refusal_to_double(state: GameState, seat: Seat) -> CubeRefusal | None:
    """Return why a player may not double before rolling; None if it is allowed.

    The turn does not matter here: a `board:` line has this for both players at any time.
    """
    laws = state.laws
    refusal = None
    if not laws.cube:
        refusal = CubeRefusal.NO_CUBE
    elif state.crawford:
        refusal = CubeRefusal.CRAWFORD
    elif state.owner is seat.other:
        refusal = CubeRefusal.NOT_OWNER
    elif state.rolls_again:
        refusal = CubeRefusal.ALREADY_ROLLED
    elif not laws.dead_cube and is_cube_dead(state, seat):
        refusal = CubeRefusal.DEAD_CUBE
    elif is_beyond(laws.cube_limit, 2 * state.cube):
        refusal = CubeRefusal.LIMIT
    return refusal


def is_cube_dead(state: GameState, seat: Seat) -> bool:
    """Return whether a single game at the present cube wins a player the match, so that a double could win no more."""
    return bool(state.length) and state.scores[seat] + state.cube >= state.length


def refusal_to_redouble(state: GameState) -> CubeRefusal | None:
    """Return why the doubled player may not redouble at once; None if it is allowed."""
    refusals = (
        (CubeRefusal.MATCH, bool(state.length)),
        (CubeRefusal.NO_REDOUBLE_LEFT, state.redoubles >= state.laws.redoubles),
        (CubeRefusal.LIMIT, is_beyond(state.laws.cube_limit, 2 * state.offered)),
    )
    return next((refusal for refusal, holds in refusals if holds), None)


def redoubles_left(state: GameState) -> int:
    """Return the number of instant redoubles still allowed, in this exchange or in the next one."""
    if state.length:
        return 0
    left = state.laws.redoubles - state.redoubles
    value = state.offered or 2 * state.cube
    if state.laws.cube_limit is not None:
        left = min(left, max(state.laws.cube_limit // value, 1).bit_length() - 1)
    return left


def raised_automatically(state: GameState) -> int:
    """Return the value of the cube after a tie in the opening roll.

    It does not change in the Crawford game, which has no cube.
    """
    raised = {
        AutomaticRaise.NONE: state.cube,
        AutomaticRaise.DOUBLE: 2 * state.cube,
        AutomaticRaise.ADD_ONE: state.cube + 1,
    }
    value = raised[state.laws.automatic]
    return state.cube if state.crawford or _is_too_high(state.laws, value) else value


def may_reject_roll(state: GameState) -> bool:
    """Return whether the player on turn may reject this roll and double the cube.

    "Some players allow each player to reject the first roll and double the cube." Our interpretation: only while the
    cube is centred, and the second roll has to be played.
    """
    return (
        state.laws.reject_first_throw
        and state.stage is Stage.MOVE
        and state.turns < 2
        and not state.rejected
        and not state.crawford
        and state.owner is None
        and not _is_too_high(state.laws, 2 * state.cube)
    )


def _is_too_high(laws: Laws, value: int) -> bool:
    return is_beyond(laws.automatic_limit, value) or is_beyond(laws.cube_limit, value)


def is_beyond(limit: int | None, value: int) -> bool:
    """Return whether a cube is higher than a limit; None is no limit."""
    return limit is not None and value > limit


def crawford_of(laws: Laws, length: int, scores: tuple[int, int], *, post_crawford: bool) -> tuple[bool, bool]:
    """Return whether the game at these scores is the Crawford game, and whether that has been played.

    `post_crawford` is what is known of the match so far.
    """
    one_away = sum(score == length - 1 for score in scores)
    applies = laws.crawford and length > 1
    # If both are a point away, the Crawford game has been played: there is no other way to get there.
    post_crawford = applies and (post_crawford or one_away == 2)
    return applies and one_away == 1 and not post_crawford, post_crawford


def match_winner(state: GameState) -> Seat | None:
    """Return the winner of the match; None while it goes on, as unlimited ones always do."""
    if not state.length:
        return None
    return next((seat for seat in Seat if state.scores[seat] >= state.length), None)


def check_running(state: GameState) -> None:
    """Raise GameOverError if the game is over."""
    if state.stage is Stage.OVER:
        raise GameOverError("the game is over")


def check_no_resignation(state: GameState) -> None:
    """Raise RuleError if the game is over or a resignation waits for its answer."""
    check_running(state)
    if state.resignation:
        raise _resignation_pending(state.resignation)


def check_turn(state: GameState, seat: Seat) -> None:
    """Raise RuleError unless this player is on turn and nothing waits for an answer."""
    check_no_resignation(state)
    if state.stage is Stage.OPENING:
        raise NotStartedError("the opening roll comes first")
    if state.stage is Stage.DOUBLED:
        raise DoublePendingError("a double waits for its answer")
    if seat is not state.turn:
        raise NotYourTurnError("it is the opponent's turn")


def check_before_roll(state: GameState, seat: Seat) -> None:
    """Raise RuleError unless this player is on turn and has not rolled."""
    if state.stage is Stage.ROLL and state.turn is seat and not state.resignation:
        return  # nearly always
    check_turn(state, seat)
    if state.stage is not Stage.ROLL:
        raise AlreadyRolledError("the dice have been rolled")


def check_after_roll(state: GameState, seat: Seat) -> None:
    """Raise RuleError unless this player is on turn and has something to play."""
    if state.stage is Stage.MOVE and state.turn is seat and not state.resignation:
        return  # nearly always
    check_turn(state, seat)
    if state.stage is not Stage.MOVE:
        raise RollFirstError("the dice have to be rolled first")


def check_answering(state: GameState, seat: Seat) -> None:
    """Raise RuleError unless this player has a double to answer."""
    check_no_resignation(state)
    if state.stage is not Stage.DOUBLED:
        raise NothingToAnswerError("nobody has doubled")
    if seat is not state.answering:
        raise NotYourTurnError("the opponent has to answer the double")


def check_resignation(state: GameState, seat: Seat) -> Resignation:
    """Return the offer to resign that this player has to answer; raise RuleError if there is none."""
    check_running(state)
    if state.resignation is None:
        raise NothingToAnswerError("nobody wants to resign")
    if state.resignation.seat is seat:
        raise NotYourTurnError("the opponent has to answer the resignation")
    return state.resignation


def _resignation_pending(offer: Resignation) -> ResignationPendingError:
    return ResignationPendingError(f"a resignation for {offer.points} waits for its answer")
