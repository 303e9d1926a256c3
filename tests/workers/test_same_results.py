"""The same work gives the same results, to the last bit, from this process, from two processes and from a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import evolve

from fibsbot.analysis.match_analysis import analyse_matches
from fibsbot.transcript import Transcript
from fibsbot.workers.pool import InProcessPool, LocalPool, WorkerPool, open_pool
from tests.formats.simulated_matches import simulate
from tests.workers.conftest import Cluster

pytestmark = pytest.mark.slow


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
