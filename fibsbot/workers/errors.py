"""Errors of handing out work, and the certificates for it: what commands need before there is any work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen


class WorkError(RuntimeError):
    """Work that cannot be begun or finished, for a reason outside of it; the text is one line."""


class WorkerLostError(WorkError):
    """A worker ended before its work was done; the text says how."""

    def __init__(self, item: Any, status: int | None) -> None:
        """Create the error from the item that the worker had, and its exit status."""
        super().__init__(f"was killed by signal {-status}" if status and status < 0 else f"ended with status {status}")
        self.item = item


class UnusableSchedulerError(WorkError):
    """The address of a scheduler, or the certificates for it, can never be used, whatever runs there."""


class MissingClusterError(WorkError):
    """The extra `cluster` is not installed."""


@frozen
class TlsFiles:
    """The certificates of a cluster. What is None is taken from Dask's own configuration."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
