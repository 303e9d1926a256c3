"""The decisions of a game, with the positions in which they were made.

A whole game of a match, which is nearly every game, is followed without the rules core, because the reader has checked
each play. That takes a quarter of the time of `transcript.walk`, which does the rest. Tests compare the two.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from attrs import define, field

from fibsbot.analysis.selection import ACCEPT, CUBE_KINDS, DOUBLE, PLAY, RESIGN, decision_kind
from fibsbot.match import CubeAction, Dice, Owner
from fibsbot.notation.play_notation import format_play
from fibsbot.position import OFF, Play, Position
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import (
    Continuation,
    Cube,
    Decision,
    Entry,
    Game,
    Named,
    RejectedRoll,
    Resign,
    Step,
    Throw,
    TranscriptError,
    decisions,
    walk,
)

BEAVER: Final = "beaver"
"""The stage of a game that waits for the answer to a beaver, given by the player on roll."""
STAGES: Final = {
    Stage.OPENING: "opening",
    Stage.ROLL: "roll",
    Stage.MOVE: "move",
    Stage.DOUBLED: "double",
    Stage.NAME: "name",
}
"""What a game waits for while a resignation is offered; BEAVER is one more."""

_OWNER_OF: Final = {None: (Owner.CENTRED, Owner.CENTRED), Seat.A: (Owner.PLAYER, Owner.OPPONENT)} | {
    Seat.B: (Owner.OPPONENT, Owner.PLAYER)
}
"""The owner of the cube as seats A and B see it."""
_MATCH_ACTIONS: Final = frozenset({CubeAction.DOUBLE, CubeAction.TAKE, CubeAction.PASS})
_CUBE_MARKS: Final = {
    CubeAction.DOUBLE: b"D",
    CubeAction.TAKE: b"K",
    CubeAction.PASS: b"P",
    CubeAction.BEAVER: b"B",
}


Checkers: TypeAlias = tuple[int, ...] | Sides
"""Where the checkers stand as a player sees it: see `Position.points`, or the sides of other games."""


class TrackedDecision(NamedTuple):
    """A decision of a player."""

    cells: Checkers
    """As the player who decided sees them."""
    seat: Seat
    kind: str
    turn: int
    cube: int
    owner: Owner
    redoubles: int
    dice: Dice | None
    action: str
    resignation: int
    entry: Entry
    stage: str | None = None
    """Of resignations: what the game waits for, one of the STAGES."""
    own_move: bool | None = None
    """Of resignations: whether it waits for the player who decided; None before the opening roll."""
    step: Step | None = None
    """The entry with the game before it, where the board is not that of backgammon."""


class TrackedEvent(NamedTuple):
    """An entry of a game with its decisions."""

    seat: Seat
    canonical: bytes
    """What the digest has of it; empty where formats differ."""
    turns: int
    """Turns completed after it."""
    decisions: tuple[TrackedDecision, ...]


def track(game: Game) -> Iterator[TrackedEvent]:
    """Yield the entries of a game. Raises TranscriptError for a game that breaks the rules."""
    laws = game.start.laws
    plain = (
        bool(game.start.length)
        and isinstance(game.start.board, Position)
        and game.whole
        and laws.cube_limit is None
        and laws.dead_cube
        and not laws.reject_first_throw
        and not any(isinstance(entry, Resign | RejectedRoll) for entry in game.entries[:-1])
    )
    return _track_plainly(game, laws) if plain else map(_event, walk(game))


# -- by the rules core ------------------------------------------------------------------------------------------------


def _event(step: Step) -> TrackedEvent:
    entry = step.entry
    canonical, seat = b"", Seat.A
    if isinstance(entry, Throw):
        seat = entry.seat
        if entry.play is not None:
            canonical = _roll_mark(entry.dice) + board_mark(step.after, seat)
    elif isinstance(entry, Continuation):
        canonical, seat = b"C" + board_mark(step.after, entry.seat), entry.seat
    elif isinstance(entry, Named):
        canonical, seat = b"M%d" % entry.number, entry.seat
    elif isinstance(entry, Cube):
        canonical, seat = _CUBE_MARKS[entry.action], entry.seat
    elif isinstance(entry, RejectedRoll):
        canonical, seat = b"N%d%d" % (max(entry.dice), min(entry.dice)), entry.seat
    return TrackedEvent(seat, canonical, step.after.turns, tuple(map(_decision, decisions(step))))


def _decision(decision: Decision) -> TrackedDecision:
    state, answer, before = decision.state, decision.answer, decision.step.before
    level, dice, stage, own_move = state.resignation, state.dice, None, None
    kind = decision_kind(decision)
    if isinstance(answer, Level):
        level = int(answer)
    if kind in {RESIGN, ACCEPT}:
        dice = before.dice
        stage = BEAVER if before.answering is before.turn else STAGES[before.stage]
        if before.stage is not Stage.OPENING:
            own_move = decision.seat is (before.turn if before.answering is None else before.answering)
    board = state.board
    cells, shown = (board.points, None) if isinstance(board, Position) else (board, decision.step)
    return TrackedDecision(
        cells,
        decision.seat,
        kind,
        decision.step.turn,
        state.cube,
        state.owner,
        state.redoubles,
        dice,
        decision.text,
        level,
        decision.step.entry,
        stage,
        own_move,
        shown,
    )


# -- quickly ----------------------------------------------------------------------------------------------------------


def _roll_mark(dice: Dice) -> bytes:
    """Return what the digest has of a roll."""
    return b"T" + "".join(map(str, sorted(dice, reverse=True))).encode()


def board_mark(game: GameState, seat: Seat) -> bytes:
    """Return what the digest has of a board, as a player sees it."""
    if isinstance(game.board, Position):
        return array("b", game.position_for(seat).points).tobytes()
    sides = game.sides_for(seat)
    return array("b", (*sides.own.row, *sides.opponent.row)).tobytes()


def _track_plainly(game: Game, laws: Laws) -> Iterator[TrackedEvent]:
    """Yield the entries of a game of a match that was seen from its opening roll."""
    follower = _Follower(
        game.number, list(game.start.position.points), game.start.cube, may_double=laws.cube and not game.start.crawford
    )
    for entry in game.entries:
        if isinstance(entry, Throw):
            yield follower.throw(entry)
        elif isinstance(entry, Cube):
            yield follower.turn_cube(entry)
        else:
            yield from _last_steps(game, entry)
            return


@define
class _Follower:
    """A game as it is followed without the rules core."""

    game: int
    cells: list[int]
    """The position as the player on turn sees it."""
    cube: int
    may_double: bool = field(kw_only=True)
    owner: Seat | None = None
    turn: Seat | None = None
    """None before the opening roll."""
    turns: int = 0
    doubled: bool = False
    """Whether a double waits for its answer."""
    over: bool = False

    def throw(self, entry: Throw) -> TrackedEvent:
        """Follow a roll and its play."""
        seat = entry.seat
        found: list[TrackedDecision] = []
        if self.turn is None:
            self.turn = seat
        elif self.over or self.doubled or self.turn is not seat:
            raise self._error(f"{entry.numbers} was not to be rolled")
        elif self.may_double and self.owner is not seat.other:
            found.append(self._decision(tuple(self.cells), seat, DOUBLE, None, "roll", entry))
        mark = b""
        if entry.play is None:
            self.over = True
        else:
            before = tuple(self.cells)
            text = format_play(entry.play, Position(before))
            found.append(self._decision(before, seat, PLAY, entry.dice, text, entry))
            self._make(entry.play)
            mark = _roll_mark(entry.dice) + array("b", self.cells).tobytes()
            self.turns += 1
            self.over = max(self.cells) <= 0
            self.cells = _swapped(self.cells)
            self.turn = seat.other
        return TrackedEvent(seat, mark, self.turns, tuple(found))

    def turn_cube(self, entry: Cube) -> TrackedEvent:
        """Follow a double, or the answer to one."""
        seat, action = entry.seat, entry.action
        offers = action is CubeAction.DOUBLE
        allowed = not self.doubled and seat is self.turn and self.may_double and self.owner is not seat.other
        expected = allowed if offers else self.doubled and seat is not self.turn
        if self.over or self.turn is None or not expected or action not in _MATCH_ACTIONS:
            raise self._error(f"unexpected {action.value}")
        cells = tuple(self.cells if seat is self.turn else _swapped(self.cells))
        made = self._decision(cells, seat, CUBE_KINDS[action], None, action.value, entry)
        self.doubled = offers
        if action is CubeAction.TAKE:
            self.cube, self.owner = 2 * self.cube, seat
        self.over = action is CubeAction.PASS
        return TrackedEvent(seat, _CUBE_MARKS[action], self.turns, (made,))

    def _decision(  # noqa: PLR0913, PLR0917 - what differs between decisions
        self, cells: tuple[int, ...], seat: Seat, kind: str, dice: Dice | None, action: str, entry: Entry
    ) -> TrackedDecision:
        owner = _OWNER_OF[self.owner][seat]
        return TrackedDecision(cells, seat, kind, self.turns + 1, self.cube, owner, 0, dice, action, 0, entry)

    def _make(self, play: Play) -> None:
        """Make a play, and check that there is a checker and no point of the opponent in its way."""
        cells = self.cells
        for move in play.moves:
            if cells[move.source] < 1 or (move.target != OFF and cells[move.target] < -1):
                raise self._error(f"{move} cannot be played")
            move.make(cells)

    def _error(self, text: str) -> TranscriptError:
        return TranscriptError(f"game {self.game}, turn {self.turns + 1}: {text}")


def _swapped(cells: list[int]) -> list[int]:
    return [-n for n in cells[::-1]]


def _last_steps(game: Game, entry: Entry) -> Iterator[TrackedEvent]:
    """Yield the last entry of a game, which is of a rare kind, by the rules core."""
    *_, last = walk(game)
    if last.entry is not entry:
        raise TranscriptError(f"game {game.number}: expected {entry} at the end")
    yield _event(last)
