"""Questions to a strategy, their possible answers, and the answers of last resort.

A plug-in may raise anything and return anything: every answer is checked here, by the question that it answers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Final, Protocol, TypeAlias

from attrs import frozen

from fibsbot.match import MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.backgammon import board_of
from fibsbot.rules.game import name, reach, roll, roll_opening, start_match_of
from fibsbot.rules.general_plays import resulting_boards
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.sides import OFF
from fibsbot.rules.state import Stage
from fibsbot.strategies.base import (
    CubeAction,
    CubeAnswer,
    NamesNumbers,
    Opponent,
    PlayAnswer,
    RejectsRolls,
    Strategy,
    plays_game,
)
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
    """A decision for a strategy; in a game that it does not play, for the engine."""

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


@lru_cache(1)
def _engine() -> Strategy:
    """Return the player of games that a strategy does not play."""
    from fibsbot.strategies.engine_strategy import EngineStrategy  # noqa: PLC0415 - loads numpy

    return EngineStrategy()


def _player(strategy: Strategy, state: MatchState) -> Strategy:
    """Return who decides: the strategy if it plays the game, else the engine."""
    return strategy if plays_game(strategy, state.rules) else _engine()


@frozen
class PlayQuestion:
    """Which of the legal plays?"""

    state: MatchState
    listed: tuple[Play, ...] = ()
    """The legal plays, if the caller knows them already."""

    @property
    def plays(self) -> tuple[Play, ...]:
        """The legal plays, at least two. They are generated in the strategy's thread: there may be thousands."""
        return self.listed or self.state.plays

    def put_to(self, strategy: Strategy) -> PlayAnswer | RejectRollAnswer:
        """Ask whether to reject the roll, where that is allowed, then for a play."""
        player = _player(strategy, self.state)
        if self.state.may_reject and isinstance(player, RejectsRolls):
            rejected: object = player.reject_roll(self.state)
            if not isinstance(rejected, bool):
                raise InvalidAnswerError(f"expected True or False, got {rejected!r}")
            if rejected:
                return RejectRollAnswer()
        plays = self.plays
        answer: object = player.choose_play(self.state, plays)
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
        player = _player(strategy, self.state)
        if self.resign_from <= self.resign_to:
            level: object = player.resign(self.state)
            if not isinstance(level, int) or isinstance(level, bool) or level not in range(4):
                raise InvalidAnswerError(f"expected 0, 1, 2 or 3, got {level!r}")
            if self.resign_from <= level <= self.resign_to:
                return ResignAnswer(level)
        if not self.may_double:
            return CubeAnswer(CubeAction.ROLL)
        return _checked_cube_answer(player.offer_double(self.state), CubeAction.ROLL, CubeAction.DOUBLE)


@frozen
class TakeQuestion:
    """Take, pass or beaver?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> CubeAnswer:
        """Ask for the answer to a double."""
        beaver = (CubeAction.BEAVER,) if self.state.redoubles else ()
        answer = _player(strategy, self.state).answer_double(self.state)
        return _checked_cube_answer(answer, CubeAction.TAKE, CubeAction.PASS, *beaver)


@frozen
class ResignationQuestion:
    """Accept the offered resignation?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> AcceptAnswer:
        """Ask for the answer to a resignation."""
        accepted: object = _player(strategy, self.state).accept_resignation(self.state)
        if not isinstance(accepted, bool):
            raise InvalidAnswerError(f"expected True or False, got {accepted!r}")
        return AcceptAnswer(accepted)


@frozen
class NameQuestion:
    """Which double to play, or which point to open?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> NameAnswer:
        """Ask for one of the numbers that may be named."""
        player = _player(strategy, self.state)
        if not isinstance(player, NamesNumbers):
            raise InvalidAnswerError(f"expected a method choose_name of a strategy for {self.state.rules.name}")
        number: object = player.choose_name(self.state)
        if not isinstance(number, int) or number not in self.state.names:
            raise InvalidAnswerError(f"expected one of {', '.join(map(str, self.state.names))}, got {number!r}")
        return NameAnswer(number)


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

    def plays_game(self, rules: Ruleset) -> bool:  # noqa: ARG002 - the interface
        """Play every game."""
        return True

    def choose_name(self, state: MatchState) -> int:
        """Name the highest number."""
        return state.names[-1]

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Never double."""
        return CubeAnswer(CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take unless far behind in the race; in games in which pips mean something else, always."""
        board = state.board
        close = not isinstance(board, Position) or board.pips <= TAKE_LIMIT * board.opponent_pips
        return CubeAnswer(CubeAction.TAKE if close else CubeAction.PASS)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if more than the offer can hardly be won."""
        return state.resignation > 1 or not state.gammon or state.sides.opponent.row[OFF] > 0

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


def question_of(state: MatchState) -> Question:
    """Return the question of a decision, in which nothing but the rules limits what may be answered."""
    match state.phase:
        case Phase.MOVE:
            return PlayQuestion(state)
        case Phase.NAME:
            return NameQuestion(state)
        case Phase.DOUBLED:
            return TakeQuestion(state)
        case Phase.RESIGNED:
            return ResignationQuestion(state)
    return RollQuestion(state, state.may_double, resign_to=0)


def first_decisions(rules: Ruleset) -> Iterator[MatchState]:
    """Yield the decisions of a game up to the first choice between plays; the rolls are the same every time.

    They are for the time before the first connection: the very first start compiles what the engine needs, which takes
    many seconds.
    """
    game, random = start_match_of(rules, 3), Random(1)
    while game.stage is not Stage.OVER:
        state = MatchState.of(game, game.decides)
        dice = tuple(random.randint(1, 6) for _ in range(rules.dice))
        if state is None:
            game = roll_opening(game, *dice[:2])
        elif game.stage is Stage.ROLL:
            if rules.laws.cube:
                yield state
            game = roll(game, game.turn, dice)
        elif game.namer is not None:
            yield state
            game = name(game, game.namer, state.names[-1])
        elif state.has_choice:
            yield state
            return
        else:
            after, moves = next(iter(resulting_boards(rules, game.sides, game.part).items()), (game.sides, ()))
            game = reach(game, board_of(rules, after), len(moves))
