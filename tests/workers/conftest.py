"""A Dask cluster for the tests of a session: a scheduler and two workers, as an operator starts them."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from attrs import define, field

from fibsbot.workers.errors import TlsFiles
from fibsbot.workers.worker_launcher import MALLOC
from tests.patience import SOON

ROOT: Final = Path(__file__).parents[2]


@define
class Cluster:
    """A scheduler on loopback, and workers."""

    folder: Path
    port: int
    options: tuple[str, ...] = ()
    """For the certificates."""
    processes: list[subprocess.Popen[str]] = field(factory=list)

    @property
    def tls(self) -> TlsFiles:
        """The certificates."""
        return TlsFiles(*(Path(it) for it in self.options[1::2]))

    @property
    def address(self) -> str:
        """The scheduler's address."""
        return f"{'tls' if self.options else 'tcp'}://127.0.0.1:{self.port}"

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a program."""
        environment = {name: it for name, it in os.environ.items() if name not in MALLOC}  # the program sets them
        environment["PYTHONPATH"] = f"{ROOT}:{ROOT / 'protocol'}"
        with (self.folder / "log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *words, *self.options],
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def start_scheduler(self) -> subprocess.Popen[str]:
        """Start the scheduler, and wait until it listens."""
        local = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
        protocol = ("--protocol", "tls") if self.options else ()
        process = self.start("dask", "scheduler", "--port", str(self.port), *local, *protocol)
        deadline = time.monotonic() + SOON
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return process
            time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text())

    def start_worker(self, *options: str) -> subprocess.Popen[str]:
        """Start a worker."""
        local = ("--no-warm-up", "--local-directory", str(self.folder))
        return self.start("fibsbot", "worker", self.address, *local, *options)

    def worker_processes(self) -> list[int]:
        """Return the process IDs of the workers, those that do pieces."""
        psutil = pytest.importorskip("psutil")
        found: list[int] = []
        for process in self.processes:
            with contextlib.suppress(psutil.Error):
                below = psutil.Process(process.pid).children(recursive=True)
                found += [it.pid for it in below if any("spawn_main" in word for word in it.cmdline())]
        return found

    def listening_addresses(self) -> set[str]:
        """Return the addresses on which its processes listen."""
        psutil = pytest.importorskip("psutil")
        found: set[str] = set()
        for top in self.processes:
            with contextlib.suppress(psutil.Error):  # it has been killed
                for process in (psutil.Process(top.pid), *psutil.Process(top.pid).children(recursive=True)):
                    listening = (it for it in process.net_connections("inet") if it.status == psutil.CONN_LISTEN)
                    found |= {it.laddr.ip for it in listening}
        return found

    def stop(self) -> None:
        """End everything."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SOON)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextlib.contextmanager
def running_cluster(folder: Path, workers: int, options: tuple[str, ...] = ()) -> Iterator[Cluster]:
    """Run a scheduler and workers."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("the extra `cluster` is not installed: there is no `distributed`")
    cluster = Cluster(folder, free_port(), options)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.stop()
        collect_sockets()


def collect_sockets() -> None:
    """Let no socket that Dask's client has left open while it connected again be found in a later test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    gc.freeze()  # the next search is for what is new since this one, and takes a tenth of the time


def certificates(folder: Path) -> tuple[str, ...]:
    """Make an authority and a certificate as docs/how-to/cluster.md says; return the options that name them."""
    folder.mkdir()
    section = (ROOT / "docs/how-to/cluster.md").read_text().partition("## Certificates\n")[2]
    commands = section.partition("```sh\n")[2].partition("```")[0]
    subprocess.run(["sh", "-e", "-c", commands], cwd=folder, check=True, capture_output=True)
    names = {"--tls-ca-file": "ca.pem", "--tls-cert": "cluster.pem", "--tls-key": "cluster.key"}
    return tuple(word for option, name in names.items() for word in (option, str(folder / name)))


FOLDER: Final = Path(__file__).parent
"""The tests that share the cluster lie here."""
RUNNING: Final[list[tuple[Cluster, contextlib.ExitStack]]] = []
"""The cluster that tests share, while there is one, and what stops it."""


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Return a scheduler with two workers and TLS, for all tests that leave them alive."""
    if not RUNNING:
        folder = tmp_path_factory.mktemp("cluster")
        stack = contextlib.ExitStack()
        running = stack.enter_context(running_cluster(folder, 2, certificates(folder / "certificates")))
        RUNNING.append((running, stack))
    return RUNNING[0][0]


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Stop the cluster after the last test that needs it; idling until the end of all tests would cost 15 s of work."""
    needed = nextitem and nextitem.path.parent == FOLDER and "cluster" in getattr(nextitem, "fixturenames", ())
    if RUNNING and not needed:
        RUNNING.pop()[1].close()


@pytest.fixture(autouse=True)
def _collect_sockets() -> Iterator[None]:
    yield
    if "distributed" in sys.modules:
        collect_sockets()
