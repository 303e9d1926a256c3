"""A strategy: in a race as fast as it can, in contact with as few blots as it can.

fibsbot demo --strategy examples/lookout.py:Lookout
fibsbot duel examples/lookout.py:Lookout random --games 100
"""

from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer


class Lookout:
    """Leave as few blots as possible; double by the pip count."""

    name = "lookout"

    def choose_play(self, state, plays):
        return PlayAnswer(min(plays, key=lambda play: self.danger(state.position.play(play))))

    @staticmethod
    def danger(position):
        """Return the blots that can be hit, then what is left to do: the pips, and the checkers on the board."""
        blots = position.points[1:25].count(1) if position.contact else 0
        return blots, position.pips, -position.off

    def offer_double(self, state):
        ahead = 1.1 * state.position.pips < state.position.opponent_pips
        return CubeAnswer(CubeAction.DOUBLE if ahead else CubeAction.ROLL)

    def answer_double(self, state):
        close = state.position.pips < 1.12 * state.position.opponent_pips
        return CubeAnswer(CubeAction.TAKE if close else CubeAction.PASS)

    def accept_resignation(self, state):
        return state.resignation > 1 or state.position.opponent_off > 0

    def resign(self, state):
        return 0

    def accept_invitation(self, opponent, length):
        return "I play short matches only." if length > 7 else None

    def close(self):
        pass
