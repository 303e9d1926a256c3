"""The question to a strategy in games other than backgammon, and the answers of last resort."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Final, Protocol, runtime_checkable

from attrs import frozen

from fibsbot.games.backgammons import is_backgammon
from fibsbot.games.game import TableGame, choices, name, reach, roll, roll_opening, start_match
from fibsbot.games.plays import check_play, legal_plays, resulting_tables
from fibsbot.games.ruleset import Ruleset
from fibsbot.position import Play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Stage
from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer, Strategy
from fibsbot.strategies.questions import (
    AcceptAnswer,
    InvalidAnswerError,
    LastResort,
    NameAnswer,
    ResignAnswer,
    StrategyAnswer,
)
from fibsbot.strategies.table_games import BackgammonTableStrategy, TableStrategy, load_table_strategy

DEFAULT_TABLE_STRATEGY: Final = "engine"
"""Plays for strategies that know backgammon only."""


@lru_cache(1)
def default_table_strategy() -> TableStrategy:
    """Return the player of tables games for strategies that know backgammon only."""
    return load_table_strategy(DEFAULT_TABLE_STRATEGY)


@runtime_checkable
class PlaysTables(Protocol):
    """A strategy for backgammon that includes one for other games."""

    tables: TableStrategy


class TablesOnlyStrategy(LastResort):
    """A strategy for bots that play other games than backgammon only; it accepts every invitation."""

    def __init__(self, tables: TableStrategy) -> None:
        self.name = tables.name
        self.tables = tables


@frozen
class TableQuestion:
    """A decision in a game other than backgammon."""

    game: TableGame
    """Seen by the seat that decides."""
    may_double: bool = False
    """Whether a double may be offered in ROLL."""
    resign_from: int = 1
    """The lowest level that may be offered; above `resign_to` the strategy is not asked whether to resign."""
    resign_to: int = 0

    def put_to(self, strategy: Strategy) -> StrategyAnswer:
        """Ask the strategy that this one includes for these games, this one if it knows the game, or the default."""
        candidate: object = strategy
        player: TableStrategy
        if isinstance(candidate, PlaysTables):
            player = candidate.tables
        elif isinstance(candidate, LastResort):
            return self.last_resort()
        elif is_backgammon(self.game.rules):
            player = BackgammonTableStrategy(strategy)
        else:
            player = default_table_strategy()
        if self.game.resignation:
            return AcceptAnswer(_boolean(player.accept_resignation(self.game)))
        if self.game.stage is Stage.MOVE:
            return self._checked_play(player.choose_play(self.game))
        if self.game.stage is Stage.NAME:
            return self._checked_name(player.choose_name(self.game))
        if self.game.stage is Stage.DOUBLED:
            taken = _boolean(player.answer_double(self.game))
            return CubeAnswer(CubeAction.TAKE if taken else CubeAction.PASS)
        return self._before_roll(player)

    def last_resort(self) -> StrategyAnswer:
        """Return an answer that needs no thought and is always allowed."""
        game = self.game
        if game.resignation:
            return AcceptAnswer(accepted=game.resignation.level > Level.SINGLE or not game.laws.gammon)
        if game.stage is Stage.MOVE:
            return PlayAnswer(next(iter(legal_plays(game.rules, game.table, game.part)), Play()))
        if game.stage is Stage.NAME:
            return NameAnswer(choices(game)[-1])
        return CubeAnswer(CubeAction.TAKE if game.stage is Stage.DOUBLED else CubeAction.ROLL)

    def _before_roll(self, player: TableStrategy) -> StrategyAnswer:
        if self.resign_from <= self.resign_to:
            level: object = player.resign(self.game)
            if level is not None and level not in set(Level):
                raise InvalidAnswerError(f"expected a level to resign or None, got {level!r}")
            if isinstance(level, Level) and self.resign_from <= level <= self.resign_to:
                return ResignAnswer(int(level))
        doubles = self.may_double and _boolean(player.offer_double(self.game))
        return CubeAnswer(CubeAction.DOUBLE if doubles else CubeAction.ROLL)

    def _checked_play(self, answer: object) -> PlayAnswer:
        if not isinstance(answer, Play):
            raise InvalidAnswerError(f"expected a Play, got {answer!r}")
        try:
            return PlayAnswer(check_play(self.game.rules, self.game.table, self.game.part, answer)[0])
        except PlayError as error:
            raise InvalidAnswerError(f"expected a legal play, got one that breaks a law: {error}") from error

    def _checked_name(self, answer: object) -> NameAnswer:
        if not isinstance(answer, int) or answer not in choices(self.game):
            raise InvalidAnswerError(f"expected one of {', '.join(map(str, choices(self.game)))}, got {answer!r}")
        return NameAnswer(answer)


def first_questions(rules: Ruleset) -> Iterator[TableQuestion]:
    """Yield the decisions of a game up to the first choice between plays; the rolls are the same every time.

    They are for the time before the first connection: the very first start compiles what the engine needs, which takes
    many seconds.
    """
    game, random = start_match(rules, 3), Random(1)
    while game.stage is not Stage.OVER:
        dice = tuple(random.randint(1, 6) for _ in range(rules.dice))
        if game.stage is Stage.OPENING:
            game = roll_opening(game, *dice[:2])
        elif game.stage is Stage.ROLL:
            if rules.laws.cube:
                yield TableQuestion(game, may_double=True)
            game = roll(game, game.turn, dice)
        elif game.namer is not None:
            yield TableQuestion(game)
            game = name(game, game.namer, choices(game)[-1])
        else:
            plays = resulting_tables(rules, game.table, game.part)
            if len(plays) > 1:
                yield TableQuestion(game)
                return
            game = reach(game, *next(((table, len(moves)) for table, moves in plays.items()), (game.table, 0)))


def _boolean(answer: object) -> bool:
    if not isinstance(answer, bool):
        raise InvalidAnswerError(f"expected True or False, got {answer!r}")
    return answer
