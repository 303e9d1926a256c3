"""What starts the process elsewhere, as far as it can be checked: the unit for systemd, the recipe for a container."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import click
import pytest

from fibsbot.bot.settings import Timings
from fibsbot.cli import EXIT_CONFIG, main
from fibsbot.cli.run import run
from fibsbot.config import Config
from fibsbot.engine import code_cache
from fibsbot.service.account import SLACK
from fibsbot.strategies.loader import load
from tests.forked import start
from tests.service.without_executable_memory import CANNOT_DENY

ROOT: Final = Path(__file__).parents[2]
UNIT: Final = ROOT / "config/fibsbot.service"
EXPOSED: Final = 2.0
"""What `systemd-analyze security` may count at most, of 10."""
SECONDS: Final = {"min": 60, "": 1}
MEGABYTES: Final = {"M": 1, "G": 1024}
FIRST_START: Final = 600
"""Megabytes that the engine and its helper need while they compile everything (measured: 301 and 244)."""


def unit() -> dict[str, list[str]]:
    """Return what the unit says, by name."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in UNIT.read_text().splitlines():
        if not line.startswith("#") and "=" in line:
            name, _, value = line.partition("=")
            found[name].append(value)
    return found


def seconds(value: str) -> int:
    """Read a time as systemd writes it."""
    number, name = re.fullmatch(r"(\d+)(\w*)", value).groups()  # type: ignore[union-attr]  # it fits, or the test fails
    return int(number) * SECONDS[name]


def megabytes(value: str) -> int:
    """Read an amount of memory as systemd writes it."""
    return int(value[:-1]) * MEGABYTES[value[-1]]


def takes(arguments: list[str]) -> None:
    """Let the command line read arguments; raise click.UsageError if it cannot."""
    context = click.Context(main)
    command = main.get_command(context, arguments[0])
    assert command is not None
    command.make_context(arguments[0], arguments[1:], parent=context)


def test_the_unit_starts_an_existing_command() -> None:
    program, *arguments = shlex.split(unit()["ExecStart"][0])
    assert "fibsbot" == Path(program).name
    takes(arguments)


def test_the_unit_agrees_with_the_program() -> None:
    says = unit()
    assert [str(EXIT_CONFIG)] == says["RestartPreventExitStatus"]
    assert seconds(says["TimeoutStopSec"][0]) > Timings().finish, "the first signal finishes the match"
    assert seconds(says["WatchdogSec"][0]) > SLACK
    assert ["notify"] == says["Type"], "and not a type that many machines do not know yet"
    assert ["/bin/sh -c 'kill -HUP $MAINPID'"] == says["ExecReload"]
    assert not Path(str(Config().service.store)).is_absolute(), "the store is in the working directory"


def test_the_unit_allows_what_the_strategy_of_the_sample_needs() -> None:
    """The engine brings its machine code; it needs room, and a place to keep its tables in."""
    says = unit()
    assert ["engine"] == [Config().bot.strategy], "what follows is about another one"
    assert ["yes"] == says["MemoryDenyWriteExecute"], "`make test-wheel` tries the wheel's engine like this"
    (folder,) = says["CacheDirectory"]
    assert f"XDG_CACHE_HOME=%C/{folder}" in says["Environment"], "DynamicUser= has no home"
    assert megabytes(says["MemoryHigh"][0]) >= FIRST_START
    assert megabytes(says["MemoryMax"][0]) > megabytes(says["MemoryHigh"][0])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
@pytest.mark.parametrize("compiled", [False, True])
def test_an_engine_that_is_compiled_when_it_starts_needs_executable_memory(compiled: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """This is why the unit says that a checkout needs MemoryDenyWriteExecute=no."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    if compiled:
        load("engine").close()
    else:
        environment[code_cache.FOLDER_VARIABLE] = str(tmp_path / "code")
    found = start("tests.service.without_executable_memory", environment=environment).finish()
    if found.returncode == CANNOT_DENY:
        pytest.skip("this kernel cannot deny that memory becomes code (Linux 6.3 and newer can)")
    assert "executable memory" in found.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_verifies_the_unit_and_finds_little_exposure(tmp_path: Path) -> None:
    program = shlex.split(unit()["ExecStart"][0])[0]
    path = tmp_path / UNIT.name
    path.write_text(UNIT.read_text().replace(program, sys.executable))
    found = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True, check=False)
    assert (0, "") == (found.returncode, found.stderr)
    arguments = ["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSED * 10:.0f}", str(path)]
    found = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert 0 == found.returncode, found.stdout + found.stderr


# -- the container --------------------------------------------------------------------------------------------------


def recipe() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with what they are about."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "config/Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def last(name: str) -> str:
    """Return what the last instruction of this name is about."""
    return [rest for it, rest in recipe() if it == name][-1]


def test_the_container_starts_existing_commands() -> None:
    assert ["fibsbot"] == json.loads(last("ENTRYPOINT"))
    takes(json.loads(last("CMD")))
    program, *arguments = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    assert "fibsbot" == program
    takes(arguments)


def test_the_container_runs_as_an_unprivileged_user_with_a_volume() -> None:
    assert last("USER").isdecimal()
    assert int(last("USER")) > 1000
    assert last("WORKDIR") == last("VOLUME")
    assert f"FIBSBOT_CONTROL={last('VOLUME')}/{Config().service.control}" in last("ENV")
    assert "SIGTERM" == last("STOPSIGNAL")
    names = [name for name, _ in recipe()]
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_the_container_has_a_supported_python() -> None:
    least = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    version = dict(rest.split("=") for name, rest in recipe() if name == "ARG")["PYTHON"]
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))


def test_the_build_context_contains_only_what_the_build_needs() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert "*" == rules[0]
    let_in = [rule[1:] for rule in rules if rule.startswith("!")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = {
        "pyproject.toml",
        "config/constraints.txt",
        "config/hatch_build.py",
        "protocol",
        project["project"]["readme"],
        *project["project"]["license-files"],
        *project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"],
    }
    assert needed == set(let_in)
    for secret in ("password", "fibsbot.toml", "fibsbot.db", ".env", "logs/marvin.jsonl", ".git"):
        assert not any(fnmatch(secret, rule) or secret.startswith(f"{rule}/") for rule in let_in)


def test_the_help_of_run_names_its_exit_statuses() -> None:
    text = " ".join((run.help or "").split())
    assert f"exit status is {EXIT_CONFIG}" in text
