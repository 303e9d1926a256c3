"""A study by the workers of a Dask cluster: the same files as one process writes, even if it was killed meanwhile."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from fibsbot.cli.archive import JOURNAL
from tests import forked
from tests.archive.matches import add, write_matches
from tests.commands import fibsbot
from tests.workers.conftest import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")]
MATCHES = 3


def judgements(archive: Path) -> list[bytes]:
    """Return the content of the files with judgements."""
    return [path.read_bytes() for path in sorted((archive / "judgements").rglob("*.parquet"))]


def test_a_cluster_judges_as_one_process_does_even_if_the_client_was_killed(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The death of a worker is in test_cluster.py: no command knows of it."""
    monkeypatch.setattr("fibsbot.archive.study.PIECE_DECISIONS", {})
    paths = write_matches(tmp_path / "mat", MATCHES, length=1)
    here, there = tmp_path / "here", tmp_path / "there"
    for archive in (here, there):
        add(archive, *paths)
    words = ("archive", "study", "--plies", "1", "--archive")
    assert f"{MATCHES} matches judged" in fibsbot(*words, here, "--jobs", "1").stdout

    by_cluster = (*words, there, "--scheduler", cluster.address, *cluster.options)
    killed = forked.start("tests.workers.killed_study", *by_cluster).finish()
    assert (-signal.SIGKILL, "") == (killed.returncode, killed.stderr)
    assert 2 == (there / JOURNAL).read_bytes().count(b"\n")
    assert [] == judgements(there)

    done = fibsbot(*by_cluster)
    assert (0, "") == (done.returncode, done.stderr)
    assert f"{MATCHES} matches judged" in done.stdout
    assert judgements(here) == judgements(there)
    assert not (there / JOURNAL).exists()
