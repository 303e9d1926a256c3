"""Analysed matches for the tests of pages, by an evaluator that finds errors of every size."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

from attrs import evolve

from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.analysis.model import MatchAnalysis
from fibsbot.match import CubeAction, MatchState
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeValues, PlayValue, PositionValue
from fibsbot.transcript import Cube, Entry, Game, Gap, Player, Resign, Throw, Transcript, walk

CHANCES: Final = (0.6, 0.2, 0.01, 0.4, 0.1, 0.005)


class ArbitraryEvaluator:
    """Evaluator with arbitrary but repeatable values, so that there are errors of every size."""

    name = "arbitrary"

    def value(self, state: MatchState) -> float:
        """Return an arbitrary equity."""
        return self._equity(state.position)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the same with constant chances."""
        return PositionValue(self.value(state), 2, CHANCES)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return arbitrary equities."""
        return [self._equity(state.position.play(play)) for play in plays]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return equities for which any action may be the best."""
        equity = self._equity(state.position)
        return CubeValues(equity, 3 * equity, 1.0, 2, CHANCES)

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> list[PlayValue]:  # noqa: ARG002
        """Return how much each play is liked, with chances that belong to no game."""
        return [PlayValue(it, 2, CHANCES) for it in self.value_plays(state, plays)]

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return a chance that grows with the points."""
        return 0.5 + points / (2 * state.length + 2 * abs(points))

    def _equity(self, position: Position) -> float:
        return (zlib.crc32(repr(position.points).encode()) % 1000 - 500) / 2500


def analysed(transcript: Transcript, *, luck: bool = True) -> MatchAnalysis:
    """Analyse a match with that evaluator."""
    return analyse_match(transcript, ArbitraryEvaluator(), luck=luck)


def eventful(names: tuple[str, str] = ("alice", "bob")) -> Transcript:
    """Return a match to three points with entries of every kind."""
    return Transcript(
        players=(Player(names[0], 1623.4, 2396), Player(names[1])),
        length=3,
        games=(_dropped(), _gappy(), _crawford()),
        user=Seat.B,
        site="fibs.com",
    )


def ending_in_a_gap() -> Transcript:
    """Return a match of one game whose last entry is a gap."""
    whole = _gappy()
    gap = next(number for number, entry in enumerate(whole.entries) if isinstance(entry, Gap))
    return evolve(eventful(), games=(Game(1, whole.start, whole.entries[: gap + 1]),))


def _start(scores: tuple[int, int]) -> GameState:
    return rules.start_match(FIBS, 3, scores)


def _game(number: int, start: GameState, entries: tuple[Entry, ...]) -> Game:
    last = list(walk(Game(number, start, entries)))[-1].after
    return Game(number, start, entries, last.result)


def _dropped() -> Game:
    """B begins; a dance, something rebuilt, a rejected resignation, a double and a drop."""
    return _game(
        1,
        _start((0, 0)),
        (
            Throw(seat=Seat.B, dice=(3, 1), play=Play.of((8, 5), (6, 5))),
            Throw(seat=Seat.A, dice=(5, 2), play=Play.of((13, 8), (24, 22)), rebuilt=True),
            Throw(seat=Seat.B, dice=(6, 4), play=Play.of((24, 18), (18, 14)), seconds=2.5),
            Resign(seat=Seat.A, level=Level.SINGLE, accepted=False),
            Cube(seat=Seat.A, action=CubeAction.DOUBLE),
            Cube(seat=Seat.B, action=CubeAction.PASS),
        ),
    )


def _gappy() -> Game:
    """A double is taken, something is missing, and a gammon is resigned after a roll."""
    start = _start((1, 0))
    entries: tuple[Entry, ...] = (
        Throw(seat=Seat.A, dice=(6, 5), play=Play.of((24, 18), (18, 13))),
        Cube(seat=Seat.B, action=CubeAction.DOUBLE),
        Cube(seat=Seat.A, action=CubeAction.TAKE),
        Throw(seat=Seat.B, dice=(4, 4), play=Play.of((24, 20), (24, 20), (13, 9), (13, 9))),
    )
    before = list(walk(Game(2, start, entries)))[-1].after
    later = evolve(before, turns=9, turn=Seat.A, stage=Stage.ROLL)
    return _game(
        2,
        start,
        (
            *entries,
            Gap(reason="5 turns are missing", then=later),
            Throw(seat=Seat.A, dice=(6, 6)),
            Resign(seat=Seat.B, level=Level.SINGLE, accepted=True),
        ),
    )


def _crawford() -> Game:
    """First seen in the middle of it, and not to its end."""
    start = evolve(_start((1, 0)), stage=Stage.ROLL, turns=6, scores=(2, 0), crawford=True)
    return Game(3, start, (Throw(seat=Seat.A, dice=(2, 1), play=Play.of((13, 11), (6, 5))),))
