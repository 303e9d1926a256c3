"""Decisions and values of the strategy `engine`, in the types of strategies and evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

from attrs import evolve, frozen

from fibsbot import __version__
from fibsbot.engine.arrays import WIN, Outcomes
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, DoubleAnswer, Stakes, accepts_resignation, level_to_resign
from fibsbot.engine.engine import Engine
from fibsbot.engine.match_equity import match_chance
from fibsbot.engine.search import PlayComparison, SearchLimits
from fibsbot.match import ROLLS, MatchState, Phase
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.strategies.engine import EngineOptions
from fibsbot.strategies.evaluator import Chances, CubeValues, PlayValue, PositionValue
from fibsbot.strategies.heuristic.strategy import is_beavered

HOPELESS: Final = 0.02
"""The chance to win, without looking ahead, above which nobody thinks of resigning."""


@frozen
class EngineDecisions:
    """An engine, and how far it looks."""

    engine: Engine
    playing: SearchLimits
    cube: SearchLimits

    @classmethod
    def of(cls, engine: Engine, options: EngineOptions) -> Self:
        """Return the mind that these options describe."""
        return cls(
            engine,
            SearchLimits(options.chequer, options.time, stop_when_decided=True),
            SearchLimits(options.cube, options.time),
        )

    @property
    def details(self) -> str:
        """Version, plies and networks."""
        plays, cube = self.playing.plies, self.cube.plies
        plies = f"{plays}-ply" if plays == cube else f"plays {plays}-ply, cube {cube}-ply"
        return f"fibsbot {__version__}, {plies}, {self.engine.name}"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the play that is worth most."""
        best = self.engine.rank(state, plays, self.playing).best
        return PlayAnswer(best.play, best.equity)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double where that gains."""
        verdict = self.engine.analyse_cube(state, self.cube).verdict
        return CubeAnswer(verdict.action, verdict.best)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take what loses less than a pass, and beaver what wins."""
        if is_beavered(state):
            take = self.engine.analyse_cube(state, self.cube).double_take
        else:
            take = -self.engine.analyse_cube(_opponents_roll(state), self.cube).double_take
        answer = DoubleAnswer.of(take, beavers=state.redoubles > 0 and not state.length)
        return CubeAnswer(answer.action, answer.best)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept what is worth as much as playing on, even if it is our turn."""
        return accepts_resignation(Stakes.of(state), state.owner, state.resignation, self.value(state))

    def resign(self, state: MatchState) -> int:
        """Resign what is lost for certain; only where it looks so at once is it looked at closely."""
        if self.engine.evaluate([state.position])[0, WIN] > HOPELESS:
            return 0
        reading = self.engine.analyse_cube(state, self.cube)
        return level_to_resign(
            Stakes.of(state), state.owner, reading.outcomes, DEFAULT_EFFICIENCY.of_position(state.position)
        )

    def value(self, state: MatchState) -> float:
        """Return what the position is worth to the player on roll, who doubles where that gains."""
        return self.engine.analyse_cube(state, self.cube).equity

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the same with how far was looked, and the chances."""
        reading = self.engine.analyse_cube(state, self.cube)
        return PositionValue(reading.equity, reading.effort.plies, _chances(reading.outcomes))

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return what each play is worth.

        What is looked at less far seems better than it is now and then: it is worth no more than the best.
        """
        ranking = self.engine.rank(state, plays, evolve(self.playing, stop_when_decided=False))
        worths = {ranked.play: min(ranked.equity, ranking.best.equity) for ranked in ranking.plays}
        return [worths[play] for play in plays]

    def value_rolls(self, state: MatchState) -> list[float]:
        """Return what each of the 21 rolls is worth, played best; without looking ahead all are valued together."""
        if not self.playing.plies:
            return self.engine.equities_by_roll(state)
        thrown = (evolve(state, phase=Phase.MOVE, dice=dice) for dice in ROLLS)
        return [self.engine.rank(it, limits=evolve(self.playing, stop_when_decided=False)).best.equity for it in thrown]

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> list[PlayValue]:
        """Return what each play is worth; the one that was made and those that come close are looked at as far."""
        limits = evolve(self.playing, stop_when_decided=False)
        ranking = self.engine.rank(state, plays, limits, PlayComparison(also=made))
        most = ranking.best.equity
        values = {it.play: PlayValue(min(it.equity, most), it.plies, _chances(it.outcomes)) for it in ranking.plays}
        return [values[play] for play in plays]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return what doubling and not doubling is worth."""
        reading = self.engine.analyse_cube(state, self.cube)
        verdict = reading.verdict
        return CubeValues(
            verdict.no_double,
            verdict.double_take,
            verdict.double_pass,
            reading.effort.plies,
            _chances(reading.outcomes),
        )

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return how likely the match is won after so many points.

        Where somebody needs one point already, the game that is played now is the Crawford game or comes after it.
        """
        own, theirs = state.away
        return match_chance(own - max(points, 0), theirs - max(-points, 0), crawford_played=1 in state.away)


def _chances(outcomes: Outcomes) -> Chances:
    win, win_gammon, win_backgammon, lose, lose_gammon, lose_backgammon = outcomes.tolist()
    return (win, win_gammon, win_backgammon, lose, lose_gammon, lose_backgammon)


def _opponents_roll(state: MatchState) -> MatchState:
    """Return the state of the opponent, who has doubled and not thrown yet."""
    return evolve(state.swapped(), phase=Phase.ROLL, dice=None)
