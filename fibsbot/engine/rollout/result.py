"""What a rollout has found."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.outcomes import OUTCOMES, Outcomes, cubeless_equity
from fibsbot.engine.rollout.plan import Candidate, Plan


class RolloutError(Exception):
    """A rollout cannot be done or go on; the text is one line."""


Trials = npt.NDArray[np.float64]
"""What each game of a candidate gave: the six chances and the worth with the cube, shape (trials, 7)."""
EQUITY = OUTCOMES
"""The column of the worth."""
COLUMNS = OUTCOMES + 1


@frozen(eq=False)
class RolledOut:
    """A candidate, and what it is worth to whoever asks."""

    candidate: Candidate
    trials: Trials

    @property
    def count(self) -> int:
        """How many games were played."""
        return len(self.trials)

    @property
    def outcomes(self) -> Outcomes:
        """The six chances, shape (6,)."""
        return np.asarray(self.trials[:, :OUTCOMES].mean(axis=0))

    @property
    def outcome_errors(self) -> Outcomes:
        """Their standard errors, shape (6,)."""
        return standard_error(self.trials[:, :OUTCOMES])

    @property
    def equity(self) -> float:
        """Worth with the cube, normalised (see `cube.Stakes`); without one if the rollout had none."""
        return float(self.trials[:, EQUITY].mean())

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(standard_error(self.trials[:, EQUITY]))

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, at the value that it has in this candidate."""
        return float(cubeless_equity(self.outcomes))

    @property
    def cubeless_error(self) -> float:
        """Its standard error."""
        return float(standard_error(cubeless_equity(self.trials[:, :OUTCOMES])))


@frozen(eq=False)
class RolloutResult:
    """What all candidates are worth, in the order in which they were given."""

    plan: Plan
    rolled: tuple[RolledOut, ...]
    seconds: float

    @property
    def best(self) -> RolledOut:
        """The candidate of the highest worth."""
        return max(self.rolled, key=lambda it: it.equity)

    def ranked(self) -> list[RolledOut]:
        """Return the candidates, the best first."""
        return sorted(self.rolled, key=lambda it: -it.equity)

    def behind(self, rolled: RolledOut) -> tuple[float, float]:
        """Return by how much a candidate is behind the best, and the standard error of that.

        All candidates get the same throws, so the difference is surer than both of its terms.
        """
        difference = self.best.trials[:, EQUITY] - rolled.trials[:, EQUITY]
        return float(difference.mean()), float(standard_error(difference))


def standard_error(trials: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Return the standard error of the mean of trials, along the first axis; infinite for fewer than two."""
    if len(trials) < 2:
        return np.full(trials.shape[1:], np.inf)
    return np.asarray(trials.std(axis=0, ddof=1) / np.sqrt(len(trials)))
