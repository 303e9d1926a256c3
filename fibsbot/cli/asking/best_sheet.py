"""What `fibsbot best` tells: the plays of a throw, what each is worth, and what it loses against the best one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from fibsbot.cli.asking.wording import chances_row, equity, in_match, rounded, worth_row
from fibsbot.engine.cube import Stakes
from fibsbot.engine.search import RankedPlay, Ranking
from fibsbot.match import MatchState
from fibsbot.notation import format_play

PLAY: Final = 26
"""Columns of a play; a longer one pushes what follows to the right."""


@frozen(eq=False)
class Sheet:
    """The plays of a throw, as they are told."""

    state: MatchState
    ranking: Ranking
    count: int
    """Plays that are listed at most."""

    @property
    def listed(self) -> tuple[RankedPlay, ...]:
        """The best plays, all looked at as deep as the best one."""
        plies = self.ranking.best.plies
        return tuple(it for it in self.ranking.plays[: self.count] if it.plies == plies)

    @property
    def dances(self) -> bool:
        """Whether no checker can move."""
        return not self.ranking.best.play.moves

    def row(self) -> dict[str, Any]:
        """Return them for programs."""
        stakes, ranking = Stakes.of(self.state), self.ranking
        return {
            "dice": self.state.dice,
            "legal": 0 if self.dances else len(ranking.plays),
            "plies": ranking.effort.plies,
            "evaluations": ranking.effort.evaluations,
            "seconds": round(ranking.effort.seconds, 4),
            "plays": [
                {
                    "play": format_play(it.play, self.state.position),
                    "moves": [[move.source, move.target] for move in it.play.moves],
                    "plies": it.plies,
                    **worth_row(stakes, it.equity),
                    "loss": rounded(ranking.loss(it)),
                    "cubeless": rounded(it.cubeless),
                    "chances": chances_row(it.outcomes),
                }
                for it in self.listed
            ],
        }

    def lines(self) -> Iterator[str]:
        """Write them for people."""
        stakes, ranking = Stakes.of(self.state), self.ranking
        if self.dances:
            yield "No checker can move."
        elif len(ranking.plays) == 1:
            yield "Forced: there is no other play."
        for place, it in enumerate(self.listed, 1):
            loss = "" if it is ranking.best else f"({equity(it.equity - ranking.best.equity)})"
            worth = f"{equity(it.equity)}  {loss:9}  {in_match(stakes, it.equity):>8}"
            yield f"{place:3}.  {it.plies}-ply  {format_play(it.play, self.state.position):{PLAY}}  {worth}".rstrip()
            yield f"{'':13}{_chances(it)}   cubeless {equity(it.cubeless)}"
        left = len(ranking.plays) - len(self.listed)
        if left > 0:
            yield f"and {left} more; --count shows them"


def _chances(it: RankedPlay) -> str:
    won, lost = it.outcomes[:3].tolist(), it.outcomes[3:].tolist()
    return " - ".join(" ".join(f"{chance:.3f}" for chance in side) for side in (won, lost))
