"""The state of a match as far as it is known: an immutable record, and the functions that change it.

The server's board is the truth. Every board is compared with what is known, then adopted; the differences are kept in
`TrackedMatch.differences`, to be logged and counted.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.table_state import TablePlayer, TableStage, TableState
from fibs_protocol.words import YOU, FibsMove
from fibsbot.evolve import evolve
from fibsbot.fibs_numbering import (
    cells_from_position,
    cube_owner,
    is_crawford,
    length_from_fibs,
    match_state,
    play_from_fibs,
)
from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.laws import Laws
from fibsbot.rules.plays import can_move, check_play


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


@frozen
class KnownMatch:
    """What every game of a match has."""

    length: int
    """Points; 0 is unlimited."""
    score: tuple[int, int]
    """The player's points first."""
    cube: int


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
    """The game as the player sees it; None until it is known. Phase, dice and offers are separate fields."""
    table: TableState | None = None
    """The last `table:` line of a game other than backgammon; `state` is unknown then."""
    direction: int | None = None
    """The player's; unknown until the game's first board."""
    turn: PlayerSide | None = None
    dice: Dice | None = None
    """The roll of the side on turn."""
    turn_count: int = 0
    """Number of rolls and changes of turn, so that no two decisions are equal."""
    roll_prompted: bool = False
    """Whether the server waits for the player's `roll` or `double`."""
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
    def score_disputed(self) -> bool:
        """Whether the server has given the last game other points than it had announced, or to the other side."""
        return self.state is not None and bool(self.due_scores) and self.state.score not in self.due_scores

    @property
    def known(self) -> KnownMatch | None:
        """What is known of the match in any game."""
        if self.table is not None:
            line = self.table
            return KnownMatch(length_from_fibs(line.length), (line.score, line.opponent_score), line.cube)
        state = self.state
        return None if state is None else KnownMatch(state.length, state.score, state.cube)

    @property
    def final_score(self) -> tuple[int, int] | None:
        """The score if somebody has all points of the match, so that only the line that says so is missing.

        Where all checkers of one side are off, and no line says that the game is over, it is worth the cube at least.
        """
        known, state = self.known, self.state
        if known is None or not known.length:
            return None
        mine, theirs = known.score
        if (
            self.running
            and state is not None
            and max(mine, theirs) + state.cube >= known.length  # otherwise the game does not decide the match
            and state.position.over
        ):
            won = state.position.off > state.position.opponent_off
            mine, theirs = (mine + state.cube, theirs) if won else (mine, theirs + state.cube)
        return (mine, theirs) if max(mine, theirs) >= known.length else None

    def side_of(self, name: str) -> PlayerSide | None:
        """Return which side a name in a message means; None for somebody else. Without a name it is the opponent."""
        if name == self.player or (self.player == YOU and name == self.user):
            return PlayerSide.PLAYER
        return PlayerSide.OPPONENT if name in (self.opponent, "") else None

    def decision_state(self, phase: Phase) -> MatchState:
        """Return the state of one of the player's decisions, for a strategy; the state must be known."""
        if self.state is None:
            raise ValueError("expected a known state")
        level = min(max(self.resigned_points // self.state.cube, 1), 3) if phase is Phase.RESIGNED else 0
        state = self.state if self.laws is None else under_laws(self.state, self.laws)
        return evolve(
            state,
            phase=phase,
            dice=self.dice if phase is Phase.MOVE else None,
            resignation=level,
            redoubles=int(self.may_redouble) if phase is Phase.DOUBLED else 0,
            redoubled=self.turn is PlayerSide.PLAYER if phase is Phase.DOUBLED and self.turn else None,
            may_reject=self.may_reject and phase is Phase.MOVE,
        )


def under_laws(state: MatchState, laws: Laws) -> MatchState:
    """Return a state, read from a board, with what these laws count."""
    return evolve(
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
    return evolve(
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
    if tracked.state is None or tracked.dice is None or tracked.turn is None:
        return False
    position = tracked.state.position
    return not can_move(position if tracked.turn is PlayerSide.PLAYER else position.swapped(), tracked.dice)


def show_table(tracked: TrackedMatch, line: TableState) -> TrackedMatch:
    """Take over a `table:` line, which shows everything; one of somebody else's match changes nothing."""
    if line.player != tracked.player:
        return tracked
    if tracked.opponent is None:
        tracked = next_match(tracked, line.opponent)
    turn = {TablePlayer.PLAYER: PlayerSide.PLAYER, TablePlayer.OPPONENT: PlayerSide.OPPONENT, None: None}[line.turn]
    return evolve(
        tracked,
        opponent=line.opponent,
        running=line.stage is not TableStage.OVER,
        state=None,
        table=line,
        turn=turn,
        turn_count=tracked.turn_count + (line != tracked.table),
        board_seen=True,
    )


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
            return evolve(tracked, state=None, differences=(Difference("moves", seen, play.moves),))
        cells[source] -= own
        if move.target != OFF:
            if cells[target] * own < 0:
                cells[target] = 0
                cells[first] -= own
            cells[target] += own
    return evolve(tracked, state=evolve(tracked.state, position=Position(tuple(cells))))


def note_double(
    tracked: TrackedMatch, side: PlayerSide | None, offered_cube: int = 0, *, may_redouble: bool = False
) -> TrackedMatch:
    """Note that a side offers a double or an instant redouble; `offered` is what the cube would show."""
    if side is None:
        return tracked
    state = tracked.state
    if state is not None:
        offered_cube = offered_cube or 2 * state.cube
        state = evolve(state, cube=max(offered_cube // 2, 1))  # who redoubles has accepted what was offered before
    return evolve(
        tracked, state=state, doubled_by=side, offered_cube=offered_cube, may_redouble=may_redouble, roll_prompted=False
    )


# -- boards -----------------------------------------------------------------------------------------------------------


@frozen
class ShownBoard:
    """A board, and what it shows of the match as the player sees it."""

    board: BoardState
    state: MatchState
    owner: Owner | None
    """Who may turn the cube; None where the board does not tell, and `state` assumes something."""
    turn: PlayerSide
    """Whose turn it is. While a double waits for an answer it is the other side's: the server turns the board round."""
    dice: Dice | None


def apply_board(tracked: TrackedMatch, message: m.Board) -> TrackedMatch:
    """Return the match after a board; its `differences` are what the board contradicted."""
    board = message.state
    if board.player != tracked.player:
        if tracked.player == YOU and tracked.opponent is not None:
            return tracked  # somebody else's board, by `look`
        tracked = next_match(tracked, board.opponent, player=board.player)
    if board.turn is None or (not tracked.running and tracked.game):
        return tracked  # between two games, or a copy of the last board
    if tracked.opponent is None and tracked.player == YOU:
        tracked = next_match(tracked, board.opponent)
    if shows_tracked_state(tracked, board):
        return tracked if tracked.board_seen else evolve(tracked, board_seen=True)
    after = tracked
    if tracked.own_play is not None:  # it is not repeated to us
        after = give_turn(play_on_board(tracked, PlayerSide.PLAYER, tracked.own_play), PlayerSide.OPPONENT)
        expected = tracked.turn is PlayerSide.PLAYER and tracked.doubled_by is None
        if expected and shows_tracked_state(after, board):
            return evolve(after, board_seen=True)
    shown = _shown_board(board)
    return _apply_older_board(tracked, shown) or _compare_board(tracked, after, shown)


def _compare_board(tracked: TrackedMatch, after: TrackedMatch, shown: ShownBoard) -> TrackedMatch:
    """Return the match after a board that shows something new; `after`: the match after the play that we have sent."""
    differences = _differences(tracked, shown)
    if differences and tracked.own_play is None and tracked.turn is not None and cannot_move(tracked):
        after = give_turn(tracked, tracked.turn.other)  # not every server says that somebody cannot move
    if after is not tracked and len(others := _differences(after, shown)) < len(differences):
        tracked, differences = after, others
    return _adopt_board(tracked, shown, differences)


def turn_of_board(board: BoardState) -> PlayerSide:
    """Return whose turn a board of a running game shows."""
    return PlayerSide.PLAYER if board.turn == board.colour else PlayerSide.OPPONENT


def _shown_board(board: BoardState) -> ShownBoard:
    """Return what a board of a running game shows."""
    owner, turn = cube_owner(board), turn_of_board(board)
    dice = board.dice if turn is PlayerSide.PLAYER else board.opponent_dice
    return ShownBoard(board, match_state(board, owner=owner), owner, turn, None if dice == (0, 0) else dice)


def is_older_board(tracked: TrackedMatch, board: BoardState) -> bool:
    """Whether a board, taken already, is older than the last play, so that it does not show who is on turn now."""
    last = tracked.last_play
    return (
        last is not None
        and board.player == tracked.player
        and board.turn is not None
        and not board.double_pending
        and turn_of_board(board) is last.side
        and tracked.turn is last.side.other
        and tracked.doubled_by is None
    )


def _apply_older_board(tracked: TrackedMatch, shown: ShownBoard) -> TrackedMatch | None:
    """Return the match after a board that was on its way before the last play was said; None if it is no such board.

    It shows the roll with which that play was made. If it is the first board of a match that was resumed, the play is
    made on it.
    """
    last, ours, position = tracked.last_play, tracked.state, shown.state.position
    if last is None or shown.turn is not last.side or shown.dice is None or shown.board.double_pending:
        return None
    play = play_from_fibs(last.moves, shown.board.direction * last.side.value)
    try:
        check_play(position if last.side is PlayerSide.PLAYER else position.swapped(), shown.dice, play)
    except ValueError:
        return None
    if tracked.direction is None:  # no board of this game has come yet
        tracked = _adopt_board(tracked, shown, ())
        after = give_turn(play_on_board(tracked, last.side, play), last.side.other)
        return evolve(after, last_play=last)
    if ours is None or (ours.score, ours.cube) != (shown.state.score, shown.state.cube):
        return None
    before = evolve(tracked, state=evolve(ours, position=position))
    after = play_on_board(before, last.side, play)
    return tracked if after.state is not None and after.state.position == ours.position else None


def shows_tracked_state(tracked: TrackedMatch, board: BoardState) -> bool:
    """Whether a board shows just what is known, as most do, so that there is nothing to take over."""
    ours = tracked.state
    if ours is None or not tracked.running or tracked.doubled_by is not None or board.double_pending:
        return False
    if board.turn is board.colour:
        turn, dice = PlayerSide.PLAYER, board.dice
    else:
        turn, dice = PlayerSide.OPPONENT, board.opponent_dice
    known = tracked.dice or (0, 0)
    post_crawford = tracked.crawford_played
    return (
        turn is tracked.turn
        and (dice == known or dice == known[::-1])
        and board.cube == ours.cube
        and cube_owner(board) is ours.owner
        and ours.score == (board.score, board.opponent_score)
        and ours.length == length_from_fibs(board.length)
        and tracked.opponent == board.opponent
        and tracked.direction == board.direction
        and not tracked.differences
        and bool(board.post_crawford) is post_crawford is ours.post_crawford
        and (ours.length > 1 or not post_crawford)
        and ours.crawford is is_crawford(ours.length, ours.score, post_crawford=post_crawford)
        and board.points == cells_from_position(ours.position, board.colour, board.direction)
    )


def _early_board(tracked: TrackedMatch, differences: tuple[Difference, ...]) -> EarlyBoard | None:
    """Return an early board if these differences show that the opponent has played, which no line has said yet."""
    if tracked.state is None or tracked.turn is not PlayerSide.OPPONENT or tracked.dice is None:
        return None
    shown = {it.what: it.theirs for it in differences}
    if shown.pop("position", None) is None or shown != {"turn": PlayerSide.PLAYER, "dice": []}:
        return None
    return EarlyBoard(tracked.state.position, differences)


def _differences(tracked: TrackedMatch, shown: ShownBoard) -> tuple[Difference, ...]:
    """Return the differences between a board and the match; none where the match is not known yet."""
    ours, theirs, board = tracked.state, shown.state, shown.board
    if ours is None or not tracked.running:
        return ()
    pairs = [
        ("opponent", tracked.opponent or board.opponent, board.opponent),
        ("length", ours.length, theirs.length),
        ("score", ours.score, theirs.score),
        ("position", ours.position.points, theirs.position.points),
        ("direction", tracked.direction or board.direction, board.direction),
    ]
    if tracked.doubled_by is None:
        pairs += [
            ("turn", tracked.turn or shown.turn, shown.turn),
            ("dice", sorted(tracked.dice or ()), sorted(shown.dice or ())),
            ("cube", ours.cube, theirs.cube),
            ("owner", ours.owner, shown.owner or ours.owner),
        ]
    return tuple(Difference(what, one, other) for what, one, other in pairs if one != other)


def _adopt_board(tracked: TrackedMatch, shown: ShownBoard, differences: tuple[Difference, ...]) -> TrackedMatch:
    """Take over what a board shows, and note how it differs from what was known."""
    board = shown.board
    early_board = _early_board(tracked, differences) if differences else None
    differences = tracked.differences if early_board else tracked.differences + differences
    if board.double_pending and tracked.doubled_by is None:
        tracked = note_double(evolve(tracked, turn=PlayerSide.OPPONENT), PlayerSide.OPPONENT, 2 * board.cube)
    old = tracked.state
    state = shown.state if old is None or shown.owner else evolve(shown.state, owner=old.owner)
    if tracked.doubled_by is None:
        if (shown.turn, sorted(shown.dice or ())) != (tracked.turn, sorted(tracked.dice or ())):
            # What was offered before the first board, as in a match that is resumed, is no older than it.
            offered_by = tracked.resigned_by if tracked.turn is None else None
            tracked = evolve(give_turn(tracked, shown.turn, shown.dice), resigned_by=offered_by)
    elif old is not None:
        state = evolve(state, cube=old.cube, owner=old.owner)
    if tracked.crawford_played:
        state = evolve(state, crawford=False, post_crawford=state.length > 1)
    return evolve(
        tracked,
        opponent=board.opponent,
        running=True,
        state=state,
        direction=board.direction,
        board_seen=True,
        crawford_played=tracked.crawford_played or state.post_crawford,
        early_board=early_board,
        differences=differences,
    )
