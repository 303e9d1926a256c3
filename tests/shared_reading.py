"""What tests read again and again, read once: the engine's networks and tables, and which strategies are installed.

Each engine would read and check 30 MB anew, a twentieth of a second of the processor, and each strategy that is loaded
the metadata of a hundred packages.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Final, TypeVar

from fibsbot.engine import engine
from fibsbot.engine.bearoff import storage
from fibsbot.strategies import loader

Read = TypeVar("Read")
SETTLED: Final = 2.0
"""Seconds after which another change of a file shows in its time. Younger files are read each time."""
KEPT: Final = 4
"""Results of each function that are kept, each of up to 30 MB."""


def share() -> None:
    """Let every engine and strategy that is made from now on have what was read for others."""
    for module, name, function in (
        (engine, "load_networks", _once(engine.load_networks)),
        (storage, "read_tables", _once(storage.read_tables)),
        (loader, "available", _on_each_path(loader.available)),
    ):
        setattr(module, name, function)


def _once(read: Callable[..., Read]) -> Callable[..., Read]:
    """Return a function of a file or a folder that reads it again only after a change."""

    @lru_cache(KEPT)
    def kept(_files: object, *arguments: Any) -> Read:
        return read(*arguments)

    @wraps(read)
    def shared(path: Path = engine.NETWORKS_FOLDER, *arguments: Any) -> Read:
        try:
            files = [(it.name, it.stat()) for it in (sorted(path.iterdir()) if path.is_dir() else [path])]
        except OSError:
            return read(path, *arguments)
        if any(about.st_mtime > time.time() - SETTLED for _, about in files):
            return read(path, *arguments)
        known = tuple((name, about.st_ino, about.st_size, about.st_mtime_ns) for name, about in files)
        return kept(known, path, *arguments)

    return shared


def _on_each_path(find: Callable[[], Read]) -> Callable[[], Read]:
    """Return a function that finds what is installed again only if there are other places, or a test says what is."""

    @lru_cache(KEPT)
    def kept(_points: object, _places: object) -> Read:
        return find()

    @wraps(find)
    def shared() -> Read:
        return kept(vars(loader)["entry_points"], tuple(sys.path))

    return shared
