"""A program that adds matches to an archive one by one, and is killed when it writes for the n-th time."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fibsbot.archive import adding, dataset
from fibsbot.archive.sources import sources_of
from fibsbot.workers.pool import InProcessPool


def main(matches: str, archive: str, writes: str) -> None:
    """Add the matches of a folder until the write with this number."""
    numbers = itertools.count(1)

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if next(numbers) == int(writes):
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments)

        return call

    adding.BATCH_ROWS = 1  # type: ignore[misc] # a batch for each match
    dataset.write_to_disk = dying(dataset.write_to_disk)  # type: ignore[attr-defined]
    Path.replace = dying(Path.replace)  # type: ignore[method-assign]
    adding.pieces_of = lambda sources: ((source,) for source in sources)  # type: ignore[attr-defined]
    with dataset.Dataset.open(Path(archive)) as opened:
        adding.Adding(opened).run(sources_of([Path(matches)]), InProcessPool())
