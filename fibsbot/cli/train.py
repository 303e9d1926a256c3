"""`fibsbot train`: train networks by a recipe."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import define, field
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from fibsbot.cli import EXIT_INTERRUPTED, ConfigError, UserError
from fibsbot.cli.options import FILE, FOLDER, GameName, WorkerOptions, check_options_with_game, worker_options
from fibsbot.drawing.plot import Series, curve_svg
from fibsbot.workers.errors import WorkerLostError
from fibsbot.workers.pool import WorkerPool

if TYPE_CHECKING:
    from fibsbot.engine.training.backends import Backend
    from fibsbot.engine.training.recipe import Recipe
    from fibsbot.engine.training.results import CheckerBenchmark

_THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that set, when numpy is loaded, its number of threads for matrix products."""

_WITH_GAME: Final = frozenset({"recipe", "game", "folder", "threads", "as_json"})
"""The parameters that apply to tables games: those are learned by this process, without labels."""

_PLOTTED: Final = ("PR", "contact", "crashed", "race")
"""Figures of the benchmark that are drawn."""


@click.command()
@click.argument("recipe", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--game", type=GameName(), help="Train the network of this tables game, by its own recipe.")
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="FOLDER",
    required=True,
    type=FOLDER,
    help="Folder for networks, labels and checkpoints; existing ones are reused.",
)
@worker_options
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Number of threads for fitting. Another number gives networks that differ in their last digits.",
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "torch"]),
    default="auto",
    show_default=True,
    help="Library for matrix products: auto is torch if installed (on a GPU if there is one), else numpy.",
)
@click.option(
    "--benchmark",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of rated decisions (see docs/explanation/engine.md) to measure each network on.",
)
@click.option(
    "--start",
    "packed_before",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Start in a new folder from the networks that --pack wrote here after a checkpoint, or before refining.",
)
@click.option(
    "--pack",
    "packed",
    type=FOLDER,
    help="Do not train: write the newest network, at half precision, and its card into this folder.",
)
@click.option(
    "--plot",
    "plotted",
    type=FILE,
    help="Do not train: draw the benchmark's figures of all rounds and refinements as SVG into this file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print measurements as JSON, one object per line.")
@click.pass_context
def train(  # noqa: PLR0913 - one argument per option
    context: click.Context,
    recipe: Path | None,
    *,
    game: str | None,
    folder: Path,
    workers: WorkerOptions,
    threads: int,
    backend: str,
    benchmark: Path | None,
    packed_before: Path | None,
    packed: Path | None,
    plotted: Path | None,
    as_json: bool,
) -> None:
    """Train networks by a recipe.

    RECIPE is a TOML file; for a tables game --game takes the place of it. If stopped or killed at any moment, run the
    same command again to continue. The same recipe gives bit-identical networks on the same kind of processor, with the
    same versions of numpy, numba and torch.
    """
    os.environ.update(dict.fromkeys(_THREADS, str(threads)))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if game is not None:
            check_options_with_game(context, _WITH_GAME)
            _train_game(game, recipe, folder, as_json=as_json)
            return
        if recipe is None:
            raise click.UsageError("expected a RECIPE or --game")
        if packed is not None:
            click.echo(_pack(folder, recipe, packed))
        if plotted is not None:
            plotted.write_text(_plot(folder), encoding="utf-8")
            click.echo(plotted)
        if packed is not None or plotted is not None:
            return
        steps, rated = _read(recipe, benchmark)
        if packed_before is not None:
            _unpack(packed_before, folder, steps)
        with _bar() as progress, workers.open() as pool:
            _train(steps, folder, pool, _ProgressReporter(progress, as_json), rated, backend)
    except KeyboardInterrupt:
        click.echo(f"fibsbot train: interrupted; run the same command again to continue from {folder}", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except WorkerLostError as error:
        raise UserError(f"a labelling process {error}; run the same command again to continue from {folder}") from error
    except OSError as error:
        raise UserError(f"{error.filename or folder}: {error.strerror or error}") from error


def _train_game(game: str, recipe: Path | None, folder: Path, *, as_json: bool) -> None:
    """Train the network of a tables game."""
    if recipe is not None:
        raise click.UsageError("expected a RECIPE or --game, got both")
    from fibsbot.engine.network import NetworkError  # noqa: PLC0415 - loads numpy, see _THREADS
    from fibsbot.engine.training.rulesets import NoNetworkError, RulesetTraining, bundled_recipe  # noqa: PLC0415 - loads numpy

    try:
        training = RulesetTraining(bundled_recipe(game), folder)
    except (NetworkError, NoNetworkError) as error:
        raise UserError(str(error)) from error
    with _bar() as progress:
        listener = _ProgressReporter(progress, as_json)
        listener.begin(game, training.recipe.games)
        listener.advance(training.done)
        for change in training.prepare():
            listener.advance(0, f"solving, last change {change:.5f} points")
        before = training.done
        for block in training.run():
            listener.advance(block.done - before, f"{block.rolls:.0f} rolls a game")
            before = block.done
    row = {"game": game, "games": training.done, "hidden": training.recipe.hidden, "file": str(training.path)}
    listener.measured({**row, "bytes": training.path.stat().st_size})


def _read(recipe: Path, benchmark: Path | None) -> tuple[Recipe, CheckerBenchmark | None]:
    from fibsbot.engine.training.recipe import read_recipe  # noqa: PLC0415 - loads numpy
    from fibsbot.engine.training.results import CheckerBenchmark  # noqa: PLC0415 - loads numpy, see _THREADS

    try:
        return read_recipe(recipe), CheckerBenchmark.read(benchmark) if benchmark else None
    except ValueError as error:
        raise UserError(str(error)) from error


def _train(  # noqa: PLR0913, PLR0917 - the arguments of Pipeline
    recipe: Recipe,
    folder: Path,
    pool: WorkerPool,
    listener: _ProgressReporter,
    benchmark: CheckerBenchmark | None,
    backend: str,
) -> None:
    from fibsbot.engine.bearoff import load_tables  # noqa: PLC0415 - loads numpy
    from fibsbot.engine.network import NetworkError  # noqa: PLC0415 - loads numpy
    from fibsbot.engine.training.pipeline import Pipeline  # noqa: PLC0415 - loads numpy

    tables = load_tables(compute=True, pool=pool)
    assert tables is not None  # noqa: S101 - missing tables are computed
    try:
        Pipeline(recipe, folder, tables.columns, pool, listener, benchmark, _backend(backend)).run()
    except NetworkError as error:
        raise UserError(str(error)) from error


def _backend(name: str) -> Backend:
    from fibsbot.engine.training.backends import NUMPY, best_backend, torch_backend  # noqa: PLC0415 - loads the engine

    try:
        return {"auto": best_backend, "numpy": lambda: NUMPY, "torch": torch_backend}[name]()
    except ImportError as error:
        raise ConfigError("--backend torch: expected PyTorch (pip install 'fibsbot[train]'), found none") from error


def _pack(folder: Path, recipe: Path, target: Path) -> Path:
    from fibsbot.engine.training.bundles import pack  # noqa: PLC0415 - loads numpy

    try:
        return pack(folder, recipe, target, _note)
    except ValueError as error:
        raise UserError(str(error)) from error


def _unpack(packed: Path, folder: Path, recipe: Recipe) -> None:
    from fibsbot.engine.training.bundles import unpack  # noqa: PLC0415 - loads numpy

    try:
        unpack(packed, folder, recipe)
    except ValueError as error:
        raise UserError(str(error)) from error


def _plot(folder: Path) -> str:
    """Return a plot of the benchmark's figures by round, as SVG."""
    from fibsbot.engine.training.results import read_history  # noqa: PLC0415 - loads numpy

    try:
        rows = read_history(folder, _note)
    except ValueError as error:
        raise UserError(str(error)) from error
    rounds = [row for row in rows if "round" in row and "PR" in row]
    if not rounds:
        raise UserError(f"{folder}: expected rounds that were measured (--benchmark), found none")
    kinds = [kind for kind in _PLOTTED if kind in rounds[0]]
    after = [row for row in rows if "refined" in row and "PR" in row]
    steps = [(row["round"], row) for row in rounds] + [(rounds[-1]["round"] + 1 + row["refined"], row) for row in after]
    series = [Series(kind, [(step, row[kind]) for step, row in steps if kind in row]) for kind in kinds]
    title = "Equity lost by checker plays, by round of training"
    return curve_svg(series, title=title, x_label="round", y_label="PR", y_range=(0, 1), zero=True)


def _note(text: str) -> None:
    click.echo(f"fibsbot train: {text}", err=True)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}/s"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )


@define
class _ProgressReporter:
    """Shows a progress bar for each step, and prints measurements."""

    progress: Progress
    as_json: bool
    _task: TaskID | None = field(default=None, init=False)

    def begin(self, what: str, total: int) -> None:
        """Begin a step."""
        if self._task is not None:
            self.progress.update(self._task, visible=False)
        self._task = self.progress.add_task(what, total=total, speed="-", note="")

    def advance(self, units: int, note: str = "") -> None:
        """Advance the bar."""
        if self._task is None:
            return
        self.progress.advance(self._task, units)
        speed = self.progress.tasks[self._task].speed
        self.progress.update(self._task, speed=f"{speed:,.0f}" if speed else "-", note=note)

    def measured(self, row: dict[str, Any]) -> None:
        """Print a measurement."""
        click.echo(json.dumps(row) if self.as_json else "  ".join(f"{name} {value}" for name, value in row.items()))
