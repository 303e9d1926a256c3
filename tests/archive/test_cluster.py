"""A study by the workers of a Dask cluster: the same files as one process writes, whoever is killed meanwhile."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from fibsbot.cli.archive import JOURNAL
from tests.archive.matches import add, write_matches
from tests.commands import fibsbot
from tests.workers.conftest import SOON, Cluster, running_cluster

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")]
MATCHES = 5
CLIENT = """
from fibsbot.archive import study
from fibsbot.cli import main

study.PIECE_DECISIONS = {}
main()
"""
"""The command line, with a piece per match."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running_cluster(tmp_path, 1) as running:
        yield running


def judgements(archive: Path) -> list[bytes]:
    """Return the content of the files with judgements."""
    return [path.read_bytes() for path in sorted((archive / "judgements").rglob("*.parquet"))]


def test_a_cluster_judges_as_one_process_does_whoever_is_killed(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fibsbot.archive.study.PIECE_DECISIONS", {})
    paths = write_matches(tmp_path / "mat", MATCHES, length=1)
    here, there = tmp_path / "here", tmp_path / "there"
    for archive in (here, there):
        add(archive, *paths)
    words = ("archive", "study", "--plies", "1", "--archive")
    assert f"{MATCHES} matches judged" in fibsbot(*words, here, "--jobs", "1").stdout

    (tmp_path / "small_pieces.py").write_text(CLIENT)
    client = cluster.start("small_pieces", *words, str(there), "--scheduler", cluster.address)
    journal = there / JOURNAL
    deadline = time.monotonic() + SOON
    while not journal.exists() or journal.read_bytes().count(b"\n") < 2:
        assert time.monotonic() < deadline, (tmp_path / "log").read_text()
        time.sleep(0.01)
    client.send_signal(signal.SIGKILL)
    client.wait(SOON)
    os.kill(cluster.worker_processes()[0], signal.SIGKILL)
    assert [] == judgements(there)

    done = fibsbot(*words, there, "--scheduler", cluster.address)
    assert (0, "") == (done.returncode, done.stderr)
    assert f"{MATCHES} matches judged" in done.stdout
    assert judgements(here) == judgements(there)
    assert not journal.exists()
