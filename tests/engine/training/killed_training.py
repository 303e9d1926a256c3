"""A program that follows a recipe and is killed as soon as it has written a certain file."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from fibsbot.cli import main as cli


def main(last: str, *words: str) -> None:
    """Follow the command `words` until the file named `last` is there."""
    replace = Path.replace

    def replace_and_die(part: Path, target: Path) -> Path:
        found = replace(part, target)
        if target.as_posix().endswith(last):
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    Path.replace = replace_and_die  # type: ignore[method-assign,assignment]
    cli(words)
