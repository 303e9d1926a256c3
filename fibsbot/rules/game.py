"""Games in a match: pure functions from a GameState and an action to the next GameState, and when doubles are allowed.

An action that is not allowed raises a RuleError of a class for the reason. If there are several reasons, the first of
these is raised: the game is over, a resignation waits, the opening roll comes first, a double waits, it is the other
player's turn, the dice have or have not been rolled. Doubling: law 20 of 1931, "Doubling game" of 1970.
"""

from __future__ import annotations

from typing import TypeVar

from fibsbot.evolve import evolve
from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.errors import (
    AlreadyRolledError,
    CubeError,
    CubeRefusal,
    DiceError,
    DoublePendingError,
    GameOverError,
    GameRunningError,
    NothingToAnswerError,
    NotStartedError,
    NotYourTurnError,
    ResignationPendingError,
    RollFirstError,
    RuleError,
)
from fibsbot.rules.laws import AutomaticRaise, Laws, Level, game_multiplier, has_won, win_level
from fibsbot.rules.plays import check_dice, play_legally
from fibsbot.rules.state import Ending, GameState, MatchGame, Resignation, Result, Seat, Stage

Game = TypeVar("Game", bound=MatchGame)
"""The game of any ruleset."""


def refusal_to_double(state: MatchGame, seat: Seat) -> CubeRefusal | None:
    """Return why a player may not double before rolling; None if it is allowed.

    The turn does not matter here: a `board:` line has this for both players at any time.
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
    elif state.rolls_again:
        refusal = CubeRefusal.ALREADY_ROLLED
    elif dead and not laws.dead_cube:
        refusal = CubeRefusal.DEAD_CUBE
    elif _beyond(laws.cube_limit, 2 * state.cube):
        refusal = CubeRefusal.LIMIT
    return refusal


def refusal_to_redouble(state: MatchGame) -> CubeRefusal | None:
    """Return why the doubled player may not redouble at once; None if it is allowed."""
    refusals = (
        (CubeRefusal.MATCH, bool(state.length)),
        (CubeRefusal.NO_REDOUBLE_LEFT, state.redoubles >= state.laws.redoubles),
        (CubeRefusal.LIMIT, _beyond(state.laws.cube_limit, 2 * state.offered)),
    )
    return next((refusal for refusal, holds in refusals if holds), None)


def redoubles_left(state: MatchGame) -> int:
    """Return the number of instant redoubles still allowed, in this exchange or in the next one."""
    if state.length:
        return 0
    left = state.laws.redoubles - state.redoubles
    value = state.offered or 2 * state.cube
    if state.laws.cube_limit is not None:
        left = min(left, max(state.laws.cube_limit // value, 1).bit_length() - 1)
    return left


def raised_automatically(state: MatchGame) -> int:
    """Return the value of the cube after a tie in the opening roll.

    It does not change in the Crawford game, which has no cube.
    """
    raised = {
        AutomaticRaise.NONE: state.cube,
        AutomaticRaise.DOUBLE: 2 * state.cube,
        AutomaticRaise.ADD_ONE: state.cube + 1,
    }
    value = raised[state.laws.automatic]
    return state.cube if state.crawford or _too_high(state.laws, value) else value


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
        and not _too_high(state.laws, 2 * state.cube)
    )


def _too_high(laws: Laws, value: int) -> bool:
    return _beyond(laws.automatic_limit, value) or _beyond(laws.cube_limit, value)


def _beyond(limit: int | None, value: int) -> bool:
    return limit is not None and value > limit


def start_match(laws: Laws, length: int, scores: tuple[int, int] = (0, 0), *, post_crawford: bool = False) -> GameState:
    """Return the first game of a match, or the next one at these scores, before the opening roll.

    `length` 0 is unlimited. If one player is a point away, it is the Crawford game unless `post_crawford` says that it
    has been played. Raises RuleError if a score has already won the match.
    """
    if length < 0 or min(scores) < 0 or (length and max(scores) >= length):
        raise RuleError(f"expected scores from 0 to below the length of the match, got {scores} in a match to {length}")
    crawford, post_crawford = crawford_of(laws, length, scores, post_crawford=post_crawford)
    return GameState(
        laws=laws,
        length=length,
        scores=scores,
        crawford=crawford,
        post_crawford=post_crawford,
        position=Position.start(),
        turn=Seat.A,
        stage=Stage.OPENING,
    )


def crawford_of(laws: Laws, length: int, scores: tuple[int, int], *, post_crawford: bool) -> tuple[bool, bool]:
    """Return whether the game at these scores is the Crawford game, and whether that has been played.

    `post_crawford` is what is known of the match so far.
    """
    one_away = sum(score == length - 1 for score in scores)
    applies = laws.crawford and length > 1
    # If both are a point away, the Crawford game has been played: there is no other way to get there.
    post_crawford = applies and (post_crawford or one_away == 2)
    return applies and one_away == 1 and not post_crawford, post_crawford


def roll_opening(state: GameState, die_a: int, die_b: int) -> GameState:
    """Roll one die for each player: the higher one begins and plays both numbers.

    After a tie the state is still in OPENING, with the cube raised if the laws have automatic raises.
    """
    check_dice((die_a, die_b))
    if state.stage is not Stage.OPENING:
        check_running(state)
        raise AlreadyRolledError("the opening roll has been made")
    if state.resignation:
        raise _resignation_pending(state.resignation)
    if die_a == die_b:
        return evolve(state, cube=raised_automatically(state))
    if die_a > die_b:
        position = state.position_for(Seat.A)
        return evolve(state, stage=Stage.MOVE, turn=Seat.A, dice=(die_a, die_b), position=position)
    position = state.position_for(Seat.B)  # a set-up may differ for the two sides
    return evolve(state, stage=Stage.MOVE, turn=Seat.B, dice=(die_b, die_a), position=position)


def roll(state: GameState, seat: Seat, dice: Dice) -> GameState:
    """Roll the dice for the player on turn."""
    check_before_roll(state, seat)
    check_dice(dice)
    return evolve(state, stage=Stage.MOVE, dice=dice)


def reject_roll(state: GameState, seat: Seat) -> GameState:
    """Reject the first roll of a player, which doubles the cube, and roll again (if the laws allow it)."""
    _check_after_roll(state, seat)
    if not may_reject_roll(state):
        raise DiceError("this roll cannot be rejected")
    return evolve(state, stage=Stage.ROLL, dice=None, cube=2 * state.cube, rejected=True)


def play(state: GameState, seat: Seat, play: Play) -> GameState:
    """Make a play. The empty play is legal exactly if no checker can move.

    Raises PlayError for a play that the laws forbid.
    """
    dice = _check_after_roll(state, seat)
    return reach(state, seat, play_legally(state.position, dice, play))


def reach(state: GameState, seat: Seat, after: Position) -> GameState:
    """Return the game after a play of the dice on the board that is known to be legal, and leads to a position.

    The position is seen by the player who made the play.
    """
    turns = state.turns + 1
    if has_won(after):
        won = evolve(state, position=after, dice=None, rejected=False, turns=turns)
        return end_game(won, seat, win_level(after), Ending.BORNE_OFF)
    position, turn = after.swapped(), seat.other
    return evolve(state, position=position, turn=turn, stage=Stage.ROLL, dice=None, rejected=False, turns=turns)


def double(state: Game, seat: Seat) -> Game:
    """Offer a double."""
    check_before_roll(state, seat)
    refusal = refusal_to_double(state, seat)
    if refusal:
        raise CubeError(refusal)
    return evolve(state, stage=Stage.DOUBLED, offered=2 * state.cube, answering=seat.other)


def take(state: Game, seat: Seat) -> Game:
    """Accept a double or an instant redouble.

    The cube goes to the opponent of the player on turn: after a beaver and any further redoubles, to the one who
    beavered.
    """
    _check_answering(state, seat)
    taken = evolve(state, stage=Stage.ROLL, cube=state.offered, owner=state.turn.other)
    return evolve(taken, offered=0, answering=None, redoubles=0)


def drop(state: Game, seat: Seat) -> Game:
    """Refuse a double or an instant redouble, and lose the previous value of the cube."""
    _check_answering(state, seat)
    dropped = evolve(state, offered=0, answering=None, redoubles=0)
    return end_game(dropped, seat.other, Level.SINGLE, Ending.DROPPED)


def redouble(state: Game, seat: Seat) -> Game:
    """Take a double and redouble at once: a beaver, a raccoon, an otter."""
    _check_answering(state, seat)
    refusal = refusal_to_redouble(state)
    if refusal:
        raise CubeError(refusal)
    return evolve(
        state,
        cube=state.offered,
        offered=2 * state.offered,
        answering=seat.other,
        redoubles=state.redoubles + 1,
    )


def resign(state: Game, seat: Seat, level: Level) -> Game:
    """Offer to resign; either player may, at any time. Raises RuleError for a level that does not exist."""
    check_no_resignation(state)
    if level not in set(Level):
        raise RuleError(f"expected a single game (1), a gammon (2) or a backgammon (3) to resign, got {level!r}")
    return evolve(state, resignation=Resignation(seat, Level(level), _points(state, seat.other, level)))


def accept_resignation(state: Game, seat: Seat) -> Game:
    """Accept the opponent's offer to resign: the game is over."""
    offer = _check_resignation(state, seat)
    accepted = evolve(state, resignation=None, dice=None, offered=0, answering=None, redoubles=0)
    return end_game(accepted, seat, offer.level, Ending.RESIGNED)


def reject_resignation(state: Game, seat: Seat) -> Game:
    """Reject the opponent's offer to resign: the game goes on."""
    _check_resignation(state, seat)
    return evolve(state, resignation=None)


def next_game(state: GameState) -> GameState:
    """Return the next game of the match, before its opening roll."""
    if state.stage is not Stage.OVER:
        raise GameRunningError("the game is not over yet")
    if match_winner(state) is not None:
        raise GameOverError("the match is over")
    return start_match(state.laws, state.length, state.scores, post_crawford=state.crawford or state.post_crawford)


def match_winner(state: MatchGame) -> Seat | None:
    """Return the winner of the match; None while it goes on, as unlimited ones always do."""
    if not state.length:
        return None
    return next((seat for seat in Seat if state.scores[seat] >= state.length), None)


def decision(state: GameState, seat: Seat) -> MatchState | None:
    """Return the decision of a player as strategies see it; None if there is nothing to decide.

    In every stage but OPENING and OVER exactly one of the two players has to decide.
    """
    phase = _phase(state, seat)
    if phase is None:
        return None
    return MatchState(
        position=state.position_for(seat),
        length=state.length,
        score=(state.scores[seat], state.scores[seat.other]),
        cube=state.cube,
        owner=state.owner_for(seat),
        crawford=state.crawford,
        post_crawford=state.post_crawford,
        phase=phase,
        dice=state.dice if phase is Phase.MOVE else None,
        resignation=state.resignation.level if state.resignation else 0,
        jacoby=state.laws.jacoby and not state.length,
        redoubles=redoubles_left(state),
        redoubled=state.turn is seat if phase is Phase.DOUBLED else None,
        cubeless=not state.laws.cube,
        triple=state.laws.triple,
        point_game=state.laws.point_game,
        may_reject=phase is Phase.MOVE and may_reject_roll(state),
    )


def _phase(state: GameState, seat: Seat) -> Phase | None:
    if state.resignation:
        return Phase.RESIGNED if seat is state.resignation.seat.other else None
    match state.stage:
        case Stage.DOUBLED:
            return Phase.DOUBLED if seat is state.answering else None
        case Stage.ROLL:
            return Phase.ROLL if seat is state.turn else None
        case Stage.MOVE:
            return Phase.MOVE if seat is state.turn else None
        case _:
            return None


def _points(state: MatchGame, winner: Seat, level: Level) -> int:
    """Return the score of the game if it ends now.

    In the Point Game checkers count on their present points, also after a drop or a resignation, for which law 21 has
    no rule: a player who refuses loses "whatever his count may amount to at that time" (law 20).
    """
    counted = state.score_by_checkers(winner)
    if counted is not None:
        return state.cube * counted
    turned = state.owner is not None
    return state.cube * game_multiplier(state.laws, level, unlimited=not state.length, turned=turned)


def end_game(state: Game, winner: Seat, level: Level, how: Ending) -> Game:
    """End a game that somebody has won, and count it."""
    points = _points(state, winner, level)
    a, b = state.scores
    scores = (a + points, b) if winner is Seat.A else (a, b + points)
    return evolve(state, stage=Stage.OVER, scores=scores, result=Result(winner, points, level, how))


def check_running(state: MatchGame) -> None:
    """Raise GameOverError if the game is over."""
    if state.stage is Stage.OVER:
        raise GameOverError("the game is over")


def check_no_resignation(state: MatchGame) -> None:
    """Raise RuleError if the game is over or a resignation waits for its answer."""
    check_running(state)
    if state.resignation:
        raise _resignation_pending(state.resignation)


def check_turn(state: MatchGame, seat: Seat) -> None:
    """Raise RuleError unless this player is on turn and nothing waits for an answer."""
    check_no_resignation(state)
    if state.stage is Stage.OPENING:
        raise NotStartedError("the opening roll comes first")
    if state.stage is Stage.DOUBLED:
        raise DoublePendingError("a double waits for its answer")
    if seat is not state.turn:
        raise NotYourTurnError("it is the opponent's turn")


def check_before_roll(state: MatchGame, seat: Seat) -> None:
    """Raise RuleError unless this player is on turn and has not rolled."""
    if state.stage is Stage.ROLL and state.turn is seat and not state.resignation:
        return  # nearly always
    check_turn(state, seat)
    if state.stage is not Stage.ROLL:
        raise AlreadyRolledError("the dice have been rolled")


def _check_after_roll(state: GameState, seat: Seat) -> Dice:
    if state.stage is not Stage.MOVE or state.turn is not seat or state.resignation:
        check_turn(state, seat)
    if state.dice is None:
        raise RollFirstError("the dice have to be rolled first")
    return state.dice


def _check_answering(state: MatchGame, seat: Seat) -> None:
    check_no_resignation(state)
    if state.stage is not Stage.DOUBLED:
        raise NothingToAnswerError("nobody has doubled")
    if seat is not state.answering:
        raise NotYourTurnError("the opponent has to answer the double")


def _check_resignation(state: MatchGame, seat: Seat) -> Resignation:
    check_running(state)
    if state.resignation is None:
        raise NothingToAnswerError("nobody wants to resign")
    if state.resignation.seat is seat:
        raise NotYourTurnError("the opponent has to answer the resignation")
    return state.resignation


def _resignation_pending(offer: Resignation) -> ResignationPendingError:
    return ResignationPendingError(f"a resignation for {offer.points} waits for its answer")
