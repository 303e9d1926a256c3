"""The state of a match as far as it is known: an immutable record, and the functions that change it.

Turn, dice and offers are fields beside the state, because they may be known while it is not.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from fibs_protocol.table_state import TableState
from fibs_protocol.words import YOU, FibsMove
from fibsbot.fast_evolve import fast_evolve
from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.backgammon import BACKGAMMON, first_board
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.plays import can_move
from fibsbot.rules.ruleset import Part
from fibsbot.rules.state import GameState, Resignation, Seat, Stage
from fibsbot.table_lines import game_from_state


class PlayerSide(enum.Enum):
    """The two players of a board, whichever colours they have."""

    PLAYER = 1
    """Ourselves, or the player whom we watch."""
    OPPONENT = -1

    @property
    def other(self) -> PlayerSide:
        """The other side."""
        return PlayerSide.OPPONENT if self is PlayerSide.PLAYER else PlayerSide.PLAYER


@frozen
class Difference:
    """A difference between the server and our own state."""

    what: str
    """Which part of the state."""
    ours: object
    theirs: object


@frozen
class EarlyBoard:
    """A board that came before the line with the play that it shows, as on some servers."""

    position: Position
    """The position before the opponent's play, as the player sees it."""
    differences: tuple[Difference, ...]
    """How the board contradicts the match if that line does not follow."""


@frozen
class LastPlay:
    """The play that ended the last turn, by which a board that is older than it is recognised."""

    side: PlayerSide
    moves: tuple[FibsMove, ...]


@frozen(slots=False)
class TrackedMatch:
    """A match as far as it is known."""

    user: str
    """Our own account's name, which some lines use instead of `You`."""
    player: str = YOU
    """YOU, or the name of the player whom we watch."""
    opponent: str | None = None
    match: int = 0
    """Number of the match, counted from 1 over the whole run."""
    game: int = 0
    """Number of the game in the match, counted from when we joined."""
    running: bool = False
    """Whether a game is being played."""
    state: MatchState | None = None
    """The game as the player sees it; None until it is known.

    Where a line shows the whole game, this is the player's decision, if there is one.
    """
    direction: int | None = None
    """The player's; unknown until the game's first board."""
    turn: PlayerSide | None = None
    dice: Dice | None = None
    """The roll of the side on turn."""
    turn_count: int = 0
    """Number of rolls and changes of turn, so that no two decisions are equal."""
    roll_prompted: bool = False
    """Whether the server waits for the player's `roll` or `double`."""
    cube_closed: bool = False
    """Whether a line says that it takes no `double` before the player's next roll."""
    board_seen: bool = False
    """Whether a board has come since the last roll."""
    own_play: Play | None = None
    """The play that we have sent; the server does not repeat it."""
    opening: Mapping[PlayerSide, int] = {}
    """The opening roll, one die each."""
    opening_before_start: bool = False
    """Whether the game began with its opening roll, before the line that it starts, as on some servers."""
    doubled_by: PlayerSide | None = None
    offered_cube: int = 0
    """The value of the cube after the double is accepted."""
    may_redouble: bool = False
    """Whether the side that was doubled may redouble at once."""
    resigned_by: PlayerSide | None = None
    resigned_points: int = 0
    """The points of the offer to resign; 0 if the line with them was lost."""
    crawford_played: bool = False
    laws: Laws | None = None
    """The laws that the match is played by, if they are other ones than those of FIBS."""
    may_reject: bool = False
    """Whether the player may reject the roll on the board."""
    early_board: EarlyBoard | None = None
    """The opponent's play as a board has shown it, while the line that says it is still to come."""
    last_play: LastPlay | None = None
    """The play of a `moves` line, until the turn after it is over."""
    due_scores: frozenset[tuple[int, int]] = frozenset()
    """The scores to which the last game can have led, by what was said before its end; empty if that is not known."""
    differences: tuple[Difference, ...] = ()
    """The differences between the last message and the state before it."""

    @property
    def shown_whole(self) -> bool:
        """Whether the match is of another game than backgammon, each line of which shows all there is to know."""
        return self.state is not None and self.state.rules is not BACKGAMMON

    @property
    def score_disputed(self) -> bool:
        """Whether the server has given the last game other points than it had announced, or to the other side."""
        return self.state is not None and bool(self.due_scores) and self.state.score not in self.due_scores

    @property
    def final_score(self) -> tuple[int, int] | None:
        """The score if somebody has all points of the match, so that only the line that says so is missing.

        Where all checkers of one side are off in backgammon, and no line says that the game is over, it is worth the
        cube at least.
        """
        state = self.state
        if state is None or not state.length:
            return None
        mine, theirs = state.score
        if (
            self.running
            and max(mine, theirs) + state.cube >= state.length  # otherwise the game does not decide the match
            and state.rules is BACKGAMMON
            and state.position.over
        ):
            won = state.position.off > state.position.opponent_off
            mine, theirs = (mine + state.cube, theirs) if won else (mine, theirs + state.cube)
        return (mine, theirs) if max(mine, theirs) >= state.length else None

    def side_of(self, name: str) -> PlayerSide | None:
        """Return which side a name in a message means; None for somebody else. Without a name it is the opponent."""
        if name == self.player or (self.player == YOU and name == self.user):
            return PlayerSide.PLAYER
        return PlayerSide.OPPONENT if name in (self.opponent, "") else None

    def decision_state(self, phase: Phase) -> MatchState:
        """Return the state of one of the player's decisions, for a strategy; the state must be known."""
        if self.state is None:
            raise ValueError("expected a known state")
        if self.shown_whole:
            return self.state
        level = self._level_offered(self.state) if phase is Phase.RESIGNED else 0
        state = self.state if self.laws is None else under_laws(self.state, self.laws)
        return fast_evolve(
            state,
            phase=phase,
            dice=self.dice if phase is Phase.MOVE else None,
            resignation=level,
            resignation_points=self.resigned_points if phase is Phase.RESIGNED else 0,
            redoubles=int(self.may_redouble) if phase is Phase.DOUBLED else 0,
            redoubled=self.turn is PlayerSide.PLAYER if phase is Phase.DOUBLED and self.turn else None,
            may_reject=self.may_reject and phase is Phase.MOVE,
        )

    @property
    def game_state(self) -> GameState | None:
        """The game as the rules core has it, with the player at seat A; None until it is known.

        How many turns it has had, and how it ended, is not known.
        """
        state = self.state
        if state is None:
            return None
        turn = Seat.B if self.turn is PlayerSide.OPPONENT else Seat.A
        return GameState(
            rules=state.rules,
            laws=self.laws or state.rules.laws,
            length=state.length,
            scores=state.score,
            crawford=state.crawford,
            post_crawford=state.post_crawford,
            board=state.board if turn is Seat.A else state.board.swapped(),
            turn=turn,
            stage=self._stage_of(state),
            dice=self.dice,
            todo=state.todo,
            throws=state.throws,
            passed=state.passed,
            naming=state.naming,
            namer=None if state.naming is None else Seat.A if state.names else Seat.B,
            cube=state.cube,
            owner=_OWNERS[state.owner],
            offered=self.offered_cube if self.doubled_by else 0,
            answering=_SEATS[self.doubled_by].other if self.doubled_by else None,
            resignation=self._resignation_in(state),
        )

    def _stage_of(self, state: MatchState) -> Stage:
        """Return the stage of a game whose state is known."""
        if not self.running:
            return Stage.OVER
        if self.doubled_by is not None:
            return Stage.DOUBLED
        if state.naming is not None:
            return Stage.NAME
        if self.dice and (isinstance(state.board, Position) or isinstance(next(iter(state.todo), None), Part)):
            return Stage.MOVE
        if self.turn is not None:
            return Stage.ROLL
        return Stage.OPENING if state.board == first_board(state.rules) else Stage.CONTEST

    def _resignation_in(self, state: MatchState) -> Resignation | None:
        """Return the offer to resign that waits in a game whose state is known."""
        if self.resigned_by is None:
            return None
        return Resignation(_SEATS[self.resigned_by], Level(self._level_offered(state)), self.resigned_points)

    def _level_offered(self, state: MatchState) -> int:
        """Return the level of the offer to resign, as far as a line says it, or its points do."""
        return state.resignation or min(max(self.resigned_points // state.cube, 1), 3)


_SEATS: Final = {PlayerSide.PLAYER: Seat.A, PlayerSide.OPPONENT: Seat.B}
_OWNERS: Final = {Owner.CENTRED: None, Owner.PLAYER: Seat.A, Owner.OPPONENT: Seat.B}
_SIDES: Final = {seat: side for side, seat in _SEATS.items()}


def under_laws(state: MatchState, laws: Laws) -> MatchState:
    """Return a state, read from a board, with what these laws count."""
    return fast_evolve(
        state,
        crawford=state.crawford and laws.crawford,
        post_crawford=state.post_crawford and laws.crawford,
        jacoby=laws.jacoby and not state.length,
        cubeless=not laws.cube,
        triple=laws.triple,
        point_game=laws.point_game,
    )


def without_match(tracked: TrackedMatch) -> TrackedMatch:
    """Return a tracked match about which nothing is known, as after its end, or that of the connection."""
    return TrackedMatch(user=tracked.user, match=tracked.match)


def next_match(tracked: TrackedMatch, opponent: str | None, **known: Any) -> TrackedMatch:
    """Return the next match to track; `known` are the fields that are known already."""
    return TrackedMatch(user=tracked.user, match=tracked.match + 1, opponent=opponent, **known)


def give_turn(tracked: TrackedMatch, side: PlayerSide | None, dice: Dice | None = None) -> TrackedMatch:
    """Give the turn to a side, or to none: whatever belonged to the last turn is over. `dice` are the new one's."""
    return fast_evolve(
        tracked,
        turn=side,
        turn_count=tracked.turn_count + 1,
        dice=dice,
        roll_prompted=False,
        board_seen=False,
        may_reject=False,
        own_play=None,
        last_play=None,
        doubled_by=None,
        resigned_by=None,
    )


def cannot_move(tracked: TrackedMatch) -> bool:
    """Whether the side on turn has rolled and has no legal play."""
    if tracked.state is None or tracked.dice is None or tracked.turn is None or tracked.shown_whole:
        return False  # a line that shows the whole game says what is to be done
    position = tracked.state.position
    return not can_move(position if tracked.turn is PlayerSide.PLAYER else position.swapped(), tracked.dice)


def show_table(tracked: TrackedMatch, line: TableState) -> TrackedMatch:
    """Return the match after a `table:` line, which shows everything; one of somebody else's match changes nothing.

    One that its game does not allow is a difference, and nothing is decided by it.
    """
    try:
        game = game_from_state(line)
    except ValueError as error:
        return fast_evolve(tracked, state=None, differences=(Difference("table", None, str(error)),))
    if line.player != tracked.player:
        return tracked
    if tracked.opponent is None:
        tracked = next_match(tracked, line.opponent)
    resigned, nobody = game.resignation, game.stage in {Stage.OPENING, Stage.CONTEST, Stage.OVER}
    turn = None if nobody else _SIDES[game.turn]
    shown = fast_evolve(
        tracked,
        opponent=line.opponent,
        running=game.stage is not Stage.OVER,
        state=MatchState.seen_by(game, Seat.A),
        turn=turn,
        dice=game.dice,
        roll_prompted=game.stage is Stage.ROLL and game.decides is Seat.A and resigned is None,
        cube_closed=not line.may_double,
        doubled_by=None if game.answering is None else _SIDES[game.answering.other],
        offered_cube=game.offered,
        resigned_by=None if resigned is None else _SIDES[resigned.seat],
        resigned_points=resigned.points if resigned else 0,
    )
    return fast_evolve(shown, turn_count=tracked.turn_count + (shown != tracked), board_seen=True)


def play_on_board(tracked: TrackedMatch, side: PlayerSide, play: Play) -> TrackedMatch:
    """Make a play if the position allows it at all; whether it was legal is the server's concern."""
    if tracked.state is None:
        return tracked
    cells = list(tracked.state.position.points)
    own, first = (1, 0) if side is PlayerSide.PLAYER else (-1, BAR)  # the sign of the side's checkers, its cell 0
    for move in play.moves:
        source, target = abs(first - move.source), abs(first - move.target)
        possible = OFF <= move.target < move.source <= BAR and cells[source] * own > 0
        if not possible or (move.target != OFF and cells[target] * own < -1):
            seen = tuple(cells) if side is PlayerSide.PLAYER else tuple([-count for count in reversed(cells)])
            return fast_evolve(tracked, state=None, differences=(Difference("moves", seen, play.moves),))
        cells[source] -= own
        if move.target != OFF:
            if cells[target] * own < 0:
                cells[target] = 0
                cells[first] -= own
            cells[target] += own
    return fast_evolve(tracked, state=fast_evolve(tracked.state, board=Position(tuple(cells))))


def note_double(
    tracked: TrackedMatch, side: PlayerSide | None, offered_cube: int = 0, *, may_redouble: bool = False
) -> TrackedMatch:
    """Note that a side offers a double or an instant redouble; `offered` is what the cube would show."""
    if side is None:
        return tracked
    state = tracked.state
    if state is not None:
        offered_cube = offered_cube or 2 * state.cube
        state = fast_evolve(state, cube=max(offered_cube // 2, 1))  # who redoubles has accepted what was offered before
    return fast_evolve(
        tracked, state=state, doubled_by=side, offered_cube=offered_cube, may_redouble=may_redouble, roll_prompted=False
    )
