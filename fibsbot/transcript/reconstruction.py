"""Reconstructs what happened between two views of a game: the only sequence of entries that fits, or a gap.

Known events are taken as they are; missing ones are tried in order, the fewest first. A dance and a forced play need
not be known. Nothing is guessed: if two sequences fit, the result is a gap.

It is part of the transcript package because the match store uses it as well as the replay.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.fast_evolve import fast_evolve
from fibsbot.match import CubeAction, Dice
from fibsbot.position import BAR, OFF, Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.plays import Cells, Steps, can_move, check_play, has_choice, play_between, resulting_positions_via
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript.model import Contest, Continuation, Cube, Entry, Gap, Named, Throw, apply

MAX_UNKNOWN: Final = 2
"""Unknown plays (with their rolls), doubles and responses that are tried at once."""
MAX_WORK: Final = 330
"""Positions that are tried before a search is given up: some milliseconds, whatever a server sends."""
_ENTRY_WORK: Final = 4
"""Work of applying an entry to a game, or of trying another roll, in positions."""
_ROLLS_WORK: Final = 40
"""Work of finding the rolls of a play, in positions."""
ALL_DICE: Final[tuple[Dice, ...]] = tuple((high, low) for low, high in combinations_with_replacement(range(1, 7), 2))
_OWN_CHECKERS: Final[tuple[int, ...]] = (*range(60), *[0] * 60)
"""Own checkers on a point by the content of its cell; negative cells index from the end, where all are 0."""


@frozen
class PlayWithoutRoll:
    """A play that was reported without its roll; no moves: a dance."""

    seat: Seat
    play: Play
    at: dt.datetime | None = None


KnownEvent: TypeAlias = Throw | Cube | PlayWithoutRoll
"""An event reported between two views: a roll (without its play if that was not reported), a cube action, a play."""
ReportedEvent: TypeAlias = KnownEvent | Continuation | Named | Contest
"""An event of any game."""


def reconstruct(
    known: GameState, seen: GameState, known_events: Sequence[KnownEvent] = (), *, at: dt.datetime | None = None
) -> tuple[Entry, ...]:
    """Return the entries between two views of one game, or a single Gap.

    If there are dice on the board that was seen, the entries lead to the state before that roll, whose play is yet to
    come; a gap leads to the view itself. `at` is the time of the second view. Both views must have the same length and
    scores.
    """
    search = _Search(seen, at)
    for unknown_count in range(MAX_UNKNOWN + 1):
        sequences = search.sequences(known, tuple(known_events), unknown_count)
        if len(sequences) == 1:
            return sequences[0]
        if sequences:
            return (Gap(reason=_gap_reason(sequences[0]), then=seen, at=at),)
    reason = (
        "two turns or more are missing" if known.turn is seen.turn and not known_events else "several turns are missing"
    )
    return (Gap(reason=reason, then=seen, at=at),)


def is_same_state(one: GameState, other: GameState) -> bool:
    """Whether two views of a game, of any ruleset, are equal in checkers, turn, dice, cube and score."""
    return (
        one.stage is other.stage
        and sorted(one.dice or ()) == sorted(other.dice or ())
        and one.todo == other.todo
        and one.scores == other.scores
        and one.length == other.length
        and _is_same_board(one, other)
    )


def _is_same_board(one: GameState, other: GameState) -> bool:
    """Whether checkers, turn and cube are equal."""
    return (
        one.turn is other.turn
        and one.cube == other.cube
        and one.owner is other.owner
        and one.answering is other.answering
        and one.board == other.board
    )


def _gap_reason(sequence: Sequence[Entry]) -> str:
    """Return the reason of a gap that this sequence may fill."""
    turns = sum(isinstance(entry, Throw) and entry.rebuilt for entry in sequence)
    return ("a cube action is missing", "a turn is missing", "two turns are missing")[min(turns, 2)]


@lru_cache(maxsize=8)
def find_play(cells: Cells, dice: Dice, after: Cells) -> Play | None:
    """Return the play with these dice that leads from one row of cells to another; None if there is none.

    Both rows are seen by the player on roll. Cached, as several callers ask it for the same board.
    """
    if whole := play_between(cells, dice, after):
        return Play.of(*whole)
    if after[BAR] > cells[BAR] or not 0 < _pips(cells) - _pips(after) <= sum(dice) * (2 if dice[0] == dice[1] else 1):
        return None
    steps = resulting_positions_via(cells, dice, lambda between, left: _fewest_moves(between, after) <= left).get(after)
    return Play.of(*sorted(steps, reverse=True)) if steps else None


def _fewest_moves(cells: Cells, goal: Cells, hits: int = 0) -> int:
    """Return the least number of moves of the player on roll between two rows of cells.

    `hits` is the number of checkers that the other side may have hit in between.
    """
    changes = [_OWN_CHECKERS[later] - _OWN_CHECKERS[own] for own, later in zip(cells[1:BAR], goal[1:BAR], strict=True)]
    arriving = sum([change for change in changes if change > 0])
    return max(arriving, arriving - sum(changes) - hits)


def _own_checkers(cells: Cells) -> int:
    """Return the number of checkers of the player on roll, including the bar."""
    return sum([_OWN_CHECKERS[cell] for cell in cells[1:]])


def _pips(cells: Cells) -> int:
    """Return the pip count of the player on roll."""
    return sum([point * cell for point, cell in enumerate(cells) if cell > 0])


class _TooManyError(Exception):
    """The search takes too long."""


class _Search:
    """Searches for the sequences of entries that lead to a state."""

    def __init__(self, goal: GameState, at: dt.datetime | None) -> None:
        self._goal = goal
        self._at = at
        self._work = 0
        self._roll_guessed = False
        """Whether the current sequence has a guessed roll; with more than one there are always several solutions."""

    def sequences(
        self, known: GameState, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> list[tuple[Entry, ...]]:
        """Return the sequences with this many unknown events; two are enough to show that it is ambiguous."""
        found: list[tuple[Entry, ...]] = []
        self._roll_guessed = False
        try:
            for sequence in self._search(known, known_events, unknown_count):
                if sequence not in found:
                    found.append(sequence)
                if len(found) == 2:
                    break
        except _TooManyError:
            return []
        return found

    def _search(
        self, state: GameState, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> Iterator[tuple[Entry, ...]]:
        self._spend(_ENTRY_WORK)
        if not known_events and not unknown_count and self._reached(state):
            yield ()
            return
        if known_events:
            yield from self._with_known(state, known_events, unknown_count)
        if state.stage is Stage.MOVE:
            yield from self._with_plays(state, known_events, unknown_count)
        elif unknown_count and state.stage is Stage.OPENING:
            for seat in Seat:
                yield from self._with_rolls(fast_evolve(state, turn=seat), known_events, unknown_count)
        elif unknown_count and state.stage is Stage.ROLL:
            yield from self._with_rolls(state, known_events, unknown_count)
            if self._cube_actions(state, known_events) != 0:
                yield from self._with_cube_action(state, CubeAction.DOUBLE, known_events, unknown_count)
        elif unknown_count and state.stage is Stage.DOUBLED:
            yield from self._with_cube_action(state, CubeAction.TAKE, known_events, unknown_count)
            yield from self._with_cube_action(state, CubeAction.BEAVER, known_events, unknown_count)

    def _reached(self, state: GameState) -> bool:
        goal = self._goal
        if goal.stage is Stage.MOVE and state.stage is Stage.ROLL:
            return _is_same_board(state, goal)
        return (
            state.stage is goal.stage
            and sorted(state.dice or ()) == sorted(goal.dice or ())
            and _is_same_board(state, goal)
        )

    # -- known events -------------------------------------------------------------------------------------------------

    def _with_known(
        self, state: GameState, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> Iterator[tuple[Entry, ...]]:
        event, rest = known_events[0], known_events[1:]
        if isinstance(event, Throw) and event.play is None:
            if state.stage is not Stage.MOVE:
                yield from self._continue(state, event, (), rest, unknown_count)
            elif state.turn is event.seat and sorted(state.dice or ()) == sorted(event.dice):
                yield from self._search(state, rest, unknown_count)
        elif isinstance(event, PlayWithoutRoll):
            self._spend(_ROLLS_WORK)
            for entry in possible_rolls(state, event):
                yield from self._continue(state, entry, (entry,), rest, unknown_count)
        elif not (state.stage is Stage.MOVE and isinstance(event, Throw) and event.seat is not state.turn):
            yield from self._continue(state, event, (event,), rest, unknown_count)

    def _continue(
        self,
        state: GameState,
        entry: Entry,
        entries: tuple[Entry, ...],
        known_events: tuple[KnownEvent, ...],
        unknown_count: int,
    ) -> Iterator[tuple[Entry, ...]]:
        self._spend(_ENTRY_WORK)
        try:
            after = apply(state, entry)
        except RuleError:
            return
        for sequence in self._search(after, known_events, unknown_count):
            yield (*entries, *sequence)

    # -- unknown events -----------------------------------------------------------------------------------------------

    def _with_plays(
        self, state: GameState, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> Iterator[tuple[Entry, ...]]:
        """Try every play with the dice on the board; a forced one is not counted as unknown."""
        dice, cells = state.dice or (0, 0), state.position.points
        cost = int(has_choice(cells, dice))
        if unknown_count < cost:
            return
        for steps in self._candidate_plays(state, dice, known_events, unknown_count - cost):
            play = Play.of(*sorted(steps, reverse=True))
            entry = Throw(seat=state.turn, dice=dice, play=play, at=self._at, rebuilt=bool(steps))
            yield from self._continue(state, entry, (entry,), known_events, unknown_count - cost)

    def _with_rolls(
        self, state: GameState, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> Iterator[tuple[Entry, ...]]:
        """Try every roll with every play, once per sequence, and only if the next known event is the other player's."""
        if self._roll_guessed or (known_events and known_events[0].seat is state.turn):
            return
        if unknown_count <= (self._cube_actions(state, known_events) or 0):
            return
        self._roll_guessed = True
        for dice in ALL_DICE:
            if state.stage is Stage.OPENING and dice[0] == dice[1]:
                continue
            if not self._may_be_rolled(state, dice, known_events, unknown_count - 1):
                continue
            for steps in self._candidate_plays(state, dice, known_events, unknown_count - 1):
                play = Play.of(*sorted(steps, reverse=True))
                entry = Throw(seat=state.turn, dice=dice, play=play, at=self._at, rebuilt=True)
                yield from self._continue(state, entry, (entry,), known_events, unknown_count - 1)
        self._roll_guessed = False

    def _cube_actions(self, state: GameState, known_events: tuple[KnownEvent, ...]) -> int | None:
        """Return the least number of unknown cube actions; None if one was reported."""
        goal = self._goal
        if any(isinstance(event, Cube) for event in known_events):
            return None
        if goal.stage is Stage.DOUBLED:
            return 1
        return 0 if goal.cube == state.cube else 2

    def _may_be_rolled(
        self, state: GameState, dice: Dice, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> bool:
        """Whether the checkers of the player on roll can reach the required points with these dice."""
        goal = self._required_cells(state.turn, known_events, unknown_count)
        if goal is None:
            return True
        cells, (high, low) = state.position.points, dice
        if _fewest_moves(cells, goal, goal[BAR]) > (4 if high == low else 2):
            return False
        if goal[BAR]:
            return True  # it is unknown how far a checker had come that was hit later
        pips = _pips(cells) - _pips(goal)
        if not pips:
            return not can_move(state.position, dice)
        possible = tuple(range(high, 5 * high, high)) if high == low else (low, high, low + high)
        return pips in possible or (0 < pips < possible[-1] and _own_checkers(cells) > _own_checkers(goal))

    def _candidate_plays(
        self, state: GameState, dice: Dice, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> Iterator[Steps]:
        """Yield the plays with these dice that may be part of it; the empty one if no checker can move."""
        self._spend(_ENTRY_WORK)
        cells = state.position.points
        if not can_move(state.position, dice):
            if self._may_lead(state, cells, known_events, unknown_count):
                yield ()
            return
        goal = self._required_cells(state.turn, known_events, unknown_count)

        def keep(between: Cells, left: int) -> bool:
            self._spend(1)
            return goal is None or _fewest_moves(between, goal, goal[BAR]) <= left

        for after, steps in resulting_positions_via(cells, dice, keep).items():
            if self._may_lead(state, after, known_events, unknown_count):
                yield steps

    def _required_cells(self, seat: Seat, known_events: tuple[KnownEvent, ...], unknown_count: int) -> Cells | None:
        """Return the cells that a player's checkers must be in after a play, unless they are hit later.

        None if the player may make another unknown play.
        """
        if unknown_count > (0 if known_events else 1) and not self._roll_guessed:
            return None
        goal = self._goal.position_for(seat).points
        cells = list(goal)
        for index, event in enumerate(known_events):
            if event.seat is not seat or isinstance(event, Cube):
                continue
            if event.play is not None:
                for move in event.play.moves:
                    cells[move.source] += 1
                    if move.target != OFF:
                        cells[move.target] -= 1
            elif index < len(known_events) - 1 or self._goal.stage is not Stage.MOVE:
                return None
        return tuple(cells)

    def _spend(self, work: int) -> None:
        """Add to the work done; raise _TooManyError if it is too much."""
        self._work += work
        if self._work > MAX_WORK:
            raise _TooManyError

    def _with_cube_action(
        self, state: GameState, action: CubeAction, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> Iterator[tuple[Entry, ...]]:
        seat = state.turn if state.answering is None else state.answering
        entry = Cube(seat=seat, action=action, at=self._at, rebuilt=True)
        yield from self._continue(state, entry, (entry,), known_events, unknown_count - 1)

    def _may_lead(
        self, state: GameState, cells: Cells, known_events: tuple[KnownEvent, ...], unknown_count: int
    ) -> bool:
        """Whether a play can be part of it: after it only the other side moves, which can only hit.

        `cells` are those after it, as its player sees them.
        """
        if known_events or unknown_count > 1:
            return True
        goal = self._goal.position_for(state.turn).points
        if not unknown_count and cells == goal:
            return True
        hits = goal[BAR] - cells[BAR]
        for point in range(1, BAR):
            own, later = max(cells[point], 0), max(goal[point], 0)
            if own != later:
                if (own, later) != (1, 0):
                    return False
                hits -= 1
        return hits == 0


def legal_play(state: GameState, dice: Dice, play: Play) -> Play | None:
    """Return a play in the usual order if it is legal with these dice for the player on turn; else None."""
    if not play.moves:
        return None if can_move(state.position, dice) else play
    try:
        return check_play(state.position, dice, play)
    except RuleError:
        return None


def possible_rolls(state: GameState, played: PlayWithoutRoll) -> list[Throw]:
    """Return the rolls with which a play can have been made."""
    first = state.stage is Stage.OPENING
    if not first and (state.stage is not Stage.ROLL or state.turn is not played.seat):
        return []
    possible = []
    for dice in ALL_DICE:
        if (first and dice[0] == dice[1]) or not _fits_dice(dice, played.play):
            continue
        play = legal_play(state, dice, played.play)
        if play is not None:
            possible.append(Throw(seat=played.seat, dice=dice, play=play, at=played.at, rebuilt=True))
    return possible


def _fits_dice(dice: Dice, play: Play) -> bool:
    """Whether each move uses one of the numbers, wherever the checkers are."""
    return all(move.pips in dice or (move.target == OFF and move.pips < dice[0]) for move in play.moves)
