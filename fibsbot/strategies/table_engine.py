"""The strategy `engine` for tables games: the engine for those that are backgammon, a network for each other game."""

from __future__ import annotations

from functools import cached_property

from fibsbot.games.backgammons import is_backgammon
from fibsbot.games.game import TableGame
from fibsbot.position import Play
from fibsbot.rules.laws import Level
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.strategies.engine_strategy import EngineStrategy
from fibsbot.strategies.table_backgammon import BackgammonTableStrategy
from fibsbot.strategies.table_network import NetworkTableStrategy


class EngineTableStrategy:
    """Plays games that are backgammon from another set-up by the engine, and every other one by its own network."""

    def __init__(self, options: str = "") -> None:
        """Take the options of the engine; a network takes the plies for plays and the folder. Raises ValueError."""
        parsed = EngineOptions.parse(options)
        self.name = f"engine:{options}" if options else "engine"
        self._options = options
        self._network = NetworkTableStrategy(parsed.chequer, parsed.networks)

    @cached_property
    def _backgammon(self) -> BackgammonTableStrategy:
        """The engine. Raises NetworkError if its networks are missing or damaged."""
        return BackgammonTableStrategy(EngineStrategy(self._options))

    def choose_play(self, game: TableGame) -> Play:
        """Return the best play."""
        return self._player(game).choose_play(game)

    def choose_name(self, game: TableGame) -> int:
        """Return the best choice."""
        return self._player(game).choose_name(game)

    def offer_double(self, game: TableGame) -> bool:
        """Return whether a double gains."""
        return self._player(game).offer_double(game)

    def answer_double(self, game: TableGame) -> bool:
        """Return whether less is lost by taking than by passing."""
        return self._player(game).answer_double(game)

    def accept_resignation(self, game: TableGame) -> bool:
        """Return whether the offer is at least what playing on would bring."""
        return self._player(game).accept_resignation(game)

    def resign(self, game: TableGame) -> Level | None:
        """Resign a game of backgammon that is certainly lost, and no other game."""
        return self._player(game).resign(game)

    def close(self) -> None:
        """Release nothing."""

    def _player(self, game: TableGame) -> BackgammonTableStrategy | NetworkTableStrategy:
        return self._backgammon if is_backgammon(game.rules) else self._network
