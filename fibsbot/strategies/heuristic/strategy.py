"""The strategy `heuristic`: every decision follows from the estimated chances of a position.

It is an evaluator as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, TypeAlias

from attrs import astuple, evolve

from fibsbot.engine.match_equity import GamePoints
from fibsbot.match import ROLLS, MatchState, Owner, Phase
from fibsbot.position import CHECKERS, Play, Position
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.laws import point_game_score, win_level
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies import base
from fibsbot.strategies.base import (
    CubeAction,
    CubeAnswer,
    CubeValues,
    Opponent,
    PlayAnswer,
    PlayValue,
    PositionValue,
    gains_by_rejecting,
)
from fibsbot.strategies.heuristic.contact import contact_chances
from fibsbot.strategies.heuristic.cube import CubeModel, OutcomeChances, PointsEquity, chance_after, points_equity
from fibsbot.strategies.heuristic.race import certain_loss, race_chances


def position_chances(position: Position) -> OutcomeChances:
    """Return the chances of the player on roll, who is about to roll."""
    if position.opponent_off == CHECKERS:
        return _chances_of_loss(position)
    if position.off == CHECKERS:
        return _chances_of_loss(position.swapped()).reversed()
    if position.contact:
        return contact_chances(position)
    cells = position.points
    own = tuple(max(n, 0) for n in cells[1:25])
    opponent = tuple(max(-n, 0) for n in cells[24:0:-1])
    return race_chances(own, opponent)


def _chances_of_loss(position: Position) -> OutcomeChances:
    """Return what a player has lost whose opponent has no checker left."""
    gammon = float(position.off == 0)
    backgammon = float(gammon and any(n > 0 for n in position.points[19:]))
    return OutcomeChances(0.0, lose_gammon=gammon, lose_backgammon=backgammon)


DIGITS: Final = 6
"""Decimals to which plays are compared: smaller differences count as equal."""
PLIES: Final = 0
"""The depth of the search: positions are evaluated without lookahead."""
Rank: TypeAlias = tuple[float, int]
"""The sort key of plays, the best the highest: the equity with the cube left alone, then minus the pips.

If nothing is left to win or lose, fewer pips end the game sooner.
"""


def game_of(state: MatchState, expected: OutcomeChances, equity: PointsEquity | None = None) -> CubeModel:
    """Return the cube model of a state, seen by the player with these chances."""
    jacoby, points = state.jacoby and not state.point_game, GamePoints.of(state)
    return CubeModel.of(expected, equity or points_equity(state), state.away, jacoby=jacoby, points=points)


def rank_plays(state: MatchState, plays: Sequence[Play]) -> list[Rank]:
    """Return the rank of each play."""
    boards = [state.position.play(play) for play in plays]
    return _ranks(state, boards, [position_chances(board.swapped()) for board in boards])


def values_of_rolls(state: MatchState) -> list[float]:
    """Return the equity of the best play of each of the 21 rolls, with the cube left alone."""
    return [_value_of_roll(evolve(state, phase=Phase.MOVE, dice=dice)) for dice in ROLLS]


def _value_of_roll(state: MatchState) -> float:
    plays = legal_plays(state.position, state.dice or (1, 1)) or (Play(),)
    return max(rank_plays(state, plays))[0]


def roll_equity(state: MatchState) -> float:
    """Return the equity of the player on roll, who doubles where that gains."""
    expected = position_chances(state.position)
    return _equity_of_game(state, game_of(state, expected), expected.win)


def roll_value(state: MatchState) -> PositionValue:
    """Return the same equity with depth and chances."""
    return PositionValue(roll_equity(state), PLIES, _all_six(position_chances(state.position)))


def play_values(state: MatchState, plays: Sequence[Play]) -> list[PlayValue]:
    """Return the equity of each play and the chances after it.

    The equity is minus that of the opponent, who may double. The strategy chooses plays with the cube left alone, so no
    play gets a higher equity than the chosen one: an evaluation by these figures agrees with the strategy's choice.
    """
    boards = [state.position.play(play) for play in plays]
    left = [position_chances(board.swapped()) for board in boards]
    ranks = _ranks(state, boards, left)
    after = evolve(state.swapped(), phase=Phase.ROLL, dice=None)
    equity = cache(points_equity(after))  # the same few results over and over
    values = [
        _won(state, board)
        if board.off == CHECKERS
        else -_equity_of_game(after, game_of(after, chances, equity), chances.win)
        for board, chances in zip(boards, left, strict=True)
    ]
    most = values[ranks.index(max(ranks))]
    return [
        PlayValue(min(value, most), PLIES, _all_six(opponents.reversed()))
        for value, opponents in zip(values, left, strict=True)
    ]


def cube_values(state: MatchState) -> CubeValues:
    """Return the equities of doubling and rolling for the player on roll, who may double."""
    expected = position_chances(state.position)
    return evolve(
        _values_of_cube(state, game_of(state, expected), expected.win), plies=PLIES, chances=_all_six(expected)
    )


def _all_six(expected: OutcomeChances) -> base.Chances:
    """Return chances as every evaluator gives them."""
    return base.six_chances(*astuple(expected))


def cube_is_open(state: MatchState) -> bool:
    """Whether the player may turn the cube, be it of use or not."""
    return state.cube_turns and state.owner is not Owner.OPPONENT


def _ranks(state: MatchState, boards: Sequence[Position], left: Sequence[OutcomeChances]) -> list[Rank]:
    equity = points_equity(state)
    points = GamePoints.of(state)
    counted = zip(points.won, points.lost, strict=True)
    levels = [(equity(won * state.cube), equity(-lost * state.cube)) for won, lost in counted]
    return [
        (round(_mean_equity(opponents.reversed(), levels), DIGITS), -board.pips)
        for board, opponents in zip(boards, left, strict=True)
    ]


def _mean_equity(expected: OutcomeChances, levels: list[tuple[float, float]]) -> float:
    """Return the average equity of the results; `levels` has those of a game, gammon and backgammon won and lost."""
    (won, lost), (won_gammon, lost_gammon), (won_backgammon, lost_backgammon) = levels
    return (
        expected.win * won
        + (1 - expected.win) * lost
        + expected.win_gammon * (won_gammon - won)
        + expected.lose_gammon * (lost_gammon - lost)
        + expected.win_backgammon * (won_backgammon - won_gammon)
        + expected.lose_backgammon * (lost_backgammon - lost_gammon)
    )


def _won(state: MatchState, board: Position) -> float:
    """Return the equity of a play that bears the last checker off."""
    if state.point_game:
        points = point_game_score(sides_of(board).opponent.row)
    else:
        unturned = state.jacoby and state.owner is Owner.CENTRED
        points = int(GamePoints.of(state).won[(1 if unturned else win_level(board)) - 1])
    return points_equity(state)(points * state.cube)


def _equity_of_game(state: MatchState, game: CubeModel, win: float) -> float:
    """Return the equity of a game for the player on roll, from its cube model and the chance to win."""
    if not state.cube_turns:
        return game.dead_value(win, state.cube)
    if cube_is_open(state):
        return _values_of_cube(state, game, win).best
    return game.value(win, state.cube, state.owner)


def _values_of_cube(state: MatchState, game: CubeModel, win: float) -> CubeValues:
    cube = state.cube
    taken, passed = game.value(win, 2 * cube, Owner.OPPONENT), game.points_equity(game.points.cashed * cube)
    if game.reversed().dead(cube) and not game.dead(cube):
        # The opponent wins the match with this game in any case (after Crawford): a double risks nothing, and waiting
        # only lets the opponent pass later. The one reason to roll is a gammon that wins more than a pass.
        rolled = game.dead_value(win, cube)
    else:
        rolled = game.value(win, cube, state.owner)
    if game.dead(cube):
        rolled = max(rolled, min(taken, passed))  # turning a cube that is of no use gains nothing
    return CubeValues(rolled, taken, passed)


BEAVER_THRESHOLD: Final = 0.1
"""The equity of a take from which it becomes a beaver."""
RESIGNATION_TOLERANCE: Final = 0.01
"""The equity by which a resignation may fall short of the position: estimates are not exact."""


class HeuristicStrategy:
    """Plays by hand-written knowledge: race, shots, points, primes and anchors; the cube by match equity."""

    name = "heuristic"
    knows_laws = True

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the play with the highest equity at this score, the cube left alone."""
        if not plays:
            raise ValueError("expected at least one play")
        ranks = rank_plays(state, plays)
        best = max(ranks)
        return PlayAnswer(plays[ranks.index(best)], best[0])

    def reject_roll(self, state: MatchState) -> bool:
        """Reject the roll if a new one at twice the cube is worth more."""
        return gains_by_rejecting(state, values_of_rolls)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double if that gains."""
        if not cube_is_open(state):
            return CubeAnswer(CubeAction.ROLL, roll_equity(state))
        values = cube_values(state)
        action = CubeAction.DOUBLE if values.double > values.no_double else CubeAction.ROLL
        return CubeAnswer(action, values.best)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take if that loses less than a pass, and beaver if it clearly wins."""
        if is_beavered(state):
            expected, owner = position_chances(state.position), Owner.OPPONENT
        else:
            expected, owner = position_chances(state.position.swapped()).reversed(), Owner.PLAYER
        game = game_of(state, expected)
        equity = game.value(expected.win, 2 * state.cube, owner)
        passed = game.points_equity(-game.points.passed * state.cube) if state.point_game else -1.0
        if equity < passed:
            return CubeAnswer(CubeAction.PASS, passed)
        beaver = state.redoubles and equity > BEAVER_THRESHOLD
        return CubeAnswer(CubeAction.BEAVER if beaver else CubeAction.TAKE, equity)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is as good as playing on, even if it is our turn."""
        points = GamePoints.of(state)
        offered = points.cashed if state.point_game else points.won[state.resignation - 1]
        return points_equity(state)(offered * state.cube) >= roll_equity(state) - RESIGNATION_TOLERANCE

    def resign(self, state: MatchState) -> int:
        """Resign a loss that no dice can change, but no Point Game: playing on brings checkers home."""
        if state.point_game:
            return 0
        level = certain_loss(state.position)
        _, opponent_away = state.away
        return 1 if level and 0 < opponent_away <= state.cube else level

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Play anybody at any length that the policy allows."""
        return None

    def close(self) -> None:
        """Do nothing: there are no resources to release."""

    # -- as an evaluator ------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return what the position is worth to the player on roll, who doubles where that gains."""
        return roll_equity(state)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return what the position is worth to the player on roll, with plies and chances."""
        return roll_value(state)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return what each play is worth, none more than the one that the strategy would choose."""
        return [play_value.equity for play_value in play_values(state, plays)]

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:  # noqa: ARG002
        """Return what each play is worth, without lookahead, and the chances that it leaves."""
        return play_values(state, plays)

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return what doubling and not doubling is worth."""
        if not cube_is_open(state):
            raise ValueError(f"expected a state in which the player may double, got {state}")
        return cube_values(state)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after this game has ended with these points."""
        return chance_after(state, points)


def is_beavered(state: MatchState) -> bool:
    """Whether the double to be answered is a beaver or raccoon of our own double, after which we are on roll.

    If the state does not say, the owner of the cube does: who could double had it. A centred cube above 1 is then taken
    to stand for our first double, though it may have been raised by automatic doubles.
    """
    if state.redoubled is not None or state.length:
        return bool(state.redoubled)
    return state.owner is Owner.PLAYER or (state.owner is Owner.CENTRED and state.cube > 1)
