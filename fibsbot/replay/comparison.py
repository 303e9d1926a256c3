"""Compare the decisions of a replayed match with those of a strategy, and value the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.bot.decisions import obvious_answer, question_for
from fibsbot.bot.settings import AgentSettings
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.replay.events import EntryAdded, GameBegan, MatchBegan, MatchEvent
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.strategies.base import CubeAnswer, PlayAnswer, Strategy
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.strategies.questions import ResignAnswer, StrategyFailedError, ask_strategy
from fibsbot.strategies.questions import StrategyAnswer as Reply
from fibsbot.text import describe_error
from fibsbot.transcript import Decision, Resign, Transcript
from fibsbot.transcript.model import Answer

AnswerValues: TypeAlias = tuple[float, float]
"""What two answers are worth to who decides, normalised as `Evaluator` does it."""

DEFAULT_AGENT: Final = AgentSettings("replay", "")
"""As whom the strategy is asked: a bot that nobody has changed anything about."""


@frozen
class PlayerSelection:
    """Whose decisions are asked about: those of whose log it is, unless something else is said."""

    name: str | None = None
    """Those of this player, wherever they sit."""
    both: bool = False

    def of(self, match: Transcript) -> tuple[Seat, ...]:
        """Return the seats in a match; none where the match is not about the one who is meant."""
        if self.both:
            return tuple(Seat)
        if self.name is not None:
            return tuple(seat for seat in Seat if match.players[seat].name == self.name)
        return () if match.user is None else (match.user,)


@frozen
class ComparisonOptions:
    """Which strategy is asked, about whom, and who says what differences are worth."""

    strategy: str
    judge: str | None = None
    """None: the strategy itself, or DEFAULT where it is no judge."""
    sides: PlayerSelection = field(factory=PlayerSelection)
    seed: int | None = None
    """For a strategy that leaves things to chance; each file begins with it anew."""

    @property
    def judge_name(self) -> str:
        """Who says what differences are worth, once it is settled."""
        return self.judge or self.strategy

    def settled(self) -> ComparisonOptions:
        """Return the same with the judge settled, having made both once. Raises StrategyError."""
        strategy, judge = self.load()
        StrategyComparison(strategy, judge, self.sides).close()
        own = self.judge is None and isinstance(strategy, Evaluator)
        return self if own else evolve(self, judge=self.judge or DEFAULT_STRATEGY)

    def load(self) -> tuple[Strategy, Evaluator]:
        """Make both. Raises StrategyError."""
        strategy = load(self.strategy, **({} if self.seed is None else {"seed": self.seed}))
        name = self.judge or DEFAULT_STRATEGY
        judge: object = strategy if self.judge is None and isinstance(strategy, Evaluator) else load(name)
        if not isinstance(judge, Evaluator):
            raise StrategyError(f"strategy {name!r} is no judge: it does not say what positions are worth")
        return strategy, judge


@frozen
class ComparedDecision:
    """A decision that was put to the strategy."""

    match: int
    decision: Decision
    answer: Answer | None
    """What the strategy would have done; None where it had no answer."""
    fault: str = ""
    """What the strategy, or the judge, did in place of an answer."""
    values: AnswerValues | None = None
    """Of what was done and of what the strategy would have done, where these differ and the judge can tell."""

    @property
    def text(self) -> str:
        """The strategy's answer as people write it; empty without one."""
        return "" if self.answer is None else evolve(self.decision, answer=self.answer).text

    @property
    def same(self) -> bool:
        """Whether the strategy would have done what was done. Plays are the same that leave the same position."""
        done = self.decision.answer
        if isinstance(done, Play) and isinstance(self.answer, Play):
            position = self.decision.state.position
            return position.play(done) == position.play(self.answer)
        return done is self.answer or (isinstance(done, Level | bool) and done == self.answer)

    @property
    def gain(self) -> float | None:
        """How much more the strategy's answer is worth than what was done; negative where it is worth less."""
        return 0.0 if self.same else None if self.values is None else self.values[1] - self.values[0]


@define
class ComparisonTotals:
    """What asking came to, summed up."""

    asked: int = 0
    different: int = 0
    failed: int = 0
    """Decisions to which the strategy had no possible answer."""
    unvalued: int = 0
    """Different ones that the judge has nothing to say about."""
    gained: float = 0.0
    """By how much the strategy's answers are worth more, where they are."""
    lost: float = 0.0
    """By how much they are worth less, where they are."""
    matches: int = 0
    """In which somebody was asked about."""
    left_out: int = 0
    """Matches in which nobody was."""

    @property
    def sum(self) -> float:
        """How far the answers are from what was done, whichever is better."""
        return self.gained + self.lost

    @property
    def mean(self) -> float:
        """The same for each decision that was asked."""
        return self.sum / self.asked if self.asked else 0.0

    def note(self, asked: ComparedDecision) -> None:
        """Take in a decision."""
        self.asked += 1
        gain = asked.gain
        if asked.answer is None:
            self.failed += 1
        elif not asked.same:
            self.different += 1
            self.unvalued += gain is None
        self.gained += max(gain or 0.0, 0.0)
        self.lost += max(-(gain or 0.0), 0.0)

    def add(self, other: ComparisonTotals) -> None:
        """Take in what was found elsewhere."""
        for name in ComparisonTotals.__annotations__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@define
class StrategyComparison:
    """Puts the decisions of replayed matches to a strategy, and the differences to a judge."""

    strategy: Strategy
    judge: Evaluator
    sides: PlayerSelection
    findings: ComparisonTotals = field(factory=ComparisonTotals)
    _seats: tuple[Seat, ...] = ()
    _resign_from: dict[Seat, int] = field(factory=dict)
    """The least level that each may still offer in this game: less was rejected."""

    def take(self, happening: MatchEvent) -> Iterator[ComparedDecision]:
        """Ask what there is to ask about a happening."""
        match happening:
            case MatchBegan(transcript=transcript):
                self._seats = self.sides.of(transcript)
                self.findings.matches += bool(self._seats)
                self.findings.left_out += not self._seats
            case GameBegan():
                self._resign_from = dict.fromkeys(Seat, 1)
            case EntryAdded(match=match, step=step):
                for decision in happening.decisions:
                    asked = self._asked(match, decision) if decision.seat in self._seats else None
                    if asked is not None:
                        self.findings.note(asked)
                        yield asked
                if isinstance(step.entry, Resign) and not step.entry.accepted:
                    self._resign_from[step.entry.seat] = step.entry.level + 1

    def close(self) -> None:
        """Release what the strategy and the judge hold."""
        judge: object = self.judge
        self.strategy.close()
        if judge is not self.strategy and isinstance(judge, Strategy):
            judge.close()

    def _asked(self, match: int, decision: Decision) -> ComparedDecision | None:
        """Ask about a decision; None where there was no choice, or no question of a bot fits what was done."""
        state = decision.state
        if decision.forced or obvious_answer(state, _resigned_points(decision)) is not None:
            return None
        if isinstance(decision.answer, Level) and state.phase is not Phase.ROLL:
            return None
        resign_from = self._resign_from.get(decision.seat, 1)
        question = question_for(state, DEFAULT_AGENT, cube_closed=False, resign_from=resign_from)
        try:
            answer = _transcript_answer(ask_strategy(self.strategy, question))
        except StrategyFailedError as error:
            return ComparedDecision(match, decision, None, str(error))
        asked = ComparedDecision(match, decision, answer)
        return asked if asked.same else self._judged(asked, answer)

    def _judged(self, asked: ComparedDecision, answer: Answer) -> ComparedDecision:
        """Have the judge say what the two answers are worth."""
        try:
            return evolve(asked, values=value_answers(self.judge, asked.decision, answer))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            return evolve(asked, fault=f"the judge raised {describe_error(error)}")


def _resigned_points(decision: Decision) -> int:
    entry = decision.step.entry
    if decision.state.phase is not Phase.RESIGNED or not isinstance(entry, Resign):
        return 0
    return decision.state.resignation * decision.state.cube


def _transcript_answer(reply: Reply) -> Answer:
    match reply:
        case PlayAnswer():
            return reply.play
        case CubeAnswer():
            return reply.action
        case ResignAnswer():
            return Level(reply.level)
    return reply.accepted


# -- what answers are worth -----------------------------------------------------------------------------------------


def value_answers(judge: Evaluator, decision: Decision, other: Answer) -> AnswerValues | None:
    """Return what was decided and what another answer would have been worth; None where the judge cannot tell."""
    state, done = decision.state, decision.answer
    if isinstance(done, Play) and isinstance(other, Play):
        first, second = judge.value_plays(state, (done, other))
        return first, second
    value = _VALUE_FUNCTIONS.get(state.phase)
    values = [value(judge, decision, answer) for answer in (done, other)] if value else [None]
    return None if None in values else (values[0] or 0.0, values[1] or 0.0)


def _value_before_roll(judge: Evaluator, decision: Decision, answer: Answer) -> float | None:
    state = decision.state
    if isinstance(answer, Level):
        return _value_of_end(judge, state, -answer * state.cube)
    values = judge.value_cube(state)
    return {CubeAction.ROLL: values.no_double, CubeAction.DOUBLE: values.double}.get(answer)  # type: ignore[arg-type]


def _value_of_response(judge: Evaluator, decision: Decision, answer: Answer) -> float | None:
    """Value the answer to a first double: what a beaver and all that follows it is worth, no judge says."""
    if decision.step.before.redoubles:
        return None
    values = judge.value_cube(evolve(decision.state.swapped(), phase=Phase.ROLL, redoubles=0))
    return {CubeAction.TAKE: -values.double_take, CubeAction.PASS: -values.double_pass}.get(answer)  # type: ignore[arg-type]


def _value_of_acceptance(judge: Evaluator, decision: Decision, answer: Answer) -> float | None:
    """Value accepting, or playing on with whoever is on roll; with dice or a double on the board nobody can tell."""
    state, game = decision.state, decision.step.before
    if answer is True:
        return _value_of_end(judge, state, state.resignation * state.cube)
    if game.stage is not Stage.ROLL:
        return None
    return _value_on_roll(judge, state, game, decision.seat)


def _value_on_roll(judge: Evaluator, state: MatchState, game: GameState, seat: Seat) -> float:
    rolling = evolve(state, phase=Phase.ROLL, resignation=0)
    return judge.value(rolling) if game.turn is seat else -judge.value(rolling.swapped())


_VALUE_FUNCTIONS: Final[dict[Phase, Callable[[Evaluator, Decision, Answer], float | None]]] = {
    Phase.ROLL: _value_before_roll,
    Phase.DOUBLED: _value_of_response,
    Phase.RESIGNED: _value_of_acceptance,
}


def _value_of_end(judge: Evaluator, state: MatchState, points: int) -> float:
    """Return what it is worth, normalised, that the game ends with so many points for who decides."""
    if not state.length:
        return points / state.cube
    won, lost = judge.match_chance(state, state.cube), judge.match_chance(state, -state.cube)
    return 2 * (judge.match_chance(state, points) - lost) / (won - lost) - 1 if won > lost else 0.0
