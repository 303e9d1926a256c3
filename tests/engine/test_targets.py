"""Every target gives the same values, to the last bit; the environment can choose one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fibsbot.engine import jit
from fibsbot.engine.targets import (
    PORTABLE,
    TARGET_VARIABLE,
    TARGETS,
    TargetError,
    chosen_target,
    targets_of,
    targets_of_level,
)
from tests.engine.value_streams import STREAMS, digest
from tests.marks import some_slow

ROOT = Path(__file__).parents[2]
EXPECTED = json.loads((Path(__file__).parent / "values.json").read_text())
"""The digests of all streams, from whatever machine: `python -m tests.engine.value_streams` prints them."""
_QUICK = {"evaluation", "match_equity"}
_OTHERS = [it.name for it in jit.runnable_targets() if it is not jit.target()]


@pytest.mark.compiles_games
@pytest.mark.parametrize("name", some_slow(STREAMS, lambda it: it not in _QUICK))
def test_values_are_the_same_on_every_machine(name: str) -> None:
    assert EXPECTED[name] == digest(name)


@pytest.mark.slow
@pytest.mark.thorough  # and the tests of the engine are run for each of them by .ci/pythons.py
@pytest.mark.parametrize("target", _OTHERS)
def test_values_are_the_same_for_every_target_that_this_machine_can_run(target: str) -> None:
    names = ["evaluation", "plays", "cube", "plakoto"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.value_streams", *names],
        cwd=ROOT,
        env=os.environ | {TARGET_VARIABLE: target},
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )
    assert {name: EXPECTED[name] for name in names} == json.loads(done.stdout)


def test_a_processor_runs_the_targets_whose_features_it_has() -> None:
    every = dict.fromkeys(set().union(*(it.features for it in TARGETS)), True)
    assert ["x86-64-v3", "x86-64", "x86-64-v4"] == [it.name for it in targets_of("x86_64", every)]
    assert ["x86-64-v3", "x86-64"] == [it.name for it in targets_of("AMD64", every | {"avx512f": False})]
    assert ["x86-64"] == [it.name for it in targets_of("x86_64", every | {"movbe": False})]
    assert ["aarch64"] == [it.name for it in targets_of("arm64", {})]
    assert (PORTABLE,) == targets_of("riscv64", every)


def test_a_library_has_targets_by_the_level_of_the_processor() -> None:
    assert ["x86-64-v3", "x86-64"] == [it.name for it in targets_of_level("x86_64", 4)]
    assert ["x86-64"] == [it.name for it in targets_of_level("AMD64", 1)]
    assert ["aarch64"] == [it.name for it in targets_of_level("arm64", 0)]


def test_the_environment_chooses_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGET_VARIABLE, "x86-64")
    assert "x86-64" == chosen_target(TARGETS).name
    monkeypatch.setenv(TARGET_VARIABLE, "")
    assert TARGETS[0] is chosen_target(TARGETS)


def test_a_target_that_does_not_exist_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGET_VARIABLE, "z80")
    with pytest.raises(TargetError, match=r"^FIBSBOT_TARGET: expected one of x86-64-v3, .*, got 'z80'$"):
        chosen_target(TARGETS)
