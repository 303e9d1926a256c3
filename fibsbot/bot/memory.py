"""What we remember of other players, on the agent's clock. The store fills it at the start of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from attrs import define, field

from fibsbot.bot.features import Feature

DAY: Final = 86_400.0
"""Seconds."""
MOST_PLAYERS: Final = 10_000
"""Players that are remembered; who was met longest ago is forgotten first."""


@define
class Acquaintance:
    """When what happened with one player, in seconds on the agent's clock; before its start they are negative."""

    matches: list[float] = field(factory=list)
    """Ends of matches that we played to their end: those of the last day, and the last one however old it is."""
    refused: float | None = None
    """When the player last refused an invitation of ours."""
    broke_off: float | None = None
    """When our match broke off that waits to go on."""
    stuck: float | None = None
    """When our match was given up, because the server could not go on with it."""

    def since_last(self, now: float) -> float | None:
        """Return the seconds since the last match ended; None if there was none."""
        return now - self.matches[-1] if self.matches else None

    def matches_today(self, now: float) -> int:
        """Count the matches that ended within the last day."""
        return sum(at > now - DAY for at in self.matches)


@define
class Memory:
    """Everybody whom we remember, and the server."""

    _known: dict[str, Acquaintance] = field(factory=dict)
    lacking: set[Feature] = field(factory=set)
    """What the server lacks of what FIBS does, as far as we know."""

    def of(self, name: str) -> Acquaintance:
        """Return what is known of a player, which may be nothing."""
        return self._known.get(name) or Acquaintance()

    def recall(
        self,
        name: str,
        matches: Iterable[float] = (),
        refused: float | None = None,
        broke_off: float | None = None,
        stuck: float | None = None,
    ) -> None:
        """Take what was known before the run began."""
        known = self._keep(name)
        known.matches = sorted([*matches, *known.matches])
        known.refused = max((at for at in (refused, known.refused) if at is not None), default=None)
        known.broke_off = broke_off if known.broke_off is None else known.broke_off
        known.stuck = stuck if known.stuck is None else known.stuck

    def played(self, name: str, now: float) -> None:
        """Remember the end of a match."""
        known = self._keep(name)
        known.matches = [*(at for at in known.matches if at > now - DAY), now]
        known.broke_off = None

    def was_broken_off(self, name: str, now: float) -> None:
        """Remember since when a match waits to go on."""
        self._keep(name).broke_off = now

    def was_stuck(self, name: str, at: float | None) -> None:
        """Remember when a match with a player was given up; None: there is no such match any more."""
        if at is not None or self.of(name).stuck is not None:
            self._keep(name).stuck = at

    def was_refused(self, name: str, now: float) -> None:
        """Remember that a player refused to play us."""
        self._keep(name).refused = now

    def _keep(self, name: str) -> Acquaintance:
        known = self._known.pop(name, None) or Acquaintance()
        if len(self._known) >= MOST_PLAYERS:
            del self._known[next(iter(self._known))]
        self._known[name] = known
        return known
