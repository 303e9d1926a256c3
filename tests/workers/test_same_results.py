"""The same work gives the same results, to the last bit, from this process, from two processes and from a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from fibsbot.analysis.match_analysis import analyse_matches
from fibsbot.engine.rollout import RolloutPlan, position_candidate, rollout
from fibsbot.engine.training.labels import Chunk, label_all
from fibsbot.match import MatchState
from fibsbot.position import Position
from fibsbot.transcript import Transcript
from fibsbot.workers.pool import InProcessPool, LocalPool, WorkerPool, open_pool
from tests.engine.toy_engines import pip_engine
from tests.engine.toys import toy_teacher
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
