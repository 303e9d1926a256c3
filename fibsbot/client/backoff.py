"""The growing pauses between attempts to connect."""

from __future__ import annotations

import random

from attrs import define, field

from fibsbot.client.settings import BackoffSettings


@define
class Backoff:
    """The pauses of one run."""

    pauses: BackoffSettings = field(factory=BackoffSettings)
    _random: random.Random = field(factory=random.Random)
    _next: float = 0.0

    def next_pause(self, lasted: float = 0.0, *, restarting: bool = False) -> float:
        """Return how many seconds to wait after a connection that lasted `lasted` seconds (0: none was made).

        `restarting`: the server has announced a restart or a shutdown.
        """
        pauses = self.pauses
        pause = pauses.first if lasted >= pauses.healthy or not self._next else self._next
        if restarting:
            pause = max(pause, pauses.restart)
        pause = min(pause, pauses.longest / (1 + pauses.jitter))  # so that no random part makes it longer than that
        self._next = pause * pauses.factor
        return pause * (1 + pauses.jitter * self._random.random())
