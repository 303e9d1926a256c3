"""Runs the commands that ask the engine, and compares what they print with golden files.

`FIBSBOT_GOLDEN=write pytest tests/cli` writes the files anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from attrs import frozen
from click.testing import CliRunner, Result

from fibsbot import __version__
from fibsbot.cli import main

GOLDEN: Final = Path(__file__).parents[2] / "data" / "cli"
START: Final = "4HPwATDgc/ABMA"
"""The opening position, for money."""
HOLDING: Final = "XGID=-a--BBB-A---cC-a-cBcb--A--"
"""A position in which both hold something; the rest of the ID is to follow."""
_EFFORT: Final = re.compile(r"[\d,]+ evaluations in [\d.e-]+ s")


@frozen
class Asking:
    """The commands, with networks that count pips."""

    networks: Path
    cache: Path

    def __call__(self, *arguments: str) -> Result:
        """Run a command."""
        words = [*arguments, "--networks", str(self.networks)]
        return CliRunner().invoke(main, words, env={"FIBSBOT_CACHE": str(self.cache), "COLUMNS": "80"})

    def text(self, *arguments: str) -> str:
        """Run a command that succeeds and return what it prints, without what differs from run to run."""
        result = self(*arguments)
        assert (0, "") == (result.exit_code, result.stderr)
        shown = result.stdout.replace(f"by fibsbot {__version__}", "by fibsbot 0")
        return _EFFORT.sub("so many evaluations in so many s", shown)


def check(name: str, text: str, width: int = 80) -> None:
    """Compare with a golden file, or write it."""
    path = GOLDEN / f"{name}.golden"
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8").splitlines() == text.splitlines()
    assert [] == [line for line in text.splitlines() if len(line) > width]
