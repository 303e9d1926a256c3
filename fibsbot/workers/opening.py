"""Opens the workers of this machine or of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fibsbot.workers.errors import MissingClusterError, TlsFiles
from fibsbot.workers.pool import LocalPool, WorkerPool
from fibsbot.workers.processes import usable_cores


@contextmanager
def cluster_imported() -> Iterator[None]:
    """Turn the ModuleNotFoundError of an import of `workers.cluster` into a MissingClusterError."""
    try:
        yield
    except ModuleNotFoundError as error:
        text = f"a cluster needs the extra `cluster` (pip install 'fibsbot[cluster]'): {error}"
        raise MissingClusterError(text) from None


@contextmanager
def open_pool(
    scheduler: str | None = None,
    *,
    jobs: int | None = None,
    tls: TlsFiles | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> Iterator[WorkerPool]:
    """Open the workers of a Dask cluster, or of this machine.

    Args:
        scheduler: address of Dask's scheduler, `tls://HOST:8786`; without TLS only loopback addresses are accepted.
            None: processes of this machine.
        jobs: number of processes, by default one per core; not for a cluster.
        tls: certificates for the cluster.
        report: gets a line when a run has waited a while for a worker of the cluster.

    Raises:
        UnusableSchedulerError: address or certificates are wrong.
        MissingClusterError: a scheduler is named, and Dask is not installed.
        WorkError: the cluster cannot be used for another reason; the text says why.
    """
    if scheduler is None:
        yield LocalPool(jobs or usable_cores())
        return
    with cluster_imported():
        from fibsbot.workers.cluster import open_cluster  # noqa: PLC0415 - an extra, and slow to import
    with open_cluster(scheduler, tls, report=report) as pool:
        yield pool
