"""Games and matches as generators of questions, and pairs of them with the same dice and swapped seats.

Nothing here knows who answers, when, or how many run side by side. An answer has to be a possible one; whoever sends
it has seen to that.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from attrs import evolve, frozen

from fibsbot.analysis.match_analysis import AnalysisError, MatchAnalyser
from fibsbot.analysis.model import MatchAnalysis, PlayerStatistics
from fibsbot.arena.duel.plan import DuelError, DuelPlan, GameDice
from fibsbot.arena.duel.results import PairResult, StrategyStats
from fibsbot.files import replacing
from fibsbot.formats.mat import write_mat
from fibsbot.match import CubeAction, Dice, MatchState
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.game import refusal_to_double
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.strategies.questions import (
    AcceptAnswer,
    PlayQuestion,
    Question,
    ResignAnswer,
    ResignationQuestion,
    RollQuestion,
    StrategyAnswer,
    TakeQuestion,
)
from fibsbot.transcript import Cube, Entry, Game, Player, Resign, Throw, Transcript, apply


@frozen
class AskedQuestion:
    """A question, and to whom it is put."""

    seat: Seat
    question: Question


Games: TypeAlias = tuple[Game, ...]
"""The games of a match."""
MatchGenerator: TypeAlias = Generator[AskedQuestion, StrategyAnswer, Games]
_QuestionGenerator: TypeAlias = Generator[AskedQuestion, StrategyAnswer, None]
LOWEST_RESIGNATION: Final = 1
"""The lowest level of a resignation; one that was rejected is not offered again in the same game, nor a lower one."""


def play_match(laws: Laws, length: int, dice: Callable[[int], GameDice]) -> MatchGenerator:
    """Play a match of so many points, or one money game where the length is 0.

    `dice` gives those of each game, counted from 0.
    """
    state = rules.start_match(laws, length)
    games: list[Game] = []
    while True:
        table = _GameInProgress(state)
        yield from table.play(dice(len(games)))
        games.append(Game(len(games) + 1, state, tuple(table.entries), table.state.result))
        if not length or rules.match_winner(table.state) is not None:
            return tuple(games)
        state = rules.next_game(table.state)


class _GameInProgress:
    """One game as it is played."""

    def __init__(self, state: GameState) -> None:
        self.state = state
        self.entries: list[Entry] = []
        self._resign_from = [LOWEST_RESIGNATION, LOWEST_RESIGNATION]

    def play(self, dice: GameDice) -> _QuestionGenerator:
        """Play it to its end."""
        first, second = dice.opening()
        yield from self._throw(Seat.A if first > second else Seat.B, (max(first, second), min(first, second)))
        while self.state.stage is not Stage.OVER:
            action = yield from self._before_throw(self.state.turn)
            if action is CubeAction.ROLL:
                yield from self._throw(self.state.turn, dice.throw())

    def _throw(self, seat: Seat, dice: Dice) -> _QuestionGenerator:
        thrown = apply(self.state, Throw(seat=seat, dice=dice))
        plays = legal_plays(thrown.position, dice)
        play = plays[0] if plays else Play()
        if len(plays) > 1:
            answer = yield AskedQuestion(seat, PlayQuestion(_decision(thrown, seat), plays))
            if isinstance(answer, PlayAnswer):
                play = answer.play
        self.state = rules.play(thrown, seat, play)
        self.entries.append(Throw(seat=seat, dice=dice, play=play))

    def _before_throw(self, seat: Seat) -> Generator[AskedQuestion, StrategyAnswer, CubeAction | None]:
        """Let the player on turn double or resign; return ROLL where it is neither."""
        state = _decision(self.state, seat)
        useful = not state.length or state.away[0] > state.cube
        may_double = useful and not refusal_to_double(self.state, seat)
        answer = yield AskedQuestion(seat, RollQuestion(state, may_double, self._resign_from[seat]))
        if isinstance(answer, ResignAnswer):
            yield from self._resign(seat, Level(answer.level))
            return None
        if isinstance(answer, CubeAnswer) and answer.action is CubeAction.DOUBLE:
            yield from self._double(seat)
            return None
        return CubeAction.ROLL

    def _double(self, seat: Seat) -> _QuestionGenerator:
        self._add(Cube(seat=seat, action=CubeAction.DOUBLE))
        while self.state.answering is not None:
            seat = self.state.answering
            answer = yield AskedQuestion(seat, TakeQuestion(_decision(self.state, seat)))
            action = answer.action if isinstance(answer, CubeAnswer) else CubeAction.PASS
            self._add(Cube(seat=seat, action=action))

    def _resign(self, seat: Seat, level: Level) -> _QuestionGenerator:
        offered = rules.resign(self.state, seat, level)
        state = _decision(offered, seat.other)
        points = offered.resignation.points if offered.resignation else 0
        accepted = 0 < state.away[0] <= points  # nobody has to think about winning the match
        if not accepted:
            answer = yield AskedQuestion(seat.other, ResignationQuestion(state))
            accepted = isinstance(answer, AcceptAnswer) and answer.accepted
        self._resign_from[seat] = level + 1
        self._add(Resign(seat=seat, level=level, accepted=accepted))

    def _add(self, entry: Entry) -> None:
        self.state = apply(self.state, entry)
        self.entries.append(entry)


def _decision(state: GameState, seat: Seat) -> MatchState:
    asked = rules.decision(state, seat)
    if asked is None:
        raise ValueError(f"expected a player who has to decide, got {seat.name} while it is {state.stage.value}")
    return asked


class Answers(Protocol):
    """Whoever answers for a strategy; see `asking.Asker`."""

    def ask(self, question: Question) -> StrategyAnswer:
        """Return an answer that is a possible one."""
        ...

    def collect(self) -> StrategyStats:
        """Return what was counted since the last time."""
        ...


@frozen
class _Leg:
    """One of the two games or matches of a pair, seen by A."""

    result: float
    luck: float | None
    games: int
    figures: tuple[PlayerStatistics, PlayerStatistics]
    """Of A and of B."""
    unjudged: str = ""


class PairPlayer:
    """Where two strategies play pair after pair."""

    def __init__(
        self, plan: DuelPlan, players: tuple[Answers, Answers], judge: Evaluator | None = None, mats: Path | None = None
    ) -> None:
        """Have A and B play; every game or match is written into the folder `mats`, if there is one."""
        self._plan = plan
        self._players = players
        self._desk = MatchAnalyser(judge) if judge else None
        self._mats = mats

    def play(self, number: int) -> PairResult:
        """Play a pair. Raises DuelError where a file cannot be written."""
        for player in self._players:
            player.collect()
        legs = tuple(self._leg(number, seat) for seat in Seat)
        luck = [it.luck for it in legs if it.luck is not None]
        return PairResult(
            number,
            (legs[0].result, legs[1].result),
            (luck[0], luck[1]) if len(luck) == len(legs) else None,
            sum(it.games for it in legs),
            (self._performance(0, legs), self._performance(1, legs)),
            next((it.unjudged for it in legs if it.unjudged), ""),
        )

    def _leg(self, number: int, seat: Seat) -> _Leg:
        """Play with A at this seat."""
        plan = self._plan
        course = play_match(plan.laws, plan.length, partial(GameDice, plan.seed, number))
        games = play_out(course, [self._players[it ^ seat].ask for it in Seat])
        names = [Player(plan.labels[it ^ seat]) for it in Seat]
        leg = f"{number + 1:06}{'ab'[seat]}"
        transcript = Transcript((names[0], names[1]), plan.length, games, given_id=f"duel-{plan.seed}-{leg}")
        if self._mats:
            _write_mat_file(self._mats / f"{leg}.mat", transcript)
        try:
            study = self._desk.study(transcript) if self._desk else None
        except AnalysisError as error:
            return evolve(_leg_result(plan, transcript, seat), unjudged=str(error))
        return _leg_result(plan, transcript, seat, study)

    def _performance(self, place: int, legs: Sequence[_Leg]) -> StrategyStats:
        figures = [it.figures[place] for it in legs]
        return evolve(
            self._players[place].collect(),
            judged=sum(it.decisions for it in figures),
            loss=sum(it.loss for it in figures),
        )


def play_out(course: MatchGenerator, ask: Sequence[Callable[[Question], StrategyAnswer]]) -> Games:
    """Play a course to its end; `ask` has what answers for seat A and for seat B."""
    try:
        asked = next(course)
        while True:
            asked = course.send(ask[asked.seat](asked.question))
    except StopIteration as end:
        games: Games = end.value
        return games


def _leg_result(plan: DuelPlan, transcript: Transcript, seat: Seat, study: MatchAnalysis | None = None) -> _Leg:
    """Sum up what A, at this seat, got."""
    games = transcript.games
    points = {it: transcript.scores[it] for it in Seat}
    result = float(points[seat] - points[seat.other])
    if plan.length:
        result = float(transcript.winner is seat)
    if study is None:
        return _Leg(result, None, len(games), (PlayerStatistics(), PlayerStatistics()))
    own, theirs = study.figures_of(seat), study.figures_of(seat.other)
    luck = own.luck_in_points - theirs.luck_in_points
    if plan.length:
        luck = own.luck_in_chances - theirs.luck_in_chances
    return _Leg(result, luck, len(games), (own, theirs))


def _write_mat_file(path: Path, transcript: Transcript) -> None:
    try:
        with replacing(path) as part:
            part.write_text(write_mat(transcript), "utf-8")
    except OSError as error:
        raise DuelError(f"cannot write {path}: {error.strerror}") from None
