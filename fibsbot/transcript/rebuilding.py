"""Works out what happened between two views of a game: the entries, where only one way leads there, else a named gap.

What was told in between is taken as it stands; what was not told is tried in order, the fewest things first. A dance
and a forced play need no telling. Nothing is ever guessed: where two ways fit, there is a gap.

It stands beside the transcript, and not with the replay, because the match store joins what it has of a match too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final, TypeAlias

from attrs import evolve, frozen

from fibsbot.match import CubeAction, Dice
from fibsbot.position import BAR, OFF, Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.plays import Cells, can_move, check_play, results
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript.model import Cube, Entry, Gap, Throw
from fibsbot.transcript.walking import apply

MOST_MISSING: Final = 2
"""So many things that were not told are tried at once: plays (with their throws), doubles, answers."""
MOST_STEPS: Final = 1500
"""So many positions are looked at before a search is given up."""
ALL_DICE: Final[tuple[Dice, ...]] = tuple((high, low) for low, high in combinations_with_replacement(range(1, 7), 2))


@frozen
class Moved:
    """A play that was told while its throw was not; no moves: a dance."""

    seat: Seat
    play: Play
    at: dt.datetime | None = None


Fact: TypeAlias = Throw | Cube | Moved
"""What was told between two views: a throw (without a play where that was not told), a cube action, a play alone."""


def between(
    known: GameState, seen: GameState, facts: Sequence[Fact] = (), *, at: dt.datetime | None = None
) -> tuple[Entry, ...]:
    """Return what happened between two views of one game, or a single Gap.

    Where dice lie on the board that was seen, the entries lead to before that throw, whose play is yet to come; a gap
    leads right there. `at` is when the second view was seen. Both have to be of the same game: same length and scores.
    """
    search = _Search(seen, at)
    for missing in range(MOST_MISSING + 1):
        ways = search.ways(known, tuple(facts), missing)
        if len(ways) == 1:
            return ways[0]
        if ways:
            return (Gap(reason=_missing(ways[0]), then=seen, at=at),)
    reason = "two turns or more are missing" if known.turn is seen.turn and not facts else "several turns are missing"
    return (Gap(reason=reason, then=seen, at=at),)


def same(one: GameState, other: GameState) -> bool:
    """Whether two views show the same: checkers, turn, dice, cube, score."""
    return (
        one.stage is other.stage
        and sorted(one.dice or ()) == sorted(other.dice or ())
        and one.scores == other.scores
        and one.length == other.length
        and _stands(one, other)
    )


def _stands(one: GameState, other: GameState) -> bool:
    """Whether checkers, turn and cube are the same."""
    return (
        one.turn is other.turn
        and one.cube == other.cube
        and one.owner is other.owner
        and one.answering is other.answering
        and one.position.points == other.position.points
    )


def _missing(way: Sequence[Entry]) -> str:
    """Return the reason of a gap that this would be one way to fill."""
    turns = sum(isinstance(entry, Throw) and entry.rebuilt for entry in way)
    return ("a cube action is missing", "a turn is missing", "two turns are missing")[min(turns, 2)]


@lru_cache(maxsize=8)
def play_to(cells: Cells, dice: Dice, after: Cells) -> Play | None:
    """Return the play with these dice that leads from one row of cells to another; None where there is none.

    Both rows are seen by the player on roll. The same is asked several times in a row by those who look at a board.
    """
    steps = results(cells, dice).get(after)
    return Play.of(*sorted(steps, reverse=True)) if steps else None


class _TooManyError(Exception):
    """The search takes too long."""


class _Search:
    """Looks for the ways that lead to a state."""

    def __init__(self, goal: GameState, at: dt.datetime | None) -> None:
        self._goal = goal
        self._at = at
        self._steps = 0
        self._blind = False
        """Whether the way that is being tried has a throw in it that nobody told; more than one would tell nothing."""

    def ways(self, known: GameState, facts: tuple[Fact, ...], missing: int) -> list[tuple[Entry, ...]]:
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

    def _from(self, state: GameState, facts: tuple[Fact, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise _TooManyError
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
            yield from self._turned(state, CubeAction.DOUBLE, facts, missing)
        elif missing and state.stage is Stage.DOUBLED:
            yield from self._turned(state, CubeAction.TAKE, facts, missing)
            yield from self._turned(state, CubeAction.BEAVER, facts, missing)

    def _reached(self, state: GameState) -> bool:
        goal = self._goal
        if goal.stage is Stage.MOVE and state.stage is Stage.ROLL:
            return _stands(state, goal)
        return (
            state.stage is goal.stage and sorted(state.dice or ()) == sorted(goal.dice or ()) and _stands(state, goal)
        )

    # -- what was told ----------------------------------------------------------------------------------------------

    def _told(self, state: GameState, facts: tuple[Fact, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        fact, rest = facts[0], facts[1:]
        if isinstance(fact, Throw) and fact.play is None:
            if state.stage is not Stage.MOVE:
                yield from self._after(state, fact, (), rest, missing)
            elif state.turn is fact.seat and sorted(state.dice or ()) == sorted(fact.dice):
                yield from self._from(state, rest, missing)
        elif isinstance(fact, Moved):
            for entry in throws_for(state, fact):
                yield from self._after(state, entry, (entry,), rest, missing)
        elif not (state.stage is Stage.MOVE and isinstance(fact, Throw) and fact.seat is not state.turn):
            yield from self._after(state, fact, (fact,), rest, missing)

    def _after(
        self, state: GameState, entry: Entry, written: tuple[Entry, ...], facts: tuple[Fact, ...], missing: int
    ) -> Iterator[tuple[Entry, ...]]:
        try:
            after = apply(state, entry)
        except RuleError:
            return
        for way in self._from(after, facts, missing):
            yield (*written, *way)

    # -- what was not told ------------------------------------------------------------------------------------------

    def _played(self, state: GameState, facts: tuple[Fact, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        """Try every play with the dice on the board; one that is forced costs nothing."""
        dice = state.dice or (0, 0)
        plays = results(state.position.points, dice) or {state.position.points: ()}
        cost = int(len(plays) > 1)
        if missing < cost:
            return
        for cells, steps in plays.items():
            if self._may_lead(state, cells, facts, missing - cost):
                play = Play.of(*sorted(steps, reverse=True))
                entry = Throw(seat=state.turn, dice=dice, play=play, at=self._at, rebuilt=bool(steps))
                yield from self._after(state, entry, (entry,), facts, missing - cost)

    def _thrown(self, state: GameState, facts: tuple[Fact, ...], missing: int) -> Iterator[tuple[Entry, ...]]:
        """Try every throw with every play, once on a way, and only where what was told next is the other player's."""
        if self._blind or (facts and facts[0].seat is state.turn):
            return
        self._blind = True
        for dice in ALL_DICE:
            if state.stage is Stage.OPENING and dice[0] == dice[1]:
                continue
            for cells, steps in (results(state.position.points, dice) or {state.position.points: ()}).items():
                if self._may_lead(state, cells, facts, missing - 1):
                    play = Play.of(*sorted(steps, reverse=True))
                    entry = Throw(seat=state.turn, dice=dice, play=play, at=self._at, rebuilt=True)
                    yield from self._after(state, entry, (entry,), facts, missing - 1)
        self._blind = False

    def _turned(
        self, state: GameState, action: CubeAction, facts: tuple[Fact, ...], missing: int
    ) -> Iterator[tuple[Entry, ...]]:
        seat = state.turn if state.answering is None else state.answering
        entry = Cube(seat=seat, action=action, at=self._at, rebuilt=True)
        yield from self._after(state, entry, (entry,), facts, missing - 1)

    def _may_lead(self, state: GameState, cells: Cells, facts: tuple[Fact, ...], missing: int) -> bool:
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


def legal(state: GameState, dice: Dice, play: Play) -> Play | None:
    """Return a play in the usual order if it may be made with these dice by who is on turn; else None."""
    if not play.moves:
        return None if can_move(state.position, dice) else play
    try:
        return check_play(state.position, dice, play)
    except RuleError:
        return None


def throws_for(state: GameState, moved: Moved) -> list[Throw]:
    """Return the throws with which a play can have been made that was told alone."""
    first = state.stage is Stage.OPENING
    if not first and (state.stage is not Stage.ROLL or state.turn is not moved.seat):
        return []
    possible = []
    for dice in ALL_DICE:
        if (first and dice[0] == dice[1]) or not _may_be(dice, moved.play):
            continue
        play = legal(state, dice, moved.play)
        if play is not None:
            possible.append(Throw(seat=moved.seat, dice=dice, play=play, at=moved.at, rebuilt=True))
    return possible


def _may_be(dice: Dice, play: Play) -> bool:
    """Whether each move is by one of the numbers, wherever the checkers stand."""
    return all(move.pips in dice or (move.target == OFF and move.pips < dice[0]) for move in play.moves)
