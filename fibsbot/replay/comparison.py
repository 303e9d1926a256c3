"""Compare the decisions of a replayed match with those of a strategy, and value the differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final, Self, TypeAlias

from attrs import define, evolve, field, fields, frozen

from fibsbot.analysis.decision_analysis import NameEvaluator
from fibsbot.bot.decisions import obvious_answer, question_for
from fibsbot.bot.settings import AgentSettings
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.replay.events import EntryAdded, GameBegan, MatchBegan, MatchEvent
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.strategies.base import CubeAnswer, Evaluator, PlayAnswer, Strategy, close_in_time, plays_game
from fibsbot.strategies.loader import NOT_AN_EVALUATOR, ReusedStrategies, StrategyError
from fibsbot.strategies.questions import (
    AcceptAnswer,
    NameAnswer,
    PlayQuestion,
    ResignAnswer,
    StrategyFailedError,
    ask_strategy,
)
from fibsbot.strategies.questions import StrategyAnswer as Reply
from fibsbot.text import describe_error
from fibsbot.transcript import Decision, Named, Resign, Transcript
from fibsbot.transcript.model import Answer

AnswerValues: TypeAlias = tuple[float, float]
"""The values of two answers for the deciding player, normalised as those of `Evaluator`."""

DEFAULT_AGENT: Final = AgentSettings("replay", "")
"""The settings of the bot for which the strategy is asked: the defaults."""


@frozen
class PlayerSelection:
    """The players whose decisions are compared: by default the owner of the log."""

    name: str | None = None
    """Only this player, at whichever seat."""
    both: bool = False

    def seats_in(self, match: Transcript) -> tuple[Seat, ...]:
        """Return the selected seats of a match; none if the player is not in it."""
        if self.both:
            return tuple(Seat)
        if self.name is not None:
            return tuple(seat for seat in Seat if match.players[seat].name == self.name)
        return () if match.user is None else (match.user,)


@frozen
class ComparisonOptions:
    """The strategy to compare with, the players to compare, and the evaluator of the differences."""

    strategy: str
    evaluator_name: str = DEFAULT_STRATEGY
    """The strategy itself evaluates only if it is named here, too: it would find its own answers the best."""
    selection: PlayerSelection = field(factory=PlayerSelection)
    seed: int | None = None
    """For strategies that use random numbers; each file starts with it."""
    strategies: ReusedStrategies = field(factory=ReusedStrategies, eq=False, repr=False)
    """Makes them."""

    def check(self) -> None:
        """Load the strategy and the evaluator once. Raises StrategyError."""
        StrategyComparison(*self.load(), self.selection).close()

    def with_networks(self) -> ComparisonOptions:
        """Return the options with networks of folders of this machine. Raises StrategyError."""
        return evolve(self, strategies=ReusedStrategies.of(self.strategy, self.evaluator_name))

    def load(self) -> tuple[Strategy, Evaluator]:
        """Load the strategy and the evaluator. Raises StrategyError."""
        strategy = self.strategies.new(self.strategy, **({} if self.seed is None else {"seed": self.seed}))
        name = self.evaluator_name
        evaluator: object = strategy if name == self.strategy else self.strategies.new(name)
        if not isinstance(evaluator, Evaluator):
            raise StrategyError(NOT_AN_EVALUATOR.format(name))
        return strategy, evaluator


@frozen
class ComparedDecision:
    """A decision for which the strategy was asked."""

    match: int
    decision: Decision
    answer: Answer | None
    """The strategy's answer; None if it gave none."""
    fault: str = ""
    """The fault of the strategy or the evaluator; empty without one."""
    values: AnswerValues | None = None
    """Of the decision and of the strategy's answer, if these differ and the evaluator has values for them."""

    @property
    def text(self) -> str:
        """The strategy's answer in the usual notation; empty without one."""
        return "" if self.answer is None else evolve(self.decision, answer=self.answer).text

    @property
    def same(self) -> bool:
        """Whether the strategy decides the same. Plays are the same if they lead to the same position."""
        done = self.decision.answer
        if isinstance(done, Play) and isinstance(self.answer, Play):
            state = self.decision.state
            return state.board_after(done) == state.board_after(self.answer)
        if isinstance(done, Named) and isinstance(self.answer, Named):
            return done.number == self.answer.number
        return done is self.answer or (isinstance(done, Level | bool) and done == self.answer)

    @property
    def gain(self) -> float | None:
        """The value of the strategy's answer minus that of the decision; None if unknown."""
        return 0.0 if self.same else None if self.values is None else self.values[1] - self.values[0]


@define
class Totals:
    """Numbers that add up over many sources; the base of classes that have nothing else."""

    def add(self, other: Self) -> None:
        """Add other totals."""
        for attribute in fields(type(self)):
            setattr(self, attribute.name, getattr(self, attribute.name) + getattr(other, attribute.name))


@define
class ComparisonTotals(Totals):
    """The totals of a comparison."""

    compared: int = 0
    different: int = 0
    failed: int = 0
    """Decisions for which the strategy gave no valid answer."""
    unvalued: int = 0
    """Different ones for which the evaluator has no value."""
    gained: float = 0.0
    """Sum of the positive differences in value."""
    lost: float = 0.0
    """Sum of the negative differences in value, as a positive number."""
    matches: int = 0
    """Matches with a selected player."""
    left_out: int = 0
    """Matches without one."""
    unplayed: int = 0
    """Matches of games that the strategy does not play."""

    @property
    def sum(self) -> float:
        """Sum of the absolute differences in value."""
        return self.gained + self.lost

    @property
    def mean(self) -> float:
        """Mean of the absolute differences in value."""
        return self.sum / self.compared if self.compared else 0.0

    def count(self, compared: ComparedDecision) -> None:
        """Count a decision."""
        self.compared += 1
        gain = compared.gain
        if compared.answer is None:
            self.failed += 1
        elif not compared.same:
            self.different += 1
            self.unvalued += gain is None
        self.gained += max(gain or 0.0, 0.0)
        self.lost += max(-(gain or 0.0), 0.0)


@define
class StrategyComparison:
    """Asks a strategy for its answers to the decisions of replayed matches, and evaluates the differences."""

    strategy: Strategy
    evaluator: Evaluator
    selection: PlayerSelection
    totals: ComparisonTotals = field(factory=ComparisonTotals)
    _seats: tuple[Seat, ...] = ()
    _user: Seat | None = None
    """The owner of the log, if the owner's decisions are compared."""
    _resign_from: dict[Seat, int] = field(factory=dict)
    """The lowest level that each may still offer in this game: lower ones were rejected."""

    def compare(self, event: MatchEvent) -> Iterator[ComparedDecision]:
        """Yield the compared decisions of an event."""
        match event:
            case MatchBegan(rules=rules) if not plays_game(self.strategy, rules):
                self._seats = ()
                self.totals.unplayed += 1
            case MatchBegan(transcript=transcript):
                self._seats = self.selection.seats_in(transcript)
                self._user = None if self.selection.both or self.selection.name else transcript.user
                self.totals.matches += bool(self._seats)
                self.totals.left_out += not self._seats
            case GameBegan():
                self._resign_from = dict.fromkeys(Seat, 1)
            case EntryAdded(match=match, step=step):
                for decision in event.decisions if self._seats else ():
                    asked = decision.seat in self._seats and (event.own or decision.seat is not self._user)
                    compared = self._compared(match, decision) if asked else None
                    if compared is not None:
                        self.totals.count(compared)
                        yield compared
                if isinstance(step.entry, Resign) and not step.entry.accepted:
                    self._resign_from[step.entry.seat] = step.entry.level + 1

    def close(self) -> None:
        """Close the strategy and the evaluator."""
        evaluator: object = self.evaluator
        close_in_time(self.strategy)
        if evaluator is not self.strategy and isinstance(evaluator, Strategy):
            close_in_time(evaluator)

    def _compared(self, match: int, decision: Decision) -> ComparedDecision | None:
        """Compare a decision; return None if there was no choice, or a bot would never face it."""
        state = decision.state
        if decision.forced:
            return None
        if state.phase is Phase.RESIGNED and obvious_answer(state, _resigned_points(decision)) is not None:
            return None
        if isinstance(decision.answer, Level) and state.phase is not Phase.ROLL:
            return None
        resign_from = self._resign_from.get(decision.seat, 1)
        question = question_for(state, DEFAULT_AGENT, cube_closed=False, resign_from=resign_from)
        if isinstance(question, PlayQuestion):
            question = evolve(question, listed=state.plays)
        try:
            answer = _transcript_answer(ask_strategy(self.strategy, question), decision.seat)
        except StrategyFailedError as error:
            return ComparedDecision(match, decision, None, str(error))
        compared = ComparedDecision(match, decision, answer)
        return compared if compared.same else self._valued(compared, answer)

    def _valued(self, compared: ComparedDecision, answer: Answer) -> ComparedDecision:
        """Return a compared decision with the values of both answers."""
        try:
            values = value_answers(self.evaluator, compared.decision, answer)
            finite = values is None or all(map(math.isfinite, values))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            return evolve(compared, fault=f"the evaluator raised {describe_error(error)}")
        if not finite:
            return evolve(compared, fault=f"the evaluator answered nonsense: expected finite values, got {values}")
        return evolve(compared, values=values)


def _resigned_points(decision: Decision) -> int:
    entry = decision.step.entry
    if decision.state.phase is not Phase.RESIGNED or not isinstance(entry, Resign):
        return 0
    return decision.state.resignation * decision.state.cube


def _transcript_answer(reply: Reply, seat: Seat) -> Answer:
    match reply:
        case NameAnswer():
            return Named(seat=seat, number=reply.number)
        case PlayAnswer():
            return reply.play
        case CubeAnswer():
            return reply.action
        case ResignAnswer():
            return Level(reply.level)
        case AcceptAnswer():
            return reply.accepted
    raise TypeError(f"expected an answer that a transcript has, got {reply!r}")


# -- values of answers ----------------------------------------------------------------------------------------------


def value_answers(evaluator: Evaluator, decision: Decision, other: Answer) -> AnswerValues | None:
    """Return the values of a decision and of another answer; None if the evaluator has none."""
    state, done = decision.state, decision.answer
    if isinstance(done, Play) and isinstance(other, Play):
        first, second = evaluator.value_plays(state, (done, other))
        return first, second
    value = _VALUE_FUNCTIONS.get(state.phase)
    values = [value(evaluator, decision, answer) for answer in (done, other)] if value else [None]
    return None if None in values else (values[0] or 0.0, values[1] or 0.0)


def _value_before_roll(evaluator: Evaluator, decision: Decision, answer: Answer) -> float | None:
    state = decision.state
    if isinstance(answer, Level):
        return _value_of_end(evaluator, state, -answer * state.cube)
    values = evaluator.value_cube(state)
    return {CubeAction.ROLL: values.no_double, CubeAction.DOUBLE: values.double}.get(answer)  # type: ignore[arg-type]


def _value_of_response(evaluator: Evaluator, decision: Decision, answer: Answer) -> float | None:
    """Return the value of the answer to a first double; no evaluator has one for a beaver and its consequences."""
    if decision.step.before.redoubles:
        return None
    values = evaluator.value_cube(evolve(decision.state.swapped(), phase=Phase.ROLL, redoubles=0))
    return {CubeAction.TAKE: -values.double_take, CubeAction.PASS: -values.double_pass}.get(answer)  # type: ignore[arg-type]


def _value_of_acceptance(evaluator: Evaluator, decision: Decision, answer: Answer) -> float | None:
    """Return the value of accepting or of playing on; None for the latter with dice or a double on the board."""
    state, game = decision.state, decision.step.before
    if answer is True:
        return _value_of_end(evaluator, state, state.resignation * state.cube)
    if game.stage is not Stage.ROLL:
        return None
    return _value_on_roll(evaluator, state, game, decision.seat)


def _value_on_roll(evaluator: Evaluator, state: MatchState, game: GameState, seat: Seat) -> float:
    rolling = evolve(state, phase=Phase.ROLL, resignation=0)
    return evaluator.value(rolling) if game.turn is seat else -evaluator.value(rolling.swapped())


def _value_of_name(evaluator: Evaluator, decision: Decision, answer: Answer) -> float | None:
    if not isinstance(answer, Named) or not isinstance(evaluator, NameEvaluator):
        return None
    names = decision.state.names
    return evaluator.value_names(decision.state)[names.index(answer.number)]


_VALUE_FUNCTIONS: Final[dict[Phase, Callable[[Evaluator, Decision, Answer], float | None]]] = {
    Phase.ROLL: _value_before_roll,
    Phase.DOUBLED: _value_of_response,
    Phase.RESIGNED: _value_of_acceptance,
    Phase.NAME: _value_of_name,
}


def _value_of_end(evaluator: Evaluator, state: MatchState, points: int) -> float:
    """Return the normalised value of ending the game with these points for the deciding player."""
    if not state.length:
        return points / state.cube
    won, lost = evaluator.match_chance(state, state.cube), evaluator.match_chance(state, -state.cube)
    return 2 * (evaluator.match_chance(state, points) - lost) / (won - lost) - 1 if won > lost else 0.0
