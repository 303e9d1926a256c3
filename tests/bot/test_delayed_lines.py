"""Late lines and broken connections, so that commands cross important messages: all bots keep track."""

from __future__ import annotations

import random
from typing import Final

import pytest

from fibsbot.bot.settings import Timings
from tests.bot.simulation import LOST, Passing, Simulation
from tests.bot.test_lost_lines import DoublingStrategy

NAMES: Final = ("anna", "bert", "carl", "dora", "emil")
DECISIONS: Final = ("move", "roll", "double", "redouble", "accept", "reject", "resign")
GONE: Final = "** You're not playing."
"""The server's answers to a decision that crosses the end of its match."""


class UnreliableWorld:
    """Bots that all invite each other, with late lines and connections that break at any time."""

    def __init__(self, seed: int, count: int, latest: float) -> None:
        """Add all bots. `latest`: the maximum delay of a line in seconds."""
        self._rng = rng = random.Random(seed)
        self._latest = latest
        self.simulation = Simulation(seed, fault=self._late)
        for number, name in enumerate(NAMES[:count]):
            timings = Timings(pause=rng.choice((0.0, 0.2, 1.5)), retry=rng.choice((5.0, 30.0)))
            wanted = NAMES[(number + 1) % count]
            self.simulation.add(
                name,
                DoublingStrategy(seed + number),
                strict=True,
                invite=wanted,
                length=1,
                matches=None,
                timings=timings,
            )
        self.simulation.later(30.0, self._trouble)

    def _late(self, line: Passing) -> list[tuple[float, str]]:
        return [(self._rng.uniform(0.0, self._latest), line.text)]

    def _trouble(self) -> None:
        self.simulation.lose(self._rng.choice(list(self.simulation.bots)))
        self.simulation.later(self._rng.expovariate(1 / 200), self._trouble)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "latest"), [(2, 0.1), (3, 0.5), (3, 5.0), (5, 5.0)])
def test_no_board_is_unexpected_when_lines_cross(count: int, latest: float) -> None:
    """The bots are strict: an unexpected board raises DifferenceError."""
    world = UnreliableWorld(10 * count + 5, count, latest)
    simulation = world.simulation
    simulation.run(300 + 400 * latest)
    simulation.close()
    assert {GONE} >= {answer for _, said, answer in simulation.refusals if said.startswith(DECISIONS)}
    assert 0 < sum(bot.agent.counters.matches for bot in simulation.bots.values())
    assert {LOST} == {reason for bot in simulation.bots.values() for reason in bot.reasons}
