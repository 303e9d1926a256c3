"""Compiled functions: what they take, and that what is kept of them is used only as long as the source is the same."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine import code_cache, jit_compiler, numba_target, quantized
from fibsbot.engine.arrays import AS_INT, Boards, IntVector64, Vector32, Vector64
from fibsbot.engine.jit import CompiledFunction, compiled, signature_key
from fibsbot.engine.signatures import TYPE_MISMATCH
from tests.examples import examples
from tests.patience import SOON

ROOT = Path(__file__).parents[2]
BELOW = """
from __future__ import annotations
from fibsbot.engine.jit import compiled
FACTOR = 2
@compiled
def twice(number: int) -> int:
    return FACTOR * number
"""
ABOVE = """
from __future__ import annotations
from fibsbot.engine.jit import compiled
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
print(twice_and_more(10), twice_and_more.made, "numba" in sys.modules)
"""
THROWS = """
from __future__ import annotations
import numpy as np
from fibsbot.engine.jit import compiled
@compiled
def throw(seed: int) -> int:
    np.random.seed(seed)
    return np.random.randint(1, 10_000) + int(1000 * np.random.random())
"""
ASK_RANDOM = """
import sys
import fibsbot.engine
fibsbot.engine.__path__.append(sys.argv[1])
from fibsbot.engine.toy_throws import throw
print(throw(5), throw.made)
"""


def start(script: str, cache: str, *arguments: str) -> subprocess.Popen[str]:
    """Start Python with a cache of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env={**os.environ, code_cache.FOLDER_VARIABLE: cache},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end_of(process: subprocess.Popen[str]) -> str:
    """Wait for the end of a process; return what it says."""
    said, errors = process.communicate(timeout=SOON)
    assert (0, "") == (process.returncode, errors)
    return said.strip()


def run(script: str, cache: str, *arguments: str) -> str:
    """Run Python with a cache of its own; return what it says."""
    return end_of(start(script, cache, *arguments))


# -- what is kept ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_of_two_processes_compiles_and_a_change_in_what_a_function_calls_compiles_it_anew(tmp_path: Path) -> None:
    (tmp_path / "toy_below.py").write_text(BELOW)
    (tmp_path / "toy_above.py").write_text(ABOVE)
    cache = str(tmp_path / "cache")
    both = [start(ASK, cache, str(tmp_path)) for _ in range(2)]
    assert ["22 0 False", "22 1 True"] == sorted(map(end_of, both)), "one does not even load the compiler"
    (tmp_path / "toy_below.py").write_text(BELOW.replace("FACTOR = 2", "FACTOR = 1 + 2"))
    assert "33 1 True" == run(ASK, cache, str(tmp_path))
    assert "33 0 False" == run(ASK, cache, str(tmp_path))


@pytest.mark.slow
def test_code_that_needs_the_random_numbers_of_the_compiler_finds_them(tmp_path: Path) -> None:
    (tmp_path / "toy_throws.py").write_text(THROWS)
    first, second = (run(ASK_RANDOM, str(tmp_path / "cache"), str(tmp_path)).split() for _ in range(2))
    assert ("1", "0") == (first[1], second[1]), "the second process compiles nothing"
    assert first[0] == second[0]


def test_of_all_that_the_engine_is_made_of_a_change_is_seen() -> None:
    code_cache._content.cache_clear()
    code_cache._digest.cache_clear()
    code_cache._digest(str(quantized.__file__))
    seen = set(map(code_cache._path, (b"fibsbot.engine.jit_compiler", b"fibsbot.engine.arrays")))
    before = code_cache._content.cache_info().hits
    for path in seen:
        code_cache._content(path)
    assert len(seen) == code_cache._content.cache_info().hits - before


@pytest.mark.slow
@pytest.mark.usefixtures("_no_log")
def test_where_nothing_can_be_kept_functions_are_compiled_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = tmp_path / "file"
    nowhere.touch()
    (tmp_path / "toy_alone.py").write_text(BELOW)
    monkeypatch.setenv(code_cache.FOLDER_VARIABLE, str(nowhere / "cache"))
    code_cache._warned.clear()
    assert 1 == made(define(tmp_path))
    assert "fibsbot: compiled code cannot be kept: Not a directory: " in capsys.readouterr().err


def test_by_default_code_is_cached_beside_the_source_or_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy_alone.py").write_text(BELOW)
    monkeypatch.delenv(code_cache.FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "__pycache__").touch()  # no folder
    assert (1, 0) == (made(define(tmp_path)), made(define(tmp_path)))
    assert [tmp_path / "cache" / "fibsbot" / "code"] == [path.parent for path in tmp_path.rglob("*.code")]
    (tmp_path / "__pycache__").unlink()
    (tmp_path / "toy_alone.py").write_text(BELOW.replace("FACTOR", "TIMES"))
    code_cache._digest.cache_clear()
    code_cache._content.cache_clear()
    assert (1, 0) == (made(define(tmp_path)), made(define(tmp_path)))
    assert 1 == len(list((tmp_path / "__pycache__").glob("*.code")))


# -- damaged files -----------------------------------------------------------------------------------------------------


def define(folder: Path) -> CompiledFunction[[int], int]:
    """Return a compiled function as a new process would get it."""
    spec = importlib.util.spec_from_file_location("toy_alone", folder / "toy_alone.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: CompiledFunction[[int], int] = module.twice
    return function


def made(function: CompiledFunction[[int], int]) -> int:
    """Call a function; return how often it had to be compiled."""
    assert 42 == function(21)
    return function.made


DAMAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "empty": lambda _: b"",
    "one byte": lambda data: data[:1],
    "cut in the head": lambda data: data[: len(code_cache.MARK) + 5],
    "cut": lambda data: data[: len(data) // 2],
    "zeros at the end": lambda data: data[:-40] + bytes(40),
    "all zeros": lambda data: bytes(len(data)),
    "garbage": lambda data: b"garbage" + data,
}


@pytest.fixture
def _no_log() -> None:
    """Have no log set up, as in a program that uses the library."""
    structlog.reset_defaults()


@pytest.fixture
def cache(_no_log: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cache compiled code in a temporary folder."""
    (tmp_path / "toy_alone.py").write_text(BELOW)
    monkeypatch.setenv(code_cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    code_cache._warned.clear()
    return tmp_path / "cache"


def test_a_damaged_file_is_made_again_and_spoken_of_once(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (1, 0) == (made(define(cache.parent)), made(define(cache.parent)))
    (path,) = cache.rglob("*.code")
    whole = path.read_bytes()
    for name, damage in DAMAGES.items():
        code_cache._warned.clear()
        path.write_bytes(damage(whole))
        capsys.readouterr()
        assert 1 == made(define(cache.parent)), name
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("fibsbot: compiled code was damaged and is compiled again: "), name
        assert (0, "") == (made(define(cache.parent)), capsys.readouterr().err), name


def test_a_full_disk_costs_a_line_and_no_answer_and_leaves_no_half_file(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert 1 == made(define(cache.parent))
    assert "fibsbot: compiled code cannot be kept: No space left on device: " in capsys.readouterr().err
    assert [code_cache.LOCK] == [path.name for path in cache.iterdir()]


def test_code_for_another_processor_is_not_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 == made(define(cache.parent))
    monkeypatch.setattr(code_cache, "_surroundings", lambda: "another processor")
    assert (1, 0) == (made(define(cache.parent)), made(define(cache.parent)))


# -- what they take ----------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two arrays."""

    some: IntVector64
    others: Vector32


class Nest(NamedTuple):
    """A tuple in a tuple."""

    pair: Pair
    table: Boards


@compiled
def add_up(numbers: IntVector64) -> int:
    """Return the sum of numbers, and nothing else."""
    total = 0
    for place in range(len(numbers)):
        total += AS_INT + numbers[place]
    return total


@compiled
def look_into(nest: Nest, row: int, column: int) -> float:
    """Return the sum of all that is there."""
    total = float(nest.table[row, column])
    for place in range(len(nest.pair.some)):
        total += nest.pair.some[place]
    for place in range(len(nest.pair.others)):
        total += nest.pair.others[place]
    return total


@compiled
def scale(numbers: Vector64, factor: float, less: np.float32, upside_down: bool) -> None:  # noqa: FBT001
    """Multiply numbers in place."""
    for place in range(len(numbers)):
        numbers[place] = numbers[place] * factor - less
        if upside_down:
            numbers[place] = -numbers[place]


@compiled
def is_above(number: float, limit: float) -> bool:
    """Return whether a number is above a limit."""
    return number > limit


@given(
    st.lists(st.integers(-100, 100), min_size=2, max_size=9), st.sampled_from([np.int8, np.int32, np.uint8, np.float64])
)
@examples(20)
def test_arrays_of_the_declared_type_and_layout_are_taken_and_no_others(numbers: list[int], other: type) -> None:
    array = np.array(numbers)
    assert sum(numbers) == add_up(array) == add_up(np.ascontiguousarray(array[::-1]))
    wrong: list[npt.NDArray[Any]] = [array.astype(other), np.repeat(array, 2)[::2], array[::-1], array.reshape(1, -1)]
    for it in wrong:
        with pytest.raises(TypeError, match=r"add_up expected arguments of the types int64\[::1\], got \w+\["):
            add_up(it)


def test_a_mapped_file_is_an_array_like_any_other(tmp_path: Path) -> None:
    np.save(tmp_path / "numbers.npy", np.arange(7))
    mapped = np.load(tmp_path / "numbers.npy", mmap_mode="r")
    assert [21, 21] == [add_up(mapped), add_up(mapped)]


def test_tuples_are_taken_apart_however_they_are_nested() -> None:
    nest = Nest(Pair(np.array([1, 2]), np.array([0.5], np.float32)), np.array([[1, 2], [3, 4]], np.int8))
    assert 7.5 == look_into(nest, 1, 1)
    turned = nest._replace(table=nest.table.T)
    with pytest.raises(TypeError, match="look_into expected"):
        look_into(turned, 0, 1)
    int_of_numpy: Any = np.int64(1)
    assert 7.5 == look_into(nest, int_of_numpy, 1), "numbers of numpy are numbers"


def test_numbers_are_taken_as_they_are_annotated_and_given_back_as_those_of_python() -> None:
    numbers = np.array([1.0, 2.0])
    scale(numbers, 3, np.float32(1), True)  # noqa: FBT003
    assert [-2.0, -5.0] == numbers.tolist()
    assert (True, False) == (is_above(2, 1), is_above(1, 2.5))
    assert [bool, int, float] == [
        type(it)
        for it in (
            is_above(2, 1),
            add_up(np.arange(3)),
            look_into(Nest(Pair(np.arange(1), np.ones(1, np.float32)), np.zeros((1, 1), np.int8)), 0, 0),
        )
    ]


@pytest.mark.parametrize(
    "wrong",
    [None, [1, 2], 5, "text", np.array(["text"]), np.array([1, 2]).astype(">i8"), np.array([None])],
)
def test_what_is_no_plain_array_is_refused_in_words(wrong: Any) -> None:
    with pytest.raises(TypeError):
        add_up(wrong)


def test_too_few_arguments_are_refused() -> None:
    wrong: Any = add_up
    with pytest.raises(TypeError):
        wrong()


def test_threads_that_call_at_once_compile_once(cache: Path) -> None:
    function = define(cache.parent)
    threads = [threading.Thread(target=made, args=(function,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 == function.made


def test_a_result_that_means_other_types_is_never_given_back(cache: Path) -> None:
    with pytest.raises(RuntimeError, match="twice cannot work with int"):
        define(cache.parent)(TYPE_MISMATCH // 2)


def test_options_that_a_numba_does_not_know_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    jit_compiler._lean.cache_clear()
    assert jit_compiler._lean() == jit_compiler._LEAN
    monkeypatch.setattr(jit_compiler, "_LEAN", {"an_option_of_old": True})
    jit_compiler._lean.cache_clear()
    assert jit_compiler._lean() == {}
    jit_compiler._lean.cache_clear()


def test_where_numba_lacks_what_another_target_needs_its_usual_one_compiles(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    assert jit_compiler._target() == numba_target.TARGET
    monkeypatch.setitem(sys.modules, numba_target.__name__, None)
    jit_compiler._target.cache_clear()
    assert jit_compiler._target() == "cpu"
    assert 1 == made(define(cache.parent))
    jit_compiler._target.cache_clear()


@pytest.mark.slow
def test_functions_that_another_program_gives_to_numba_are_compiled_as_ever(cache: Path) -> None:
    assert 1 == made(define(cache.parent))

    def add_new_ones(count: int) -> float:
        return float(np.ones(max(count, 3)).sum())

    usual: Any = numba.njit
    assert 5.0 == usual(add_new_ones)(5)


def test_a_numba_that_calls_its_functions_in_another_way_is_reported(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setitem(jit_compiler._NUMBERS, "int", (*jit_compiler._NUMBERS["int"][:2], jit_compiler._BYTE))
    with pytest.raises(jit_compiler.CompilerError, match="expected a numba whose functions take"):
        define(cache.parent)(21)


def test_a_wrong_number_of_arguments_is_an_error_with_both_numbers() -> None:
    with pytest.raises(TypeError, match="add_up expected 1 arguments, got 2"):
        signature_key(add_up, (np.arange(3), np.arange(3)))
