"""The handmade strategy: every decision follows from the estimated chances of a position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fibsbot.match import MatchState, Owner
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.handmade.chances import Chances
from fibsbot.strategies.handmade.cube import Game
from fibsbot.strategies.handmade.evaluate import chances
from fibsbot.strategies.handmade.match_equity import worth_of
from fibsbot.strategies.handmade.resigning import certain_loss

BEAVER_FROM: Final = 0.1
"""Points per game that a take must promise before it becomes a beaver."""
SLACK: Final = 0.01
"""A resignation may fall short of the position by so many points per game: estimates are not exact."""


class HandmadeStrategy:
    """Play by hand-made knowledge: race, shots, points, primes and anchors; the cube by match equity."""

    name = "handmade"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the play after which the results are worth most at this score, the cube left alone."""
        worth = worth_of(state)
        levels = [(worth(level * state.cube), worth(-level * state.cube)) for level in (1, 2, 3)]
        best = None
        for play in plays:
            after = state.position.play(play)
            expected = chances(after.swapped()).reversed()
            # Where nothing is left to win or lose, fewer pips end the game sooner.
            rank = (round(_mean(expected, levels), 6), -after.pips)
            if best is None or rank > best[0]:
                best = (rank, play)
        if best is None:
            raise ValueError("expected at least one play")
        (equity, _), play = best
        return PlayAnswer(play, equity)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double when that gains, which it does neither too early nor when a gammon is worth more than a pass."""
        rolled, doubled = _roll_or_double(state)
        action = CubeAction.DOUBLE if doubled > rolled else CubeAction.ROLL
        return CubeAnswer(action, max(rolled, doubled))

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take what loses less than a pass, and beaver what clearly wins."""
        if _is_beavered(state):
            expected, owner = chances(state.position), Owner.OPPONENT
        else:
            expected, owner = chances(state.position.swapped()).reversed(), Owner.PLAYER
        equity = _game(state, expected).value(expected.win, 2 * state.cube, owner)
        if equity < -1:
            return CubeAnswer(CubeAction.PASS, -1.0)
        beaver = state.redoubles and equity > BEAVER_FROM
        return CubeAnswer(CubeAction.BEAVER if beaver else CubeAction.TAKE, equity)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept what is worth as much as playing on, even if it is our turn."""
        return worth_of(state)(state.resignation * state.cube) >= max(_roll_or_double(state)) - SLACK

    def resign(self, state: MatchState) -> int:
        """Resign what no dice can save."""
        level = certain_loss(state.position)
        _, opponent_away = state.away
        return 1 if level and 0 < opponent_away <= state.cube else level

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Play anybody at any length that the policy allows."""
        return None

    def close(self) -> None:
        """Nothing is held."""


def _mean(expected: Chances, levels: list[tuple[float, float]]) -> float:
    """Return what the results are worth on average; levels say what single game, gammon and backgammon are."""
    (won, lost), (won_gammon, lost_gammon), (won_backgammon, lost_backgammon) = levels
    return (
        expected.win * won
        + (1 - expected.win) * lost
        + expected.win_gammon * (won_gammon - won)
        + expected.lose_gammon * (lost_gammon - lost)
        + expected.win_backgammon * (won_backgammon - won_gammon)
        + expected.lose_backgammon * (lost_backgammon - lost_gammon)
    )


def _game(state: MatchState, expected: Chances) -> Game:
    return Game.of(expected, worth_of(state), state.away, jacoby=state.jacoby)


def _roll_or_double(state: MatchState) -> tuple[float, float]:
    """Return what rolling and what doubling is worth to the player on roll; the same where doubling is no use."""
    expected = chances(state.position)
    game = _game(state, expected)
    rolled = game.value(expected.win, state.cube, state.owner)
    if state.crawford or state.owner is Owner.OPPONENT or game.dead(state.cube):
        return rolled, rolled
    if game.reversed().dead(state.cube):
        # The opponent wins the match with this game in any case (after Crawford): a double risks nothing, and waiting
        # for a better moment only lets him pass then. What speaks for rolling is a gammon that wins more than a pass.
        rolled = game.dead_value(expected.win, state.cube)
    return rolled, min(game.value(expected.win, 2 * state.cube, Owner.OPPONENT), game.worth(state.cube))


def _is_beavered(state: MatchState) -> bool:
    """Whether the double to be answered is a beaver or raccoon of our own double, after which we are on roll.

    The state does not say, but who could double had the cube; a centred cube above 1 stands for a first double.
    """
    if state.length:
        return False
    return state.owner is Owner.PLAYER or (state.owner is Owner.CENTRED and state.cube > 1)
