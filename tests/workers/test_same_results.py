"""The same work gives the same results, to the last bit, from this process, from two processes and from a cluster."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from attrs import evolve

from fibsbot.analysis.match_analysis import analyse_matches
from fibsbot.arena.duel.games import DuelPlan
from fibsbot.arena.duel.pairs import play_pairs
from fibsbot.arena.duel.results import TimeHistogram
from fibsbot.cli.perft import count_with
from fibsbot.engine.bearoff.solver import compute_tables
from fibsbot.engine.bearoff.storage import write_tables
from fibsbot.engine.rollout import RolloutPlan, position_candidate, rollout
from fibsbot.engine.training.backends import NUMPY
from fibsbot.engine.training.labels import Chunk, label_all
from fibsbot.engine.training.pipeline import Pipeline
from fibsbot.engine.training.recipe import structure
from fibsbot.formats.mat import write_mat
from fibsbot.match import MatchState
from fibsbot.position import Position
from fibsbot.replay.batch import ReplayTask, replay_all
from fibsbot.replay.comparison import ComparisonOptions, PlayerSelection
from fibsbot.replay.match_files import find_sources
from fibsbot.rules.plays import PERFT_START, perft_count, perft_level
from fibsbot.transcript import Transcript
from fibsbot.workers.opening import open_pool
from fibsbot.workers.pool import InProcessPool, LocalPool, WorkerPool
from tests.engine.toy_engines import pip_engine
from tests.engine.toys import solved, toy_teacher
from tests.engine.training.silent_listener import Silent
from tests.engine.training.test_pipeline import RECIPE
from tests.formats.simulated_matches import simulate
from tests.workers.conftest import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")]


@pytest.fixture
def pools(cluster: Cluster) -> Iterator[list[WorkerPool]]:
    """Return the pools that must agree."""
    with open_pool(cluster.address, tls=cluster.tls) as workers:
        yield [InProcessPool(), LocalPool(2), workers]


def short_match(seed: int) -> Transcript:
    """Return the beginning of a match, longer than a chunk of an analysis."""
    match = simulate(seed, 3, games=2)
    return evolve(match, games=tuple(evolve(it, entries=it.entries[:18], result=None) for it in match.games))


def test_analyses_are_the_same_by_all_workers(pools: list[WorkerPool]) -> None:
    matches = [short_match(seed) for seed in (11, 12)]
    here, *others = [[repr(it) for it in analyse_matches(matches, "engine:0", pool=pool)] for pool in pools]
    assert "AnalysisError" not in here[0]
    assert [here] * len(others) == others


def test_rollouts_are_the_same_by_all_workers(pools: list[WorkerPool]) -> None:
    candidates = position_candidate(MatchState(Position.start(), length=7))
    plan = RolloutPlan(trials=72, truncated=3)
    one, *others = [rollout(pip_engine, candidates, plan, pool=pool).results[0].trials.tolist() for pool in pools]
    assert 72 == len(one)
    assert [one] * len(others) == others


def test_labels_for_a_training_are_the_same_by_all_workers(pools: list[WorkerPool], tmp_path: Path) -> None:
    found = []
    for number, pool in enumerate(pools):
        folder = tmp_path / str(number)
        folder.mkdir()
        chunks = [Chunk(folder / f"{place}.npz", 40, 100 + place) for place in range(3)]
        assert [40] * 3 == list(label_all(toy_teacher(), chunks, pool))
        found.append([chunk.path.read_bytes() for chunk in chunks])
    assert [found[0]] * len(found) == found


def test_bearoff_tables_are_the_same_by_all_workers(pools: list[WorkerPool], tmp_path: Path) -> None:
    here = solved(2)
    shares: list[float] = []
    for number, pool in enumerate(pools):
        shares.clear()
        file = write_tables(compute_tables(2, shares.append, pool), tmp_path / str(number))
        assert write_tables(here, tmp_path / "here").checksum == file.checksum
        assert 3 == len(shares)
        assert 1 == shares[-1]
        assert sorted(shares) == shares


def test_networks_are_the_same_by_two_workers_as_by_one_process(pools: list[WorkerPool], tmp_path: Path) -> None:
    tables = solved(2)
    found = []
    for number, pool in enumerate((pools[0], pools[-1])):
        folder = tmp_path / str(number)
        folder.mkdir()
        Pipeline(structure(tomllib.loads(RECIPE)), folder, tables.columns, pool, Silent(), None, NUMPY).run()
        found.append({str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.npz")})
    here, there = found
    assert {"student.npz", "network-3.npz", "mean-2-3.npz", "race-1.npz"} <= here.keys()
    assert here == there


def test_duels_are_the_same_by_all_workers(pools: list[WorkerPool], tmp_path: Path) -> None:
    plan = DuelPlan(("engine:0", "random"), length=1, evaluator="engine:0")
    found = []
    for number, pool in enumerate(pools):
        folder = tmp_path / str(number)
        folder.mkdir()
        pairs = sorted(play_pairs(plan, range(2), pool, folder), key=lambda it: it.number)
        assert all(it.luck for it in pairs)
        without_times = [
            [evolve(it, plays=TimeHistogram(), others=TimeHistogram()) for it in pair.performances] for pair in pairs
        ]
        results = [repr((pair.results, pair.luck, part)) for pair, part in zip(pairs, without_times, strict=True)]
        found.append((results, [path.read_bytes() for path in sorted(folder.iterdir())]))
    assert 4 == len(found[0][1])
    assert [found[0]] * len(found) == found


@pytest.mark.parametrize(("game", "players", "pairs"), [
    ("greek", ("pips", "random"), 550),
    ("nackgammon", ("engine:0", "pips"), 3),
])  # fmt: skip
def test_duels_in_other_games_are_the_same_by_all_workers(
    pools: list[WorkerPool], game: str, players: tuple[str, str], pairs: int
) -> None:
    plan = DuelPlan(players, seed=5, game=game, cube=False)
    here, *others = [sorted((it.number, it.results) for it in play_pairs(plan, range(pairs), pool)) for pool in pools]
    assert pairs == len(here)
    assert [here] * len(others) == others


@pytest.mark.parametrize(
    "comparison", [None, ComparisonOptions("engine:0", "engine:0", selection=PlayerSelection(both=True))]
)
def test_replays_are_the_same_by_all_workers(
    pools: list[WorkerPool], tmp_path: Path, comparison: ComparisonOptions | None
) -> None:
    for seed in (11, 12, 13):
        (tmp_path / f"{seed}.mat").write_text(write_mat(short_match(seed)))
    (tmp_path / "damaged.mat").write_text("1 point match\n\n Game 1\n a : 0   b : 0\n  1) 77: 1/1\n")
    sources, found = find_sources([tmp_path]), []
    for pool in pools:
        text: list[str] = []
        task = ReplayTask(as_json=True, comparison=comparison)
        results = list(replay_all(sources, task, text.append, lambda _: None, pool))
        assert sources == [it.source for it in results]
        found.append(("".join(text), [repr(evolve(it, seconds=0.0)) for it in results]))
    assert found[0][0].count("\n") > 50
    assert [found[0]] * len(found) == found


def test_positions_are_counted_the_same_by_all_workers(pools: list[WorkerPool]) -> None:
    reached = dict(islice(perft_level(PERFT_START).items(), 60))
    assert [perft_count(reached.items())] * len(pools) == [count_with(pool, reached) for pool in pools]
