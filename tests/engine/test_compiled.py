"""What is kept of compiled functions is used only as long as the source is the same."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numba
import pytest

from fibsbot.engine import code_cache, compiled

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


# -- damaged files --------------------------------------------------------------------------------------------------


def define(folder: Path) -> Callable[[int], int]:
    """Return a compiled function as a new process would get it."""
    spec = importlib.util.spec_from_file_location("toy_alone", folder / "toy_alone.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[[int], int] = module.twice
    return function


def hits(function: Callable[[int], int]) -> int:
    """Call a function; return how often it was found in the cache."""
    assert 42 == function(21)
    stats: Any = function
    return sum(stats.stats.cache_hits.values())


DAMAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "empty": lambda _: b"",
    "one byte": lambda data: data[:1],
    "cut": lambda data: data[: len(data) // 2],
    "zeros at the end": lambda data: data[:-40] + bytes(40),
    "all zeros": lambda data: bytes(len(data)),
    "garbage": lambda data: b"garbage" + data,
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have what is compiled kept in a folder of its own."""
    (tmp_path / "toy_alone.py").write_text(BELOW)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    code_cache._warned.clear()
    return tmp_path / "cache"


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_is_made_again_and_spoken_of_once(
    kind: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == hits(define(cache.parent))
    assert 1 == hits(define(cache.parent))
    (path,) = cache.rglob(f"*.{kind}")
    whole = path.read_bytes()
    for name, damage in DAMAGES.items():
        code_cache._warned.clear()
        path.write_bytes(damage(whole))
        capsys.readouterr()
        assert 0 == hits(define(cache.parent)), name
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("fibsbot: compiled code was damaged and is compiled again: "), name
        assert (1, "") == (hits(define(cache.parent)), capsys.readouterr().err), name


def test_a_folder_that_cannot_be_written_costs_a_line_and_no_answer(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(code_cache.CheckedCacheFile, "_save_index", fail)
    assert 0 == hits(define(cache.parent))
    assert "fibsbot: compiled code cannot be kept: No space left on device: " in capsys.readouterr().err


def test_what_numba_has_kept_itself_is_neither_used_nor_damaged(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as before:
        before.setattr(compiled, "CheckedCacheFile", lambda plain, _: plain)
        assert 0 == hits(define(cache.parent))
    assert 0 == hits(define(cache.parent))
    assert not capsys.readouterr().err
    with monkeypatch.context() as before:
        before.setattr(compiled, "CheckedCacheFile", lambda plain, _: plain)
        assert 0 == hits(define(cache.parent))
