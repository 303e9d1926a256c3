"""What can be said of the missing parts of a game, by the kind of its board.

On the board of backgammon the only possible sequence of entries is searched for (reconstruction.py). In other games
a play follows where only one leads to the board that was seen; anything else is a gap.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final, Protocol

from fibsbot.position import CHECKERS, Play
from fibsbot.rules import game as rules
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.general_plays import legal_plays
from fibsbot.rules.plays import has_choice, resulting_positions
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import GameState, Stage
from fibsbot.transcript.model import Entry, Gap, Throw
from fibsbot.transcript.reconstruction import (
    KnownEvent,
    PlayWithoutRoll,
    ReportedEvent,
    find_play,
    possible_rolls,
    reconstruct,
)

NOT_SEEN: Final = "what happened was not seen"


class MissingParts(Protocol):
    """Finds what must have happened. States are in MOVE where plays are asked for."""

    def in_order(self, play: Play) -> Play:
        """Return a play with its moves in the usual order."""
        ...

    def only_play(self, state: GameState) -> Play | None:
        """Return the play if there is no choice: a dance, or the only one."""
        ...

    def last_play(self, state: GameState) -> Play | None:
        """Return the play that ends the game, if only one does."""
        ...

    def play_to(self, state: GameState, seen: GameState) -> Play | None:
        """Return the play that leads to the board that was seen, if only one does."""
        ...

    def possible_rolls(self, state: GameState, played: PlayWithoutRoll) -> list[Throw]:
        """Return the rolls with which a play can have been made."""
        ...

    def entries(
        self, known: GameState, seen: GameState, events: Sequence[ReportedEvent], at: dt.datetime | None
    ) -> tuple[Entry, ...]:
        """Return the entries between two views of the game, given the events that were reported; see `reconstruct`."""
        ...


class _OnPosition:
    """Missing parts of games whose board is a `Position`."""

    @staticmethod
    def in_order(play: Play) -> Play:
        return Play(tuple(play.ordered))

    @staticmethod
    def only_play(state: GameState) -> Play | None:
        cells, dice = state.position.points, state.dice or ()
        if has_choice(cells, dice):
            return None
        return Play.of(*sorted(next(iter(resulting_positions(cells, dice).values()), ()), reverse=True))

    @staticmethod
    def last_play(state: GameState) -> Play | None:
        if CHECKERS - state.position.off > 4:
            return None
        reached = resulting_positions(state.position.points, state.dice or ())
        last = [steps for cells, steps in reached.items() if max(cells) <= 0]
        return Play.of(*sorted(last[0], reverse=True)) if len(last) == 1 else None

    @staticmethod
    def play_to(state: GameState, seen: GameState) -> Play | None:
        if seen.turn is not state.turn.other:
            return None
        return find_play(state.position.points, state.dice or (), seen.position_for(state.turn).points)

    @staticmethod
    def possible_rolls(state: GameState, played: PlayWithoutRoll) -> list[Throw]:
        return possible_rolls(state, played)

    @staticmethod
    def entries(
        known: GameState, seen: GameState, events: Sequence[ReportedEvent], at: dt.datetime | None
    ) -> tuple[Entry, ...]:
        return reconstruct(known, seen, [event for event in events if isinstance(event, KnownEvent)], at=at)


class _OnSides:
    """Missing parts of all other games."""

    @staticmethod
    def in_order(play: Play) -> Play:
        return play

    @staticmethod
    def only_play(state: GameState) -> Play | None:
        plays = legal_plays(state.rules, state.sides, state.part) or (Play(),)
        return plays[0] if len(plays) == 1 else None

    @staticmethod
    def last_play(state: GameState) -> Play | None:
        plays = legal_plays(state.rules, state.sides, state.part)
        last = [play for play in plays if rules.play(state, state.turn, play).stage is Stage.OVER]
        return last[0] if len(last) == 1 else None

    @staticmethod
    def play_to(state: GameState, seen: GameState) -> Play | None:
        goal = _rows(seen, state)
        plays = legal_plays(state.rules, state.sides, state.part) or (Play(),)
        found = [play for play in plays if _rows(rules.play(state, state.turn, play), state) == goal]
        return found[0] if len(found) == 1 else None

    @staticmethod
    def possible_rolls(_: GameState, __: PlayWithoutRoll) -> list[Throw]:
        return []

    @staticmethod
    def entries(
        _: GameState, seen: GameState, events: Sequence[ReportedEvent], at: dt.datetime | None
    ) -> tuple[Entry, ...]:
        rolled = tuple(event for event in events[:1] if isinstance(event, Throw))
        return (*rolled, Gap(reason=NOT_SEEN, then=seen, at=at))


def _rows(state: GameState, seen_by: GameState) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return where the checkers of both sides are, that of the player on turn in another state first."""
    sides = state.sides_for(seen_by.turn)
    return sides.own.row, sides.opponent.row


_ON_POSITION: Final[MissingParts] = _OnPosition()
_ON_SIDES: Final[MissingParts] = _OnSides()


def missing_parts_of(ruleset: Ruleset) -> MissingParts:
    """Return what finds the missing parts of a game."""
    return _ON_POSITION if is_backgammon(ruleset) else _ON_SIDES
