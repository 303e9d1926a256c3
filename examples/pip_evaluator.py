"""An evaluator: what a position is worth by the pip count alone, so that it can analyse matches.

fibsbot analyse match.mat --evaluator examples/pip_evaluator.py:PipEvaluator --no-luck
bg.rank(board, evaluator="examples/pip_evaluator.py:PipEvaluator")
"""

from math import erf, sqrt

from fibsbot.strategies.base import CubeAction, CubeAnswer, CubeValues, PlayAnswer

PIPS_PER_ROLL = 8.17


class PipEvaluator:
    """Value positions by the race: every game is a single one, and the cube is worth nothing."""

    name = "pip-evaluator"

    @staticmethod
    def chance(own, opponent):
        """Return the chance to win of the player on roll, whose lead varies by some pips in every roll to come."""
        lead = opponent - own + PIPS_PER_ROLL / 2
        spread = 4.3 * sqrt(2 * max(own, 1) / PIPS_PER_ROLL)
        return (1 + erf(lead / spread / sqrt(2))) / 2

    def value(self, state):
        return 2 * self.chance(state.position.pips, state.position.opponent_pips) - 1

    def value_plays(self, state, plays):
        after = [state.position.play(play) for play in plays]
        return [1 - 2 * self.chance(position.opponent_pips, position.pips) for position in after]

    def value_cube(self, state):
        value = self.value(state)
        return CubeValues(no_double=value, double_take=2 * value, double_pass=1.0)

    def match_chance(self, state, points):
        own, opponent = (max(away, 0) for away in (state.away[0] - max(points, 0), state.away[1] - max(-points, 0)))
        return opponent / (own + opponent)

    # It decides as it evaluates.

    def choose_play(self, state, plays):
        value, place = max((value, -number) for number, value in enumerate(self.value_plays(state, plays)))
        return PlayAnswer(plays[-place], value)

    def offer_double(self, state):
        values = self.value_cube(state)
        return CubeAnswer(CubeAction.DOUBLE if values.double > values.no_double else CubeAction.ROLL)

    def answer_double(self, state):
        own, opponent = state.position.pips, state.position.opponent_pips
        return CubeAnswer(CubeAction.TAKE if self.chance(opponent, own) < 0.75 else CubeAction.PASS)

    def accept_resignation(self, state):
        return state.resignation > 1 or state.position.opponent_off > 0

    def resign(self, state):
        return 0

    def accept_invitation(self, opponent, length):
        return None

    def close(self):
        pass
