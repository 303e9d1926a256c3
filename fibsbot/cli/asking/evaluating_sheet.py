"""What `fibsbot eval` tells: the chances and the worth of a position, ply by ply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from fibsbot.cli.asking.wording import chances, chances_row, equity, headings, in_match, rounded, worth_row
from fibsbot.engine.cube import Stakes
from fibsbot.engine.search import Reading
from fibsbot.match import MatchState


@frozen(eq=False)
class Sheet:
    """What a position is worth, as it is told."""

    state: MatchState
    readings: Sequence[Reading]
    """One a ply, from 0."""

    def rows(self) -> list[dict[str, Any]]:
        """Return it for programs, ply by ply."""
        stakes = Stakes.of(self.state)
        return [
            {
                "plies": plies,
                "chances": chances_row(it.outcomes),
                "cubeless": rounded(it.cubeless),
                **worth_row(stakes, it.equity),
                "evaluations": it.effort.evaluations,
                "seconds": round(it.effort.seconds, 4),
            }
            for plies, it in enumerate(self.readings)
        ]

    def lines(self) -> Iterator[str]:
        """Write it for people."""
        stakes = Stakes.of(self.state)
        yield f"{'':6}{headings()}{'cubeless':>10}{'cubeful':>9}" + (f"{'MWC':>10}" if stakes.match else "")
        for plies, it in enumerate(self.readings):
            worths = f"{equity(it.cubeless):>10}{equity(it.equity):>9}"
            chance = f"{in_match(stakes, it.equity):>10}" if stakes.match else ""
            yield f"{plies}-ply {chances(it.outcomes)}{worths}{chance}"
