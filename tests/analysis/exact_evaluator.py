"""Ends of races, small enough for exact values: an evaluator that is never wrong, and games to analyse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Final

from attrs import evolve

from fibsbot.match import ROLL_WAYS, ROLLS, CubeAction, MatchState, Owner, Phase
from fibsbot.position import CHECKERS, Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.permissions import refusal_to_double, refusal_to_redouble
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeValues
from fibsbot.transcript import Cube, Entry, Game, Player, Resign, Throw, Transcript, apply

MONEY: Final = evolve(FIBS, redoubles=1)


class ExactEvaluator:
    """Evaluator with exact values of races of a few checkers, each side with at least one off.

    A match at `a` away against `b` away is won with a chance of b / (a + b), which is as good as any other table.
    """

    name = "exact"

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known = lru_cache(None)(self._roll)

    def value(self, state: MatchState) -> float:
        """Return the exact equity of a position."""
        return self._normal(state, self._best(state))

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return the exact equity of each play."""
        return [self._normal(state, self._after(state, play)) for play in plays]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the exact equities of the cube actions."""
        rolled, taken = self._rolled(_bare(state)), self._taken(state, 2)
        return CubeValues(
            self._normal(state, rolled), self._normal(state, taken), self._normal(state, self.stake(state, state.cube))
        )

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the match winning chance."""
        away, opponent_away = state.away
        away, opponent_away = max(away - max(points, 0), 0), max(opponent_away - max(-points, 0), 0)
        return opponent_away / (away + opponent_away)

    def stake(self, state: MatchState, points: int) -> float:
        """Return the value of points: themselves for money, and in a match chances, from 1 for won to -1."""
        return 2 * self.match_chance(state, points) - 1 if state.length else points

    def _normal(self, state: MatchState, stake: float) -> float:
        won, lost = self.stake(state, state.cube), self.stake(state, -state.cube)
        return (2 * stake - won - lost) / (won - lost)

    def _best(self, state: MatchState) -> float:
        rolled = self._rolled(_bare(state))
        if state.crawford or state.owner is Owner.OPPONENT:
            return rolled
        doubled = min(self._taken(state, 2), self.stake(state, state.cube))
        if state.redoubles:
            doubled = min(doubled, max(self._taken(state, 4), self.stake(state, -2 * state.cube)))
        return max(rolled, doubled)

    def _taken(self, state: MatchState, times: int) -> float:
        return self._rolled(_bare(evolve(state, cube=times * state.cube, owner=Owner.OPPONENT)))

    def _rolled(self, state: MatchState) -> float:
        """Return the cached value of rolling, with the cube reduced where its height makes no difference."""
        if not state.length:
            return state.cube * self._known(evolve(state, cube=1))
        return self._known(evolve(state, cube=min(state.cube, 4)))

    def _roll(self, state: MatchState) -> float:
        total = 0.0
        for dice, ways in zip(ROLLS, ROLL_WAYS, strict=True):
            total += ways * max(self._after(state, play) for play in legal_plays(state.position, dice))
        return total / 36

    def _after(self, state: MatchState, play: Play) -> float:
        board = state.position.play(play)
        if board.off == CHECKERS:
            return self.stake(state, state.cube)
        return -self._best(_bare(evolve(state.swapped(), board=board.swapped())))


def _bare(state: MatchState) -> MatchState:
    return evolve(state, phase=Phase.ROLL, dice=None)


def race(random: Random) -> Position:
    """Set up a few checkers on each side."""
    own, theirs = ([random.choice((1, 2, 4)) for _ in range(random.choice((1, 2, 2, 3)))] for _ in range(2))
    sides = [[side.count(point) for point in range(1, 26)] for side in (own, theirs)]
    return Position.from_sides(*sides)


def begin(random: Random) -> GameState:
    """Set up a race in a match at some score, or for money."""
    length = random.choice((0, 0, 1, 3, 3))
    scores = (random.randrange(length), random.randrange(length)) if length else (0, 0)
    game = rules.start_match(MONEY, length, scores, post_crawford=random.random() < 0.5)
    cube = 1 if game.crawford else random.choice((1, 2))
    owner = None if cube == 1 else random.choice((Seat.A, Seat.B))
    turn = random.choice((Seat.A, Seat.B))
    return evolve(game, board=race(random), stage=Stage.ROLL, turn=turn, cube=cube, owner=owner, turns=30)


def played_badly(seed: int) -> Transcript:
    """Play a race at random: plays, doubles, answers and resignations."""
    random = Random(seed)
    start = state = begin(random)
    entries: list[Entry] = []
    while state.stage is not Stage.OVER:
        entry = _entry(random, state)
        entries.append(entry)
        state = apply(state, entry)
    game = Game(1, start, tuple(entries), state.result)
    return Transcript((Player("anna"), Player("bert")), start.length, (game,))


def _entry(random: Random, state: GameState) -> Entry:
    if random.random() < 0.1:
        seat = state.turn if state.answering is None else state.answering
        return Resign(seat=seat, level=Level.SINGLE, accepted=random.random() < 0.5)
    if state.stage is Stage.DOUBLED:
        assert state.answering is not None
        actions = [CubeAction.TAKE, CubeAction.PASS]
        if not refusal_to_redouble(state):
            actions.append(CubeAction.BEAVER)
        return Cube(seat=state.answering, action=random.choice(actions))
    if not refusal_to_double(state, state.turn) and random.random() < 0.4 and state.cube < 16:
        return Cube(seat=state.turn, action=CubeAction.DOUBLE)
    dice = (random.randint(1, 6), random.randint(1, 6))
    return Throw(seat=state.turn, dice=dice, play=random.choice(legal_plays(state.position, dice)))
