"""What is kept of compiled functions is used only as long as the source is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fibsbot.engine import compiled

ROOT = Path(__file__).parents[2]
BELOW = """
from __future__ import annotations
from fibsbot.engine.compiled import compiled
FACTOR = 2
@compiled
def twice(number: int) -> int:
    return FACTOR * number
"""
ABOVE = """
from __future__ import annotations
from fibsbot.engine.compiled import compiled
from fibsbot.engine.toy_below import FACTOR, twice
@compiled
def twice_and_more(number: int) -> int:
    return twice(number) + FACTOR
"""
ASK = """
import sys
import fibsbot.engine
fibsbot.engine.__path__.append(sys.argv[1])
from fibsbot.engine.toy_above import twice_and_more
print(twice_and_more(10), *twice_and_more.stats.cache_hits.values())
"""


def ask(folder: Path, cache: str) -> str:
    """Call the function in a process of its own; return what it says and how often it was found in the cache."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(folder)],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_a_change_in_what_a_function_calls_compiles_it_anew(tmp_path: Path) -> None:
    (tmp_path / "toy_below.py").write_text(BELOW)
    (tmp_path / "toy_above.py").write_text(ABOVE)
    cache = str(tmp_path / "cache")
    assert "22" == ask(tmp_path, cache)
    assert "22 1" == ask(tmp_path, cache)
    (tmp_path / "toy_below.py").write_text(BELOW.replace("FACTOR = 2", "FACTOR = 3"))
    assert "33" == ask(tmp_path, cache)
    assert "33 1" == ask(tmp_path, cache)


def test_options_that_a_numba_does_not_know_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled._lean() == compiled._LEAN
    monkeypatch.setattr(compiled, "_LEAN", {"an_option_of_old": True})
    compiled._lean.cache_clear()
    assert compiled._lean() == {}
    compiled._lean.cache_clear()


@pytest.mark.slow
def test_where_nothing_can_be_kept_functions_are_compiled_all_the_same(tmp_path: Path) -> None:
    nowhere = tmp_path / "file"
    nowhere.touch()
    done = subprocess.run(
        [sys.executable, "-c", "from fibsbot.engine.generator import swap"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(nowhere), "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)
