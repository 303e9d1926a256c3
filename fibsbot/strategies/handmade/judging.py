"""What plays, positions and cube actions are worth to the handmade strategy, which decides by these very figures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, TypeAlias

from attrs import astuple, evolve

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import CHECKERS, Play, Position
from fibsbot.rules.scoring import level_of
from fibsbot.strategies import judge
from fibsbot.strategies.handmade.chances import Chances
from fibsbot.strategies.handmade.cube import Game, Worth
from fibsbot.strategies.handmade.evaluate import chances
from fibsbot.strategies.handmade.match_equity import worth_of
from fibsbot.strategies.judge import CubeValues, PlayValue, PositionValue

DIGITS: Final = 6
"""Decimals to which plays are compared: what differs less is the same."""
PLIES: Final = 0
"""Rolls that are looked ahead: positions are valued as they stand."""
Rank: TypeAlias = tuple[float, int]
"""By what plays are compared, the best the highest: what they are worth with the cube left alone, and then pips.

Where nothing is left to win or lose, fewer pips end the game sooner.
"""


def game_of(state: MatchState, expected: Chances, worth: Worth | None = None) -> Game:
    """Return the game that is played in this state, as the player who has these chances sees it."""
    return Game.of(expected, worth or worth_of(state), state.away, jacoby=state.jacoby)


def rank_plays(state: MatchState, plays: Sequence[Play]) -> list[Rank]:
    """Return the rank of each play."""
    boards = [state.position.play(play) for play in plays]
    return _ranks(state, boards, [chances(board.swapped()) for board in boards])


def value(state: MatchState) -> float:
    """Return what the position is worth to the player on roll, who doubles where that gains."""
    expected = chances(state.position)
    return _value(state, game_of(state, expected), expected.win)


def value_position(state: MatchState) -> PositionValue:
    """Return the same with how far was looked, and the chances."""
    return PositionValue(value(state), PLIES, _told(chances(state.position)))


def compare_plays(state: MatchState, plays: Sequence[Play]) -> list[PlayValue]:
    """Return what each play is worth, and the chances that it leaves.

    It is worth what the opponent, who may double, loses by what it leaves. Plays are compared with the cube left alone.
    One that would be worth more with it than the play which that prefers is worth just as much: whoever judges by these
    figures plays as the strategy does.
    """
    boards = [state.position.play(play) for play in plays]
    left = [chances(board.swapped()) for board in boards]
    ranks = _ranks(state, boards, left)
    after = evolve(state.swapped(), phase=Phase.ROLL, dice=None)
    worth = cache(worth_of(after))  # the same few results over and over
    values = [
        _won(state, board) if board.off == CHECKERS else -_value(after, game_of(after, it, worth), it.win)
        for board, it in zip(boards, left, strict=True)
    ]
    most = values[ranks.index(max(ranks))]
    return [
        PlayValue(min(it, most), PLIES, _told(opponents.reversed())) for it, opponents in zip(values, left, strict=True)
    ]


def value_cube(state: MatchState) -> CubeValues:
    """Return what doubling and not doubling is worth to the player on roll, to whom the cube is open."""
    expected = chances(state.position)
    return evolve(_cube_values(state, game_of(state, expected), expected.win), plies=PLIES, chances=_told(expected))


def _told(expected: Chances) -> judge.Chances:
    """Return chances as every judge says them."""
    return judge.all_chances(*astuple(expected))


def cube_is_open(state: MatchState) -> bool:
    """Whether the player may turn the cube, be it of use or not."""
    return not (state.crawford or state.cubeless) and state.owner is not Owner.OPPONENT


def _ranks(state: MatchState, boards: Sequence[Position], left: Sequence[Chances]) -> list[Rank]:
    worth = worth_of(state)
    levels = [(worth(level * state.cube), worth(-level * state.cube)) for level in (1, 2, 3)]
    return [
        (round(_mean(opponents.reversed(), levels), DIGITS), -board.pips)
        for board, opponents in zip(boards, left, strict=True)
    ]


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


def _won(state: MatchState, board: Position) -> float:
    """Return what a play is worth that bears the last checker off."""
    level = 1 if state.jacoby and state.owner is Owner.CENTRED else level_of(board)
    return worth_of(state)(level * state.cube)


def _value(state: MatchState, game: Game, win: float) -> float:
    """Return what a game is worth to the player on roll, whose position does not matter any more."""
    if state.crawford or state.cubeless:
        return game.dead_value(win, state.cube)
    if cube_is_open(state):
        return _cube_values(state, game, win).best
    return game.value(win, state.cube, state.owner)


def _cube_values(state: MatchState, game: Game, win: float) -> CubeValues:
    cube = state.cube
    taken, passed = game.value(win, 2 * cube, Owner.OPPONENT), game.worth(cube)
    if game.reversed().dead(cube) and not game.dead(cube):
        # The opponent wins the match with this game in any case (after Crawford): a double risks nothing, and waiting
        # for a better moment only lets him pass then. What speaks for rolling is a gammon that wins more than a pass.
        rolled = game.dead_value(win, cube)
    else:
        rolled = game.value(win, cube, state.owner)
    if game.dead(cube):
        rolled = max(rolled, min(taken, passed))  # nobody gains by turning a cube that is of no use to him
    return CubeValues(rolled, taken, passed)
