"""What a position, a play and the cube are worth: the functions `evaluate`, `rank`, `cube` and `rollout`.

Equities are normalised: in points per value of the cube, and at a match score on the same scale (`Evaluator` in
fibsbot/strategies/base.py). An evaluator is given by the name of a strategy, `engine:2` by default, which looks two
rolls ahead; other games than those like backgammon are valued by the game's own network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, Self, overload

from attrs import field, frozen

from fibsbot.fast_evolve import fast_evolve
from fibsbot.library.board import Board, check_board, plays_of
from fibsbot.library.json_values import JsonValue
from fibsbot.library.printed import Printed, percent, signed
from fibsbot.match import Phase
from fibsbot.position import Play
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.errors import RuleError
from fibsbot.rules.permissions import is_cube_dead
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import (
    Chances,
    CubeValues,
    DetailedEvaluator,
    Evaluator,
    PlayValue,
    PositionEvaluator,
    PositionValue,
)

if TYPE_CHECKING:
    from fibsbot.engine.rollout import RolloutResult

__all__ = [
    "BoardValue",
    "RatedCandidate",
    "RatedCube",
    "RatedPlay",
    "RatedPlays",
    "RatedRollout",
    "cube",
    "evaluate",
    "rank",
    "rollout",
]

DEFAULT_EVALUATOR: Final = "engine:2"


@lru_cache(4)
def evaluator_of(name: str) -> Evaluator:
    """Return the evaluator of this name, loaded once. Raises StrategyError, with one line of text."""
    from fibsbot.strategies.loader import ReusedStrategies  # noqa: PLC0415 - what loads the engine is imported late

    return ReusedStrategies().fresh_evaluator(name)


# -- positions ------------------------------------------------------------------------------------------------------


@frozen(repr=False, order=True)
class BoardValue(JsonValue, Printed):
    """What a board is worth to the player who decides. Values are ordered by equity."""

    equity: float
    chances: Chances | None = field(order=False)
    """To win, win a gammon, win a backgammon, lose, lose a gammon, lose a backgammon; None if they are not known."""

    @property
    def win(self) -> float | None:
        """The chance to win the game."""
        return self.chances[0] if self.chances else None

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        return (" equity", *(f" {name}" for name in CHANCE_HEADINGS))

    def rows(self) -> Sequence[Sequence[str]]:
        """Return one row."""
        return [[signed(self.equity), *_chances(self.chances)]]


CHANCE_HEADINGS: Final = ("win", "gammon", "bg", "lose", "gammon", "bg")


def _chances(chances: Chances | None) -> list[str]:
    return [percent(chance) for chance in chances or (None,) * len(CHANCE_HEADINGS)]


def evaluate(board: Board, evaluator: str = DEFAULT_EVALUATOR) -> BoardValue:
    """Return what a board is worth to the player who decides: before a roll, or after the best play or answer.

    Raises RuleError once the game is over, StrategyError for an unknown evaluator.
    """
    decision, judge = check_board(board).decision, evaluator_of(evaluator)
    if decision.phase is Phase.MOVE:
        best = rank(board, evaluator=evaluator)[0]
        return BoardValue(best.equity, best.chances)
    if decision.phase is not Phase.ROLL:
        raise RuleError(
            f"expected a board before a roll or a play, got one to decide {decision.phase.value!r}; see cube"
        )
    if isinstance(judge, PositionEvaluator):
        value: PositionValue = judge.value_position(decision)
        return BoardValue(value.equity, value.chances)
    return BoardValue(judge.value(decision), None)


# -- plays ----------------------------------------------------------------------------------------------------------


@frozen(repr=False, order=True)
class RatedPlay(JsonValue):
    """A play and its value to the player who makes it. Plays are ordered by equity, so that `max` is the best."""

    play: Play = field(order=False)
    text: str = field(order=False)
    """As people write it on this board."""
    equity: float
    loss: float = field(order=False)
    """What it costs against the best of those compared, from 0 up."""
    plies: int | None = field(default=None, order=False)
    """Rolls looked ahead; None if the evaluator does not say."""
    chances: Chances | None = field(default=None, order=False)

    @property
    def win(self) -> float | None:
        """The chance to win the game after it."""
        return self.chances[0] if self.chances else None

    def __str__(self) -> str:
        """Return the play and its equity."""
        return f"{self.text} {signed(self.equity)}"

    def __repr__(self) -> str:
        """Return the same, for a prompt."""
        return f"<RatedPlay {self}>"


@frozen(repr=False)
class RatedPlays(JsonValue, Printed, Sequence[RatedPlay]):
    """Plays of a roll, the best first."""

    plays: tuple[RatedPlay, ...]

    @overload
    def __getitem__(self, index: int) -> RatedPlay: ...
    @overload
    def __getitem__(self, index: slice) -> RatedPlays: ...
    def __getitem__(self, index: int | slice) -> RatedPlay | RatedPlays:
        """Return a play by its place from 0, or some of them."""
        return RatedPlays(self.plays[index]) if isinstance(index, slice) else self.plays[index]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.plays)

    def __iter__(self) -> Iterator[RatedPlay]:
        """Iterate from the best to the worst."""
        return iter(self.plays)

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        return ("play", " equity", " loss", *(f" {name}" for name in CHANCE_HEADINGS), " plies")

    def rows(self) -> Sequence[Sequence[str]]:
        """Return a row for each play."""
        return [
            [
                rated.text,
                signed(rated.equity),
                f"{rated.loss:.3f}",
                *_chances(rated.chances),
                "" if rated.plies is None else str(rated.plies),
            ]
            for rated in self.plays
        ]


def rank(board: Board, plays: Sequence[Play | str] | None = None, evaluator: str = DEFAULT_EVALUATOR) -> RatedPlays:
    """Return the plays of a roll with their values, the best first; `plays` limits it to some.

    Raises RuleError before the roll, and for a play that is illegal.
    """
    legal = check_board(board).plays  # says what is wrong with a board that has no dice
    chosen = plays_of(board, plays) if plays is not None else legal
    if not chosen:
        raise RuleError("expected at least one play to rank, got none")
    decision, judge = board.decision, evaluator_of(evaluator)
    if isinstance(judge, DetailedEvaluator):
        values = list(judge.compare_plays(decision, chosen, chosen[0]))
    else:
        values = [PlayValue(value) for value in judge.value_plays(decision, chosen)]
    best = max(value.equity for value in values)
    rated = [
        RatedPlay(play, board.text_of(play), value.equity, best - value.equity, value.plies, value.chances)
        for play, value in zip(chosen, values, strict=True)
    ]
    return RatedPlays(tuple(sorted(rated, key=lambda one: one.loss)))


# -- the cube -------------------------------------------------------------------------------------------------------


@frozen(repr=False)
class RatedCube(JsonValue, Printed):
    """What the actions with the cube are worth, all seen by the player who may double."""

    no_double: float
    double_take: float
    double_pass: float
    may_double: bool
    """Whether a double is possible at all, and can win more."""
    chances: Chances | None = None

    @property
    def action(self) -> Literal["double", "no double"]:
        """What the player should do."""
        doubles = self.may_double and min(self.double_take, self.double_pass) >= self.no_double
        return "double" if doubles else "no double"

    @property
    def answer(self) -> Literal["take", "pass"]:
        """What the opponent should answer to a double."""
        return "pass" if self.double_pass < self.double_take else "take"

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        return ("action", " equity", " loss")

    def rows(self) -> Sequence[Sequence[str]]:
        """Return a row for each action."""
        named = [("no double", self.no_double)]
        if self.may_double:
            named += [("double, take", self.double_take), ("double, pass", self.double_pass)]
        best = max(self.no_double, min(self.double_take, self.double_pass)) if self.may_double else self.no_double
        return [[name, signed(value), signed(value - best)] for name, value in named]

    def note(self) -> str:
        """Return the verdict."""
        return f"{self.action}, {self.answer}" if self.may_double else "no double is possible"


def cube(board: Board, evaluator: str = DEFAULT_EVALUATOR) -> RatedCube:
    """Return what doubling and not doubling are worth; of a board with a double, what it was worth.

    A double by which nobody can win more, as at the last points of a match, counts as none.

    Raises RuleError after the roll.
    """
    decision = check_board(board).decision
    if decision.phase is Phase.DOUBLED and not decision.redoubled:
        decision = decision.swapped()
    elif decision.phase is not Phase.ROLL:
        raise RuleError(f"expected a board before a roll or with a double, got one to decide {decision.phase.value!r}")
    decision = fast_evolve(decision, phase=Phase.ROLL)
    judge = evaluator_of(evaluator)
    if not decision.may_double or is_cube_dead(decision.game(), Seat.A):
        return RatedCube(judge.value(decision), 0.0, 0.0, may_double=False)
    values: CubeValues = judge.value_cube(decision)
    return RatedCube(values.no_double, values.double_take, values.double_pass, may_double=True, chances=values.chances)


# -- rollouts -------------------------------------------------------------------------------------------------------


@frozen(repr=False, order=True)
class RatedCandidate(JsonValue):
    """A candidate of a rollout. Candidates are ordered by equity."""

    text: str = field(order=False)
    """The play as people write it on this board; of a position its ID."""
    equity: float
    error: float = field(order=False)
    """The standard error of the equity."""
    loss: float = field(order=False)
    """What it costs against the best candidate, from 0 up."""
    chances: Chances = field(order=False)

    @property
    def win(self) -> float:
        """The chance to win the game."""
        return self.chances[0]

    def __str__(self) -> str:
        """Return the candidate, its equity and the standard error."""
        return f"{self.text} {signed(self.equity)} \u00b1 {self.error:.3f}"

    def __repr__(self) -> str:
        """Return the same, for a prompt."""
        return f"<RatedCandidate {self}>"


@frozen(repr=False)
class RatedRollout(JsonValue, Printed, Sequence[RatedCandidate]):
    """The result of a rollout, the best candidate first."""

    candidates: tuple[RatedCandidate, ...]
    games: int
    """Games of each."""
    seconds: float = field(eq=False)

    @classmethod
    def of(cls, result: RolloutResult) -> Self:
        """Return what a result of the engine says."""
        candidates = [
            RatedCandidate(
                one.candidate.name, one.equity, one.error, result.behind(one)[0], tuple(one.outcomes.tolist())
            )
            for one in result.ranked()
        ]
        return cls(tuple(candidates), result.results[0].count, result.seconds)

    @property
    def best(self) -> RatedCandidate:
        """The best candidate."""
        return self.candidates[0]

    @overload
    def __getitem__(self, index: int) -> RatedCandidate: ...
    @overload
    def __getitem__(self, index: slice) -> RatedRollout: ...
    def __getitem__(self, index: int | slice) -> RatedCandidate | RatedRollout:
        """Return a candidate by its place from 0, or some of them."""
        if isinstance(index, slice):
            return RatedRollout(self.candidates[index], self.games, self.seconds)
        return self.candidates[index]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.candidates)

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        return ("candidate", " equity", " error", " loss", *(f" {name}" for name in CHANCE_HEADINGS))

    def rows(self) -> Sequence[Sequence[str]]:
        """Return a row for each candidate."""
        return [
            [one.text, signed(one.equity), f"{one.error:.3f}", f"{one.loss:.3f}", *_chances(one.chances)]
            for one in self.candidates
        ]

    def note(self) -> str:
        """Return how many games were played."""
        return f"{self.games:,} games of each, {self.seconds:.3g} s; error: standard error"


def rollout(
    board: Board, plays: Sequence[Play | str] | None = None, *, games: int = 1296, seed: int = 1
) -> RatedRollout:
    """Play a position out by the engine, all candidates with the same dice, on all cores.

    Candidates are the given plays, or by default the three that `rank` likes best; before a roll the position itself.
    `games` is the number of games of each. Raises RuleError for a game that is not like backgammon.
    """
    if not is_backgammon(check_board(board).state.rules):
        raise RuleError(f"expected a game that is like backgammon for a rollout, got {board.game}")
    from fibsbot.engine.engine import Engine  # noqa: PLC0415 - loads the engine
    from fibsbot.engine.rollout import RolloutPlan, play_candidates, position_candidate  # noqa: PLC0415
    from fibsbot.engine.rollout import rollout as roll_out  # noqa: PLC0415

    decision = board.decision
    if decision.phase is Phase.MOVE:
        chosen = plays_of(board, plays) if plays is not None else [one.play for one in rank(board)[:3]]
        candidates = play_candidates(decision, chosen, [board.text_of(play) for play in chosen])
    else:
        candidates = position_candidate(decision)
    return RatedRollout.of(roll_out(Engine.load, candidates, RolloutPlan(trials=games, seed=seed)))
