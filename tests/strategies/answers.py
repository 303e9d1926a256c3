"""What strategies answer to the decision that a game is at."""

from __future__ import annotations

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.state import GameState
from fibsbot.strategies.base import CubeAction, NamesNumbers, Strategy


def decision(game: GameState) -> MatchState:
    """Return the decision that a game waits for."""
    state = MatchState.of(game, game.decides)
    assert state is not None
    return state


def chosen_play(strategy: Strategy, game: GameState) -> Play:
    """Return the strategy's play; where there is none, the empty one."""
    state = decision(game)
    plays = state.plays
    return strategy.choose_play(state, plays).play if plays else Play()


def chosen_name(strategy: Strategy, game: GameState) -> int:
    """Return the double or the point that the strategy names."""
    assert isinstance(strategy, NamesNumbers)
    return strategy.choose_name(decision(game))


def doubles(strategy: Strategy, game: GameState) -> bool:
    """Return whether the strategy doubles."""
    return strategy.offer_double(decision(game)).action is CubeAction.DOUBLE


def takes(strategy: Strategy, game: GameState) -> bool:
    """Return whether the strategy takes a double."""
    return strategy.answer_double(decision(game)).action is CubeAction.TAKE


def accepts(strategy: Strategy, game: GameState) -> bool:
    """Return whether the strategy accepts a resignation."""
    return strategy.accept_resignation(decision(game))
