"""`fibsbot train`: make networks by a recipe."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import click
from attrs import define, field
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from fibsbot.cli import EXIT_INTERRUPTED, UserError
from fibsbot.engine.bearoff import load_tables
from fibsbot.engine.benchmark import CheckerBenchmark
from fibsbot.engine.training.following import Workshop
from fibsbot.engine.training.recipe import RecipeError, read_recipe


@click.command()
@click.argument("recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where networks, labels and checkpoints are kept; what lies there is not made again.",
)
@click.option("--jobs", "-j", type=click.IntRange(1), help="Processes that label; as many as there are cores.")
@click.option(
    "--benchmark",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Rated decisions (see docs/engine.md) on which each network is measured.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what is measured as one JSON object a line.")
def train(recipe: Path, *, folder: Path, jobs: int | None, benchmark: Path | None, as_json: bool) -> None:
    """Train networks by a recipe.

    RECIPE is a TOML file. Stopped or killed at any moment, the same command goes on where it was.
    """
    try:
        steps = read_recipe(recipe)
        rated = CheckerBenchmark.read(benchmark) if benchmark else None
    except RecipeError as error:
        raise UserError(str(error)) from error
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{benchmark}: expected rated decisions, found {error}") from error
    tables = load_tables(compute=True)
    assert tables is not None  # noqa: S101 - what is not there is computed
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with _bar() as progress:
        teller = _Teller(progress, as_json)
        try:
            Workshop(steps, folder, tables.columns, jobs or os.cpu_count() or 1, teller, rated).follow()
        except KeyboardInterrupt:
            click.echo(f"fibsbot train: interrupted; the same command goes on from {folder}", err=True)
            sys.exit(EXIT_INTERRUPTED)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}/s"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
    )


@define
class _Teller:
    """Shows a bar a step, and prints what was measured."""

    progress: Progress
    as_json: bool
    _task: TaskID | None = field(default=None, init=False)

    def begin(self, what: str, total: int) -> None:
        """Begin a step."""
        if self._task is not None:
            self.progress.update(self._task, visible=False)
        self._task = self.progress.add_task(what, total=total, speed="-", note="")

    def advance(self, units: int, note: str = "") -> None:
        """Move the bar."""
        if self._task is None:
            return
        self.progress.advance(self._task, units)
        speed = self.progress.tasks[self._task].speed
        self.progress.update(self._task, speed=f"{speed:,.0f}" if speed else "-", note=note)

    def measured(self, row: dict[str, Any]) -> None:
        """Print a line."""
        click.echo(json.dumps(row) if self.as_json else "  ".join(f"{name} {value}" for name, value in row.items()))
