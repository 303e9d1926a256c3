"""Walks through a game entry by entry, with the state before and after each; the rules core refuses what is illegal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.evolving import evolve
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation.plays import format_play
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.cube import refusal_to_double
from fibsbot.rules.errors import RuleError
from fibsbot.rules.plays import has_choice
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript.model import Cube, Entry, Game, Gap, Resign, Throw

Answer: TypeAlias = Play | CubeAction | Level | bool
"""What was decided: a play; roll, double, take, pass or beaver; how much to resign; whether to accept a resignation."""


class TranscriptError(ValueError):
    """An entry cannot have happened where it stands; the text is one line and says where and why."""


_CUBE: Final[Mapping[CubeAction, Callable[[GameState, Seat], GameState]]] = {
    CubeAction.DOUBLE: rules.double,
    CubeAction.TAKE: rules.take,
    CubeAction.PASS: rules.drop,
    CubeAction.BEAVER: rules.redouble,
}


@frozen(slots=False)
class Step:
    """An entry of a game, with the game before and after it."""

    game: int
    """Number of the game."""
    index: int
    """Place of the entry in the game, from 0."""
    before: GameState
    entry: Entry
    after: GameState

    @property
    def turn(self) -> int:
        """Number of the turn within the game, counted from 1; a double belongs to the turn of who doubles."""
        return self.before.turns + 1


@frozen(slots=False)
class Decision:
    """Something that a player decided."""

    step: Step
    seat: Seat
    """Who decided."""
    state: MatchState
    """As the one who decides sees it."""
    answer: Answer

    @property
    def forced(self) -> bool:
        """Whether there was nothing to choose: a dance, or the only play. Nobody has to resign."""
        dice = self.state.dice if self.state.phase is Phase.MOVE and isinstance(self.answer, Play) else None
        return dice is not None and not has_choice(self.state.position.points, dice)

    @property
    def text(self) -> str:
        """The answer as people write it."""
        match self.answer:
            case Play():
                return format_play(self.answer, self.state.position)
            case CubeAction():
                return self.answer.value
            case Level():
                return f"resign {self.answer.value}"
        return "accept" if self.answer else "reject"


def walk(game: Game) -> Iterator[Step]:
    """Yield every entry of a game with the states around it. Raises TranscriptError at the first that is not legal."""
    state = game.start
    for index, entry in enumerate(game.entries):
        try:
            after = apply(state, entry)
        except RuleError as error:
            raise TranscriptError(f"game {game.number}, turn {state.turns + 1}: {error}") from error
        yield Step(game.number, index, state, entry, after)
        state = after


def apply(state: GameState, entry: Entry) -> GameState:
    """Return the game after an entry. Raises RuleError where the rules forbid it."""
    match entry:
        case Throw():
            thrown = _throw(state, entry)
            return thrown if entry.play is None else rules.play(thrown, entry.seat, entry.play)
        case Cube(action=CubeAction() as action) if action in _CUBE:
            return _CUBE[action](state, entry.seat)
        case Resign():
            offered = rules.resign(state, entry.seat, entry.level)
            answer = rules.accept_resignation if entry.accepted else rules.reject_resignation
            return answer(offered, entry.seat.other)
        case Gap():
            return entry.then
    raise TypeError(f"expected an entry of a game, got {entry!r}")


def _throw(state: GameState, entry: Throw) -> GameState:
    if state.stage is Stage.MOVE and entry.seat is state.turn and state.dice is not None:
        if sorted(state.dice) != sorted(entry.dice):  # a game first seen with the dice on the board
            raise RuleError(f"expected the dice {state.dice}, which lie on the board, got {entry.dice}")
        return state
    if state.stage is Stage.OPENING and entry.dice[0] != entry.dice[1]:
        high, low = max(entry.dice), min(entry.dice)
        thrown = rules.throw_opening(state, *((high, low) if entry.seat is Seat.A else (low, high)))
        return evolve(thrown, dice=entry.dice)
    return rules.roll(state, entry.seat, entry.dice)


def decisions(step: Step) -> tuple[Decision, ...]:
    """Return what was decided with an entry, in order: before a throw whether to double, where that was allowed."""
    before, entry = step.before, step.entry
    match entry:
        case Throw(seat=seat):
            return (*_rolled(step, seat), *_played(step, entry))
        case Cube(seat=seat, action=action):
            return _made(step, before, seat, action)
        case Resign(seat=seat):
            offered = rules.resign(before, seat, entry.level)
            offer = _made(step, before, seat, entry.level)
            return (*offer, *_made(step, offered, seat.other, entry.accepted))
    return ()


def count_decisions(step: Step) -> int:
    """Return how many decisions were made with an entry, which is quicker than to list them."""
    before, entry = step.before, step.entry
    if not isinstance(entry, Throw) or before.resignation:
        return len(decisions(step))
    rolled = before.stage is Stage.ROLL and not refusal_to_double(before, entry.seat)
    return rolled + (entry.play is not None)


def _rolled(step: Step, seat: Seat) -> tuple[Decision, ...]:
    before = step.before
    if before.stage is not Stage.ROLL or refusal_to_double(before, seat):
        return ()
    return _made(step, before, seat, CubeAction.ROLL)


def _played(step: Step, entry: Throw) -> tuple[Decision, ...]:
    if entry.play is None:
        return ()
    return _made(step, _throw(step.before, entry), entry.seat, entry.play)


def _made(step: Step, before: GameState, seat: Seat, answer: Answer) -> tuple[Decision, ...]:
    state = rules.decision(before, seat)
    return () if state is None else (Decision(step, seat, state, answer),)
