"""Training pipeline: executes a recipe step by step in a folder; a step whose result exists is skipped.

results.py lists the files of the folder. Killed at any moment, the training resumes where it stopped: at the last
10,000 games of the TD network, the last chunk of labels, the last finished fit. Everything follows from the recipe's
seeds, however many processes work.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from attrs import evolve, field, frozen

from fibsbot.engine.arrays import CELLS, Boards, Floats32
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.engine import PRECISION
from fibsbot.engine.features import encode_all
from fibsbot.engine.game_plans import PAIRS, ContactNetwork, NetworksByPlan, load_contact
from fibsbot.engine.network import Network, load_arrays, mean_of, save_arrays
from fibsbot.engine.network_evaluator import RACE_INPUTS, RACE_OUTPUTS, NetworkEvaluator, RaceNetwork, Sides, is_known
from fibsbot.engine.pruner import Pruner, encode_raw, pruner_of, raw_columns
from fibsbot.engine.training.backends import NUMPY, Backend
from fibsbot.engine.training.decision_labels import DecisionLabeller, label_decisions, read_plays
from fibsbot.engine.training.labels import (
    Chunk,
    Labeller,
    Labels,
    corrected,
    evaluate_five,
    label_all,
    most_disputed,
    read_chunk,
    read_labels,
    targets,
)
from fibsbot.engine.training.optimizer import FitPlan, Plays, labels_by_plan
from fibsbot.engine.training.races import (
    SIDES_PER_BATCH,
    SideLabels,
    fit_sides,
    label_sides,
    pip_count_labels,
    race_starts,
)
from fibsbot.engine.training.random_positions import Variety, play_positions
from fibsbot.engine.training.recipe import (
    LAST_SEED,
    DecisionRecipe,
    FitRecipe,
    RaceRecipe,
    RaceRound,
    Recipe,
    Refinement,
    Round,
)
from fibsbot.engine.training.results import (
    CheckerBenchmark,
    ProgressListener,
    Reporter,
    mean_path,
    network_path,
    pruner_path,
    race_path,
    refined_path,
)
from fibsbot.engine.training.td_network import (
    TDEvaluator,
    TDNetwork,
    learn,
    load_td_network,
    new_self_play_buffers,
    new_td_network,
    save_td_network,
)
from fibsbot.text import plural
from fibsbot.workers.pool import WorkerPool

_KEPT_GAMES: Final = 10_000
"""Games of the TD network between two checkpoints."""
_FIRST_PRUNERS: Final = 3
"""The first pruner learns from random play, each further one from the play of the last one."""
_DISPUTED: Final = 50
"""One position of this number counts as disputed."""
_PRUNER_WINDOW: Final = 2
"""The number of rounds whose labels a pruner learns from: it is small and needs no more."""
_PRUNER_FIT: Final = FitRecipe(epochs=3, rate=3e-3)
_NONE: Final = np.empty((0, CELLS), np.int8)
_NARROWING: Final = 50_000
"""The number of positions by which the units are chosen that a network keeps."""
_STEPS: Final = 100
"""Minimum steps of an epoch for the network of a pair of plans, by smaller batches..."""
_LEAST_BATCH: Final = 256
"""... but none smaller than this."""


@frozen(eq=False)
class Pipeline:
    """The training by a recipe in a folder."""

    recipe: Recipe
    folder: Path
    columns: TableArrays
    pool: WorkerPool
    listener: ProgressListener
    benchmark: CheckerBenchmark | None = None
    backend: Backend = NUMPY
    _report: Reporter = field(init=False)

    @_report.default
    def _reporter(self) -> Reporter:
        return Reporter(self.folder, self.listener, self.benchmark)

    def run(self) -> ContactNetwork:
        """Do the remaining steps and return the final network."""
        self.folder.mkdir(parents=True, exist_ok=True)
        refined = self._refinements_done()
        race = self._last_race()
        network: ContactNetwork
        if refined:
            network = load_contact(refined_path(self.folder, refined - 1))
        else:
            network, pruner = self._rounds()
            if race is None and self.recipe.racing is not None:
                race = self._races(self.recipe.racing, pruner, network)
            network = network.rounded(PRECISION) if self.recipe.refining else network
        for number in range(refined, len(self.recipe.refining)):
            network = self._refined(number, self.recipe.refining[number], network, race)
        return network

    def _refinements_done(self) -> int:
        numbers = range(len(self.recipe.refining))
        return max((number + 1 for number in numbers if refined_path(self.folder, number).exists()), default=0)

    def _last_race(self) -> RaceNetwork | None:
        """Return the finished race network; None if there is none yet, or none in the recipe."""
        path = race_path(self.folder, self.recipe)
        return RaceNetwork(Network.load(path, RACE_OUTPUTS)) if path.exists() else None

    def _rounds(self) -> tuple[Network, Pruner]:
        """Return the network and the pruner that the rounds have made."""
        rounds = self.recipe.expanded_rounds()
        averaged = mean_path(self.folder, self.recipe) if self.recipe.averaged > 1 else None
        if averaged is not None and averaged.exists():
            return Network.load(averaged), pruner_of(Network.load(pruner_path(self.folder, len(rounds))))
        begun = self._begun(len(rounds))
        network, pruner = self._done(begun - 1) if begun else self._from_nothing()
        for number in range(begun, len(rounds)):
            network = self._round(number, rounds[number], pruner, network)
            pruner = self._pruner(number + 1)
        return network if averaged is None else self._averaged(averaged), pruner

    def _begun(self, rounds: int) -> int:
        """Return the number of rounds that are done: the last of them has left everything that the next one needs."""
        return max((number for number in range(1, rounds + 1) if self._is_done(number - 1)), default=0)

    def _is_done(self, number: int) -> bool:
        return network_path(self.folder, number).exists() and pruner_path(self.folder, number + 1).exists()

    def _done(self, number: int) -> tuple[Network, Pruner]:
        """Return the network and pruner that a round has left."""
        return Network.load(network_path(self.folder, number)), pruner_of(
            Network.load(pruner_path(self.folder, number + 1))
        )

    def _from_nothing(self) -> tuple[Network, Pruner]:
        """Return the network and pruner for the first round."""
        student = TDEvaluator("student", self._student(), self.columns)
        pruner = self._first_pruner(student)
        return self._distilled(student, pruner), pruner

    def _student(self) -> TDNetwork:
        plan, path = self.recipe.student, self.folder / "student.npz"
        student, games = new_td_network(plan.hidden, plan.seed), 0
        if path.exists():
            student, games = load_td_network(path, student)
        table = new_self_play_buffers(student)
        self.listener.begin("student: games", plan.games - games)
        while games < plan.games:
            rate = plan.first_rate * (plan.last_rate / plan.first_rate) ** (games / plan.games)
            lesson = learn(student, table, plan.lesson, plan.seed + games // plan.lesson, rate)
            games += plan.lesson
            self.listener.advance(plan.lesson, f"error {lesson.error / lesson.turns:.4f}")
            if games % _KEPT_GAMES < plan.lesson or games >= plan.games:
                save_td_network(path, student, games)
                self._report.measure({"student_games": games}, TDEvaluator("student", student, self.columns))
        return student

    def _first_pruner(self, evaluator: TDEvaluator) -> Pruner:
        path = pruner_path(self.folder, 0)
        if path.exists():
            return pruner_of(Network.load(path))
        network = self._new_pruner()
        count = self.recipe.pruner_positions
        for time_ in range(_FIRST_PRUNERS):
            boards = play_positions(pruner_of(network), count, Variety(), self.recipe.seed + time_)
            network = self._new_pruner()
            targets = evaluate_five(evaluator, boards)
            what = f"first pruner {time_ + 1} of {_FIRST_PRUNERS}"
            self._fit(what, network, (boards, targets), _PRUNER_FIT, raw=True)
        network.save(path)
        return pruner_of(network)

    def _distilled(self, student: TDEvaluator, pruner: Pruner) -> Network:
        """Return the deep network that has learned what the TD network knows."""
        plan, path = self.recipe.distilling, self.folder / "distilled.npz"
        if path.exists():
            return Network.load(path)
        boards = play_positions(pruner, plan.positions, plan.variety, self.recipe.seed)
        boards = boards[~is_known(boards, self.columns)]
        network = Network.new(plan.hidden, self.recipe.seed)
        loss = self._fit("distilling", network, (boards, evaluate_five(student, boards)), plan.fit, raw=False)
        network.save(path)
        row = {"distilled": len(boards), "shape": network.shape, "loss": round(loss, 6)}
        self._report.measure(row, NetworkEvaluator("distilled", network, self.columns))
        return network

    def _pruner(self, number: int) -> Pruner:
        """Return the pruner that learns from the labels of the rounds before this one."""
        path = pruner_path(self.folder, number)
        if not path.exists():
            network = self._new_pruner()
            labels = self._labels(number - 1, _PRUNER_WINDOW)
            loss = self._fit(f"pruner {number}", network, labels, _PRUNER_FIT, raw=True)
            network.save(path, self._precision(number - 1))
            row = {"pruner": number, "shape": network.shape, "labels": len(labels[0]), "loss": round(loss, 6)}
            self._report.measure(
                row, NetworkEvaluator(f"pruner {number}", Network.load(path), self.columns, encode=encode_raw)
            )
        return pruner_of(Network.load(path))

    def _precision(self, number: int) -> npt.DTypeLike:
        """Return the precision in which the results of a round are stored."""
        return PRECISION if self.recipe.expanded_rounds()[number].checkpoint else np.float32

    def _new_pruner(self) -> Network:
        return Network.new((self.recipe.pruner_hidden,), self.recipe.seed, len(raw_columns()))

    def _round(self, number: int, one: Round, pruner: Pruner, last: Network) -> Network:
        path = network_path(self.folder, number)
        if path.exists():
            return Network.load(path)
        evaluator = self.backend.evaluator("teacher", last, self.columns)
        disputed = self._disputed(number) if one.variety.disputed else _NONE
        self._make_labels(number, Labeller(evaluator, pruner, self.columns, one.filter, one.variety, disputed))
        network = Network.new(one.hidden, self.recipe.seed + number) if one.hidden else last
        labels = self._labels(number, one.window)
        loss = self._fit(f"round {number}: fit", network, labels, one.fit, raw=False)
        network.save(path, self._precision(number))
        network = Network.load(path)
        row = {"round": number, "shape": network.shape, "labels": len(labels[0]), "loss": round(loss, 6)}
        self._report.measure(row, NetworkEvaluator(f"round {number}", network, self.columns))
        return network

    def _averaged(self, path: Path) -> Network:
        rounds = self.recipe.averaged_rounds()
        network = mean_of([Network.load(network_path(self.folder, number)) for number in rounds])
        network.save(path)
        row = {"averaged": [rounds[0], rounds[-1]], "shape": network.shape}
        self._report.measure(row, NetworkEvaluator("mean", network, self.columns))
        return network

    def _races(self, plan: RaceRecipe, pruner: Pruner, contact: Network) -> RaceNetwork:
        """Train the race network on sides from games of the last pruner, and return it."""
        seed = self.recipe.seed
        begin: Sides | None = None
        race = RaceNetwork(Network.new(plan.hidden, seed, RACE_INPUTS, RACE_OUTPUTS))
        for number, one in enumerate((None, *plan.expanded_rounds())):
            path = self.folder / f"race-{number}.npz"
            if path.exists():
                race = RaceNetwork(Network.load(path, RACE_OUTPUTS))
                continue
            if begin is None:
                begin = race_starts(play_positions(pruner, plan.positions, plan.variety, seed))
            labels = self._race_labels(number, one, race, begin) if one else pip_count_labels(begin)
            if one and one.hidden:
                race = RaceNetwork(Network.new(one.hidden, seed + number, RACE_INPUTS, RACE_OUTPUTS))
            how = self._plan(one.fit if one else plan.fit)
            steps = how.batches(len(labels.sides))
            network = race.network
            loss = self._report.fit(f"races {number}: fit", steps, fit_sides(network, labels, how))
            network.save(path)
            race = RaceNetwork(network)
            row = {"race_round": number, "race_shape": network.shape, "labels": len(labels.sides)}
            row |= {"loss": round(loss, 6)}
            self._report.measure(row, NetworkEvaluator(f"race {number}", contact, self.columns, race))
        return race

    def _refined(
        self, number: int, one: Refinement, network: ContactNetwork, race: RaceNetwork | None
    ) -> ContactNetwork:
        """Return a network for contact trained further on games and decisions.

        The networks are used and kept as they are packed, so that another run can start from packed ones.
        """
        last = Network.load(pruner_path(self.folder, len(self.recipe.expanded_rounds())))
        pruner = pruner_of(last.rounded(PRECISION))
        evaluator = NetworkEvaluator("teacher", network, self.columns, race)
        plays = self._plays(number, one.decisions, evaluator, pruner)
        labels = self._games(number, one, evaluator, pruner)
        before = evaluate_five(evaluator, labels.boards)
        plan = evolve(self._plan(one.fit), differences=one.decisions.weight)
        loss = 0.0
        for sweep in range(one.sweeps):
            path = self.folder / f"refined-{number}-{sweep}.npz"
            if path.exists():
                network = load_contact(path)
                continue
            now = evaluate_five(NetworkEvaluator("student", network, self.columns, race), labels.boards)
            wanted = targets(corrected(labels, before, now), one.trace)
            what = f"refinement {number}: fit {sweep + 1}"
            if one.by_plan or isinstance(network, NetworksByPlan):
                every = labels.boards, wanted, plays
                network, loss = self._fit_by_plan(what, path, network, every, plan, one.hidden)
            else:
                network = _narrowed(network, one.hidden, labels.boards)
                fitting = self.backend.fit(network, labels.boards, wanted, plan, plays)
                loss = self._report.fit(what, plan.batches(len(wanted)), fitting)
            network.save(path)
        network.save(refined_path(self.folder, number), PRECISION)
        network = load_contact(refined_path(self.folder, number))
        row = {"refined": number, "shape": network.shape, "labels": len(labels.boards), "plays": len(plays.boards)}
        row |= {"loss": round(loss, 6)}
        self._report.measure(row, NetworkEvaluator(f"refinement {number}", network, self.columns, race))
        return network

    def _fit_by_plan(
        self,
        what: str,
        path: Path,
        network: ContactNetwork,
        labels: tuple[Boards, Floats32, Plays],
        plan: FitPlan,
        hidden: tuple[int, ...],
    ) -> tuple[NetworksByPlan, float]:
        """Return a network for each pair of plans, each fitted to its labels alone, and the fits' mean squared error.

        Each is kept beside `path`, where all go in the end: a killed fit goes on with the next one.
        """
        networks, squares, fitted = [], 0.0, 0
        for pair in range(PAIRS):
            kept = path.with_stem(f"{path.stem}-{pair:02}")
            boards, wanted, plays = labels_by_plan(pair, *labels)
            if kept.exists():
                one = Network.load(kept)
            else:
                one = network.networks[pair] if isinstance(network, NetworksByPlan) else network.copy()
                one = _narrowed(one, hidden, boards)
                # A rare pair of plans gets smaller batches, or it would learn in a few steps.
                its = evolve(plan, batch=min(plan.batch, max(_LEAST_BATCH, len(boards) // _STEPS)))
                fitting = self.backend.fit(one, boards, wanted, its, plays)
                loss = self._report.fit(f"{what}, plans {pair + 1} of {PAIRS}", its.batches(len(wanted)), fitting)
                squares, fitted = squares + loss * len(boards), fitted + len(boards)
                one.save(kept)
            networks.append(one)
        return NetworksByPlan(tuple(networks)), squares / max(fitted, 1)

    def _games(self, number: int, one: Refinement, evaluator: NetworkEvaluator, pruner: Pruner) -> Labels:
        """Make the labels of games for a refinement and return them."""
        teacher = Labeller(
            evaluator, pruner, self.columns, one.filter, one.variety, _NONE, races=evaluator.race is not None
        )
        chunks = self._refining_chunks(f"games-{number}", number, one.labels, self.recipe.chunk, 2)
        self._make(f"refinement {number}: games", chunks, label_all(teacher, chunks, self.pool))
        return Labels(*map(np.concatenate, zip(*(read_chunk(chunk.path) for chunk in chunks), strict=True)))

    def _plays(self, number: int, one: DecisionRecipe, evaluator: NetworkEvaluator, pruner: Pruner) -> Plays:
        """Make the labels of decisions for a refinement and return them."""
        teacher = DecisionLabeller(evaluator, pruner, self.columns, one.comparison, one.variety)
        chunks = self._refining_chunks(f"decisions-{number}", number, one.labels, one.chunk, 1)
        self._make(f"refinement {number}: decisions", chunks, label_decisions(teacher, chunks, self.pool))
        return read_plays([chunk.path for chunk in chunks])

    def _refining_chunks(self, name: str, number: int, labels: int, size: int, kind: int) -> list[Chunk]:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        seed = ((LAST_SEED + kind + self.recipe.seed) * 1000 + number) * 100_000  # after those of all rounds
        return [Chunk(folder / f"{place:04}.npz", size, seed + place) for place in range(-(-labels // size))]

    def _make(self, what: str, chunks: list[Chunk], made: Iterator[int]) -> None:
        self.listener.begin(what, sum(chunk.count for chunk in chunks if not chunk.path.exists()))
        for count in made:
            self.listener.advance(count, plural(self.pool.size, "worker"))

    def _race_labels(self, number: int, one: RaceRound, teacher: RaceNetwork, begin: Sides) -> SideLabels:
        path = self.folder / f"sides-{number}.npz"
        if not path.exists():
            seed = self.recipe.seed + number
            chosen = np.random.default_rng(seed).permutation(begin)[: one.sides]
            self.listener.begin(f"races {number}: sides", len(chosen))
            found: list[SideLabels] = []
            for made in label_sides(teacher, self.columns, chosen, one.trace, seed, self.pool):
                found.append(made)
                self.listener.advance(SIDES_PER_BATCH, plural(self.pool.size, "worker"))
            save_arrays(path, **SideLabels(*map(np.concatenate, zip(*found, strict=True)))._asdict())
        return SideLabels(**load_arrays(path))

    def _make_labels(self, number: int, teacher: Labeller) -> None:
        (self.folder / f"labels-{number}").mkdir(exist_ok=True)
        seed = (self.recipe.seed * 1000 + number) * 100_000
        chunks = [Chunk(path, self.recipe.chunk, seed + place) for place, path in enumerate(self._chunk_paths(number))]
        self._make(f"round {number}: labels", chunks, label_all(teacher, chunks, self.pool))

    def _disputed(self, number: int) -> Boards:
        """Return the positions of the last round with the largest errors of its network against 1-ply."""
        before = self.recipe.learned(number, 2)[:-1]
        count = self.recipe.chunk // _DISPUTED
        return np.concatenate(
            [_NONE, *(most_disputed(read_chunk(path), count) for one in before for path in self._chunk_paths(one))]
        )

    def _chunk_paths(self, number: int) -> list[Path]:
        folder = self.folder / f"labels-{number}"
        return [folder / f"{place:04}.npz" for place in range(self.recipe.chunks(number))]

    def _labels(self, number: int, window: int) -> tuple[Boards, Floats32]:
        """Return the labels of the last `window` rounds up to this one, with its trace."""
        paths = [path for one in self.recipe.learned(number, window) for path in self._chunk_paths(one)]
        return read_labels(paths, self.recipe.expanded_rounds()[number].trace)

    def _fit(self, what: str, network: Network, labels: tuple[Boards, Floats32], how: FitRecipe, *, raw: bool) -> float:
        """Fit a network in place; return the mean squared error of the equity."""
        plan = self._plan(how, raw_columns() if raw else None)
        return self._report.fit(what, plan.batches(len(labels[0])), self.backend.fit(network, *labels, plan, None))

    def _plan(self, how: FitRecipe, columns: npt.NDArray[np.intp] | None = None) -> FitPlan:
        return FitPlan(how.epochs, how.batch, how.rate, how.equity, self.recipe.seed, columns, sparsity=how.sparsity)


def _narrowed(network: Network, hidden: tuple[int, ...], boards: Boards) -> Network:
    """Return the network with these units of the hidden layers, if it has more, and `hidden` is not empty."""
    if hidden in {(), tuple(len(bias) for bias in network.biases[:-1])}:
        return network
    return network.narrowed(hidden, encode_all(boards[:_NARROWING]))
