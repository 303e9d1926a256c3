"""The strategy `engine` for tables games: the engine for those that are backgammon, a network for each other game.

A network chooses the play with the best board, up to one roll ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from fibsbot.engine.family.evaluator import MOST_PLIES, TableEvaluator
from fibsbot.engine.family.network import network_of_game
from fibsbot.position import Play
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.general_plays import outcome, resulting_tables, turn_over
from fibsbot.rules.laws import Level
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import GameState, Naming, Seat
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.strategies.engine_strategy import EngineStrategy
from fibsbot.strategies.table_games import BackgammonTableStrategy, ValuingStrategy


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

    def choose_play(self, game: GameState) -> Play:
        """Return the best play."""
        return self._player(game).choose_play(game)

    def choose_name(self, game: GameState) -> int:
        """Return the best choice."""
        return self._player(game).choose_name(game)

    def offer_double(self, game: GameState) -> bool:
        """Return whether a double gains."""
        return self._player(game).offer_double(game)

    def answer_double(self, game: GameState) -> bool:
        """Return whether less is lost by taking than by passing."""
        return self._player(game).answer_double(game)

    def accept_resignation(self, game: GameState) -> bool:
        """Return whether the offer is at least what playing on would bring."""
        return self._player(game).accept_resignation(game)

    def resign(self, game: GameState) -> Level | None:
        """Resign a game of backgammon that is certainly lost, and no other game."""
        return self._player(game).resign(game)

    def close(self) -> None:
        """Release nothing."""

    def _player(self, game: GameState) -> BackgammonTableStrategy | NetworkTableStrategy:
        return self._backgammon if is_backgammon(game.rules) else self._network


DOUBLE_FROM: Final = 0.7
"""The chance to win from which it doubles."""
TOO_GOOD: Final = 0.9
"""Expected points, without the cube, above which it plays on for a gammon."""
TAKE_FROM: Final = -0.5
"""Expected points, without the cube, from which it takes: passing loses half of what a doubled game is played for."""


class NetworkTableStrategy(ValuingStrategy):
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

    def choose_play(self, game: GameState) -> Play:
        """Return the best play, after what follows in the turn and, with a ply, after every roll of the opponent."""
        plays = resulting_tables(game.rules, game.sides, game.part)
        if len(plays) < 2:
            return Play(next(iter(plays.values()), ()))
        found = [(sides, len(moves)) for sides, moves in plays.items()]
        best = self._evaluator(game).best_play(game.sides, game.turn_left, found, passed=game.passed, plies=self._plies)
        return Play(plays[found[best][0]])

    def values(self, game: GameState, tables: Sequence[Sides]) -> Sequence[float]:
        """Return the points that the mover can expect with each of these boards, without the cube."""
        evaluator = self._evaluator(game)
        # What follows in the turn is not looked at here: only what is named is chosen by these values.
        goes_on = game.naming is Naming.DOUBLE or game.passed or len(game.turn_left) > 1
        if game.naming is Naming.POINT:
            goes_on = game.namer is not game.turn
        if goes_on:
            points = evaluator.points(tables).tolist()
        else:
            points = [-it for it in evaluator.points([turn_over(sides) for sides in tables]).tolist()]
        return [_settled(game, sides, it) for sides, it in zip(tables, points, strict=True)]

    def offer_double(self, game: GameState) -> bool:
        """Return whether a win is likely enough, and not so likely that playing on for more is better."""
        seat = game.turn
        if game.length and game.scores[seat] + game.cube >= game.length:
            return False
        chance, points = self._prospects(game, seat)
        return chance >= DOUBLE_FROM and points <= TOO_GOOD

    def answer_double(self, game: GameState) -> bool:
        """Return whether less is lost by playing on at twice the stake than by passing."""
        return self._prospects(game, game.turn.other)[1] >= TAKE_FROM

    def accept_resignation(self, game: GameState) -> bool:
        """Return whether the offer is at least what playing on would bring."""
        offer = game.resignation
        if offer is None:
            return False
        return offer.points >= self._prospects(game, offer.seat.other)[1] * game.cube

    def _prospects(self, game: GameState, seat: Seat) -> tuple[float, float]:
        """Return a player's chance to win and expected points, without the cube, if `game.turn` is to roll."""
        evaluator = self._evaluator(game)
        chances = evaluator.chances([game.sides])[0].tolist()
        points = float(evaluator.points([game.sides])[0])
        return (chances[0], points) if seat is game.turn else (chances[3], -points)

    def _evaluator(self, game: GameState) -> TableEvaluator:
        name = game.rules.full_name
        if name not in self._evaluators:
            self._evaluators[name] = TableEvaluator(game.rules, network_of_game(game.rules.name, self._folder))
        return self._evaluators[name]


def _settled(game: GameState, sides: Sides, points: float) -> float:
    """Return what a board is worth: the points won or lost if it ends the game, else those that are expected."""
    ended = outcome(game.rules, game.sides, sides)
    return points if ended is None else float(ended.winner * ended.points)
