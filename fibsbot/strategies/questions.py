"""Questions to a strategy in backgammon and in other games, their possible answers, and the answers of last resort.

A plug-in may raise anything and return anything: every answer is checked here, by the question that it answers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Final, Protocol, TypeAlias, runtime_checkable

from attrs import frozen

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules import general_plays as table_plays
from fibsbot.rules.backgammon import board_of, is_backgammon
from fibsbot.rules.errors import PlayError
from fibsbot.rules.game import choices, name, reach, roll, roll_opening, start_match_of
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import GameState, Stage
from fibsbot.strategies import DEFAULT_TABLE_STRATEGY
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer, RejectsRolls, Strategy
from fibsbot.strategies.table_games import BackgammonTableStrategy, TableStrategy
from fibsbot.strategies.table_loader import load_table_strategy
from fibsbot.text import describe_error, one_line

TAKE_LIMIT: Final = 1.12
"""The last resort takes a double while it has at most this many times the opponent's pips to go."""


@frozen
class ResignAnswer:
    """An answer before the roll: offer to resign."""

    level: int
    """1 single, 2 gammon, 3 backgammon."""


@frozen
class AcceptAnswer:
    """The answer to an invitation or to an offered resignation."""

    accepted: bool
    reason: str | None = None
    """A sentence for the player whose invitation is refused."""


@frozen
class RejectRollAnswer:
    """An answer in place of a play: reject the roll, which doubles the cube, and roll again."""


@frozen
class NameAnswer:
    """The double to play or the point to open, in games in which one is named."""

    number: int


StrategyAnswer: TypeAlias = PlayAnswer | CubeAnswer | ResignAnswer | AcceptAnswer | RejectRollAnswer | NameAnswer


class InvalidAnswerError(ValueError):
    """An answer of a strategy is impossible; the text says what was expected."""


MAX_REASON: Final = 500
"""Characters of the reason why a strategy has no answer: it is stored with every decision that it costs."""


class StrategyFailedError(Exception):
    """A strategy has no answer; the text continues a sentence that begins with the strategy's name."""

    def __init__(self, reason: str) -> None:
        """Keep the beginning of a long reason: strategies raise, and answer, whatever they like."""
        super().__init__(reason if len(reason) <= MAX_REASON else f"{reason[:MAX_REASON]}...")


class Question(Protocol):
    """A decision for a strategy."""

    def put_to(self, strategy: Strategy) -> StrategyAnswer:
        """Ask the strategy, which may take long, and check its answer.

        Raises InvalidAnswerError for an impossible answer, and whatever the strategy raises.
        """
        ...


def ask_strategy(strategy: Strategy, question: Question) -> StrategyAnswer:
    """Put a question to a strategy. Raises StrategyFailedError if it raises anything or its answer is impossible."""
    try:
        return question.put_to(strategy)
    except InvalidAnswerError as error:
        raise StrategyFailedError(f"answered nonsense: {one_line(error)}") from error
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise  # Ctrl-C
        raise StrategyFailedError(f"raised {describe_error(error)}") from error


@frozen
class PlayQuestion:
    """Which of the legal plays?"""

    state: MatchState
    listed: tuple[Play, ...] = ()
    """The legal plays, if the caller knows them already."""

    @property
    def plays(self) -> tuple[Play, ...]:
        """The legal plays, at least two. They are generated in the strategy's thread: there may be thousands."""
        return self.listed or legal_plays(self.state.position, self.state.dice or (0, 0))

    def put_to(self, strategy: Strategy) -> PlayAnswer | RejectRollAnswer:
        """Ask whether to reject the roll, where that is allowed, then for a play."""
        if self.state.may_reject and isinstance(strategy, RejectsRolls):
            rejected: object = strategy.reject_roll(self.state)
            if not isinstance(rejected, bool):
                raise InvalidAnswerError(f"expected True or False, got {rejected!r}")
            if rejected:
                return RejectRollAnswer()
        plays = self.plays
        answer: object = strategy.choose_play(self.state, plays)
        if not isinstance(answer, PlayAnswer):
            raise InvalidAnswerError(f"expected a PlayAnswer, got {answer!r}")
        if answer.play not in plays and (plays or answer.play.moves):
            raise InvalidAnswerError(f"expected one of the {len(plays)} plays offered, got {answer.play!r}")
        return answer


@frozen
class RollQuestion:
    """Roll, double or resign?"""

    state: MatchState
    may_double: bool
    resign_from: int = 1
    """The lowest level that may be offered: a lower one was rejected in this game."""
    resign_to: int = 3
    """The highest level that may be offered; below the lowest, the strategy is not asked whether to resign."""

    def put_to(self, strategy: Strategy) -> CubeAnswer | ResignAnswer:
        """Ask whether to resign, then whether to double."""
        if self.resign_from <= self.resign_to:
            level: object = strategy.resign(self.state)
            if not isinstance(level, int) or isinstance(level, bool) or level not in range(4):
                raise InvalidAnswerError(f"expected 0, 1, 2 or 3, got {level!r}")
            if self.resign_from <= level <= self.resign_to:
                return ResignAnswer(level)
        if not self.may_double:
            return CubeAnswer(CubeAction.ROLL)
        return _checked_cube_answer(strategy.offer_double(self.state), CubeAction.ROLL, CubeAction.DOUBLE)


@frozen
class TakeQuestion:
    """Take, pass or beaver?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> CubeAnswer:
        """Ask for the answer to a double."""
        beaver = (CubeAction.BEAVER,) if self.state.redoubles else ()
        return _checked_cube_answer(strategy.answer_double(self.state), CubeAction.TAKE, CubeAction.PASS, *beaver)


@frozen
class ResignationQuestion:
    """Accept the offered resignation?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> AcceptAnswer:
        """Ask for the answer to a resignation."""
        accepted: object = strategy.accept_resignation(self.state)
        if not isinstance(accepted, bool):
            raise InvalidAnswerError(f"expected True or False, got {accepted!r}")
        return AcceptAnswer(accepted)


@frozen
class InvitationQuestion:
    """Accept an invitation to a match?"""

    opponent: Opponent
    length: int
    """Points; 0 is unlimited."""

    def put_to(self, strategy: Strategy) -> AcceptAnswer:
        """Ask for the answer to an invitation."""
        reason: object = strategy.accept_invitation(self.opponent, self.length)
        if reason is not None and not isinstance(reason, str):
            raise InvalidAnswerError(f"expected None or a sentence, got {reason!r}")
        return AcceptAnswer(reason is None, reason)


def _checked_cube_answer(answer: object, *allowed: CubeAction) -> CubeAnswer:
    if not isinstance(answer, CubeAnswer):
        raise InvalidAnswerError(f"expected a CubeAnswer, got {answer!r}")
    if answer.action not in allowed:
        expected = " or ".join(action.name for action in allowed)
        raise InvalidAnswerError(f"expected {expected}, got {answer.action!r}")
    return answer


class LastResort:
    """A strategy that answers at once and cannot fail, whatever the state: servers make states up."""

    name = "last-resort"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Choose the first legal play; no move at all where there is none."""
        return PlayAnswer(plays[0] if plays else Play())

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Never double."""
        return CubeAnswer(CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take unless far behind in the race."""
        close = state.position.pips <= TAKE_LIMIT * state.position.opponent_pips
        return CubeAnswer(CubeAction.TAKE if close else CubeAction.PASS)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if more than the offer can hardly be won."""
        return state.resignation > 1 or state.position.opponent_off > 0

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Never resign."""
        return 0

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Accept: the policy has accepted already."""
        return None

    def close(self) -> None:
        """Release nothing."""


def last_resort_answer(question: Question) -> StrategyAnswer | None:
    """Return the answer of the last resort; None to a question that makes no sense."""
    try:
        return ask_strategy(LastResort(), question)
    except StrategyFailedError:
        return None


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

    game: GameState
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
            return PlayAnswer(next(iter(table_plays.legal_plays(game.rules, game.sides, game.part)), Play()))
        if game.stage is Stage.NAME:
            return NameAnswer(choices(game)[-1])
        return CubeAnswer(CubeAction.TAKE if game.stage is Stage.DOUBLED else CubeAction.ROLL)

    def _before_roll(self, player: TableStrategy) -> StrategyAnswer:
        if self.resign_from <= self.resign_to:
            level: object = player.resign(self.game)
            if level is not None and not isinstance(level, Level):
                raise InvalidAnswerError(f"expected a level to resign or None, got {level!r}")
            if level is not None and self.resign_from <= level <= self.resign_to:
                return ResignAnswer(int(level))
        doubles = self.may_double and _boolean(player.offer_double(self.game))
        return CubeAnswer(CubeAction.DOUBLE if doubles else CubeAction.ROLL)

    def _checked_play(self, answer: object) -> PlayAnswer:
        if not isinstance(answer, Play):
            raise InvalidAnswerError(f"expected a Play, got {answer!r}")
        try:
            return PlayAnswer(table_plays.check_play(self.game.rules, self.game.sides, self.game.part, answer)[0])
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
    game, random = start_match_of(rules, 3), Random(1)
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
            plays = table_plays.resulting_tables(rules, game.sides, game.part)
            if len(plays) > 1:
                yield TableQuestion(game)
                return
            after, moves = next(iter(plays.items()), (game.sides, ()))
            game = reach(game, board_of(rules, after), len(moves))


def _boolean(answer: object) -> bool:
    if not isinstance(answer, bool):
        raise InvalidAnswerError(f"expected True or False, got {answer!r}")
    return answer
