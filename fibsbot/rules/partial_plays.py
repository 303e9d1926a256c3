"""Plays as a person makes them: checker by checker, in any order that leads to a legal play, in every game."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TypeAlias

from attrs import evolve, frozen

from fibsbot.position import Move, Play
from fibsbot.rules.general_plays import ends_at_once, make_move, resulting_boards
from fibsbot.rules.ruleset import Numbers, Part, Ruleset
from fibsbot.rules.sides import HAND, OFF, Sides
from fibsbot.rules.state import GameState


@frozen
class NumberMove:
    """A move, and the number that it takes: two numbers may bear the same checker off."""

    move: Move
    number: int


@frozen
class PartialPlay:
    """The beginning of a legal play, perhaps a whole one."""

    rules: Ruleset
    start: Sides
    """The board before the play, the player's own side first."""
    part: Part
    board: Sides
    """The board after the moves made so far."""
    left: Numbers
    """The numbers not played yet."""
    moves: tuple[NumberMove, ...] = ()
    ended: bool = False
    """Whether the last move has ended the game."""

    @classmethod
    def of(cls, state: GameState) -> PartialPlay:
        """Return the play before its first move. Raises RollFirstError if there is nothing to play."""
        return cls(state.rules, state.sides, state.part, state.sides, state.part.numbers)

    @property
    def play(self) -> Play:
        """The moves made so far."""
        return Play(tuple(made.move for made in self.moves))

    @property
    def whole(self) -> bool:
        """Whether the moves made so far are a legal play."""
        results = resulting_boards(self.rules, self.start, self.part)
        if not results:
            return not self.moves
        if self.board not in results:
            return False
        return self.ended or not self.part.compulsory or len(self.moves) == len(results[self.board])

    @cached_property
    def following(self) -> tuple[NumberMove, ...]:
        """The moves that may come next: those after which a legal play is left."""
        known = _endings(self.rules, self.start, self.part)
        return tuple(made for made, after in self._next.items() if after.leads_to_play(known))

    @cached_property
    def _next(self) -> dict[NumberMove, PartialPlay]:
        """The play with each move that can be made now."""
        return dict(self.next_moves())

    def after(self, made: NumberMove) -> PartialPlay:
        """Return the play with one of the moves of `following`. Raises KeyError for another move."""
        return self._next[made]

    def after_all(self, play: Play) -> PartialPlay:
        """Return the play with all moves of a legal play, in its order if they can be made so. Raises ValueError."""
        found = _after_moves(self, play.moves, _endings(self.rules, self.start, self.part))
        if found is None:
            raise ValueError(f"expected a legal play, got {play}")
        return found

    def leads_to_play(self, known: Endings) -> bool:
        """Return whether these moves are a legal play or the beginning of one; `known` remembers what was found."""
        last = self.moves[-1].move.target if self.moves and self.part.one_checker else 0
        key = self.board, self.left, last, self.ended
        if key not in known:
            known[key] = self.whole or any(after.leads_to_play(known) for after in self._next.values())
        return known[key]

    def next_moves(self) -> list[tuple[NumberMove, PartialPlay]]:
        """Return every move that can be made now, and the play with it, whether or not it leads to a legal play."""
        left, board, part = self.left, self.board, self.part
        sources = [place for place in range(HAND, OFF, -1) if board.own.row[place]]
        if part.one_checker and self.moves:
            sources = [self.moves[-1].move.target]
        if self.ended or OFF in sources:
            return []
        found = []
        for number in left[:1] if part.ordered else sorted(set(left), reverse=True):
            at = left.index(number)
            for source in sources:
                made = make_move(self.rules, board, source, number)
                if isinstance(made, tuple):
                    target, after = made
                    step = NumberMove(Move(source, target), number)
                    ended = (target == OFF and after.own.all_off) or ends_at_once(self.rules, board, after) is not None
                    rest = left[:at] + left[at + 1 :]
                    found.append((step, evolve(self, board=after, left=rest, moves=(*self.moves, step), ended=ended)))
        return found


Endings: TypeAlias = dict[tuple[Sides, Numbers, int, bool], bool]
"""By board, numbers left, place of the only checker that may move, and end of the game: whether it leads to a play."""


@lru_cache(8)
def _endings(rules: Ruleset, start: Sides, part: Part) -> Endings:  # noqa: ARG001 - what the endings belong to
    return {}


def _after_moves(begun: PartialPlay, moves: tuple[Move, ...], known: Endings) -> PartialPlay | None:
    """Return a partial play with further moves, in their order if possible; None if they do not make it whole."""
    if not moves:
        return begun if begun.whole else None
    possible = begun.next_moves()
    for index, move in enumerate(moves):
        for made, after in possible:
            if made.move == move and after.leads_to_play(known):
                found = _after_moves(after, moves[:index] + moves[index + 1 :], known)
                if found is not None:
                    return found
    return None
