"""Rollout plan: the candidates, how many games, when to stop, and the dice, the same for all candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from attrs import evolve, field, frozen

from fibsbot.engine.arrays import Int64s
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play

BLOCK: Final = 36
"""Trials that are played together, one for each first roll."""


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
    """Return a candidate for each play."""
    return tuple(
        Candidate(
            name,
            evolve(evolve(state, position=state.position.play(play)).swapped(), phase=Phase.ROLL, dice=None),
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
