"""Tables games that are backgammon from another set-up, played by strategies for backgammon."""

from __future__ import annotations

from fibsbot.games.backgammons import backgammon_state
from fibsbot.games.game import TableGame
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import decision
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAction, Strategy


class BackgammonTableStrategy:
    """Asks a strategy for backgammon about games for which `games.backgammons.is_backgammon` is true."""

    def __init__(self, strategy: Strategy) -> None:
        """Ask this strategy; it is closed by its owner."""
        self.name = strategy.name
        self._strategy = strategy

    def choose_play(self, game: TableGame) -> Play:
        """Return the strategy's play; it is not asked where there is no choice."""
        state = _decision(game)
        plays = legal_plays(state.position, state.dice or (0, 0))
        if len(plays) < 2:
            return plays[0] if plays else Play()
        return self._strategy.choose_play(state, plays).play

    def choose_name(self, game: TableGame) -> int:
        """Raise RuleError: nothing is named in backgammon."""
        raise RuleError(f"there is nothing to name in {game.rules.title}")

    def offer_double(self, game: TableGame) -> bool:
        """Return whether the strategy doubles."""
        return self._strategy.offer_double(_decision(game)).action is CubeAction.DOUBLE

    def answer_double(self, game: TableGame) -> bool:
        """Return whether the strategy takes."""
        return self._strategy.answer_double(_decision(game)).action is not CubeAction.PASS

    def accept_resignation(self, game: TableGame) -> bool:
        """Return whether the strategy accepts."""
        return self._strategy.accept_resignation(_decision(game))

    def resign(self, game: TableGame) -> Level | None:
        """Return how much the strategy resigns."""
        level = self._strategy.resign(_decision(game))
        return Level(level) if level else None

    def close(self) -> None:
        """Release nothing."""


def _decision(game: TableGame) -> MatchState:
    """Return the decision as strategies for backgammon see it. Raises RuleError if there is none."""
    seat = game.decides
    state = None if seat is None else decision(backgammon_state(game), seat)
    if state is None:
        raise RuleError("there is nothing to decide")
    return state
