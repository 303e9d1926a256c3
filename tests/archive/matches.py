"""Matches for archives, and archives made of them."""

from __future__ import annotations

from pathlib import Path

from fibsbot.archive.adding import Adding, AddResult
from fibsbot.archive.dataset import Dataset
from fibsbot.archive.sources import sources_of
from fibsbot.formats import Format
from fibsbot.formats.conversion import WRITERS
from fibsbot.workers.pool import InProcessPool
from tests.formats.simulated_matches import simulate


def write_matches(folder: Path, count: int, kind: Format = Format.MAT, length: int = 3) -> list[Path]:
    """Write simulated matches into files, and return these."""
    folder.mkdir(exist_ok=True)
    paths = []
    for seed in range(count):
        match = simulate(seed, length=length, names=("alice", "bob"))
        path = folder / f"{seed}{kind.extension}"
        path.write_text(WRITERS[kind](match))
        paths.append(path)
    return paths


def add(archive: Path, *paths: Path, problems: dict[str, str] | None = None) -> AddResult:
    """Add files to an archive, in this process."""
    with Dataset.open(archive) as dataset:
        found = problems if problems is not None else {}
        return Adding(dataset, report=found.__setitem__).run(sources_of(paths, archive), InProcessPool())
