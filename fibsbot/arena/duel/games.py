"""The settings of a duel, the dice that follow from its seed, and its games as generators of questions.

The generators do not know who answers. The answers that are sent to them must have been checked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from random import Random
from typing import Any, Final, TypeAlias

from attrs import asdict, field, frozen
from attrs.validators import ge, gt

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import load_ruleset
from fibsbot.match import CubeAction, Dice, MatchState
from fibsbot.position import Play
from fibsbot.rules.backgammon import BACKGAMMON, is_backgammon
from fibsbot.rules.game import next_game, play, resign, roll_opening, start_match
from fibsbot.rules.law_words import parse_law_words
from fibsbot.rules.laws import AutomaticRaise, Laws, Level
from fibsbot.rules.permissions import match_winner, refusal_to_double
from fibsbot.rules.ruleset import Numbers, Opening, Ruleset
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies import DEFAULT_STRATEGY, base_name, questions
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.transcript import Contest, Continuation, Cube, Entry, Game, Named, RejectedRoll, Resign, Throw, apply
from fibsbot.workers.errors import WorkerLostError

MONEY_CUBE_LIMIT: Final = 4096
"""Limit of the cube in money games: strategies that always double and take could make one game outweigh all others."""
DEFAULT_DEADLINE: Final = 60.0
"""Default seconds for a decision."""
SIMPLE_PLAYERS: Final = ("random", "pips", "blots")
"""The strategies that compiled games of every ruleset have."""


class DuelError(Exception):
    """A duel cannot be played, or not to its end; the text is one line and says why."""


@contextlib.contextmanager
def lost_worker_named() -> Iterator[None]:
    """Turn the error of a lost worker into one that says which pair it was playing."""
    try:
        yield
    except WorkerLostError as error:
        raise DuelError(f"a process that played {error.item.key} {error}") from None


@frozen
class DuelPlan:
    """The settings of a duel, without the number of games: a duel may be continued."""

    strategies: tuple[str, str]
    """The names of A and B, as `--strategy` takes them."""
    length: int = field(default=0, validator=ge(0))
    """Points of a match; 0: single money games."""
    seed: int = 1
    cube: bool = True
    jacoby: bool = False
    """Money games: whether gammons count only after a double was taken."""
    beavers: bool = False
    """Money games: whether a player who is doubled may redouble at once."""
    evaluator: str | None = None
    """Name of the strategy that evaluates luck and errors; None leaves them out."""
    deadline: float = field(default=DEFAULT_DEADLINE, validator=gt(0))
    """Seconds for a decision, after which a fallback decides."""
    other_laws: str = ""
    """The words of other laws than the game's own; whether there is a cube is in `cube`."""
    game: str = ""
    """The game that is played, with its options; empty for backgammon."""

    @property
    def rules(self) -> Ruleset:
        """The game that is played."""
        return load_ruleset(self.game or BACKGAMMON.name)

    @property
    def laws(self) -> Laws:
        """The laws of these games."""
        laws = parse_law_words(self.other_laws) if self.other_laws else self.rules.laws
        return fast_evolve(
            laws,
            cube=self.cube and laws.cube,
            cube_limit=None if self.length else MONEY_CUBE_LIMIT,
            jacoby=self.jacoby or laws.jacoby,
            redoubles=max(int(self.beavers), laws.redoubles),
        )

    @property
    def is_compiled(self) -> bool:
        """Whether compiled games play this duel, many times faster: single games between players that they have."""
        engines = () if is_backgammon(self.rules) else (DEFAULT_STRATEGY,)
        known = all(name in SIMPLE_PLAYERS or base_name(name) in engines for name in self.strategies)
        more = self.length or self.laws.cube or self.other_laws or self.evaluator
        return bool(self.game) and known and not more

    @property
    def labels(self) -> tuple[str, str]:
        """The names of A and B, with a letter if they are the same."""
        a, b = self.strategies
        return (a, b) if a != b else (f"{a} A", f"{b} B")

    def settings(self) -> dict[str, Any]:
        """Return everything that the results depend on, in JSON types."""
        settings = {**asdict(self), "strategies": list(self.strategies)}
        return {key: value for key, value in settings.items() if value or key not in {"other_laws", "game"}}


OPENINGS: Final[tuple[Dice, ...]] = tuple((a, b) for a in range(1, 7) for b in range(1, 7) if a != b)
"""The 30 rolls of one die per player that do not tie."""
ROLLS: Final[tuple[Dice, ...]] = tuple((a, b) for a in range(1, 7) for b in range(1, 7))
"""The 36 rolls of two dice."""
BLOCK: Final = len(OPENINGS) * len(ROLLS)
"""Number of pairs that begin with every opening followed by every roll, each once."""


class GameDice:
    """The dice of one game of a pair.

    The first two rolls of a pair's first game are stratified: in a whole BLOCK of pairs none is more frequent than
    another, and every 30 pairs have every opening. Each is still as likely as any other, since their order is random.
    """

    def __init__(self, seed: int, pair: int, game: int) -> None:
        """Start the dice of a game of a pair, both counted from 0."""
        self._random = Random(f"{seed} {pair} {game}")  # a string is hashed, so neighbouring seeds are unrelated
        self._planned = list(_planned(seed, pair)) if game == 0 else []

    def opening(self) -> Dice:
        """Return the die of seat A and that of seat B, which differ."""
        return self._planned.pop(0) if self._planned else self._random_of(OPENINGS)

    def tie(self) -> bool:
        """Return whether the opening roll ties, for laws by which that raises the cube."""
        return self._random.random() < 1 / 6

    def roll(self, count: int = 2) -> Numbers:
        """Return the next roll of two dice or more, the highest die first."""
        dice = self._planned.pop(0) if self._planned else self._random_of(ROLLS)
        others = [self._random_of(ROLLS)[0] for _ in range(count - len(dice))]
        return tuple(sorted((*dice, *others), reverse=True))

    def contest(self) -> tuple[int, int]:
        """Return the totals of two dice for seat A and for seat B."""
        return sum(self._random_of(ROLLS)), sum(self._random_of(ROLLS))

    def _random_of(self, ways: tuple[Dice, ...]) -> Dice:
        # Only random() is guaranteed to return the same numbers in every version of Python.
        return ways[int(len(ways) * self._random.random())]


def _planned(seed: int, pair: int) -> tuple[Dice, Dice]:
    block, index = divmod(pair, BLOCK)
    random = Random(f"{seed} block {block}")
    openings, rolls = _shuffled(random, OPENINGS), _shuffled(random, ROLLS)
    row, column = divmod(index, len(OPENINGS))
    return openings[column], rolls[(row + index) % len(ROLLS)]


def _shuffled(random: Random, ways: tuple[Dice, ...]) -> list[Dice]:
    keys = {way: random.random() for way in ways}
    return sorted(ways, key=lambda way: keys[way])


@frozen
class AskedQuestion:
    """A question, and the player who is asked."""

    seat: Seat
    question: questions.Question


Games: TypeAlias = tuple[Game, ...]
"""The games of a match."""
MatchGenerator: TypeAlias = Generator[AskedQuestion, questions.StrategyAnswer, Games]
_QuestionGenerator: TypeAlias = Generator[AskedQuestion, questions.StrategyAnswer, None]
LOWEST_RESIGNATION: Final = 1
"""The lowest level of a resignation. One that was rejected is not offered again in the same game, nor a lower one."""


def play_match(laws: Laws, length: int, dice: Callable[[int], GameDice], rules: Ruleset = BACKGAMMON) -> MatchGenerator:
    """Play a match of `length` points, or one money game if the length is 0.

    `dice` returns the dice of a game by its number, counted from 0.
    """
    state = start_match(laws, length, rules=rules)
    games: list[Game] = []
    while True:
        game = _GameInProgress(state)
        yield from game.play(dice(len(games)))
        games.append(Game(len(games) + 1, game.start, tuple(game.entries), game.state.result))
        if not length or match_winner(game.state) is not None:
            return tuple(games)
        state = next_game(game.state)


class _GameInProgress:
    """One game as it is played."""

    def __init__(self, state: GameState) -> None:
        self.start = self.state = state
        self.entries: list[Entry] = []
        self._resign_from = [LOWEST_RESIGNATION, LOWEST_RESIGNATION]

    def play(self, dice: GameDice) -> _QuestionGenerator:
        """Play the game to its end."""
        if self.state.stage is Stage.OPENING:
            yield from self._open(dice)
        while self.state.stage is not Stage.OVER:
            yield from self._go_on(dice)

    def _open(self, dice: GameDice) -> _QuestionGenerator:
        """Roll for who begins; whoever plays this roll plays it."""
        while self.state.laws.automatic is not AutomaticRaise.NONE and dice.tie():
            self.start = self.state = roll_opening(self.state, 1, 1)
        first, second = dice.opening()
        if self.state.rules.opening is Opening.RETHROW:
            self.start = self.state = roll_opening(self.state, first, second)
        else:
            yield from self._roll(Seat.A if first > second else Seat.B, (max(first, second), min(first, second)), dice)

    def _go_on(self, dice: GameDice) -> _QuestionGenerator:
        """Let happen what comes next."""
        seat = self.state.decides
        if seat is None:
            self._add(Contest(totals=dice.contest()))
        elif self.state.stage is Stage.ROLL:
            action = yield from self._before_roll(seat)
            if action is CubeAction.ROLL:
                yield from self._roll(seat, dice.roll(self.state.rules.dice), dice)
        elif self.state.stage is Stage.NAME:
            yield from self._name(seat)
        else:
            chosen = yield from self._choose_play(self.state, seat)
            self._add(Continuation(seat=seat, play=chosen or Play()))

    def _roll(self, seat: Seat, dice: Numbers, following: GameDice) -> _QuestionGenerator:
        """Play a roll; `following` are the dice of a roll that takes the place of a rejected one."""
        rolled = apply(self.state, Throw(seat=seat, dice=dice))
        if rolled.stage is not Stage.MOVE:  # something has to be named first, or nothing can be played
            self._add(Throw(seat=seat, dice=dice))
            return
        chosen = yield from self._choose_play(rolled, seat)
        if chosen is None:
            self._add(RejectedRoll(seat=seat, dice=dice))
            yield from self._roll(seat, following.roll(), following)
            return
        self.state = play(rolled, seat, chosen)
        self.entries.append(Throw(seat=seat, dice=dice, play=chosen))

    def _choose_play(
        self, rolled: GameState, seat: Seat
    ) -> Generator[AskedQuestion, questions.StrategyAnswer, Play | None]:
        """Return the play that a player chooses; None if the player rejects the roll."""
        state = _decision(rolled, seat)
        plays = state.plays
        if len(plays) > 1:
            answer = yield AskedQuestion(seat, questions.PlayQuestion(state, plays))
            if isinstance(answer, questions.RejectRollAnswer):
                return None
            if isinstance(answer, PlayAnswer):
                return answer.play
        return plays[0] if plays else Play()

    def _name(self, seat: Seat) -> _QuestionGenerator:
        state = _decision(self.state, seat)
        number = state.names[-1]
        if len(state.names) > 1:
            answer = yield AskedQuestion(seat, questions.NameQuestion(state))
            if isinstance(answer, questions.NameAnswer):
                number = answer.number
        self._add(Named(seat=seat, number=number))

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
        offered = resign(self.state, seat, level)
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
    asked = MatchState.of(state, seat)
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
