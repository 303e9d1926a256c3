"""Transcripts: players, games and their entries, all immutable.

With the walk through a game and the state around each entry.

The rules core refuses an entry that is illegal where it stands.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import field, frozen

from fibsbot.evolve import evolve
from fibsbot.match import CubeAction, Dice, MatchState, Phase
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import refusal_to_double
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import has_choice
from fibsbot.rules.state import GameState, Result, Seat, Stage

ID_LENGTH: Final = 16
"""Hexadecimal digits of a match's own number."""


@frozen
class Player:
    """Who sits at a seat."""

    name: str
    rating: float | None = None
    """When the match began."""
    experience: int | None = None
    """Points played when the match began."""


@frozen(slots=False, kw_only=True)
class Entry:
    """Something that happened in a game, and what else is known of it."""

    at: dt.datetime | None = None
    """When, UTC."""
    seconds: float | None = None
    """How long the player thought, where a log tells."""
    equity: float | None = None
    """What the player's strategy expected, where a log tells: in points per game at the present cube."""
    rebuilt: bool = False
    """Whether it was not seen, but is the only thing that can have happened between two boards."""


@frozen(slots=False)
class Throw(Entry):
    """A throw of the dice, and what was played with it. The first one of a game is the opening throw."""

    seat: Seat
    dice: Dice
    play: Play | None = None
    """As the player sees the board; no moves: a dance. None: thrown, and nothing more seen before the game ended."""

    @property
    def numbers(self) -> str:
        """The dice as people write them, the higher first: `31`."""
        return f"{max(self.dice)}{min(self.dice)}"


@frozen(slots=False)
class Cube(Entry):
    """A double, or what was answered to one."""

    seat: Seat
    action: CubeAction
    """DOUBLE, TAKE, PASS or BEAVER (ROLL is no entry: a Throw shows it)."""


@frozen(slots=False)
class Resign(Entry):
    """An offer to resign, and what was answered."""

    seat: Seat
    """Who wanted to resign."""
    level: Level
    accepted: bool


@frozen(slots=False)
class Gap(Entry):
    """Something is missing here: what happened is not known, only where the game stood afterwards."""

    reason: str
    """What is missing and why, in a few words."""
    then: GameState
    """Where the game went on."""


@frozen
class Game:
    """A game of a match."""

    number: int
    """Counted from 1, as far as the match was seen."""
    start: GameState
    """Before the opening throw (stage OPENING); any other stage where it was first seen in the middle."""
    entries: tuple[Entry, ...] = ()
    result: Result | None = None
    """How it ended, as it was told or as the entries show; None for a game that was not seen to its end."""

    @property
    def whole(self) -> bool:
        """Whether it was seen from its opening throw, without a gap."""
        return self.start.stage is Stage.OPENING and not any(isinstance(it, Gap) for it in self.entries)

    @property
    def scores(self) -> tuple[int, int]:
        """Points of seat A and seat B after the game, as far as they are known."""
        result = self.result
        return self.start.scores if result is None else add_points(self.start.scores, result.winner, result.points)


def add_points(scores: tuple[int, int], winner: Seat, points: int) -> tuple[int, int]:
    """Return the scores after the winner of a game has got its points."""
    a, b = scores
    return (a + points, b) if winner is Seat.A else (a, b + points)


def end_game(state: GameState, result: Result) -> GameState:
    """Return the end of a game of which only the result is known."""
    scores = add_points(state.scores, result.winner, result.points)
    over = evolve(state, stage=Stage.OVER, scores=scores, result=result, dice=None, resignation=None)
    return evolve(over, offered=0, answering=None, redoubles=0)


@frozen
class Transcript:
    """A match, as far as it was seen."""

    players: tuple[Player, Player]
    """Those of seat A and seat B."""
    length: int
    """Points; 0 is unlimited."""
    games: tuple[Game, ...] = ()
    user: Seat | None = None
    """Whose log it was; None where somebody else's match was watched, or a file does not say."""
    site: str = ""
    """Where it was played: a server's name or address."""
    started: dt.datetime | None = None
    ended: dt.datetime | None = None
    """When it was won, or last seen."""
    given_id: str = ""
    """The number that a file gave it."""
    tags: Mapping[str, str] = field(factory=dict)
    """Whatever else a file's headers say, by their own names."""

    @property
    def scores(self) -> tuple[int, int]:
        """Points of seat A and seat B at the end, as far as they are known."""
        return self.games[-1].scores if self.games else (0, 0)

    @property
    def winner(self) -> Seat | None:
        """Who has won the match; None while nobody has, as in an unlimited one."""
        return next((seat for seat in Seat if self.length and self.scores[seat] >= self.length), None)

    @property
    def match_id(self) -> str:
        """A number of its own that is always the same for the same match: the given one, or made of what is known."""
        if self.given_id:
            return self.given_id
        names = sorted(player.name for player in self.players)
        known = [self.site, *names, str(self.length)]
        if self.started:
            known.append(self.started.astimezone(dt.UTC).isoformat(timespec="seconds"))
        else:
            throws = [it.dice for game in self.games[:1] for it in game.entries if isinstance(it, Throw)]
            known.append(repr(throws))
        return hashlib.sha256("\0".join(known).encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


Answer: TypeAlias = Play | CubeAction | Level | bool
"""What was decided: a play; roll, double, take, pass or beaver; how much to resign; whether to accept a resignation."""


class TranscriptError(ValueError):
    """An entry cannot have happened where it stands; the text is one line and says where and why."""


_CUBE_RULES: Final[Mapping[CubeAction, Callable[[GameState, Seat], GameState]]] = {
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
            thrown = _after_roll(state, entry)
            return thrown if entry.play is None else rules.play(thrown, entry.seat, entry.play)
        case Cube(action=CubeAction() as action) if action in _CUBE_RULES:
            return _CUBE_RULES[action](state, entry.seat)
        case Resign():
            offered = rules.resign(state, entry.seat, entry.level)
            answer = rules.accept_resignation if entry.accepted else rules.reject_resignation
            return answer(offered, entry.seat.other)
        case Gap():
            return entry.then
    raise TypeError(f"expected an entry of a game, got {entry!r}")


def _after_roll(state: GameState, entry: Throw) -> GameState:
    if state.stage is Stage.MOVE and entry.seat is state.turn and state.dice is not None:
        if sorted(state.dice) != sorted(entry.dice):  # a game first seen with the dice on the board
            raise RuleError(f"expected the dice {state.dice}, which lie on the board, got {entry.dice}")
        return state
    if state.stage is Stage.OPENING and entry.dice[0] != entry.dice[1]:
        high, low = max(entry.dice), min(entry.dice)
        thrown = rules.roll_opening(state, *((high, low) if entry.seat is Seat.A else (low, high)))
        return evolve(thrown, dice=entry.dice)
    return rules.roll(state, entry.seat, entry.dice)


def decisions(step: Step) -> tuple[Decision, ...]:
    """Return what was decided with an entry, in order: before a throw whether to double, where that was allowed."""
    before, entry = step.before, step.entry
    match entry:
        case Throw(seat=seat):
            return (*_roll_decision(step, seat), *_play_decision(step, entry))
        case Cube(seat=seat, action=action):
            return _decision(step, before, seat, action)
        case Resign(seat=seat):
            offered = rules.resign(before, seat, entry.level)
            offer = _decision(step, before, seat, entry.level)
            return (*offer, *_decision(step, offered, seat.other, entry.accepted))
    return ()


def count_decisions(step: Step) -> int:
    """Return how many decisions were made with an entry, which is quicker than to list them."""
    before, entry = step.before, step.entry
    if not isinstance(entry, Throw) or before.resignation:
        return len(decisions(step))
    rolled = before.stage is Stage.ROLL and not refusal_to_double(before, entry.seat)
    return rolled + (entry.play is not None)


def _roll_decision(step: Step, seat: Seat) -> tuple[Decision, ...]:
    before = step.before
    if before.stage is not Stage.ROLL or refusal_to_double(before, seat):
        return ()
    return _decision(step, before, seat, CubeAction.ROLL)


def _play_decision(step: Step, entry: Throw) -> tuple[Decision, ...]:
    if entry.play is None:
        return ()
    return _decision(step, _after_roll(step.before, entry), entry.seat, entry.play)


def _decision(step: Step, before: GameState, seat: Seat, answer: Answer) -> tuple[Decision, ...]:
    state = rules.decision(before, seat)
    return () if state is None else (Decision(step, seat, state, answer),)
