"""Games and matches as generators of questions, which do not know who answers them.

The answers that are sent to a generator must have been checked.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.arena.duel.plan import GameDice
from fibsbot.evolve import evolve
from fibsbot.match import CubeAction, Dice, MatchState
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.game import refusal_to_double
from fibsbot.rules.laws import AutomaticRaise, Laws, Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies import questions
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.transcript import Cube, Entry, Game, RejectedRoll, Resign, Throw, apply


@frozen
class AskedQuestion:
    """A question, and the player who is asked."""

    seat: Seat
    question: questions.Question


Games: TypeAlias = tuple[Game, ...]
"""The games of a match."""
MatchGenerator: TypeAlias = Generator[AskedQuestion, questions.StrategyAnswer, Games]
_QuestionGenerator: TypeAlias = Generator[AskedQuestion, questions.StrategyAnswer, None]
_BACKGAMMON: Final = Position.start()
LOWEST_RESIGNATION: Final = 1
"""The lowest level of a resignation. One that was rejected is not offered again in the same game, nor a lower one."""


def play_match(
    laws: Laws, length: int, dice: Callable[[int], GameDice], start: Position = _BACKGAMMON
) -> MatchGenerator:
    """Play a match of `length` points, or one money game if the length is 0.

    `dice` returns the dice of a game by its number, counted from 0; `start` is the position in which each begins.
    """
    state = rules.start_match(laws, length)
    games: list[Game] = []
    while True:
        game = _GameInProgress(evolve(state, position=start))
        yield from game.play(dice(len(games)))
        games.append(Game(len(games) + 1, game.start, tuple(game.entries), game.state.result))
        if not length or rules.match_winner(game.state) is not None:
            return tuple(games)
        state = rules.next_game(game.state)


class _GameInProgress:
    """One game as it is played."""

    def __init__(self, state: GameState) -> None:
        self.start = self.state = state
        self.entries: list[Entry] = []
        self._resign_from = [LOWEST_RESIGNATION, LOWEST_RESIGNATION]

    def play(self, dice: GameDice) -> _QuestionGenerator:
        """Play the game to its end."""
        while self.state.laws.automatic is not AutomaticRaise.NONE and dice.tie():
            self.start = self.state = rules.roll_opening(self.state, 1, 1)
        first, second = dice.opening()
        yield from self._roll(Seat.A if first > second else Seat.B, (max(first, second), min(first, second)), dice)
        while self.state.stage is not Stage.OVER:
            action = yield from self._before_roll(self.state.turn)
            if action is CubeAction.ROLL:
                yield from self._roll(self.state.turn, dice.roll(), dice)

    def _roll(self, seat: Seat, dice: Dice, following: GameDice) -> _QuestionGenerator:
        """Play a roll; `following` are the dice of a roll that takes the place of a rejected one."""
        rolled = apply(self.state, Throw(seat=seat, dice=dice))
        plays = legal_plays(rolled.position, dice)
        play = plays[0] if plays else Play()
        if len(plays) > 1:
            answer = yield AskedQuestion(seat, questions.PlayQuestion(_decision(rolled, seat), plays))
            if isinstance(answer, questions.RejectRollAnswer):
                self._add(RejectedRoll(seat=seat, dice=dice))
                yield from self._roll(seat, following.roll(), following)
                return
            if isinstance(answer, PlayAnswer):
                play = answer.play
        self.state = rules.play(rolled, seat, play)
        self.entries.append(Throw(seat=seat, dice=dice, play=play))

    def _before_roll(self, seat: Seat) -> Generator[AskedQuestion, questions.StrategyAnswer, CubeAction | None]:
        """Let the player on roll double or resign; return ROLL if neither happens."""
        state = _decision(self.state, seat)
        useful = not state.length or state.away[0] > state.cube
        may_double = useful and not refusal_to_double(self.state, seat)
        answer = yield AskedQuestion(seat, questions.RollQuestion(state, may_double, self._resign_from[seat]))
        if isinstance(answer, questions.ResignAnswer):
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
            answer = yield AskedQuestion(seat, questions.TakeQuestion(_decision(self.state, seat)))
            action = answer.action if isinstance(answer, CubeAnswer) else CubeAction.PASS
            self._add(Cube(seat=seat, action=action))

    def _resign(self, seat: Seat, level: Level) -> _QuestionGenerator:
        offered = rules.resign(self.state, seat, level)
        state = _decision(offered, seat.other)
        points = offered.resignation.points if offered.resignation else 0
        accepted = 0 < state.away[0] <= points  # who wins the match by accepting is not asked
        if not accepted:
            answer = yield AskedQuestion(seat.other, questions.ResignationQuestion(state))
            accepted = isinstance(answer, questions.AcceptAnswer) and answer.accepted
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


def play_out(match: MatchGenerator, ask: Sequence[Callable[[questions.Question], questions.StrategyAnswer]]) -> Games:
    """Play a match to its end; `ask` has the functions that answer for seat A and for seat B."""
    try:
        asked = next(match)
        while True:
            asked = match.send(ask[asked.seat](asked.question))
    except StopIteration as end:
        games: Games = end.value
        return games
