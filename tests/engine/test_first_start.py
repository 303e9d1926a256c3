"""The first start: what two processes compile is there afterwards, and no later start does it again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import structlog

from fibsbot.engine import code_cache
from fibsbot.engine.engine import Engine
from fibsbot.engine.features import write_blocks
from fibsbot.engine.pruner import expand
from tests.patience import SOON

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


@pytest.fixture
def nearly_cold(tmp_path: Path) -> Path:
    """Return a cache that lacks a function of either process; it takes ten seconds to compile all."""
    Engine.load(tables=False).warm_up()
    for folder in (*reversed(code_cache._folders(expand.function)), ROOT / "fibsbot" / "engine"):
        for path in folder.rglob("*.code"):
            shutil.copy(path, tmp_path)
    for function in (expand, write_blocks):
        (tmp_path / code_cache._name(function.function)).unlink()
    return tmp_path


@pytest.mark.slow
def test_the_first_start_compiles_and_the_second_finds_it(nearly_cold: Path) -> None:
    def said() -> list[str]:
        environment = {**os.environ, code_cache.FOLDER_VARIABLE: str(nearly_cold)}
        command = [sys.executable, "-c", ASK]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SOON, check=True
        ).stdout.split("\n")

    assert ["True", "False", "0 True", ""] == said(), "the other process has compiled what looking ahead needs"
    assert ["False", "False", "0 False", ""] == said(), "nothing is left to compile"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_compilation_is_announced_once_on_a_terminal_and_a_short_one_never(
    terminal: bool,  # noqa: FBT001 - the parameter of a test
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(structlog, "is_configured", lambda: False)
    progress = code_cache._Progress()
    with progress.step():
        now += code_cache.SILENCE / 2
        with progress.step():
            assert ("", "") == capsys.readouterr()
    for _ in range(3):
        with progress.step():
            now += code_cache.SILENCE / 2
            progress.check()
    out, err = capsys.readouterr()
    line = "fibsbot: the engine is compiled on its first start, which takes about half a minute\n"
    assert (out, err) == ("", line if terminal else "")
