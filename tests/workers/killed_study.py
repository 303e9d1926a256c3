"""A program that studies an archive, with a piece per match, and is killed when it has kept two in its journal."""

from __future__ import annotations

import os
import signal
from typing import Any

from fibsbot.archive import study
from fibsbot.cli import main as cli
from fibsbot.workers.journal import Journal


def main(*words: str) -> None:
    """Follow a command."""
    keep = Journal.add

    def keep_and_die(journal: Journal, key: str, result: Any) -> None:
        keep(journal, key, result)
        if len(journal) == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    study.PIECE_DECISIONS = {}  # type: ignore[misc] # a piece for each match
    Journal.add = keep_and_die  # type: ignore[method-assign,assignment]
    cli(words)
