"""Who may raise the count, and when (law 20 of 1931, "Doubling game" of 1970)."""

from __future__ import annotations

from fibsbot.rules.errors import CubeRefusal
from fibsbot.rules.laws import AutomaticRaise, Laws
from fibsbot.rules.state import GameState, Seat, Stage


def refusal_to_double(state: GameState, seat: Seat) -> CubeRefusal | None:
    """Return why a player may not double before the throw of an own turn; None when it is allowed.

    Whose turn it is does not matter here, so that a `board:` line can be filled for both players at any time.
    """
    laws = state.laws
    dead = bool(state.length) and state.scores[seat] + state.cube >= state.length
    refusal = None
    if not laws.cube:
        refusal = CubeRefusal.NO_CUBE
    elif state.crawford:
        refusal = CubeRefusal.CRAWFORD
    elif state.owner is seat.other:
        refusal = CubeRefusal.NOT_OWNER
    elif state.rejected:
        refusal = CubeRefusal.ALREADY_THROWN
    elif dead and not laws.dead_cube:
        refusal = CubeRefusal.DEAD_CUBE
    elif _beyond(laws.cube_limit, 2 * state.cube):
        refusal = CubeRefusal.LIMIT
    return refusal


def refusal_to_redouble(state: GameState) -> CubeRefusal | None:
    """Return why the player who has been doubled may not redouble at once; None when it is allowed."""
    refusals = (
        (CubeRefusal.MATCH, bool(state.length)),
        (CubeRefusal.NO_REDOUBLE_LEFT, state.redoubles >= state.laws.redoubles),
        (CubeRefusal.LIMIT, _beyond(state.laws.cube_limit, 2 * state.offered)),
    )
    return next((refusal for refusal, holds in refusals if holds), None)


def redoubles_left(state: GameState) -> int:
    """Return how many instant redoubles are still allowed, in this exchange or in the next one."""
    if state.length:
        return 0
    left = state.laws.redoubles - state.redoubles
    value = state.offered or 2 * state.cube
    if state.laws.cube_limit is not None:
        left = min(left, max(state.laws.cube_limit // value, 1).bit_length() - 1)
    return left


def raised_automatically(state: GameState) -> int:
    """Return what the game is played for after a tie in the opening throw.

    Nothing happens in the Crawford game, for which the cube is put away.
    """
    raised = {
        AutomaticRaise.NONE: state.cube,
        AutomaticRaise.DOUBLE: 2 * state.cube,
        AutomaticRaise.ADD_ONE: state.cube + 1,
    }
    value = raised[state.laws.automatic]
    return state.cube if state.crawford or _too_high(state.laws, value) else value


def may_reject_throw(state: GameState) -> bool:
    """Whether the player on turn may reject the throw that lies on the board and double the count.

    "Some players allow each player to reject the first roll and double the cube." That this takes a cube in the middle,
    and that the second throw has to be played, is how we read it.
    """
    return (
        state.laws.reject_first_throw
        and state.stage is Stage.MOVE
        and state.turns < 2
        and not state.rejected
        and not state.crawford
        and state.owner is None
        and not _too_high(state.laws, 2 * state.cube)
    )


def _too_high(laws: Laws, value: int) -> bool:
    return _beyond(laws.automatic_limit, value) or _beyond(laws.cube_limit, value)


def _beyond(limit: int | None, value: int) -> bool:
    return limit is not None and value > limit
