"""Reconstruct what happened between two views of a game.

The entries if only one sequence fits, else a gap with a reason.

Known events are taken as they are; missing ones are tried in order, the fewest first. A dance and a forced play need
not be known. Nothing is guessed: where two sequences fit, the result is a gap.

It belongs to the transcript and not to the replay, because the match store uses it as well.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.evolve import evolve
from fibsbot.match import CubeAction, Dice
from fibsbot.position import BAR, OFF, Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.plays import Cells, Steps, can_move, check_play, has_choice, play_between, resulting_positions_via
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript.model import Cube, Entry, Gap, Throw, apply

MAX_MISSING: Final = 2
"""So many things that were not told are tried at once: plays (with their throws), doubles, answers."""
MAX_WORK: Final = 330
"""Positions that are looked at before a search is given up: some milliseconds, whatever a server says."""
_ENTRY_WORK: Final = 4
"""As how many of them it counts to apply an entry to a game, or to look at another throw."""
_ROLLS_WORK: Final = 40
"""As how many of them it counts to find the throws of a play."""
ALL_DICE: Final[tuple[Dice, ...]] = tuple((high, low) for low, high in combinations_with_replacement(range(1, 7), 2))
_OWN_CHECKERS: Final[tuple[int, ...]] = (*range(60), *[0] * 60)
"""Own checkers on a point, by the content of its cell: those of the other side count from the end."""


@frozen
class PlayWithoutRoll:
    """A play that was told while its throw was not; no moves: a dance."""

    seat: Seat
    play: Play
    at: dt.datetime | None = None


KnownEvent: TypeAlias = Throw | Cube | PlayWithoutRoll
"""What was told between two views: a throw (without a play where that was not told), a cube action, a play alone."""


def reconstruct(
    known: GameState, seen: GameState, facts: Sequence[KnownEvent] = (), *, at: dt.datetime | None = None
) -> tuple[Entry, ...]:
    """Return what happened between two views of one game, or a single Gap.

    Where dice lie on the board that was seen, the entries lead to before that throw, whose play is yet to come; a gap
    leads right there. `at` is when the second view was seen. Both have to be of the same game: same length and scores.
    """
    search = _Search(seen, at)
    for missing in range(MAX_MISSING + 1):
        ways = search.ways(known, tuple(facts), missing)
        if len(ways) == 1:
            return ways[0]
        if ways:
            return (Gap(reason=_gap_reason(ways[0]), then=seen, at=at),)
    reason = "two turns or more are missing" if known.turn is seen.turn and not facts else "several turns are missing"
    return (Gap(reason=reason, then=seen, at=at),)


def is_same_state(one: GameState, other: GameState) -> bool:
    """Whether two views show the same: checkers, turn, dice, cube, score."""
    return (
        one.stage is other.stage
        and sorted(one.dice or ()) == sorted(other.dice or ())
        and one.scores == other.scores
        and one.length == other.length
        and _is_same_board(one, other)
    )


def _is_same_board(one: GameState, other: GameState) -> bool:
    """Whether checkers, turn and cube are the same."""
    return (
        one.turn is other.turn
        and one.cube == other.cube
        and one.owner is other.owner
        and one.answering is other.answering
        and one.position.points == other.position.points
    )


def _gap_reason(way: Sequence[Entry]) -> str:
    """Return the reason of a gap that this would be one way to fill."""
    turns = sum(isinstance(entry, Throw) and entry.rebuilt for entry in way)
    return ("a cube action is missing", "a turn is missing", "two turns are missing")[min(turns, 2)]


@lru_cache(maxsize=8)
def find_play(cells: Cells, dice: Dice, after: Cells) -> Play | None:
    """Return the play with these dice that leads from one row of cells to another; None where there is none.

    Both rows are seen by the player on roll. The same is asked several times in a row by those who look at a board.
    """
    if after[BAR] > cells[BAR] or not 0 < _pips(cells) - _pips(after) <= sum(dice) * (1 + (dice[0] == dice[1])):
        return None
    if whole := play_between(cells, dice, after):
        return Play.of(*whole)
    steps = resulting_positions_via(cells, dice, lambda between, left: _fewest_moves(between, after) <= left).get(after)
    return Play.of(*sorted(steps, reverse=True)) if steps else None


def _fewest_moves(cells: Cells, goal: Cells, hits: int = 0) -> int:
    """Return how many moves of the player on roll it takes at least to come from a row of cells to another.

    `hits` is how many checkers the other side may have hit in between.
    """
    changes = [_OWN_CHECKERS[later] - _OWN_CHECKERS[own] for own, later in zip(cells[1:BAR], goal[1:BAR], strict=True)]
    arriving = sum([change for change in changes if change > 0])
    return max(arriving, arriving - sum(changes) - hits)


def _own_checkers(cells: Cells) -> int:
    """Return how many checkers of the player on roll there are, on the bar too."""
    return sum([_OWN_CHECKERS[cell] for cell in cells[1:]])


def _pips(cells: Cells) -> int:
    """Return the pip count of the player on roll."""
    return sum([point * cell for point, cell in enumerate(cells) if cell > 0])


class _TooManyError(Exception):
    """The search takes too long."""


class _Search:
    """Looks for the ways that lead to a state."""

    def __init__(self, goal: GameState, at: dt.datetime | None) -> None:
        self._goal = goal
        self._at = at
        self._work = 0
        self._blind = False
        """Whether the way that is being tried has a throw in it that nobody told; more than one would tell nothing."""

    def ways(self, known: GameState, facts: tuple[KnownEvent, ...], missing: int) -> list[tuple[Entry, ...]]:
        """Return the ways with so many things that were not told; two are enough to know that there are more."""
        found: list[tuple[Entry, ...]] = []
        self._blind = False
        try:
            for way in self._from(known, facts, missing):
                if way not in found:
                    found.append(way)
                if len(found) == 2:
                    break
        except _TooManyError:
            return []
        return found

    def _from(self, state: GameState, facts: tuple[KnownEvent, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        self._count(_ENTRY_WORK)
        if not facts and not missing and self._reached(state):
            yield ()
            return
        if facts:
            yield from self._told(state, facts, missing)
        if state.stage is Stage.MOVE:
            yield from self._played(state, facts, missing)
        elif missing and state.stage is Stage.OPENING:
            for seat in Seat:
                yield from self._thrown(evolve(state, turn=seat), facts, missing)
        elif missing and state.stage is Stage.ROLL:
            yield from self._thrown(state, facts, missing)
            if self._cube_actions(state, facts) != 0:
                yield from self._turned(state, CubeAction.DOUBLE, facts, missing)
        elif missing and state.stage is Stage.DOUBLED:
            yield from self._turned(state, CubeAction.TAKE, facts, missing)
            yield from self._turned(state, CubeAction.BEAVER, facts, missing)

    def _reached(self, state: GameState) -> bool:
        goal = self._goal
        if goal.stage is Stage.MOVE and state.stage is Stage.ROLL:
            return _is_same_board(state, goal)
        return (
            state.stage is goal.stage
            and sorted(state.dice or ()) == sorted(goal.dice or ())
            and _is_same_board(state, goal)
        )

    # -- what was told ----------------------------------------------------------------------------------------------

    def _told(self, state: GameState, facts: tuple[KnownEvent, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        fact, rest = facts[0], facts[1:]
        if isinstance(fact, Throw) and fact.play is None:
            if state.stage is not Stage.MOVE:
                yield from self._after(state, fact, (), rest, missing)
            elif state.turn is fact.seat and sorted(state.dice or ()) == sorted(fact.dice):
                yield from self._from(state, rest, missing)
        elif isinstance(fact, PlayWithoutRoll):
            self._count(_ROLLS_WORK)
            for entry in possible_rolls(state, fact):
                yield from self._after(state, entry, (entry,), rest, missing)
        elif not (state.stage is Stage.MOVE and isinstance(fact, Throw) and fact.seat is not state.turn):
            yield from self._after(state, fact, (fact,), rest, missing)

    def _after(
        self, state: GameState, entry: Entry, written: tuple[Entry, ...], facts: tuple[KnownEvent, ...], missing: int
    ) -> Iterator[tuple[Entry, ...]]:
        self._count(_ENTRY_WORK)
        try:
            after = apply(state, entry)
        except RuleError:
            return
        for way in self._from(after, facts, missing):
            yield (*written, *way)

    # -- what was not told ------------------------------------------------------------------------------------------

    def _played(self, state: GameState, facts: tuple[KnownEvent, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        """Try every play with the dice on the board; one that is forced costs nothing."""
        dice, cells = state.dice or (0, 0), state.position.points
        cost = int(has_choice(cells, dice))
        if missing < cost:
            return
        for steps in self._leading(state, dice, facts, missing - cost):
            play = Play.of(*sorted(steps, reverse=True))
            entry = Throw(seat=state.turn, dice=dice, play=play, at=self._at, rebuilt=bool(steps))
            yield from self._after(state, entry, (entry,), facts, missing - cost)

    def _thrown(self, state: GameState, facts: tuple[KnownEvent, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        """Try every throw with every play, once on a way, and only where what was told next is the other player's."""
        if self._blind or (facts and facts[0].seat is state.turn):
            return
        if missing <= (self._cube_actions(state, facts) or 0):
            return
        self._blind = True
        for dice in ALL_DICE:
            if state.stage is Stage.OPENING and dice[0] == dice[1]:
                continue
            if not self._may_be_thrown(state, dice, facts, missing - 1):
                continue
            for steps in self._leading(state, dice, facts, missing - 1):
                play = Play.of(*sorted(steps, reverse=True))
                entry = Throw(seat=state.turn, dice=dice, play=play, at=self._at, rebuilt=True)
                yield from self._after(state, entry, (entry,), facts, missing - 1)
        self._blind = False

    def _cube_actions(self, state: GameState, facts: tuple[KnownEvent, ...]) -> int | None:
        """Return how many cube actions that were not told are needed at least; None where the cube was told of."""
        goal = self._goal
        if any(isinstance(fact, Cube) for fact in facts):
            return None
        if goal.stage is Stage.DOUBLED:
            return 1
        return 0 if goal.cube == state.cube else 2

    def _may_be_thrown(self, state: GameState, dice: Dice, facts: tuple[KnownEvent, ...], missing: int) -> bool:
        """Whether the checkers of the player on turn can come with these dice to where they have to stand."""
        goal = self._wanted(state.turn, facts, missing)
        if goal is None:
            return True
        cells, (high, low) = state.position.points, dice
        if _fewest_moves(cells, goal, goal[BAR]) > (4 if high == low else 2):
            return False
        if goal[BAR]:
            return True  # how far a checker had come that was hit later is not known
        pips = _pips(cells) - _pips(goal)
        if not pips:
            return not can_move(state.position, dice)
        possible = tuple(range(high, 5 * high, high)) if high == low else (low, high, low + high)
        return pips in possible or (0 < pips < possible[-1] and _own_checkers(cells) > _own_checkers(goal))

    def _leading(self, state: GameState, dice: Dice, facts: tuple[KnownEvent, ...], missing: int) -> Iterator[Steps]:
        """Yield the plays with these dice that may be on the way; the empty one where no checker can move."""
        self._count(_ENTRY_WORK)
        cells = state.position.points
        if not can_move(state.position, dice):
            if self._may_lead(state, cells, facts, missing):
                yield ()
            return
        goal = self._wanted(state.turn, facts, missing)

        def keep(between: Cells, left: int) -> bool:
            self._count(1)
            return goal is None or _fewest_moves(between, goal, goal[BAR]) <= left

        for after, steps in resulting_positions_via(cells, dice, keep).items():
            if self._may_lead(state, after, facts, missing):
                yield steps

    def _wanted(self, seat: Seat, facts: tuple[KnownEvent, ...], missing: int) -> Cells | None:
        """Return where the checkers of a player have to stand after a play, as far as they are not hit later.

        None where the player may make another play that nobody told.
        """
        if missing > (0 if facts else 1) and not self._blind:
            return None
        goal = self._goal.position_for(seat).points
        cells = list(goal)
        for index, fact in enumerate(facts):
            if fact.seat is not seat or isinstance(fact, Cube):
                continue
            if fact.play is not None:
                for move in fact.play.moves:
                    cells[move.source] += 1
                    if move.target != OFF:
                        cells[move.target] -= 1
            elif index < len(facts) - 1 or self._goal.stage is not Stage.MOVE:
                return None
        return tuple(cells)

    def _count(self, work: int) -> None:
        """Count what has been looked at; raise _TooManyError where that is too much."""
        self._work += work
        if self._work > MAX_WORK:
            raise _TooManyError

    def _turned(
        self, state: GameState, action: CubeAction, facts: tuple[KnownEvent, ...], missing: int
    ) -> Iterator[tuple[Entry, ...]]:
        seat = state.turn if state.answering is None else state.answering
        entry = Cube(seat=seat, action=action, at=self._at, rebuilt=True)
        yield from self._after(state, entry, (entry,), facts, missing - 1)

    def _may_lead(self, state: GameState, cells: Cells, facts: tuple[KnownEvent, ...], missing: int) -> bool:
        """Whether a play can be on the way: afterwards the other side alone moves, which can only hit.

        `cells` are those after it, as who made it sees them.
        """
        if facts or missing > 1:
            return True
        goal = self._goal.position_for(state.turn).points
        if not missing and cells == goal:
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
    """Return a play in the usual order if it may be made with these dice by who is on turn; else None."""
    if not play.moves:
        return None if can_move(state.position, dice) else play
    try:
        return check_play(state.position, dice, play)
    except RuleError:
        return None


def possible_rolls(state: GameState, moved: PlayWithoutRoll) -> list[Throw]:
    """Return the throws with which a play can have been made that was told alone."""
    first = state.stage is Stage.OPENING
    if not first and (state.stage is not Stage.ROLL or state.turn is not moved.seat):
        return []
    possible = []
    for dice in ALL_DICE:
        if (first and dice[0] == dice[1]) or not _fits_dice(dice, moved.play):
            continue
        play = legal_play(state, dice, moved.play)
        if play is not None:
            possible.append(Throw(seat=moved.seat, dice=dice, play=play, at=moved.at, rebuilt=True))
    return possible


def _fits_dice(dice: Dice, play: Play) -> bool:
    """Whether each move is by one of the numbers, wherever the checkers stand."""
    return all(move.pips in dice or (move.target == OFF and move.pips < dice[0]) for move in play.moves)
