"""What `fibsbot rollout` tells: what each candidate is worth, how sure that is, and what follows for the cube."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from fibsbot.cli.asking.wording import chances_row, equity, in_match, rounded, worth_row
from fibsbot.engine.cube import Stakes, Verdict
from fibsbot.engine.outcomes import Outcomes
from fibsbot.engine.rollout import RolledOut, RolloutResult
from fibsbot.match import MatchState

NAME: Final = 26
"""Columns of a candidate's name; a longer one pushes what follows to the right."""


def running(result: RolloutResult) -> str:
    """Return in a few words what is best so far."""
    best = result.best
    return f"{best.candidate.name[:NAME]} {equity(best.equity)} ± {best.error:.4f}"


@frozen(eq=False)
class Sheet:
    """The result of a rollout, as it is told."""

    state: MatchState
    """Seen by whose worths these are."""
    result: RolloutResult
    cube: bool
    """Whether no double and double, take were rolled out."""
    finished: bool
    """Whether nobody interrupted."""

    @property
    def stakes(self) -> Stakes:
        """What is at stake."""
        return Stakes.of(self.state)

    @property
    def verdict(self) -> Verdict | None:
        """What to do with the cube; None where that was not asked."""
        if not self.cube:
            return None
        no_double, double_take = self.result.rolled
        return Verdict.of(self.stakes, self.state.owner, no_double.equity, double_take.equity)

    # -- for programs ---------------------------------------------------------------------------------------------

    def row(self) -> dict[str, Any]:
        """Return the result for programs."""
        plan, verdict = self.result.plan, self.verdict
        return {
            "finished": self.finished,
            "games": self.result.rolled[0].count,
            "wanted": plan.trials,
            "truncated": plan.truncated,
            "cubeful": plan.cubeful,
            "seed": plan.seed,
            "seconds": round(self.result.seconds, 3),
            "candidates": [self._candidate(it) for it in self._ordered()],
            "verdict": verdict.words if verdict else None,
            "action": verdict.action.value if verdict else None,
            "answer": verdict.answer.value if verdict else None,
            "double_pass": worth_row(self.stakes, verdict.double_pass) if verdict else None,
        }

    def _candidate(self, it: RolledOut) -> dict[str, Any]:
        loss, error = self.result.behind(it)
        return {
            "name": it.candidate.name,
            **worth_row(self.stakes, it.equity),
            "error": _finite(it.error),
            "loss": None if self.cube else rounded(loss),
            "loss_error": None if self.cube else _finite(error),
            "cubeless": rounded(it.cubeless),
            "cubeless_error": _finite(it.cubeless_error),
            "chances": chances_row(it.outcomes),
            "chance_errors": chances_row(it.outcome_errors),
        }

    def _ordered(self) -> list[RolledOut]:
        return list(self.result.rolled) if self.cube else self.result.ranked()

    # -- for people -----------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """Write the result."""
        for place, it in enumerate(self._ordered(), 1):
            yield from self._told(place, it)
        verdict = self.verdict
        if verdict:
            chance = in_match(self.stakes, verdict.double_pass)
            yield f"  3. {'double, pass':{NAME}}{equity(verdict.double_pass)}{'':31}{chance:>8}".rstrip()
            yield ""
            yield verdict.words
        yield ""
        yield from self._conditions()

    def _told(self, place: int, it: RolledOut) -> Iterator[str]:
        apart = ""
        if not self.cube and it is not self.result.best:
            loss, error = self.result.behind(it)
            apart = f"({equity(-loss)} ± {error:.4f})"
        worth = f"{equity(it.equity)} ± {it.error:.4f}  {apart:18}  {in_match(self.stakes, it.equity):>8}"
        yield f"{place:3}. {it.candidate.name:{NAME}}{worth}".rstrip()
        yield f"{'':7}{_six(it.outcomes)}  cubeless {equity(it.cubeless)} ± {it.cubeless_error:.4f}"
        yield f"{'':5}± {_six(it.outcome_errors)}"

    def _conditions(self) -> Iterator[str]:
        plan, count = self.result.plan, self.result.rolled[0].count
        each = " of each" if len(self.result.rolled) > 1 else ""
        time = f"{self.result.seconds:.3g} s"
        cut = f", cut after {plan.truncated} turns" if plan.truncated else ""
        cube = "" if plan.cubeful else ", without a cube"
        if not self.finished:
            yield f"Interrupted after {count:,} of {plan.trials:,} games."
        elif count < plan.trials:
            yield f"Stopped after {count:,} of {plan.trials:,} games: that was enough."
        yield f"{count:,} games{each}{cut}{cube}, seed {plan.seed}, {time}"
        yield "± is the standard error"


def _six(chances: Outcomes) -> str:
    won, lost = chances[:3].tolist(), chances[3:].tolist()
    return " - ".join(" ".join(f"{abs(chance):.4f}" for chance in side) for side in (won, lost))


def _finite(value: float) -> float | None:
    """Return a standard error for programs; None where there were too few games for one."""
    return rounded(value) if value < 1e9 else None
