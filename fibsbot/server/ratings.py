"""The rating formula of FIBS (`help formula`; docs/protocol.md)."""

from __future__ import annotations

import math
from typing import Final

from attrs import field, frozen

from protocol import messages as m
from protocol.messages import Message

NEW_RATING: Final = 1500.0
"""What a new user begins with, with an experience of 0."""
LISTED_EXPERIENCE: Final = 50
"""Who has more than this is on the rating list, and may invite to matches longer than SHORT_MATCH."""
SHORT_MATCH: Final = 9
"""Points of the longest match that anybody may invite to."""


@frozen
class Standing:
    """A player before the match."""

    name: str
    rating: float
    experience: int
    """Points of all rated matches finished so far."""

    @property
    def factor(self) -> float:
        """K: newcomers' ratings move up to five times as fast."""
        return max(1.0, 5 - self.experience / 100)


@frozen
class Calculation:
    """What a finished match does to both ratings."""

    winner: Standing
    loser: Standing
    length: int
    """N, the length of the match in points."""
    difference: float = field(init=False)
    """D."""
    upset: float = field(init=False)
    """Pu, the probability that the underdog wins."""
    probability: float = field(init=False)
    """P, the probability of the result that did not come: 1 - Pu if the underdog won, else Pu."""

    @difference.default
    def _difference(self) -> float:
        return abs(self.winner.rating - self.loser.rating)

    @upset.default
    def _upset(self) -> float:
        exponent = self.difference * math.sqrt(self.length) / 2000
        return 1 / (math.pow(10, min(exponent, 300)) + 1)

    @probability.default
    def _probability(self) -> float:
        return 1 - self.upset if self.winner.rating < self.loser.rating else self.upset

    @property
    def gain(self) -> float:
        """Points that the winner gains."""
        return self._change(self.winner)

    @property
    def loss(self) -> float:
        """Points that the loser loses, a positive number."""
        return self._change(self.loser)

    def _change(self, player: Standing) -> float:
        return 4 * player.factor * math.sqrt(self.length) * self.probability

    def lines(self) -> tuple[Message, ...]:
        """Return the block that `toggle ratings` shows, the winner first."""
        winner, loser = self.winner, self.loser
        return (
            m.RatingStart(),
            m.RatingDifference(self.difference),
            m.RatingLength(self.length),
            m.RatingExperience(winner.name, winner.experience, loser.name, loser.experience),
            m.RatingUpset(self.upset),
            m.RatingProbability(self.probability),
            m.RatingFactor(winner.name, winner.factor),
            m.RatingChange(winner.name, self.gain),
            m.RatingFactor(loser.name, loser.factor),
            m.RatingChange(loser.name, -self.loss),
        )
