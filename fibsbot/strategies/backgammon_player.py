"""The strategy `engine` in backgammon and games that are like it: plays, and values, by our own engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import evolve

from fibsbot.engine import engine_details
from fibsbot.engine.arrays import WIN, Outcomes
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, DoubleAnswer, Stakes, accepts_resignation, level_to_resign
from fibsbot.engine.engine import Engine
from fibsbot.engine.match_equity import chance_after_points, match_chance
from fibsbot.engine.rollout.rollout_engine import RolloutEngine, RolloutLimits
from fibsbot.engine.search import PlayComparison, SearchLimits
from fibsbot.match import ROLLS, MatchState, Phase
from fibsbot.position import Play
from fibsbot.strategies.base import (
    Chances,
    CubeAnswer,
    CubeValues,
    PlayAnswer,
    PlayValue,
    PositionValue,
    gains_by_rejecting,
)
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.strategies.heuristic.strategy import is_beavered

HOPELESS: Final = 0.02
"""Chance to win, without looking ahead, above which resigning is not considered."""


class BackgammonPlayer:
    """Plays backgammon, and games that are like it, by the engine; it values what it decides."""

    def __init__(self, options: EngineOptions, engine: Engine | None = None) -> None:
        """Use the engine, or load the one that the options say. Raises NetworkError for missing or damaged networks."""
        self._engine = engine or (Engine.load(options.networks) if options.networks else Engine.load())
        self._deciding = self._engine
        """The same engine or one that rolls out close decisions."""
        if options.rollout:
            limits = RolloutLimits(options.trials, seed=options.seed, threads=options.threads)
            self._deciding = RolloutEngine.around(self._engine, limits)
        self._playing = SearchLimits(options.chequer, options.time, stop_when_decided=True)
        self._valuing = SearchLimits(options.chequer, options.time)
        self._cube = SearchLimits(options.cube, options.time)

    @property
    def details(self) -> str:
        """Version and plies, and after a semicolon the networks."""
        plays, cube = self._playing.plies, self._cube.plies
        plies = f"{plays}-ply" if plays == cube else f"plays {plays}-ply, cube {cube}-ply"
        rollouts = () if self._deciding is self._engine else ("rollouts",)
        return engine_details(self._engine.name, plies, *rollouts)

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the best play."""
        best = self._deciding.rank(state, plays, self._playing).best
        return PlayAnswer(best.play, best.equity)

    def reject_roll(self, state: MatchState) -> bool:
        """Reject the roll if a new one at twice the cube is worth more, without looking ahead."""
        return gains_by_rejecting(state, self._engine.equities_by_roll)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double if that gains."""
        verdict = self._deciding.analyse_cube(state, self._cube).verdict
        return CubeAnswer(verdict.action, verdict.best)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take if that loses less than a pass, and beaver if it wins."""
        if is_beavered(state):
            take = self._deciding.analyse_cube(state, self._cube).double_take
        else:
            take = -self._deciding.analyse_cube(_opponents_roll(state), self._cube).double_take
        passed = Stakes.of(state).loss_value if state.point_game else -1.0
        answer = DoubleAnswer.of(take, beavers=state.redoubles > 0 and not state.length, passed=passed)
        return CubeAnswer(answer.action, answer.best)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is worth as much as playing on, even with the roll."""
        return accepts_resignation(Stakes.of(state), state.owner, state.resignation, self.value(state))

    def resign(self, state: MatchState) -> int:
        """Resign a game that is certainly lost; it is searched only if it looks lost at once."""
        if self._engine.evaluate([state.position])[0, WIN] > HOPELESS:
            return 0
        reading = self._engine.analyse_cube(state, self._cube)
        return level_to_resign(
            Stakes.of(state), state.owner, reading.outcomes, DEFAULT_EFFICIENCY.of_position(state.position)
        )

    def forget(self) -> None:
        """Forget evaluated positions: it then answers as a new strategy, to the last digit."""
        self._engine.forget()

    # -- as an evaluator ------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return the value to the player on roll, with good cube play."""
        return self._engine.analyse_cube(state, self._cube).equity

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value to the player on roll, with plies and chances."""
        reading = self._engine.analyse_cube(state, self._cube)
        return PositionValue(reading.equity, reading.effort.plies, _chances(reading.outcomes))

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return the value of each play.

        Plays that were searched less deep may seem too good: none is valued higher than the best.
        """
        ranking = self._engine.rank(state, plays, self._valuing)
        values = {ranked.play: min(ranked.equity, ranking.best.equity) for ranked in ranking.plays}
        return [values[play] for play in plays]

    def value_rolls(self, state: MatchState) -> list[float]:
        """Return the value of the best play of each of the 21 rolls; without looking ahead all are valued together."""
        if not self._playing.plies:
            return self._engine.equities_by_roll(state)
        rolled = (evolve(state, phase=Phase.MOVE, dice=dice) for dice in ROLLS)
        return [self._engine.rank(decision, limits=self._valuing).best.equity for decision in rolled]

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> list[PlayValue]:
        """Return the value of each play; the one that was made is searched as deep as the best ones."""
        ranking = self._deciding.rank(state, plays, self._valuing, PlayComparison(also=made))
        most = ranking.best.equity
        values = {
            ranked.play: PlayValue(min(ranked.equity, most), ranked.plies, _chances(ranked.outcomes))
            for ranked in ranking.plays
        }
        return [values[play] for play in plays]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of doubling and not doubling."""
        reading = self._deciding.analyse_cube(state, self._cube)
        verdict = reading.verdict
        return CubeValues(
            verdict.no_double,
            verdict.double_take,
            verdict.double_pass,
            reading.effort.plies,
            _chances(reading.outcomes),
        )

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after winning this game with `points`; negative if lost.

        If a player needs only one point, this game is the Crawford game or a later one.
        """
        if state.point_game:
            return chance_after_points(state.away, points)
        own, theirs = state.away
        return match_chance(own - max(points, 0), theirs - max(-points, 0), crawford_played=1 in state.away)


def _chances(outcomes: Outcomes) -> Chances:
    win, win_gammon, win_backgammon, lose, lose_gammon, lose_backgammon = outcomes.tolist()
    return (win, win_gammon, win_backgammon, lose, lose_gammon, lose_backgammon)


def _opponents_roll(state: MatchState) -> MatchState:
    """Return the state of the opponent, who has doubled and not rolled yet."""
    return evolve(state.swapped(), phase=Phase.ROLL, dice=None)
