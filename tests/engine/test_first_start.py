"""The first start: what two processes compile is there afterwards, and no later start does it again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fibsbot.engine import code_cache

ROOT = Path(__file__).parents[2]
ASK = """
import sys
from fibsbot.engine.engine import Engine
from fibsbot.engine.pruner import expand
from fibsbot.engine.engine import is_cold
print(is_cold())
engine = Engine.load(tables=False)
print(is_cold())
engine.warm_up()
print(expand.made, "numba" in sys.modules)
"""


@pytest.mark.slow
def test_the_first_start_compiles_and_the_second_finds_it(tmp_path: Path) -> None:
    def said() -> list[str]:
        environment = {**os.environ, code_cache.FOLDER_VARIABLE: str(tmp_path)}
        command = [sys.executable, "-c", ASK]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200, check=True
        ).stdout.split("\n")

    assert ["True", "False", "0 True", ""] == said(), "the other process has compiled what looking ahead needs"
    assert ["False", "False", "0 False", ""] == said(), "nothing is left to compile"
