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
"""Trials that are played side by side: a trial for each first roll."""


def _whole_blocks(trials: int) -> int:
    return -(-trials // BLOCK) * BLOCK


@frozen
class RolloutPlan:
    """How games are rolled out."""

    trials: int = field(default=1296, converter=_whole_blocks)
    """Games, at most; a multiple of 36."""
    truncated: int | None = None
    """After how many turns the network says what is left; None plays to the end."""
    cubeful: bool = True
    """Whether the cube is in play."""
    variance_reduction: bool = True
    """Whether luck is taken out, which saves most of the games."""
    seed: int = 1
    stop_at_error: float | None = None
    """Stop when the standard errors of all equities are down to this."""
    stop_at_deviations: float | None = None
    """Stop when the best is ahead of each other candidate by so many joint standard deviations."""
    min_trials: int = field(default=144, converter=_whole_blocks)
    """Games before which nothing is stopped."""

    def __attrs_post_init__(self) -> None:
        """Raise ValueError for a plan that is none."""
        if self.trials < 1:
            raise ValueError(f"expected at least one trial, got {self.trials}")
        if self.truncated is not None and self.truncated < 1:
            raise ValueError(f"expected to truncate after at least one turn, got {self.truncated}")


@frozen
class Candidate:
    """Something to roll out: a state before a roll, and whose worth of it is asked for."""

    name: str
    state: MatchState
    """Phase ROLL, seen by the player on roll."""
    mine: bool = True
    """Whether the worth for the player on roll is asked for, and not that for the other."""
    rolls: bool = False
    """Whether the player on roll rolls at once, without doubling."""
    turned: bool = False
    """Whether he has doubled before and been taken; equities stay in the unit of the state."""


def position_candidate(state: MatchState) -> tuple[Candidate]:
    """Return what rolls out a position before the roll, the player doubling where that gains."""
    return (Candidate("position", evolve(state, phase=Phase.ROLL, dice=None)),)


def cube_candidates(state: MatchState) -> tuple[Candidate, Candidate]:
    """Return no double, and double and take."""
    rolling = evolve(state, phase=Phase.ROLL, dice=None)
    return (Candidate("no double", rolling, rolls=True), Candidate("double, take", rolling, rolls=True, turned=True))


def play_candidates(state: MatchState, plays: Sequence[Play], names: Sequence[str]) -> tuple[Candidate, ...]:
    """Return what rolls out plays."""
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
"""The number of each of 36 rolls of two dice that can be told apart."""


class RolloutDice:
    """The rolls of a block of 36 games, turn by turn.

    In each block every first roll comes up as often as it should, and every second one; in 36 blocks every pair of the
    two. Which game gets which is up to the seed, so that each single roll is as random as any other.
    """

    def __init__(self, seed: int, block: int) -> None:
        """Make the rolls of the block of this number."""
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
