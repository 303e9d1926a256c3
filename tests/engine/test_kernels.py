"""Kernels that are compiled ahead: which library is used, and that none is forgotten when they are built."""

from __future__ import annotations

import ctypes
import importlib
import pkgutil
import platform
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import llvmlite.binding as llvm
import pytest

import fibsbot.engine
from fibsbot.engine import code_cache, jit, kernel_builder, kernel_library
from fibsbot.engine.jit import CompiledFunction, NoMachineCodeError, require_compiler
from fibsbot.engine.kernel_builder import PLATFORMS, kernels
from fibsbot.engine.kernel_library import kernel_name, library_name, load_library, source_digest
from fibsbot.engine.targets import TARGET_VARIABLE, TARGETS, host_targets

HERE = library_name(sys.platform, platform.machine(), source_digest())


def install(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Let any file be a library for processors of a level."""
    monkeypatch.delenv(TARGET_VARIABLE, raising=False)
    library = SimpleNamespace(**{kernel_library.LEVEL: lambda: level}, x86_64__pruner__expand__0="address")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def test_a_library_of_these_sources_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, level=1)
    (tmp_path / library_name(sys.platform, "x86_64", "0123456789ab")).touch()
    assert load_library(tmp_path) is None, "it is of other sources"
    (tmp_path / library_name(sys.platform, "x86_64", source_digest())).touch()
    found = load_library(tmp_path)
    assert found is not None
    assert "x86-64" == found.target.name
    assert ("x86_64__pruner__expand__0", found._library) == found.symbol(
        kernel_name("fibsbot.engine.pruner", "expand", 0)
    )
    assert found.symbol(kernel_name("fibsbot.engine.training.labels", "_settle", 0)) is None


def test_an_installed_package_has_the_sources_of_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, level=3)
    monkeypatch.setattr(kernel_library, "PACKAGE", tmp_path / "site-packages" / "fibsbot")
    (tmp_path / library_name(sys.platform, "x86_64", "0123456789ab")).touch()
    found = load_library(tmp_path)
    assert found is not None
    assert ["x86-64-v3", "x86-64"] == [it.name for it in found.targets]


def test_a_library_that_cannot_be_loaded_is_none(tmp_path: Path) -> None:
    (tmp_path / HERE).write_bytes(b"no library")
    assert load_library(tmp_path) is None
    assert load_library(tmp_path / "nowhere") is None


def test_libraries_of_platforms_are_told_apart_by_their_names() -> None:
    names = [library_name(it.system, it.machine, "0123") for it in PLATFORMS]
    assert names == [
        "linux-x86_64-0123.so",
        "linux-aarch64-0123.so",
        "macos-x86_64-0123.dylib",
        "macos-aarch64-0123.dylib",
        "windows-x86_64-0123.dll",
    ]
    assert [it.rpartition("-")[0] for it in names] == [it.name for it in PLATFORMS]


def test_a_change_of_a_kernel_is_another_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("engine/pruner.py", "engine/training/labels.py", "match.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    monkeypatch.setattr(kernel_library, "PACKAGE", tmp_path)
    found = []
    for name in ("engine/training/labels.py", "engine/pruner.py", "match.py"):
        source_digest.cache_clear()
        found.append(source_digest())
        (tmp_path / name).write_text("another")
    source_digest.cache_clear()
    assert found[0] == found[1], "training is not in the library"
    assert 3 == len({*found, source_digest()})
    source_digest.cache_clear()


def test_every_compiled_function_is_built_but_those_of_training() -> None:
    expected = set()
    for module in pkgutil.walk_packages(fibsbot.engine.__path__, "fibsbot.engine."):
        if not module.name.startswith(("fibsbot.engine.training", "fibsbot.engine.kernel_builder")):
            loaded = importlib.import_module(module.name)
            functions = [it for it in vars(loaded).values() if isinstance(it, CompiledFunction)]
            expected |= {(it.function.__module__, it.function.__name__) for it in functions}
    assert expected == {(it.function.__module__, it.function.__name__) for it in kernels()}


def test_every_compiled_function_declares_its_types() -> None:
    for kernel in kernels():
        for key in kernel.signatures:
            assert re.fullmatch(r"[\w.:,\[\]() ]+", key), kernel.function.__qualname__


def test_a_processor_has_the_level_of_its_best_target() -> None:
    code_cache.target_machine()
    llvm.initialize_native_asmparser()
    best = max(it.level for it in host_targets())
    target = next(it for it in TARGETS if it.level == (1 if best else 0))
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(str(kernel_builder._level_module(target))), code_cache.target_machine()
    )
    engine.finalize_object()
    level = ctypes.CFUNCTYPE(ctypes.c_int)(engine.get_function_address(kernel_library.LEVEL))()
    assert min(best, 3) == level


def test_where_nothing_can_be_compiled_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_has_compiler", lambda: False)
    with pytest.raises(NoMachineCodeError, match=r"expected a compiler for training.*`pip install 'fibsbot\[jit\]'`"):
        require_compiler("training")
