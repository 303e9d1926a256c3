"""The strategy `random`: every legal play with the same chance. The baseline of every other strategy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.ruleset import Ruleset
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer

DOUBLES: Final = 0.05
"""Chance of a double when one is allowed: often enough that most matches have one."""
TAKES: Final = 0.7
BEAVERS: Final = 0.1
RESIGNS: Final = 0.002
"""Chance of resigning before a roll: about one game in fifteen."""


class RandomStrategy:
    """Decide everything by chance: a sparring partner that visits every corner of the rules.

    With a seed, the same questions in the same order get the same answers.
    """

    name = "random"

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)

    def reseed(self, seed: str) -> None:
        """Begin other random numbers."""
        self._random.seed(seed)

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Choose any play."""
        return PlayAnswer(self._random.choice(plays))

    def plays_game(self, rules: Ruleset) -> bool:  # noqa: ARG002
        """Play every game."""
        return True

    def choose_name(self, state: MatchState) -> int:
        """Name any number."""
        return self._random.choice(state.names)

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002
        """Double now and then."""
        return CubeAnswer(CubeAction.DOUBLE if self._happens(DOUBLES) else CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take mostly, pass sometimes, beaver rarely."""
        if state.redoubles and self._happens(BEAVERS):
            return CubeAnswer(CubeAction.BEAVER)
        return CubeAnswer(CubeAction.TAKE if self._happens(TAKES) else CubeAction.PASS)

    def accept_resignation(self, state: MatchState) -> bool:  # noqa: ARG002
        """Toss a coin."""
        return self._happens(0.5)

    def resign(self, state: MatchState) -> int:  # noqa: ARG002
        """Resign a single game once in a long while."""
        return int(self._happens(RESIGNS))

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002
        """Accept everybody."""
        return None

    def close(self) -> None:
        """Release nothing."""

    def _happens(self, chance: float) -> bool:
        return self._random.random() < chance
