"""How long it took each time until the bots got on again."""

from __future__ import annotations

import time
from collections.abc import Collection

from attrs import define, field

from fibsbot.arena.chaos.schedule import Fault


@define
class Incident:
    """A fault, and what became of it. Times are seconds since the faults began."""

    fault: Fault
    struck: float | None = None
    """None: it found nothing to strike."""
    ended: float | None = None
    recovered: float | None = None
    waiting: set[str] = field(factory=set)
    """The accounts that have not got on yet."""

    @property
    def seconds(self) -> float | None:
        """How long the recovery took; None while it is not over."""
        return None if self.recovered is None or self.ended is None else self.recovered - self.ended


@define
class Recoveries:
    """All incidents of a run."""

    incidents: list[Incident] = field(factory=list)
    _began: float = field(factory=time.monotonic)

    @property
    def now(self) -> float:
        """Seconds since the faults began."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        """Begin to count the time."""
        self._began = time.monotonic()

    def expect(self, fault: Fault) -> Incident:
        """Enter a fault that is about to strike."""
        incident = Incident(fault)
        self.incidents.append(incident)
        return incident

    def struck(self, incident: Incident) -> None:
        """Note that the fault has struck."""
        incident.struck = self.now

    def ended(self, incident: Incident, accounts: Collection[str]) -> None:
        """Note that the fault is over, and who has to recover from it."""
        incident.ended = self.now
        incident.waiting = set(accounts)

    def progressed(self, account: str) -> None:
        """Note that an account got on."""
        for incident in self.incidents:
            if account in incident.waiting:
                incident.waiting.discard(account)
                if not incident.waiting:
                    incident.recovered = self.now
