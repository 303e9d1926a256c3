"""Output of `fibsbot rollout`: candidates with equities and errors, as text and as JSON; all openings as one table."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import evolve, frozen

from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.evaluations import (
    chances_row,
    equity_row,
    evaluated_by,
    format_equity,
    format_match_chance,
    round_number,
    stakes_of,
)
from fibsbot.cli.positions import ids_of
from fibsbot.cli.rolling import NAME_WIDTH
from fibsbot.files import os_errors_as
from fibsbot.match import ROLLS, MatchState, Phase
from fibsbot.position import Position

if TYPE_CHECKING:
    from fibsbot.cli.rolling import Rolling
    from fibsbot.engine.arrays import Outcomes
    from fibsbot.engine.cube import CubeVerdict, Stakes
    from fibsbot.engine.rollout import CandidateResult, RolloutPlan, RolloutResult


@frozen(eq=False)
class RolloutOutput:
    """Output of `rollout`."""

    state: MatchState
    """Seen by the player whose equities these are."""
    result: RolloutResult
    cube: bool
    """Whether the candidates are no double and double, take."""
    finished: bool
    """False after an interruption."""

    @property
    def stakes(self) -> Stakes:
        """Stakes of the position."""
        return stakes_of(self.state)

    @property
    def verdict(self) -> CubeVerdict | None:
        """Verdict of a cube decision; None if the candidates are plays."""
        if not self.cube:
            return None
        from fibsbot.engine.cube import CubeVerdict  # noqa: PLC0415 - loads the engine

        no_double, double_take = self.result.results
        return CubeVerdict.of(self.stakes, self.state.owner, no_double.equity, double_take.equity)

    # -- for programs ---------------------------------------------------------------------------------------------

    def row(self) -> dict[str, Any]:
        """Return the JSON fields."""
        plan, verdict = self.result.plan, self.verdict
        return {
            "finished": self.finished,
            "games": self.result.results[0].count,
            "wanted": plan.trials,
            "truncated": plan.truncated,
            "cubeful": plan.cubeful,
            "seed": plan.seed,
            "seconds": round(self.result.seconds, 3),
            "candidates": [self._candidate(result) for result in self._ordered()],
            "verdict": verdict.words if verdict else None,
            "action": verdict.action.value if verdict else None,
            "answer": verdict.answer.value if verdict else None,
            "double_pass": equity_row(self.stakes, verdict.double_pass) if verdict else None,
        }

    def _candidate(self, result: CandidateResult) -> dict[str, Any]:
        loss, error = self.result.behind(result)
        return {
            "name": result.candidate.name,
            **equity_row(self.stakes, result.equity),
            "error": _finite(result.error),
            "loss": None if self.cube else round_number(loss),
            "loss_error": None if self.cube else _finite(error),
            "cubeless": round_number(result.cubeless),
            "cubeless_error": _finite(result.cubeless_error),
            "chances": chances_row(result.outcomes),
            "chance_errors": chances_row(result.outcome_errors),
        }

    def _ordered(self) -> list[CandidateResult]:
        return list(self.result.results) if self.cube else self.result.ranked()

    # -- for people -----------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """Yield the lines of text."""
        for place, result in enumerate(self._ordered(), 1):
            yield from self._candidate_lines(place, result)
        verdict = self.verdict
        if verdict:
            chance = format_match_chance(self.stakes, verdict.double_pass)
            yield f"  3. {'double, pass':{NAME_WIDTH}}{format_equity(verdict.double_pass)}{'':31}{chance:>8}".rstrip()
            yield ""
            yield verdict.words
        yield ""
        yield from self._conditions()

    def _candidate_lines(self, place: int, result: CandidateResult) -> Iterator[str]:
        apart = ""
        if not self.cube and result is not self.result.best:
            loss, error = self.result.behind(result)
            apart = f"({format_equity(-loss)} ± {error:.4f})"
        chance = format_match_chance(self.stakes, result.equity)
        worth = f"{format_equity(result.equity)} ± {result.error:.4f}  {apart:18}  {chance:>8}"
        yield f"{place:3}. {result.candidate.name:{NAME_WIDTH}}{worth}".rstrip()
        cubeless = f"{format_equity(result.cubeless)} ± {result.cubeless_error:.4f}"
        yield f"{'':7}{six_chances(result.outcomes)}  cubeless {cubeless}"
        yield f"{'':5}± {six_chances(result.outcome_errors)}"

    def _conditions(self) -> Iterator[str]:
        plan, count = self.result.plan, self.result.results[0].count
        each = " of each" if len(self.result.results) > 1 else ""
        time = f"{self.result.seconds:.3g} s"
        cut = f", cut after {plan.truncated} turns" if plan.truncated else ""
        cube = "" if plan.cubeful else ", without a cube"
        if not self.finished:
            yield f"Interrupted after {count:,} of {plan.trials:,} games."
        elif count < plan.trials:
            yield f"Stopped after {count:,} of {plan.trials:,} games: that was enough."
        yield f"{count:,} games{each}{cut}{cube}, seed {plan.seed}, {time}"
        yield "± is the standard error"


def six_chances(chances: Outcomes) -> str:
    """Return the six chances as text."""
    won, lost = chances[:3].tolist(), chances[3:].tolist()
    return " - ".join(" ".join(f"{abs(chance):.4f}" for chance in side) for side in (won, lost))


def _finite(value: float) -> float | None:
    """Return a standard error for programs; None where there were too few games for one."""
    return round_number(value) if value < 1e9 else None


# -- --openings: all 15 opening rolls, one after the other -------------------------------------------------------------


OPENING_WITHIN: Final = 0.1
"""Plays are rolled out that lose no more than this by evaluation, unless the user says otherwise."""
OPENING_ROLLS: Final = tuple((high, low) for high, low in ROLLS if high != low)
PLAY_WIDTH: Final = 20
"""Width of a play."""
HEADING: Final = (
    f"roll  {'play':{PLAY_WIDTH}}equity             loss               "
    "win    gammon backg. - lose   gammon backg.  cubeless"
)


@frozen
class OpeningRollouts:
    """Rolls out the plays of all opening rolls, and prints each roll's as soon as they are known."""

    state: MatchState
    """The opening position, with the score."""
    rolling: Rolling
    folder: Path | None
    """Has a file for each roll, from which a rollout is continued."""
    as_json: bool

    def run(self) -> None:
        """Roll out and print. Raises UserError if that fails; exits if it is interrupted."""
        if self.state.position != Position.start():
            raise UserError("expected the opening position for --openings, got another one")
        self._make_folder()
        if not self.as_json:
            click.echo(HEADING)
        rolled: list[RolloutOutput] = []
        for number, (high, low) in enumerate(OPENING_ROLLS):
            state = evolve(self.state, phase=Phase.MOVE, dice=(high, low))
            file = self.folder / f"{high}{low}.jsonl" if self.folder else None
            found = self.rolling.run(state, file, f"{high}-{low}, {number + 1} of {len(OPENING_ROLLS)}")
            if found.result is not None:
                rolled.append(RolloutOutput(state, found.result, cube=False, finished=found.finished))
                self._print(rolled[-1])
            if not found.finished:
                break
        finished = len(rolled) == len(OPENING_ROLLS) and rolled[-1].finished
        if not self.as_json:
            click.echo("")
            click.echo("\n".join(conditions(self.rolling.plan, rolled)))
            click.echo(evaluated_by(self.rolling.name))
        if not finished:
            sys.exit(EXIT_INTERRUPTED)

    def _make_folder(self) -> None:
        if self.folder is None:
            return
        with os_errors_as(UserError, f"cannot make the folder {self.folder}"):
            self.folder.mkdir(exist_ok=True)

    def _print(self, rolled: RolloutOutput) -> None:
        if self.as_json:
            click.echo(json.dumps(row_of(rolled, self.rolling.name)))
        else:
            click.echo("\n".join(lines_of(rolled)))


def row_of(rolled: RolloutOutput, name: str) -> dict[str, Any]:
    """Return a roll for programs."""
    return {**ids_of(rolled.state), "dice": rolled.state.dice, "evaluator": name, **rolled.row()}


def lines_of(rolled: RolloutOutput) -> Iterator[str]:
    """Yield a line for each play of a roll, the best first."""
    high, low = rolled.state.dice or (0, 0)
    for place, result in enumerate(rolled.result.ranked()):
        yield f"{'' if place else f'{high}-{low}':6}{_line(rolled, result)}"


def _line(rolled: RolloutOutput, result: CandidateResult) -> str:
    loss, error = rolled.result.behind(result)
    apart = "" if result is rolled.result.best else f"{format_equity(-loss)} ± {error:.4f}"
    worth = f"{format_equity(result.equity)} ± {result.error:.4f}  {apart:17}"
    return (
        f"{result.candidate.name:{PLAY_WIDTH}}{worth}  {six_chances(result.outcomes)}  {format_equity(result.cubeless)}"
    )


def conditions(plan: RolloutPlan, rolled: list[RolloutOutput]) -> Iterator[str]:
    """Yield lines about how the table was made."""
    if not rolled:
        yield "Interrupted before the first 36 games of the first roll were played."
        return
    counts = [output.result.results[0].count for output in rolled]
    last = rolled[-1]
    if not last.finished or len(rolled) < len(OPENING_ROLLS):
        dice = "-".join(map(str, last.state.dice or ()))
        yield f"Interrupted after {counts[-1]:,} games of {dice}."
    games = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
    cut = f", cut after {plan.truncated} turns" if plan.truncated else ""
    cube = "" if plan.cubeful else ", without a cube"
    seconds = sum(output.result.seconds for output in rolled)
    yield f"{games} games of each play{cut}{cube}, seed {plan.seed}, {seconds:.3g} s"
    yield "± is the standard error"
