"""The strategy `engine` in games that are not like backgammon: it plays by the network of the game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fibsbot.engine.family.evaluator import MOST_PLIES, TableEvaluator
from fibsbot.engine.family.network import network_of_game
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.general_plays import outcome, turn_over
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import Naming
from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer
from fibsbot.strategies.simple_players import ValuingPlayer

DOUBLE_FROM: Final = 0.7
"""The chance to win from which it doubles."""
TOO_GOOD: Final = 0.9
"""Expected points, without the cube, above which it plays on for a gammon."""
TAKE_FROM: Final = -0.5
"""Expected points, without the cube, from which it takes: passing loses half of what a doubled game is played for."""


class NetworkPlayer(ValuingPlayer):
    """Chooses plays by a network of the game that was learned by self-play; the cube by the expected points.

    It does not know the score of a match, but does not double where the present cube is enough to win it.
    """

    name = "engine"

    def __init__(self, plies: int = MOST_PLIES, folder: Path | None = None) -> None:
        """Look this many plies ahead, or as many as it can, when it chooses a play.

        `folder` has networks, called NAME.npz as `fibsbot train --game` writes them, to use in place of the bundled.
        """
        self._plies = min(plies, MOST_PLIES)
        self._folder = folder
        self._evaluators: dict[str, TableEvaluator] = {}

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the best play, after what follows in the turn and, with a ply, after every roll of the opponent."""
        if len(plays) < 2:
            return PlayAnswer(plays[0])
        found = [(sides_of(board), len(play)) for board, play in zip(state.boards_after(plays), plays, strict=True)]
        best = self._evaluator(state).best_play(state.sides, state.todo, found, passed=state.passed, plies=self._plies)
        return PlayAnswer(plays[best])

    def values(self, state: MatchState, boards: Sequence[Sides]) -> Sequence[float]:
        """Return the points that the mover can expect with each of these boards, without the cube."""
        evaluator = self._evaluator(state)
        # What follows in the turn is not looked at here: only what is named is chosen by these values.
        goes_on = state.naming is Naming.DOUBLE or state.passed or len(state.todo) > 1
        if state.naming is Naming.POINT:
            goes_on = not state.on_turn
        if goes_on:
            points = evaluator.points(boards).tolist()
        else:
            points = [-point for point in evaluator.points([turn_over(sides) for sides in boards]).tolist()]
        return [_settled(state, sides, point) for sides, point in zip(boards, points, strict=True)]

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double if a win is likely enough, and not so likely that playing on for more is better."""
        if state.length and state.score[0] + state.cube >= state.length:
            return CubeAnswer(CubeAction.ROLL)
        chance, points = self._prospects(state)
        doubles = chance >= DOUBLE_FROM and points <= TOO_GOOD
        return CubeAnswer(CubeAction.DOUBLE if doubles else CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take if less is lost by playing on at twice the stake than by passing."""
        takes = self._prospects(state)[1] >= TAKE_FROM
        return CubeAnswer(CubeAction.TAKE if takes else CubeAction.PASS)

    def accept_resignation(self, state: MatchState) -> bool:
        """Return whether the offer is at least what playing on would bring."""
        return state.resignation_points >= self._prospects(state)[1] * state.cube

    def _prospects(self, state: MatchState) -> tuple[float, float]:
        """Return the player's chance to win and expected points, without the cube.

        Whose turn it is rolls next.
        """
        evaluator = self._evaluator(state)
        board = [state.sides if state.on_turn else state.sides.swapped()]
        chances, points = evaluator.chances(board)[0].tolist(), float(evaluator.points(board)[0])
        return (chances[0], points) if state.on_turn else (chances[3], -points)

    def _evaluator(self, state: MatchState) -> TableEvaluator:
        name = state.rules.full_name
        if name not in self._evaluators:
            self._evaluators[name] = TableEvaluator(state.rules, network_of_game(state.rules.name, self._folder))
        return self._evaluators[name]


def _settled(state: MatchState, sides: Sides, points: float) -> float:
    """Return what a board is worth: the points won or lost if it ends the game, else those that are expected."""
    ended = outcome(state.rules, state.sides, sides)
    return points if ended is None else float(ended.winner * ended.points)
