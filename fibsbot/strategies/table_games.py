"""Strategies for the tables games of `fibsbot.games`: the interface, and simple players to measure others by.

Games that are backgammon from another set-up are played by strategies for backgammon. The strategy with trained
networks is in `table_engine`.

Like strategies for backgammon they are free of asyncio and may block. `load_table_strategy` makes one by its name.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from fibsbot.games.backgammons import last_wins
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import choices
from fibsbot.rules.general_plays import outcome, resulting_tables
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.sides import HAND, OFF, Sides
from fibsbot.rules.state import GameState, Naming
from fibsbot.strategies.base import CubeAction, Strategy

WON: Final = 1e6
"""The value of a won game, above that of any board."""


@runtime_checkable
class TableStrategy(Protocol):
    """A player of tables games. It is asked when it is the player who decides (`GameState.decides`).

    Every method may take seconds and may raise.
    """

    name: str
    """Its name on the command line and in logs."""

    def choose_play(self, game: GameState) -> Play:
        """Return a legal play for `game.part`; the empty play if no checker can move. Asked in MOVE."""
        ...

    def choose_name(self, game: GameState) -> int:
        """Return one of `choices(game)`: the double to play or the point to open. Asked in NAME."""
        ...

    def offer_double(self, game: GameState) -> bool:
        """Return whether to double before the roll. Asked in ROLL, only when doubling is legal."""
        ...

    def answer_double(self, game: GameState) -> bool:
        """Return whether to take the double. Asked in DOUBLED."""
        ...

    def accept_resignation(self, game: GameState) -> bool:
        """Return whether the opponent's offer `game.resignation` is enough."""
        ...

    def resign(self, game: GameState) -> Level | None:
        """Return how much to resign before the roll, or None to play on. Asked in ROLL."""
        ...

    def close(self) -> None:
        """Release what the strategy holds; it is not asked again."""
        ...


class CautiousStrategy:
    """Answers about cube and resignation that are never far wrong, for strategies that do not estimate the result.

    It never doubles and never resigns, takes every double, and accepts a resignation unless more can still be won.
    """

    def offer_double(self, game: GameState) -> bool:  # noqa: ARG002 - the interface
        """Return False."""
        return False

    def answer_double(self, game: GameState) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def accept_resignation(self, game: GameState) -> bool:
        """Return whether the offer is a gammon, or no gammon can be won any more."""
        offer = game.resignation
        if offer is None:
            return False
        return offer.level > Level.SINGLE or not game.laws.gammon or game.sides_for(offer.seat).own.row[OFF] > 0

    def resign(self, game: GameState) -> Level | None:  # noqa: ARG002
        """Return None."""
        return None

    def close(self) -> None:
        """Release nothing."""


class RandomTableStrategy(CautiousStrategy):
    """Chooses every play with the same chance.

    With a seed, the same questions in the same order get the same answers.
    """

    name = "random"

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)

    def choose_play(self, game: GameState) -> Play:
        """Return any play."""
        plays = resulting_tables(game.rules, game.sides, game.part)
        return Play(self._random.choice(list(plays.values()))) if plays else Play()

    def choose_name(self, game: GameState) -> int:
        """Return any choice."""
        return self._random.choice(choices(game))


class ValuingStrategy(CautiousStrategy, ABC):
    """Chooses the play with the best board after it, by values that a subclass gives to boards.

    Of boards with the same value it prefers that with the most checkers off, then with the most on low points.
    """

    @abstractmethod
    def values(self, game: GameState, tables: Sequence[Sides]) -> Sequence[float]:
        """Return how good these boards are for the player who has just moved, whose side is `Table.own`.

        Some of them may end the game.
        """

    def choose_play(self, game: GameState) -> Play:
        """Return the play to the board with the highest value."""
        plays = resulting_tables(game.rules, game.sides, game.part)
        if not plays:
            return Play()
        if len(plays) == 1:
            return Play(next(iter(plays.values())))
        return Play(plays[self._best(game, list(plays))[1]])

    def choose_name(self, game: GameState) -> int:
        """Return the double with the best play, or the point that leaves the best board when it is opened."""
        rated = []
        for choice in choices(game):
            if game.naming is Naming.DOUBLE:
                tables = list(resulting_tables(game.rules, game.sides, Part((choice,) * 4)))
            else:
                own = game.sides_for(game.namer or game.turn)
                opened = game.rules.open_point(game.sides, choice)
                tables = [opened if own == game.sides else opened.swapped()]
            rated.append((self._best(game, tables)[0], choice))
        return max(rated)[1]

    def _best(self, game: GameState, tables: Sequence[Sides]) -> tuple[float, Sides]:
        """Return the best board and its value."""
        return max(zip(self.values(game, tables), tables, strict=True), key=lambda it: (it[0], it[1].own.row))


def _won(game: GameState, sides: Sides) -> float:
    """Return WON if the board wins, -WON if it loses, 0 if the game goes on or is drawn."""
    ended = outcome(game.rules, game.sides, sides)
    return WON * ended.winner if ended else 0.0


class PipStrategy(ValuingStrategy):
    """Chooses the play after which it is farthest ahead in the race; of equal ones that with the fewest blots.

    In a game that is lost by bearing off it stays behind, so that it does not hit unless it has to.
    """

    name = "pips"

    def values(self, game: GameState, tables: Sequence[Sides]) -> Sequence[float]:
        """Return the pips that the opponent has to go beyond ours; a board that wins comes first."""
        return [_won(game, it) + 64 * lead(game.rules, it) - blots(game.rules, it) for it in tables]


class BlotStrategy(ValuingStrategy):
    """Chooses the play after which the fewest blots can be reached by the opponent; of equal ones as `pips` does."""

    name = "blots"

    def values(self, game: GameState, tables: Sequence[Sides]) -> Sequence[float]:
        """Return the number of blots, negative; a board that wins comes first."""
        return [_won(game, it) + lead(game.rules, it) - 1024 * blots(game.rules, it) for it in tables]


def lead(rules: Ruleset, sides: Sides) -> int:
    """Return how many pips a side is ahead; behind, in a game that is lost by bearing off."""
    ahead = sides.opponent.pips - sides.own.pips
    return -ahead if last_wins in rules.ends else ahead


def blots(rules: Ruleset, sides: Sides) -> int:
    """Return how many checkers stand alone where an opposing one has still to pass."""
    farthest = sides.opponent.farthest
    return sum(sides.own.row[point] == 1 and rules.course.facing(point) < farthest for point in range(1, HAND))


class BackgammonTableStrategy:
    """Asks a strategy for backgammon about games for which `games.backgammons.is_backgammon` is true."""

    def __init__(self, strategy: Strategy) -> None:
        """Ask this strategy; it is closed by its owner."""
        self.name = strategy.name
        self._strategy = strategy

    def choose_play(self, game: GameState) -> Play:
        """Return the strategy's play; it is not asked where there is no choice."""
        state = _decision(game)
        plays = legal_plays(state.position, state.dice or (0, 0))
        if len(plays) < 2:
            return plays[0] if plays else Play()
        return self._strategy.choose_play(state, plays).play

    def choose_name(self, game: GameState) -> int:
        """Raise RuleError: nothing is named in backgammon."""
        raise RuleError(f"there is nothing to name in {game.rules.title}")

    def offer_double(self, game: GameState) -> bool:
        """Return whether the strategy doubles."""
        return self._strategy.offer_double(_decision(game)).action is CubeAction.DOUBLE

    def answer_double(self, game: GameState) -> bool:
        """Return whether the strategy takes."""
        return self._strategy.answer_double(_decision(game)).action is not CubeAction.PASS

    def accept_resignation(self, game: GameState) -> bool:
        """Return whether the strategy accepts."""
        return self._strategy.accept_resignation(_decision(game))

    def resign(self, game: GameState) -> Level | None:
        """Return how much the strategy resigns."""
        level = self._strategy.resign(_decision(game))
        return Level(level) if level else None

    def close(self) -> None:
        """Release nothing."""


def _decision(game: GameState) -> MatchState:
    """Return the decision as strategies for backgammon see it. Raises RuleError if there is none."""
    seat = game.decides
    state = MatchState.of(game, seat)
    if state is None:
        raise RuleError("there is nothing to decide")
    return state
