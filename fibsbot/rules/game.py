"""Games in a match: pure functions from a GameState and an action to the next GameState, for every ruleset.

An action that is not allowed raises a RuleError of a class for the reason; permissions.py has what is allowed, turns.py
what follows in a turn. Backgammon needs less than other games, of which some have turns in several parts that may pass
to the opponent or bring another roll, doubles and points that are named, and games that nobody wins.
"""

from __future__ import annotations

from fibsbot.fast_evolve import fast_evolve
from fibsbot.position import Play, Position
from fibsbot.rules import general_plays
from fibsbot.rules.backgammon import BACKGAMMON, Board, board_of, first_board, sides_of
from fibsbot.rules.errors import (
    AlreadyRolledError,
    CubeError,
    DiceError,
    GameOverError,
    GameRunningError,
    NothingToAnswerError,
    NotYourTurnError,
    RuleError,
)
from fibsbot.rules.general_plays import check_dice, doubles_to_name, parts_of
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.permissions import (
    check_after_roll,
    check_answering,
    check_before_roll,
    check_no_resignation,
    check_resignation,
    crawford_of,
    is_beyond,
    match_winner,
    may_reject_roll,
    raised_automatically,
    refusal_to_double,
    refusal_to_redouble,
)
from fibsbot.rules.plays import check_dice as check_two_dice
from fibsbot.rules.plays import play_legally
from fibsbot.rules.ruleset import Numbers, Opening, Part, Ruleset
from fibsbot.rules.state import Ending, GameState, Naming, Resignation, Seat, Stage
from fibsbot.rules.turns import end_game, end_position, end_sides, go_on, points_at_end, stopped, turn_to_opponent

# -- games of a match -----------------------------------------------------------------------------------------------


def start_match(  # noqa: PLR0913 - what a match is
    laws: Laws,
    length: int,
    scores: tuple[int, int] = (0, 0),
    *,
    rules: Ruleset = BACKGAMMON,
    begins: Seat | None = None,
    post_crawford: bool = False,
) -> GameState:
    """Return the first game of a match, or the next one at these scores, before the opening roll.

    `length` 0 is unlimited. `begins` rolls first without an opening roll. If one player is a point away, it is the
    Crawford game unless `post_crawford` says that it has been played. Raises RuleError if a score has already won the
    match.
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
        board=first_board(rules),
        turn=Seat.A if begins is None else begins,
        stage=Stage.OPENING if begins is None else Stage.ROLL,
        rules=rules,
    )


def start_match_of(
    rules: Ruleset, length: int, scores: tuple[int, int] = (0, 0), *, begins: Seat | None = None
) -> GameState:
    """Return what `start_match` does for a game by its own laws."""
    return start_match(rules.laws, length, scores, rules=rules, begins=begins)


def start_at(rules: Ruleset, board: Board, dice: Numbers | None = None) -> GameState:
    """Return a game of an unlimited match in which seat A is on roll at this board, or has rolled these dice.

    Raises DiceError for impossible dice.
    """
    state = fast_evolve(start_match_of(rules, 0, begins=Seat.A), board=board_of(rules, sides_of(board)))
    return roll(state, Seat.A, dice) if dice else state


def next_game(state: GameState) -> GameState:
    """Return the next game of the match by the same laws, before its opening roll."""
    if state.stage is not Stage.OVER:
        raise GameRunningError("the game is not over yet")
    if match_winner(state) is not None:
        raise GameOverError("the match is over")
    return start_match(
        state.laws,
        state.length,
        state.scores,
        rules=state.rules,
        begins=state.result.winner if state.result and state.rules.winner_begins else None,
        post_crawford=state.crawford or state.post_crawford,
    )


# -- rolls and plays ------------------------------------------------------------------------------------------------


def roll_opening(state: GameState, die_a: int, die_b: int) -> GameState:
    """Roll one die for each player: the higher one begins, and plays both numbers or rolls anew.

    After a tie the state is still in OPENING, with the cube raised if the laws have automatic raises.
    """
    check_two_dice((die_a, die_b))
    check_no_resignation(state)
    if state.stage is not Stage.OPENING:
        raise AlreadyRolledError("the opening roll has been made")
    if die_a == die_b:
        return fast_evolve(state, cube=raised_automatically(state))
    winner = Seat.A if die_a > die_b else Seat.B
    board = state.board if winner is state.turn else state.board.swapped()  # a set-up may differ for the two sides
    begun = fast_evolve(state, stage=Stage.ROLL, turn=winner, board=board)
    if state.rules.opening is Opening.RETHROW:
        return begun
    return roll(begun, winner, (die_a, die_b) if winner is Seat.A else (die_b, die_a))


def roll(state: GameState, seat: Seat, dice: Numbers) -> GameState:
    """Roll the dice for the player on turn."""
    check_before_roll(state, seat)
    if isinstance(state.board, Position):
        check_two_dice(dice)
        return fast_evolve(state, stage=Stage.MOVE, dice=dice)
    check_dice(state.rules, dice)
    board, todo = parts_of(state.rules, state.board, dice, state.throws + 1)
    cube = state.cube
    if state.rules.raises_stake(dice) and not state.crawford and not is_beyond(state.laws.cube_limit, 2 * cube):
        cube *= 2
    return go_on(fast_evolve(state, board=board, dice=dice, todo=todo, throws=state.throws + 1, cube=cube))


def reject_roll(state: GameState, seat: Seat) -> GameState:
    """Reject the first roll of a player, which doubles the cube, and roll again (if the laws allow it)."""
    check_after_roll(state, seat)
    if not may_reject_roll(state):
        raise DiceError("this roll cannot be rejected")
    return fast_evolve(state, stage=Stage.ROLL, dice=None, cube=2 * state.cube, rejected=True)


def play(state: GameState, seat: Seat, play: Play) -> GameState:
    """Make a play, in a turn of several parts that of a part. The empty play is legal exactly if no checker can move.

    Raises PlayError for a play that the laws forbid.
    """
    check_after_roll(state, seat)
    if isinstance(state.board, Position) and state.dice is not None:
        return reach(state, play_legally(state.board, state.dice, play), len(play))
    made, after = general_plays.check_play(state.rules, state.sides, state.part, play)
    return reach(state, after, len(made))


def reach(state: GameState, after: Board, moves: int) -> GameState:
    """Go on from the board that a legal play of this number of moves leads to; nothing is checked.

    The board is seen by the player who made the play.
    """
    if isinstance(after, Position):
        return end_position(state, after) if after.over else turn_to_opponent(fast_evolve(state, board=after), ())
    before, part = state.sides, state.part
    moved = fast_evolve(state, board=after)
    if ended := general_plays.outcome(state.rules, before, after):
        return end_sides(moved, ended)
    if moves == len(part.numbers):
        return go_on(fast_evolve(moved, todo=state.todo[1:]))
    return stopped(moved, part, moves)


def choices(state: GameState) -> tuple[int, ...]:
    """Return what may be named in NAME; nothing in other stages."""
    if state.stage is not Stage.NAME:
        return ()
    if state.naming is Naming.DOUBLE:
        return doubles_to_name(state.rules, state.sides)
    return state.rules.points_to_open(state.sides)


def name(state: GameState, seat: Seat, choice: int) -> GameState:
    """Name the double to play, or the point to open. Raises RuleError unless it may be named now."""
    check_no_resignation(state)
    if state.stage is not Stage.NAME or state.naming is None:
        raise NothingToAnswerError("there is nothing to name")
    if seat is not state.namer:
        raise NotYourTurnError("the opponent has to name it")
    if choice not in choices(state):
        raise RuleError(f"expected {state.naming.value}, one of {', '.join(map(str, choices(state)))}, got {choice}")
    named = fast_evolve(state, naming=None, namer=None)
    if state.naming is Naming.DOUBLE:
        part = Part((choice,) * 4, ends_turn=state.rules.named_double_ends_turn)
        return go_on(fast_evolve(named, todo=(part, *state.todo)))
    return turn_to_opponent(fast_evolve(named, board=state.rules.open_point(state.sides, choice)), ())


def roll_contest(state: GameState, total_a: int, total_b: int) -> GameState:
    """Roll two dice for each player in CONTEST: the higher total names the point to open. A tie changes nothing."""
    check_no_resignation(state)
    if state.stage is not Stage.CONTEST:
        raise NothingToAnswerError("there is nothing to roll for")
    if not {total_a, total_b} <= set(range(2, 13)):
        raise DiceError(f"expected the totals of two dice each, 2 to 12, got {total_a} and {total_b}")
    if total_a == total_b:
        return state
    namer = Seat.A if total_a > total_b else Seat.B
    return fast_evolve(state, stage=Stage.NAME, naming=Naming.POINT, namer=namer)


# -- doubles and resignations ---------------------------------------------------------------------------------------


def double(state: GameState, seat: Seat) -> GameState:
    """Offer a double."""
    check_before_roll(state, seat)
    refusal = refusal_to_double(state, seat)
    if refusal:
        raise CubeError(refusal)
    return fast_evolve(state, stage=Stage.DOUBLED, offered=2 * state.cube, answering=seat.other)


def take(state: GameState, seat: Seat) -> GameState:
    """Accept a double or an instant redouble.

    The cube goes to the opponent of the player on turn: after a beaver and any further redoubles, to the one who
    beavered.
    """
    check_answering(state, seat)
    taken = fast_evolve(state, stage=Stage.ROLL, cube=state.offered, owner=state.turn.other)
    return fast_evolve(taken, offered=0, answering=None, redoubles=0)


def drop(state: GameState, seat: Seat) -> GameState:
    """Refuse a double or an instant redouble, and lose the previous value of the cube."""
    check_answering(state, seat)
    dropped = fast_evolve(state, offered=0, answering=None, redoubles=0)
    return end_game(dropped, seat.other, Level.SINGLE, Ending.DROPPED)


def redouble(state: GameState, seat: Seat) -> GameState:
    """Take a double and redouble at once: a beaver, a raccoon, an otter."""
    check_answering(state, seat)
    refusal = refusal_to_redouble(state)
    if refusal:
        raise CubeError(refusal)
    return fast_evolve(
        state,
        cube=state.offered,
        offered=2 * state.offered,
        answering=seat.other,
        redoubles=state.redoubles + 1,
    )


def resign(state: GameState, seat: Seat, level: Level) -> GameState:
    """Offer to resign; either player may, at any time. Raises RuleError for a level that does not exist."""
    check_no_resignation(state)
    if level not in set(Level):
        raise RuleError(f"expected a single game (1), a gammon (2) or a backgammon (3) to resign, got {level!r}")
    return fast_evolve(state, resignation=Resignation(seat, Level(level), points_at_end(state, seat.other, level)))


def accept_resignation(state: GameState, seat: Seat) -> GameState:
    """Accept the opponent's offer to resign: the game is over."""
    offer = check_resignation(state, seat)
    accepted = fast_evolve(state, resignation=None, dice=None, offered=0, answering=None, redoubles=0)
    return end_game(accepted, seat, offer.level, Ending.RESIGNED)


def reject_resignation(state: GameState, seat: Seat) -> GameState:
    """Reject the opponent's offer to resign: the game goes on."""
    check_resignation(state, seat)
    return fast_evolve(state, resignation=None)
