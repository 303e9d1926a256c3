"""Files that a command writes at its end: whether they can be written is checked before work is done in vain."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fibsbot.cli import UserError


def check_writable(target: Path, *, parents: bool = False) -> None:
    """Check that a file, or with `parents` a folder in new folders, can be made in its place. Raises UserError."""
    folder = target.absolute().parent
    while parents and not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise UserError(f"there is no folder {target.parent} for {target.name}")
    try:
        with tempfile.TemporaryFile(dir=target if target.is_dir() else folder):
            pass
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
