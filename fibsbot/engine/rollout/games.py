"""The games of a rollout: its plan, the candidates, the dice, and blocks of 36 games played in parallel.

The dice are the same for all candidates. The games of a block give the network large batches.

The luck of a roll is its equity minus the mean of all 21. As the mean is known from a 1-ply lookahead, luck can be
subtracted from each result without bias (variance reduction). The remaining variance comes from the errors of the
evaluation and is far smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from attrs import define, evolve, field, frozen

from fibsbot.engine.arrays import (
    OUTCOMES,
    ROLL_COUNT,
    Boards,
    Bools,
    Floats64,
    Int32s,
    Int64s,
    Outcomes,
    boards_of,
    other_side,
)
from fibsbot.engine.cube import THEIRS
from fibsbot.engine.engine import Engine, check_can_be_made
from fibsbot.engine.numerics import mean_over_rolls
from fibsbot.engine.pruner import PlayFilter
from fibsbot.engine.search import Searcher
from fibsbot.engine.search.lookahead import OPPONENT_COLUMN, Clock, CubeLine, DecisionCubes, Lookahead, argmin_of_slots
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play

BLOCK: Final = 36
"""Trials that are played together, one for each first roll."""

Trials = npt.NDArray[np.float64]
"""The results of a candidate's games: the six chances and the cubeful equity, shape (trials, 7)."""
EQUITY = OUTCOMES
"""The column of the equity."""
COLUMNS = OUTCOMES + 1


def whole_blocks(trials: int) -> int:
    """Return a number of trials rounded up to whole blocks."""
    return -(-trials // BLOCK) * BLOCK


@frozen
class RolloutPlan:
    """The parameters of a rollout."""

    trials: int = field(default=1296, converter=whole_blocks)
    """The maximum number of games; a multiple of 36."""
    truncated: int | None = None
    """The number of turns after which a game is evaluated by the network; None plays to the end."""
    cubeful: bool = True
    """Whether the cube is in play."""
    variance_reduction: bool = True
    """Whether to subtract luck, which saves most of the games."""
    seed: int = 1
    stop_at_error: float | None = None
    """Stop when the standard errors of all equities are at most this."""
    stop_at_deviations: float | None = None
    """Stop when the best is ahead of each other candidate by this number of joint standard deviations."""
    min_trials: int = field(default=144, converter=whole_blocks)
    """The minimum number of games before stopping."""

    def __attrs_post_init__(self) -> None:
        """Raise ValueError for an invalid plan."""
        if self.trials < 1:
            raise ValueError(f"expected at least one trial, got {self.trials}")
        if self.truncated is not None and self.truncated < 1:
            raise ValueError(f"expected to truncate after at least one turn, got {self.truncated}")
        if self.seed < 0:
            raise ValueError(f"expected a seed from 0, got {self.seed}")
        for least in (self.stop_at_error, self.stop_at_deviations):
            if least is not None and not least > 0:
                raise ValueError(f"expected to stop at an error, or at deviations, above 0, got {least}")


@frozen
class Candidate:
    """A position to roll out before a roll, and the player whose equity is wanted.

    Rollout files contain a hash of its `repr`: renaming a field makes them unusable.
    """

    name: str
    state: MatchState
    """Phase ROLL, seen by the player on roll."""
    mine: bool = True
    """Whether the equity of the player on roll is wanted, not the other player's."""
    rolls: bool = False
    """Whether the player on roll rolls at once, without doubling."""
    turned: bool = False
    """Whether the player has doubled and the opponent taken; equities stay in the unit of the state."""


def position_candidate(state: MatchState) -> tuple[Candidate]:
    """Return the candidate for a position before the roll, with the player doubling where that gains."""
    return (Candidate("position", evolve(state, phase=Phase.ROLL, dice=None)),)


def cube_candidates(state: MatchState) -> tuple[Candidate, Candidate]:
    """Return the candidates `no double` and `double, take`."""
    rolling = evolve(state, phase=Phase.ROLL, dice=None)
    return (Candidate("no double", rolling, rolls=True), Candidate("double, take", rolling, rolls=True, turned=True))


def play_candidates(state: MatchState, plays: Sequence[Play], names: Sequence[str]) -> tuple[Candidate, ...]:
    """Return a candidate for each play. Raises ValueError for one that cannot be made."""
    for play in plays:
        check_can_be_made(state.position, play)
    return tuple(
        Candidate(
            name,
            evolve(evolve(state, board=state.position.play(play)).swapped(), phase=Phase.ROLL, dice=None),
            mine=False,
        )
        for play, name in zip(plays, names, strict=True)
    )


_OF_DICE: Final = np.array(
    [max(one, other) * (max(one, other) - 1) // 2 + min(one, other) - 1 for one in range(1, 7) for other in range(1, 7)]
)
"""The index in `match.ROLLS` of each of the 36 results of two dice."""


class RolloutDice:
    """The rolls of a block of 36 games, turn by turn.

    In each block every first roll and every second roll occurs as often as expected, in 36 blocks every pair of the
    two. Their order is random, so that each single roll is as random as any other.
    """

    def __init__(self, seed: int, block: int) -> None:
        order = np.random.default_rng((seed, 0))
        self._early = (order.permutation(36), order.permutation(36))
        self._later = np.random.default_rng((seed, 1, block))
        self._block = block
        self._turn = 0

    def roll(self) -> Int64s:
        """Return the roll of each game of the block at its next turn, shape (36,)."""
        games = np.arange(BLOCK)
        turn, self._turn = self._turn, self._turn + 1
        if turn < 2:
            return np.asarray(_OF_DICE[self._early[turn][(games + turn * self._block) % 36]])
        return np.asarray(_OF_DICE[self._later.integers(36, size=BLOCK)])


# -- games -------------------------------------------------------------------------------------------------------------


ROLLOUT_FILTER: Final = PlayFilter(0.12, 3)
"""The plays that are evaluated by the network."""
MAX_TURNS: Final = 500
"""Turns after which a game that does not end is truncated and evaluated."""


class BlockPlayer:
    """Rolls out candidates block by block; each thread needs its own."""

    def __init__(self, engine: Engine) -> None:
        self._searcher = Searcher(engine.evaluator, engine.pruner)

    @property
    def evaluations(self) -> int:
        """The number of positions that were evaluated so far."""
        return self._searcher.lookahead.evaluations

    def play(
        self, candidates: Sequence[Candidate], plan: RolloutPlan, block: int, clock: Clock | None = None
    ) -> list[Trials]:
        """Return the results of a block of games, shape (36, 7) for each candidate, seen by the candidate's player.

        They do not depend on what was played before. Raises OutOfTimeError after the deadline of the clock.
        """
        self._searcher.lookahead.forget()
        self._searcher.lookahead.clock = clock or Clock()
        return [self._play(candidate, plan, block) for candidate in candidates]

    def _play(self, candidate: Candidate, plan: RolloutPlan, block: int) -> Trials:
        state = candidate.state if plan.cubeful else evolve(candidate.state, cubeless=True, jacoby=False)
        cubes = self._searcher.cubes(state)
        start = CubeLine(1, THEIRS) if candidate.turned else cubes.start
        boards = np.repeat(boards_of([state.position]), BLOCK, axis=0)
        games = _Games.of(self._searcher.lookahead, cubes, plan, boards, start)
        dice = RolloutDice(plan.seed, block)
        for turn in range(plan.truncated or MAX_TURNS):
            games.settle(cubes.are_final(games.boards))
            if not len(games.games):
                break
            games.turn(dice.roll(), doubling=turn > 0 or not candidate.rolls)
        games.settle(np.ones(len(games.games), np.bool_))
        return games.results if candidate.mine else _other(games.results)


class _BestPlays(NamedTuple):
    """The best play of every roll of the games in progress, seen by the player on roll."""

    places: Int64s
    """Its index among all plays, shape (games, 21)."""
    outcomes: Outcomes
    """Shape (games, 21, 6)."""
    equities: Floats64
    """Shape (games, 21)."""


@frozen(eq=False)
class _EvaluatedPlays:
    """The evaluated plays of all rolls; boards and chances are seen by the opponent."""

    boards: Boards
    slots: Int32s
    outcomes: Outcomes

    @property
    def games(self) -> Int32s:
        """The game of each play."""
        return self.slots // ROLL_COUNT

    def best(self, equities: Floats64, games: int) -> _BestPlays:
        """Return the plays with the least equity for the opponent."""
        places = argmin_of_slots(equities[:, None], self.slots, games * ROLL_COUNT)[:, 0].reshape(games, ROLL_COUNT)
        return _BestPlays(places, other_side(self.outcomes[places]), -equities[places])


@define(eq=False)
class _Games:
    """Games that are played in parallel. They are at the same turn, so the same side is on roll in all of them."""

    lookahead: Lookahead
    cubes: DecisionCubes
    reduced: bool
    boards: Boards
    """Boards of the games in progress, seen by the player on roll."""
    levels: Int64s
    """How often the cube of each was doubled."""
    columns: Int64s
    """The owner column of each cube, seen by the player on roll."""
    games: Int64s
    """The number of each game in progress."""
    results: Trials
    """Results of all games for side 0; for games in progress, minus the luck so far."""
    side: int = 0

    @classmethod
    def of(cls, lookahead: Lookahead, cubes: DecisionCubes, plan: RolloutPlan, boards: Boards, line: CubeLine) -> Self:
        """Return games that start with the same cube."""
        count = len(boards)
        levels, columns = np.full(count, line.level), np.full(count, line.column)
        return cls(
            lookahead,
            cubes,
            plan.variance_reduction,
            boards,
            levels,
            columns,
            np.arange(count),
            np.zeros((count, COLUMNS)),
        )

    def turn(self, rolls: Int64s, *, doubling: bool) -> None:
        """Play a turn in each game: double where that gains, roll and play. `rolls` has the roll of each game."""
        boards, slots = self.lookahead.expand(self.boards, ROLLOUT_FILTER)
        found = _EvaluatedPlays(boards, slots, self.lookahead.evaluate(boards))
        ahead = found.best(self._theirs(found, self.levels, self.columns), len(self.games))
        if doubling:
            ahead = self._doubled(found, ahead)
        here, rolled = np.arange(len(self.games)), rolls[self.games]
        if self.reduced:
            every = np.concatenate([ahead.outcomes, ahead.equities[..., None]], axis=2)
            self._add(here, mean_over_rolls(every) - every[here, rolled])
        self.boards = boards[ahead.places[here, rolled]]
        self.columns = _OTHERS[self.columns]
        self.side = 1 - self.side

    def settle(self, over: Bools) -> None:
        """End games with the evaluation of their positions."""
        if over.any():
            boards, levels, columns = self.boards[over], self.levels[over], self.columns[over]
            outcomes = self.lookahead.evaluate(boards)
            equities = self._worths(self.side, levels, columns, boards, outcomes)
            self._add(np.flatnonzero(over), np.column_stack([outcomes, equities]))
            self._keep(~over)

    # -- the cube -------------------------------------------------------------------------------------------------

    def _doubled(self, found: _EvaluatedPlays, ahead: _BestPlays) -> _BestPlays:
        """Double where that gains and end the games in which the double is passed; return the best plays then."""
        may = self._may_double()
        if not may.any():
            return ahead
        taken = found.best(self._theirs(found, self.levels + 1, np.full_like(self.columns, THEIRS), may), len(may))
        no_double, double_take = mean_over_rolls(ahead.equities), mean_over_rolls(taken.equities)
        passed = np.empty(len(may))
        for level in np.unique(self.levels).tolist():
            stakes, these = self.cubes.stakes(self.side, level), self.levels == level
            passed[these] = stakes.pass_value
            double_take[these] = stakes.take_value(double_take[these])
        doubles = may & (np.minimum(double_take, passed) > no_double)
        passes = doubles & (double_take > passed)
        takes = (doubles & ~passes)[:, None]
        ahead = _BestPlays(
            np.where(takes, taken.places, ahead.places),
            np.where(takes[..., None], taken.outcomes, ahead.outcomes),
            np.where(takes, taken.equities, ahead.equities),
        )
        self.levels = self.levels + takes[:, 0]
        self.columns = np.where(takes[:, 0], THEIRS, self.columns)
        if passes.any():
            chances = mean_over_rolls(ahead.outcomes)[passes]
            self._add(np.flatnonzero(passes), np.column_stack([chances, passed[passes]]))
            self._keep(~passes)
        return _BestPlays(ahead.places[~passes], ahead.outcomes[~passes], ahead.equities[~passes])

    def _may_double(self) -> Bools:
        lines = zip(self.levels.tolist(), self.columns.tolist(), strict=True)
        return np.array([self.cubes.may_double(self.side, CubeLine(*line)) for line in lines], np.bool_)

    # -- equities ---------------------------------------------------------------------------------------------------

    def _theirs(self, found: _EvaluatedPlays, levels: Int64s, columns: Int64s, asked: Bools | None = None) -> Floats64:
        """Return the opponent's equity after each play, with the cube of each game as the player on roll sees it.

        If `asked` is given, plays of other games get 0.
        """
        chosen = np.arange(len(found.boards)) if asked is None else np.flatnonzero(asked[found.games])
        games = found.games[chosen]
        equities = np.zeros(len(found.boards))
        equities[chosen] = self._worths(
            1 - self.side, levels[games], _OTHERS[columns[games]], found.boards[chosen], found.outcomes[chosen]
        )
        return equities

    def _worths(self, side: int, levels: Int64s, columns: Int64s, boards: Boards, outcomes: Outcomes) -> Floats64:
        """Return the equities of boards for a side on roll, each with a cube of its own as that side sees it."""
        equities = np.empty(len(boards))
        for level, column in set(zip(levels.tolist(), columns.tolist(), strict=True)):
            these = (levels == level) & (columns == column)
            line = (CubeLine(level, column),)
            equities[these] = self.cubes.values(side, line, boards[these], outcomes[these])[:, 0]
        return equities

    def _add(self, places: Int64s, gains: Floats64) -> None:
        """Add gains, seen by the player on roll, to the results of the games at these indices."""
        self.results[self.games[places]] += gains if self.side == 0 else _other(gains)

    def _keep(self, going: Bools) -> None:
        self.boards, self.levels, self.columns = self.boards[going], self.levels[going], self.columns[going]
        self.games = self.games[going]


_OTHERS: Final = np.array([OPPONENT_COLUMN[column] for column in sorted(OPPONENT_COLUMN)])


def _other(gains: Floats64) -> Floats64:
    """Return outcomes and equities as seen by the other player."""
    return np.concatenate([other_side(gains[:, :OUTCOMES]), -gains[:, EQUITY:]], axis=1)
