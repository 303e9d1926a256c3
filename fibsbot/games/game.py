"""Games of any ruleset in a match: pure functions from a TableGame and an action to the next TableGame.

The cube, resignations and who may act are those of `fibsbot.rules.game`, whose functions take a TableGame, too. What
backgammon has not is here: turns in several parts, of which some may pass to the opponent or bring another roll,
doubles and points that are named, and games that nobody wins.
"""

from __future__ import annotations

import enum

from attrs import frozen

from fibsbot.evolve import evolve
from fibsbot.games.plays import (
    check_dice,
    check_play,
    doubles_to_name,
    outcome,
    parts_of,
    turn_over,
)
from fibsbot.games.ruleset import Numbers, Opening, Outcome, Part, Rest, Ruleset, Then, Turn, level_of
from fibsbot.games.table import OFF, Table
from fibsbot.position import Play
from fibsbot.rules.errors import (
    AlreadyRolledError,
    DiceError,
    GameOverError,
    GameRunningError,
    NothingToAnswerError,
    NotYourTurnError,
    RollFirstError,
    RuleError,
)
from fibsbot.rules.game import check_before_roll, check_no_resignation, check_turn, crawford_of, match_winner
from fibsbot.rules.plays import check_dice as check_two_dice
from fibsbot.rules.state import Ending, MatchGame, Result, Seat, Stage


class Naming(enum.Enum):
    """What a player may have to name."""

    DOUBLE = "the double to play"
    POINT = "the point to open"


@frozen(slots=False, kw_only=True)
class TableGame(MatchGame):
    """One game of any ruleset in a match."""

    rules: Ruleset
    table: Table
    """The board as seen by the player on `turn`."""
    todo: Turn = ()
    """In MOVE and NAME, what is left of the turn; in MOVE a part comes first."""
    naming: Naming | None = None
    """In NAME, what has to be named."""
    namer: Seat | None = None
    """In NAME, who names it."""
    passed: bool = False
    """Whether `todo` was left by the opponent; the player's own roll follows."""
    throws: int = 0
    """How often the player on turn has rolled in this turn."""
    drawn: bool = False
    """In OVER, whether nobody has won."""
    reason: str = ""
    """In OVER, how the game ended; see `Outcome.reason`."""

    @property
    def part(self) -> Part:
        """The numbers to be played in MOVE. Raises RollFirstError in other stages."""
        if self.stage is Stage.MOVE and self.todo and isinstance(self.todo[0], Part):
            return self.todo[0]
        raise RollFirstError("the dice have to be rolled first")

    def table_for(self, seat: Seat) -> Table:
        """Return the board seen by one of the players."""
        return self.table if seat is self.turn else self.table.swapped()

    @property
    def rolls_again(self) -> bool:
        """Whether the player on turn rolls again in this turn, when it is too late to double."""
        return self.stage is Stage.ROLL and self.throws > 0

    @property
    def decides(self) -> Seat | None:
        """Who has to act; None in OPENING, CONTEST and OVER."""
        if self.resignation:
            return self.resignation.seat.other
        waits = {Stage.ROLL: self.turn, Stage.MOVE: self.turn, Stage.DOUBLED: self.answering, Stage.NAME: self.namer}
        return waits.get(self.stage)

    def score_by_checkers(self, winner: Seat) -> int | None:
        """Return what the winner scores for the loser's checkers, before the cube; None if the level counts."""
        if not self.rules.counts_checkers:
            return super().score_by_checkers(winner)
        loser = self.table_for(winner.other).own
        return loser.checkers - loser.row[OFF]

    def point_game_score(self, winner: Seat) -> int:
        """Return what the winner scores for the loser's checkers: 1 to 4 by the quarter of the course they are in."""
        row = self.table_for(winner.other).own.row
        return sum(n * min((place + 5) // 6, 4) for place, n in enumerate(row) if place != OFF)


def start_match(
    rules: Ruleset, length: int, scores: tuple[int, int] = (0, 0), *, begins: Seat | None = None
) -> TableGame:
    """Return a game of a match at these scores, before the opening roll.

    `length` 0 is unlimited. `begins` rolls first without an opening roll. If one player is a point away in a game with
    a cube, it is the Crawford game. Raises RuleError if a score has already won the match.
    """
    if length < 0 or min(scores) < 0 or (length and max(scores) >= length):
        raise RuleError(f"expected scores from 0 to below the length of the match, got {scores} in a match to {length}")
    crawford, post_crawford = crawford_of(rules.laws, length, scores, post_crawford=False)
    return TableGame(
        rules=rules,
        laws=rules.laws,
        length=length,
        scores=scores,
        crawford=crawford,
        post_crawford=post_crawford,
        table=rules.start(),
        turn=Seat.A if begins is None else begins,
        stage=Stage.OPENING if begins is None else Stage.ROLL,
    )


def start_at(rules: Ruleset, table: Table, dice: Numbers | None = None) -> TableGame:
    """Return a game of an unlimited match in which seat A is on roll at this table, or has rolled these dice.

    Raises DiceError for impossible dice.
    """
    state = evolve(start_match(rules, 0, begins=Seat.A), table=table)
    return roll(state, Seat.A, dice) if dice else state


def next_game(state: TableGame) -> TableGame:
    """Return the next game of the match by the same laws, before its opening roll."""
    if state.stage is not Stage.OVER:
        raise GameRunningError("the game is not over yet")
    if match_winner(state) is not None:
        raise GameOverError("the match is over")
    begins = state.result.winner if state.result and state.rules.winner_begins else None
    started = start_match(state.rules, state.length, state.scores, begins=begins)
    crawford, post_crawford = crawford_of(
        state.laws, state.length, state.scores, post_crawford=state.crawford or state.post_crawford
    )
    return evolve(started, laws=state.laws, crawford=crawford, post_crawford=post_crawford)


def roll_opening(state: TableGame, die_a: int, die_b: int) -> TableGame:
    """Roll one die for each player: the higher one begins. After a tie the state is still in OPENING."""
    check_no_resignation(state)
    if state.stage is not Stage.OPENING:
        raise AlreadyRolledError("the opening roll has been made")
    check_two_dice((die_a, die_b))
    if die_a == die_b:
        return state
    winner = Seat.A if die_a > die_b else Seat.B
    begun = evolve(state, stage=Stage.ROLL, turn=winner)
    if state.rules.opening is Opening.RETHROW:
        return begun
    return roll(begun, winner, (die_a, die_b) if winner is Seat.A else (die_b, die_a))


def roll(state: TableGame, seat: Seat, dice: Numbers) -> TableGame:
    """Roll the dice for the player on turn."""
    check_before_roll(state, seat)
    check_dice(state.rules, dice)
    table, todo = parts_of(state.rules, state.table, dice, state.throws + 1)
    cube, limit = state.cube, state.laws.cube_limit
    if state.rules.raises_stake(dice) and not state.crawford and (limit is None or 2 * cube <= limit):
        cube *= 2
    return _go_on(evolve(state, table=table, dice=dice, todo=todo, throws=state.throws + 1, cube=cube))


def play(state: TableGame, seat: Seat, play: Play) -> TableGame:
    """Play a part of a turn. The empty play is legal exactly if no checker can move.

    Raises PlayError for a play that the laws forbid.
    """
    check_turn(state, seat)
    made, after = check_play(state.rules, state.table, state.part, play)
    return reach(state, after, len(made))


def reach(state: TableGame, table: Table, moves: int) -> TableGame:
    """Go on from the table that a legal play of this number of moves leads to; nothing is checked."""
    part = state.part
    ended = outcome(state.rules, state.table, table)
    moved = evolve(state, table=table)
    if ended:
        return _end(moved, ended)
    if moves == len(part.numbers):
        return _go_on(evolve(moved, todo=state.todo[1:]))
    return _stopped(moved, part, moves)


def choices(state: TableGame) -> tuple[int, ...]:
    """Return what may be named in NAME; nothing in other stages."""
    if state.stage is not Stage.NAME:
        return ()
    if state.naming is Naming.DOUBLE:
        return doubles_to_name(state.rules, state.table)
    return state.rules.points_to_open(state.table)


def name(state: TableGame, seat: Seat, choice: int) -> TableGame:
    """Name the double to play, or the point to open. Raises RuleError unless it may be named now."""
    check_no_resignation(state)
    if state.stage is not Stage.NAME or state.naming is None:
        raise NothingToAnswerError("there is nothing to name")
    if seat is not state.namer:
        raise NotYourTurnError("the opponent has to name it")
    if choice not in choices(state):
        raise RuleError(f"expected {state.naming.value}, one of {', '.join(map(str, choices(state)))}, got {choice}")
    named = evolve(state, naming=None, namer=None)
    if state.naming is Naming.DOUBLE:
        part = Part((choice,) * 4, ends_turn=state.rules.named_double_ends_turn)
        return _go_on(evolve(named, todo=(part, *state.todo)))
    return _turn_to_opponent(evolve(named, table=state.rules.open_point(state.table, choice)), ())


def roll_contest(state: TableGame, total_a: int, total_b: int) -> TableGame:
    """Roll two dice for each player in CONTEST: the higher total names the point to open. A tie changes nothing."""
    check_no_resignation(state)
    if state.stage is not Stage.CONTEST:
        raise NothingToAnswerError("there is nothing to roll for")
    if not {total_a, total_b} <= set(range(2, 13)):
        raise DiceError(f"expected the totals of two dice each, 2 to 12, got {total_a} and {total_b}")
    if total_a == total_b:
        return state
    namer = Seat.A if total_a > total_b else Seat.B
    return evolve(state, stage=Stage.NAME, naming=Naming.POINT, namer=namer)


def _go_on(state: TableGame) -> TableGame:
    """Return the state in which the player on turn meets what is next in the turn."""
    todo = state.todo
    if todo and todo[0] is Then.NAME_DOUBLE and not doubles_to_name(state.rules, state.table):
        todo = () if state.rules.named_double_ends_turn else todo[1:]
    rolls = bool(todo) and todo[0] is Then.ROLL
    if todo and isinstance(todo[0], Part):
        following = evolve(state, stage=Stage.MOVE, todo=todo)
    elif todo and todo[0] is Then.NAME_DOUBLE:
        following = evolve(state, stage=Stage.NAME, todo=todo[1:], naming=Naming.DOUBLE, namer=state.turn)
    elif rolls:
        following = evolve(state, stage=Stage.ROLL, todo=(), dice=None)
    elif state.passed:  # what the opponent left is played; now comes the player's own roll
        following = evolve(state, stage=Stage.ROLL, todo=(), dice=None, passed=False, throws=0)
    elif state.rules.points_to_open(state.table):
        following = evolve(state, stage=Stage.CONTEST, todo=(), dice=None)
    else:
        following = _turn_to_opponent(state, ())
    return following


def _stopped(state: TableGame, part: Part, moves: int) -> TableGame:
    """Return the state after a part could not be played to its end."""
    following = state.todo[1:]
    if not part.ends_turn:
        return _go_on(evolve(state, todo=following))
    rest = state.rules.rest
    if rest is Rest.LOST or state.passed or len(set(part.numbers)) > 1:
        return _go_on(evolve(state, todo=()))
    left: Turn = (Part(part.numbers[moves:]), *following) if rest is not Rest.FOLLOWING_TO_OPPONENT else following
    if rest is Rest.OFFERED:
        left = tuple(evolve(it, compulsory=False) if isinstance(it, Part) else it for it in left)
    return _turn_to_opponent(state, left)


def _turn_to_opponent(state: TableGame, left: Turn) -> TableGame:
    """Return the state in which the opponent is on turn, perhaps with parts that the player left."""
    return evolve(
        state,
        table=turn_over(state.table),
        turn=state.turn.other,
        stage=Stage.MOVE if left else Stage.ROLL,
        dice=state.dice if left else None,
        todo=left,
        passed=bool(left),
        throws=0,
        turns=state.turns + 1,
    )


def _end(state: TableGame, ended: Outcome) -> TableGame:
    """Return the state in which the game is over."""
    over = evolve(state, stage=Stage.OVER, dice=None, todo=(), turns=state.turns + 1, reason=ended.reason)
    if not ended.winner:
        return evolve(over, drawn=True)
    winner = state.turn if ended.winner > 0 else state.turn.other
    points = ended.points * state.cube
    a, b = state.scores
    scores = (a + points, b) if winner is Seat.A else (a, b + points)
    how = Ending.BORNE_OFF if over.table_for(winner).own.all_off else Ending.OTHER
    return evolve(over, scores=scores, result=Result(winner, points, level_of(ended.points), how))
