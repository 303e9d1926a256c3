"""Runs the tests with each supported Python of this machine, and those of the engine with each target of compiled code.

The oldest Python runs all tests, the others the quick ones, each in a new environment; the tests of the engine run in
the first. Supported are the versions that pyproject.toml lists; they are looked for on the PATH, in /usr/bin and among
those of pyenv, and the first of each version is taken. The last that is printed is a table of all runs. The exit
status is 1 if one has failed, or has skipped more tests than it may.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDERS: Final = (Path("/usr/bin"), Path("/usr/local/bin"))
"""Where Pythons may be that are not on the PATH."""
NAME: Final = re.compile(r"python3(\.\d+)?")
ASK: Final = """
import platform, sys, sysconfig
free = sysconfig.get_config_var("Py_GIL_DISABLED")
kind = platform.python_implementation() + (" without a global lock" if free else "")
print(kind, *sys.version_info[:4], getattr(sys, "_base_executable", "") or sys.executable, sep="\\n")
"""
"""Tells which Python it is; that of an environment names the one that it was made with."""
TARGETS: Final = "fibsbot.engine.jit"
"""Prints the targets of compiled code that this machine can run, one a line."""
TARGET_VARIABLE: Final = "FIBSBOT_TARGET"
CACHE_VARIABLE: Final = "FIBSBOT_CODE_CACHE"
ENGINE_TESTS: Final = ("pytest", "-n", "auto", "--dist", "worksteal", "tests/engine")


@dataclass(frozen=True)
class Python:
    """An interpreter."""

    path: str
    version: tuple[int, int, int]

    @property
    def name(self) -> str:
        """Its version as text."""
        return ".".join(map(str, self.version))


@dataclass(frozen=True)
class Run:
    """A command that was run, and what became of its tests."""

    python: str
    target: str
    command: str
    status: int
    seconds: float
    processor: float
    """Seconds of all processors, which say more than `seconds` where other programs run, too."""
    tests: int | None = None
    failed: int = 0
    skipped: Sequence[str] = field(default=())
    """The reasons."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        counts = ("", "", "")
        if self.tests is not None:
            counts = (str(self.tests - self.failed - len(self.skipped)), str(self.failed), str(len(self.skipped)))
        end = "ok" if self.status == 0 else f"failed ({self.status})"
        return self.python, self.target, self.command, *counts, f"{self.seconds:.0f}", f"{self.processor:.0f}", end


HEAD: Final = ("Python", "target", "command", "passed", "failed", "skipped", "seconds", "processor", "result")
LEFT: Final = {0, 1, 2, 8}
"""Columns of text."""


# -- interpreters ------------------------------------------------------------------------------------------------------


def supported() -> set[tuple[int, int]]:
    """Return the versions that pyproject.toml lists."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return {(3, int(minor)) for minor in re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', text)}


def candidates() -> Iterator[Path]:
    """Yield the files that may be interpreters."""
    folders = [Path(it) for it in os.environ.get("PATH", "").split(os.pathsep) if it]
    pyenv = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser()
    folders += [*FOLDERS, *sorted(pyenv.glob("versions/*/bin"))]
    for folder in dict.fromkeys(folders):
        yield from sorted(path for path in folder.glob("python3*") if NAME.fullmatch(path.name))


def interpreter(path: Path) -> Python | str:
    """Return what an interpreter is, or why it is not used; the reason is empty if there is nothing to tell."""
    try:
        asked = subprocess.run([path, "-c", ASK], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if asked.returncode or len(asked.stdout.splitlines()) != 6:
        return ""  # a stand-in of pyenv for a version that is not chosen
    kind, major, minor, micro, level, program = asked.stdout.splitlines()
    version = int(major), int(minor), int(micro)
    if kind != "CPython" or level != "final":
        return f"{path}: {kind} {major}.{minor}.{micro} ({level}) is not used"
    if version[:2] not in supported():
        too_old = version[:2] < min(supported())
        return "" if too_old else f"{path}: Python {major}.{minor} is not among the versions of pyproject.toml"
    return Python(program, version)


def interpreters() -> list[Python]:
    """Return the supported interpreters of this machine, one of each version, the oldest first."""
    found: dict[tuple[int, int, int], Python] = {}
    told: set[str] = set()
    for path in candidates():
        one = interpreter(path)
        if isinstance(one, Python):
            found.setdefault(one.version, one)
        elif one and one not in told:
            told.add(one)
            print(one, flush=True)
    return [found[version] for version in sorted(found)]


# -- runs --------------------------------------------------------------------------------------------------------------


def counted(path: Path) -> tuple[int | None, int, list[str]]:
    """Return from pytest's own XML the number of tests, how many failed, and the reasons of those that were skipped."""
    try:
        suites = list(ET.parse(path).getroot().iter("testsuite"))  # noqa: S314 - pytest has just written it
    except (OSError, ET.ParseError):
        return None, 0, []
    tests = sum(int(it.get("tests", 0)) for it in suites)
    failed = sum(int(it.get("failures", 0)) + int(it.get("errors", 0)) for it in suites)
    skipped = [
        f"{it.get('classname')}::{it.get('name')}: {why.get('message')}"
        for suite in suites
        for it in suite.iter("testcase")
        for why in it.iter("skipped")
    ]
    return tests, failed, skipped


def processor_time() -> float:
    """Return the seconds that processes of this one have used, as far as they have ended."""
    times = os.times()
    return times.children_user + times.children_system


class Runner:
    """Runs commands, and keeps the rows of the table."""

    def __init__(self, folder: Path) -> None:
        """Keep environments, compiled code and results in a folder."""
        self.runs: list[Run] = []
        self._folder = folder

    def environment(self, python: Python) -> Path:
        """Return the folder of the environment of an interpreter."""
        return self._folder / python.name

    def install(self, python: Python) -> bool:
        """Make the environment of an interpreter; return whether that was done."""
        return self.make(python, "installation", f"{self.environment(python)}/.installed")

    def make(self, python: Python, shown: str, goal: str) -> bool:
        """Make something with an interpreter; return whether that was done."""
        words = ["make", f"PYTHON={python.path}", f"VENV={self.environment(python)}", goal]
        return self.run(python, "", shown, words, {})

    def run(self, python: Python, target: str, shown: str, words: Sequence[str], more: dict[str, str]) -> bool:
        """Run a command; return whether it was successful."""
        results = self._folder / f"{len(self.runs)}.xml"
        # What is compiled for one target replaces in a cache what was compiled for another.
        cache = os.environ.get(CACHE_VARIABLE) or str(self._folder / "code")
        environment = {
            **os.environ,
            CACHE_VARIABLE: str(Path(cache, target)),
            "PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} --junitxml={shlex.quote(str(results))}".strip(),
            **more,
        }
        print(f"\n== Python {python.name}{f', {target}' * bool(target)}: {shown}", flush=True)
        begun, used = time.monotonic(), processor_time()
        status = subprocess.run(words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, check=False).returncode
        seconds = time.monotonic() - begun
        self.runs.append(Run(python.name, target, shown, status, seconds, processor_time() - used, *counted(results)))
        return status == 0

    def run_targets(self, python: Python, environment: Path) -> None:
        """Run the tests of the engine with each target of compiled code, in an environment of an interpreter."""
        binaries = environment / "bin"
        asked = subprocess.run(
            [binaries / "python", "-m", TARGETS], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if asked.returncode:
            said = (asked.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"\nThe targets of compiled code are not tested: {said}", flush=True)
            return
        for target in asked.stdout.split():
            words = [str(binaries / ENGINE_TESTS[0]), *ENGINE_TESTS[1:]]
            self.run(python, target, f"pytest {ENGINE_TESTS[-1]}", words, {TARGET_VARIABLE: target})


def table(runs: Sequence[Run]) -> str:
    """Return the runs as a table."""
    rows = [HEAD, *(run.cells for run in runs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [
        "  ".join(
            cell.ljust(width) if column in LEFT else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def report(runs: Sequence[Run], most_skipped: int | None) -> int:
    """Print the reasons of skipped tests and the table; return the exit status."""
    print()
    status = int(any(run.status for run in runs))
    for reason, names in reasons(runs).items():
        print(f"skipped with {', '.join(names)}: {reason}")
    for run in runs:
        if most_skipped is not None and len(run.skipped) > most_skipped:
            told = f"{len(run.skipped)} tests were skipped, expected at most {most_skipped}"
            print(f"{run.command} with Python {run.python}: {told}")
            status = 1
    print(table(runs), flush=True)
    return status


def reasons(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return which Pythons skipped tests, by test and reason."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for reason in run.skipped:
            names = found.setdefault(reason, [])
            names += [] if run.python in names else [run.python]
    return found


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--before", action="append", default=[], metavar="GOAL", help="what make does before the tests")
    parser.add_argument("--after", action="append", default=[], metavar="GOAL", help="what make does after the tests")
    parser.add_argument("--targets", type=Path, metavar="FOLDER", help="only test the targets, in this environment")
    parser.add_argument("--most-skipped", type=int, metavar="N", help="how many tests a run may skip")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fibsbot-pythons-") as name:
        runner = Runner(Path(name))
        if options.targets is None:
            pythons = interpreters()
            print("Found", *(f"Python {it.name}: {it.path}" for it in pythons), sep="\n  ", flush=True)
            if not pythons:
                parser.error("expected a Python that pyproject.toml lists, on the PATH, in /usr/bin or of pyenv")
            run_all(runner, pythons, options.before, options.after)
        else:
            python = interpreter(options.targets / "bin" / "python")
            if not isinstance(python, Python):
                parser.error(f"--targets: expected an environment of a supported Python, got '{options.targets}'")
            runner.run_targets(python, options.targets.absolute())
    return report(runner.runs, options.most_skipped)


def run_all(runner: Runner, pythons: Sequence[Python], before: Sequence[str], after: Sequence[str]) -> None:
    """Run everything with the oldest of these interpreters, and the quick tests with the others."""
    oldest, *others = pythons
    installed = runner.install(oldest)
    for goal in (*before, "test") if installed else ():
        runner.make(oldest, f"make {goal}", goal)
    for python in others:
        if runner.install(python):
            runner.make(python, "make test-fast", "test-fast")
        shutil.rmtree(runner.environment(python), ignore_errors=True)  # each takes most of a gigabyte
    if installed:
        runner.run_targets(oldest, runner.environment(oldest))
    for goal in after if installed else ():
        runner.make(oldest, f"make {goal}", goal)


if __name__ == "__main__":
    sys.exit(main())
