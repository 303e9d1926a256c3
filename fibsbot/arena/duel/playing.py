"""Games and matches as courses: a course yields a question, is sent the answer, and in the end returns what was played.

Nothing here knows who answers, when, or how many courses run side by side. An answer has to be a possible one; whoever
sends it has seen to that.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.arena.duel.dice import GameDice
from fibsbot.bot.questions import (
    AcceptResignation,
    Answer,
    Question,
    Resignation,
    RollOrWhat,
    TakeOrPass,
    Verdict,
    WhichPlay,
)
from fibsbot.match import CubeAction, Dice, MatchState
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.cube import refusal_to_double
from fibsbot.rules.laws import Laws
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.transcript import Cube, Entry, Game, Resign, Throw, apply


@frozen
class Asked:
    """A question, and to whom it is put."""

    seat: Seat
    question: Question


Games: TypeAlias = tuple[Game, ...]
"""The games of a match."""
Course: TypeAlias = Generator[Asked, Answer, Games]
_Turns: TypeAlias = Generator[Asked, Answer, None]
LEAST: Final = 1
"""The lowest level of a resignation; one that was rejected is not offered again in the same game, nor a lower one."""


def play_match(laws: Laws, length: int, dice: Callable[[int], GameDice]) -> Course:
    """Play a match of so many points, or one money game where the length is 0.

    `dice` gives those of each game, counted from 0.
    """
    state = rules.start_match(laws, length)
    games: list[Game] = []
    while True:
        table = _Table(state)
        yield from table.play(dice(len(games)))
        games.append(Game(len(games) + 1, state, tuple(table.entries), table.state.result))
        if not length or rules.match_winner(table.state) is not None:
            return tuple(games)
        state = rules.next_game(table.state)


class _Table:
    """One game as it is played."""

    def __init__(self, state: GameState) -> None:
        self.state = state
        self.entries: list[Entry] = []
        self._resign_from = [LEAST, LEAST]

    def play(self, dice: GameDice) -> _Turns:
        """Play it to its end."""
        first, second = dice.opening()
        yield from self._throw(Seat.A if first > second else Seat.B, (max(first, second), min(first, second)))
        while self.state.stage is not Stage.OVER:
            action = yield from self._before_throw(self.state.turn)
            if action is CubeAction.ROLL:
                yield from self._throw(self.state.turn, dice.throw())

    def _throw(self, seat: Seat, dice: Dice) -> _Turns:
        thrown = apply(self.state, Throw(seat=seat, dice=dice))
        plays = legal_plays(thrown.position, dice)
        play = plays[0] if plays else Play()
        if len(plays) > 1:
            answer = yield Asked(seat, WhichPlay(_decision(thrown, seat), plays))
            if isinstance(answer, PlayAnswer):
                play = answer.play
        self.state = rules.play(thrown, seat, play)
        self.entries.append(Throw(seat=seat, dice=dice, play=play))

    def _before_throw(self, seat: Seat) -> Generator[Asked, Answer, CubeAction | None]:
        """Let the player on turn double or resign; return ROLL where it is neither."""
        state = _decision(self.state, seat)
        useful = not state.length or state.away[0] > state.cube
        may_double = useful and not refusal_to_double(self.state, seat)
        answer = yield Asked(seat, RollOrWhat(state, may_double, self._resign_from[seat]))
        if isinstance(answer, Resignation):
            yield from self._resign(seat, Level(answer.level))
            return None
        if isinstance(answer, CubeAnswer) and answer.action is CubeAction.DOUBLE:
            yield from self._double(seat)
            return None
        return CubeAction.ROLL

    def _double(self, seat: Seat) -> _Turns:
        self._add(Cube(seat=seat, action=CubeAction.DOUBLE))
        while self.state.answering is not None:
            seat = self.state.answering
            answer = yield Asked(seat, TakeOrPass(_decision(self.state, seat)))
            action = answer.action if isinstance(answer, CubeAnswer) else CubeAction.PASS
            self._add(Cube(seat=seat, action=action))

    def _resign(self, seat: Seat, level: Level) -> _Turns:
        offered = rules.resign(self.state, seat, level)
        state = _decision(offered, seat.other)
        points = offered.resignation.points if offered.resignation else 0
        accepted = 0 < state.away[0] <= points  # nobody has to think about winning the match
        if not accepted:
            answer = yield Asked(seat.other, AcceptResignation(state))
            accepted = isinstance(answer, Verdict) and answer.accepted
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
