"""Whether the places that a configuration names can be used, as far as that can be seen without using them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fibsbot.config.plans import paths_of
from fibsbot.config.settings import Config

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def doubtful_passwords(config: Config) -> Iterator[str]:
    """Yield a sentence for each password file that is not its owner's alone."""
    for path, account in paths_of(config):
        if account.password_file and _open_to_others(account.password_file):
            yield f"{path}.password_file can be read by others than its owner: `chmod 600` puts that right"


def doubtful_log(config: Config) -> Iterator[str]:
    """Yield a sentence if session logs cannot be written; their folder is made where there is none."""
    folder = config.log.directory
    existing = next((it for it in (folder, *folder.absolute().parents) if os.access(it, os.F_OK)), Path("/"))
    if not _is_writable(existing):
        yield f"log.directory is {folder}, where this user cannot write"


def doubtful_service(config: Config) -> Iterator[str]:
    """Yield a sentence for each file of the process that cannot be made, because its folder is not there."""
    service = config.service
    for name, path in {"store": _file_of(service.store), "control": service.control}.items():
        if path and not _is_writable(path.parent):
            yield f"service.{name} is {path}, in a folder where this user cannot write"


def _file_of(store: str | None) -> Path | None:
    """Return the file of a store; None where it has none, or cannot be used at all, which is told as a problem."""
    from fibsbot.records.store.database import StoreError, is_sqlite, locate  # noqa: PLC0415 - SQLAlchemy is slow to import

    try:
        url = locate(store) if store else None
    except StoreError:
        return None
    return Path(url.database) if url and url.database and is_sqlite(url) else None


def _open_to_others(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & _OTHERS)


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK) and folder.is_dir()
