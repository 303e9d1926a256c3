"""`fibsbot rollout --openings`: all 15 opening rolls, one after the other, as one table."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import evolve, frozen

from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.cli.positions import format_equity, ids_of
from fibsbot.cli.rollout import Rolling
from fibsbot.cli.rollout_output import RolloutOutput, six_chances
from fibsbot.files import os_errors_as
from fibsbot.match import ROLLS, MatchState, Phase
from fibsbot.position import Position

if TYPE_CHECKING:
    from fibsbot.engine.rollout import CandidateResult, RolloutPlan

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
            click.echo(f"\nby {self.rolling.name}")
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
    for place, it in enumerate(rolled.result.ranked()):
        yield f"{'' if place else f'{high}-{low}':6}{_line(rolled, it)}"


def _line(rolled: RolloutOutput, it: CandidateResult) -> str:
    loss, error = rolled.result.behind(it)
    apart = "" if it is rolled.result.best else f"{format_equity(-loss)} ± {error:.4f}"
    worth = f"{format_equity(it.equity)} ± {it.error:.4f}  {apart:17}"
    return f"{it.candidate.name:{PLAY_WIDTH}}{worth}  {six_chances(it.outcomes)}  {format_equity(it.cubeless)}"


def conditions(plan: RolloutPlan, rolled: list[RolloutOutput]) -> Iterator[str]:
    """Yield lines about how the table was made."""
    if not rolled:
        yield "Interrupted before the first 36 games of the first roll were played."
        return
    counts = [it.result.results[0].count for it in rolled]
    last = rolled[-1]
    if not last.finished or len(rolled) < len(OPENING_ROLLS):
        dice = "-".join(map(str, last.state.dice or ()))
        yield f"Interrupted after {counts[-1]:,} games of {dice}."
    games = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
    cut = f", cut after {plan.truncated} turns" if plan.truncated else ""
    cube = "" if plan.cubeful else ", without a cube"
    seconds = sum(it.result.seconds for it in rolled)
    yield f"{games} games of each play{cut}{cube}, seed {plan.seed}, {seconds:.3g} s"
    yield "± is the standard error"
