"""A Dask cluster behind the interface: the same results as from local processes, whatever dies."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_INTERRUPTED, main
from fibsbot.position import Position
from fibsbot.workers import cluster_worker, fingerprint
from fibsbot.workers.errors import TlsFiles, WorkError
from fibsbot.workers.opening import open_pool
from fibsbot.workers.pool import Piece, PoolProgress
from fibsbot.workers.worker_launcher import MALLOC
from tests import forked
from tests.patience import SOON
from tests.workers.conftest import Cluster, certificates, free_port, running_cluster
from tests.workers.pieces import Shared, add, count, die, fail, size

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")]


def pieces(*numbers: int) -> Iterator[Piece]:
    """Yield a piece for each number."""
    for number in numbers:
        yield Piece(f"number {number}", number)


def test_a_cluster_gives_the_results_of_local_processes_in_order(cluster: Cluster) -> None:
    numbers = [-30, *range(1, 40), -10]
    progress: list[PoolProgress] = []
    with open_pool(cluster.address, tls=cluster.tls) as pool:
        found = list(pool.run(add, pieces(*numbers), shared=100, on_progress=progress.append))
        assert [100 + number for number in numbers] == [result for _, result in found]
        assert len(numbers) == progress[-1].done
        assert [] == list(pool.run(add, (), shared=1))


def test_an_exception_of_a_piece_is_raised_and_the_pool_goes_on(cluster: Cluster) -> None:
    with open_pool(cluster.address, tls=cluster.tls) as pool:
        with pytest.raises(ValueError, match="three is not allowed"):
            list(pool.run(fail, pieces(1, 2, 3, 4)))
        assert [1, 2] == [result for _, result in pool.run(fail, pieces(1, 2))]


def test_what_is_shared_is_made_once_in_each_worker(cluster: Cluster) -> None:
    with open_pool(cluster.address, tls=cluster.tls) as pool:
        assert [7, 8, 9] == [result for _, result in pool.run(count, pieces(0, 1, 2), shared=Shared(7))]


def test_large_shared_data_are_sent_without_a_warning(cluster: Cluster) -> None:
    with warnings.catch_warnings(), open_pool(cluster.address, tls=cluster.tls) as pool:
        warnings.simplefilter("error", UserWarning)
        found = pool.run(size, pieces(0, 1), shared=bytes(12_000_000))
        assert [12_000_000, 12_000_001] == [result for _, result in found]


def test_workers_have_one_thread_and_keep_free_memory(cluster: Cluster) -> None:
    while not (workers := cluster.worker_processes()):
        time.sleep(0.1)
    for worker in workers:
        environment = dict(it.split("=", 1) for it in Path(f"/proc/{worker}/environ").read_text().split("\0") if it)
        assert MALLOC.items() <= environment.items()
        assert "1" == environment["OPENBLAS_NUM_THREADS"]
        assert "False" == environment["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"]


def test_a_worker_whose_code_differs_refuses_in_one_line(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {**fingerprint.fingerprint(), "fibsbot": "0.0.1 abc"}
    monkeypatch.setattr("fibsbot.workers.cluster.fingerprint", lambda: ours)
    with (
        open_pool(cluster.address, tls=cluster.tls) as pool,
        pytest.raises(
            WorkError, match=r"^a worker on \S+ refuses the work: it has fibsbot .*, the client has 0\.0\.1 abc$"
        ),
    ):
        list(pool.run(add, pieces(1), shared=0))


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("tcp://192.0.2.1:8786", "expected tls:// or a loopback address, got tcp://192.0.2.1:8786"),
        ("192.0.2.1:8786", "expected tls:// or a loopback address"),
        ("tcp://127.0.0.1", "expected a scheduler such as tls://HOST:8786, got 'tcp://127.0.0.1'"),
        ("http://127.0.0.1:80", "expected a scheduler such as"),
        ("tcp://127.0.0.1:port", "expected a scheduler such as"),
        ("tls://127.0.0.1:8786", "needs certificates"),
    ],
)
def test_an_address_that_is_open_to_others_or_none_is_refused(address: str, error: str) -> None:
    with pytest.raises(WorkError, match=error), open_pool(address):
        pass


def test_a_missing_scheduler_is_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.workers.cluster.CONNECT_SECONDS", 0.5)
    address = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(WorkError, match=f"^cannot reach the scheduler {address}: "), open_pool(address):
        pass


def test_other_certificates_and_none_are_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fibsbot.workers.cluster.CONNECT_SECONDS", 1.0)
    others = TlsFiles(*(Path(it) for it in certificates(tmp_path / "others")[1::2]))
    for address, tls in ((cluster.address, others), (f"127.0.0.1:{cluster.port}", None)):
        with pytest.raises(WorkError, match=r"^cannot reach the scheduler"), open_pool(address, tls=tls):
            pass


def test_whatever_dies_costs_only_the_pieces_in_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One cluster for all of it, as its start takes seconds: nobody is forgiven a death, so that one is enough."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    with running_cluster(tmp_path, 0) as cluster, open_pool(cluster.address) as pool:
        monkeypatch.setattr(pool, "patience", 0.5)
        with pytest.raises(WorkError, match=r"has been without a worker for 0.5 s"):
            list(pool.run(add, pieces(1), shared=0))
        monkeypatch.setattr(pool, "patience", 60)
        cluster.start_worker()  # one is enough: only its own pieces can be lost
        found = []
        for _, result in pool.run(add, pieces(*[-5] * 30), shared=1):
            found.append(result)
            if len(found) == 5:
                os.kill(cluster.worker_processes()[0], signal.SIGKILL)
            if len(found) == 15:
                cluster.processes[0].kill()
                cluster.processes[0].wait()
                cluster.start_scheduler()
        assert [-4] * 30 == found
        assert {"127.0.0.1"} == cluster.listening_addresses()
        assert "" == capfd.readouterr().err
        with pytest.raises(WorkError, match=r"^piece number 3 was given up: 2 workers died of it$"):
            list(pool.run(die, pieces(3)))
        left = cluster.worker_processes()
        worker = cluster.processes[1]
        worker.terminate()
        assert 0 == worker.wait(SOON)
        assert [] == [it for it in left if Path(f"/proc/{it}").exists()]


def test_a_command_says_in_one_line_that_a_worker_differs(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {**fingerprint.fingerprint(), "networks and data": "abc"}
    monkeypatch.setattr("fibsbot.workers.cluster.fingerprint", lambda: ours)
    few = Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19)
    monkeypatch.setattr("fibsbot.cli.perft.PERFT_START", {few.points: 1})  # or this process counts for a second first
    result = CliRunner().invoke(main, ["perft", "--depth", "3", "--scheduler", cluster.address, *cluster.options])
    assert result.exit_code
    assert 1 == len(result.stderr.splitlines())
    assert re.search(
        r"a worker on \S+ refuses the work: it has networks and data \w+, the client has abc$", result.stderr
    )


def test_an_interrupted_command_leaves_a_good_file_and_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "duel.jsonl"
    words = [
        "duel",
        "random",
        "random",
        "--no-luck",
        "--length",
        "1",
        "--output",
        str(path),
        "--scheduler",
        cluster.address,
    ]
    process = forked.start("fibsbot", *words, *cluster.options, "--games", "100000")
    until = time.monotonic() + SOON
    while not path.exists() or path.read_bytes().count(b"\n") < 4:
        assert process.returncode is None
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    done = process.finish()
    assert (EXIT_INTERRUPTED, "") == (done.returncode, done.stderr)
    assert "Interrupted after" in done.stdout
    played = [json.loads(line)["number"] for line in path.read_text().splitlines()[1:]]
    assert len(played) >= 3
    result = CliRunner().invoke(main, [*words, *cluster.options, "--games", str(2 * len(played) + 4)])
    assert 0 == result.exit_code, result.output
    assert set(range(len(played) + 2)) <= {json.loads(it)["number"] for it in path.read_text().splitlines()[1:]}


# -- a piece in a worker, called here ---------------------------------------------------------------------------------


def test_an_error_that_cannot_be_pickled_arrives_as_its_text() -> None:
    class LocalError(Exception):
        pass

    with pytest.raises(WorkError, match="LocalError: why"):
        raise pickle.loads(cluster_worker._pickled_error(LocalError("why")))  # noqa: S301 - our own
