"""Continuous integration: which Pythons it finds, what it runs with them and tells in the end, what it installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import pythons

from tests.engines import executable

ROOT: Final = Path(__file__).parent.parent
RESULTS: Final = """\
<testsuites><testsuite name="pytest" errors="1" failures="2" skipped="1" tests="10">
<testcase classname="tests.test_torch" name=""><skipped type="pytest.skip" message="needs torch"/></testcase>
</testsuite></testsuites>"""
PYTEST: Final = f"""#!/bin/sh
# Stands for pytest: notes how it was called, and writes the results of ten tests.
echo "pytest $*; target=$FIBSBOT_TARGET; code=${{FIBSBOT_CODE_CACHE##*/}}" >> "$CALLS"
cat > "${{PYTEST_ADDOPTS##*--junitxml=}}" <<'END'
{RESULTS}
END
"""
MAKE: Final = """#!/bin/sh
# Stands for make: an installation puts a Python and pytest into the environment; tests are those of pytest.
for goal; do :; done
environment=${2#VENV=}
echo "make $1 $(basename "$environment") $(basename "$goal")" >> "$CALLS"
case "$goal" in
*/.installed)
    case "$environment" in */"$BROKEN") exit 2 ;; esac
    mkdir -p "$environment/bin"
    cp "$(dirname "$0")/targets" "$environment/bin/python"
    cp "$(dirname "$0")/pytest" "$environment/bin/pytest" ;;
test*) exec pytest ;;
esac
"""
TARGETS: Final = """#!/bin/sh
test -n "$TARGETS" || { echo "No module named fibsbot.engine.jit" >&2; exit 1; }
printf '%s\\n' $TARGETS
"""


def interpreter(folder: Path, name: str, *told: object) -> str:
    """Make an interpreter that tells this about itself, and nothing without it, as pyenv's stand-ins do."""
    folder.mkdir(parents=True, exist_ok=True)
    words = " ".join(f"'{it}'" for it in [*told, folder / name])
    return executable(folder / name, "#!/bin/sh\n" + (f"printf '%s\\n' {words}\n" if told else "exit 127\n"))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder in which the machine has programs."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setattr(pythons, "FOLDERS", (tmp_path / "usr",))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return folder


@pytest.fixture
def machine(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the note of what was called on a machine with two Pythons, on which all tools are stand-ins."""
    interpreter(programs, "python3.12", "CPython", 3, 12, 1, "final")
    interpreter(tmp_path / "usr", "python3", "CPython", 3, 11, 2, "final")
    for name, text in (("make", MAKE), ("pytest", PYTEST), ("targets", TARGETS)):
        executable(programs / name, text)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(pythons, "candidates", lambda: [programs / "python3.12", tmp_path / "usr" / "python3"])
    for name, value in {"CALLS": str(tmp_path / "calls"), "TARGETS": "", "BROKEN": "none"}.items():
        monkeypatch.setenv(name, value)
    for name in ("PYTEST_ADDOPTS", "FIBSBOT_CODE_CACHE", "FIBSBOT_TARGET"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "calls"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["pythons.py", *arguments])
    return pythons.main()


# -- which Pythons -----------------------------------------------------------------------------------------------------


def test_each_version_is_found_once_the_oldest_first(programs: Path, tmp_path: Path) -> None:
    interpreter(programs, "python3", "CPython", 3, 13, 0, "final")
    interpreter(programs, "python3.13", "CPython", 3, 13, 0, "final")
    interpreter(programs, "python3.11")
    interpreter(tmp_path / "usr", "python3.11", "CPython", 3, 11, 2, "final")
    interpreter(tmp_path / "pyenv" / "versions" / "3.11.7" / "bin", "python3.11", "CPython", 3, 11, 7, "final")
    found = {it.name: it.path for it in pythons.interpreters()}
    assert ["3.11.2", "3.11.7", "3.13.0"] == list(found)
    assert str(programs / "python3") == found["3.13.0"]


def test_what_is_not_tried_is_told_except_what_is_too_old(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    interpreter(programs, "python3", "CPython", 3, 10, 1, "final")
    interpreter(programs, "python3.13", "PyPy", 3, 13, 0, "final")
    interpreter(programs, "python3.12", "CPython", 3, 12, 0, "candidate")
    interpreter(programs, "python3.99", "CPython", 3, 99, 0, "final")
    interpreter(programs, "python3.11-config")
    assert [] == pythons.interpreters()
    assert [
        f"{programs}/python3.12: CPython 3.12.0 (candidate) is not used",
        f"{programs}/python3.13: PyPy 3.13.0 (final) is not used",
        f"{programs}/python3.99: Python 3.99 is not among the versions of pyproject.toml",
    ] == capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("programs")
def test_a_machine_without_a_python_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch)
    assert "expected a Python that pyproject.toml lists" in capsys.readouterr().err


def test_an_interpreter_of_an_environment_names_the_one_it_was_made_with() -> None:
    found = pythons.interpreter(Path(sys.executable))
    assert isinstance(found, pythons.Python)
    assert sys.version_info[:3] == found.version
    assert Path(sys.base_prefix).resolve() in Path(found.path).resolve().parents


# -- what is run with them ---------------------------------------------------------------------------------------------


def test_the_oldest_runs_all_tests_and_the_others_the_quick_ones(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, "--before", "lint", "--after", "test-wheel")
    old, new = f"PYTHON={machine.parent}/usr/python3 3.11.2", f"PYTHON={machine.parent}/programs/python3.12 3.12.1"
    assert [
        *(f"make {old} {goal}" for goal in (".installed", "lint", "test")),
        *(f"make {new} {goal}" for goal in (".installed", "test-fast")),
        f"make {old} test-wheel",
    ] == [line for line in machine.read_text().splitlines() if line.startswith("make")]


def test_the_tests_of_the_engine_run_with_each_target(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARGETS", "x86-64 x86-64-v3")
    run(monkeypatch)
    tests = "pytest -n auto --dist worksteal tests/engine"
    assert [f"{tests}; target={it}; code={it}" for it in ("x86-64", "x86-64-v3")] == machine.read_text().splitlines()[
        -2:
    ]


def test_the_targets_alone_are_tested_in_an_environment_that_is_there(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = tmp_path / "environment" / "bin"
    binaries.mkdir(parents=True)
    told = ["CPython", "3", "12", "1", "final", "python3.12"]
    program = f"#!/bin/sh\ncase \"$1\" in -m) echo x86-64 ;; *) printf '%s\\n' {' '.join(told)} ;; esac\n"
    executable(binaries / "python", program)
    shutil.copy(machine.parent / "programs" / "pytest", binaries)
    assert 0 == run(monkeypatch, "--targets", str(tmp_path / "environment"))
    assert "pytest -n auto --dist worksteal tests/engine; target=x86-64; code=x86-64\n" == machine.read_text()
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "--targets", str(tmp_path / "nowhere"))


@pytest.mark.usefixtures("machine")
def test_the_table_comes_last(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TARGETS", "x86-64-v3")
    monkeypatch.setenv("BROKEN", "3.12.1")
    assert 1 == run(monkeypatch)
    told = capsys.readouterr().out
    assert (
        re.sub(r"\d+(?=( +\d+)?  (ok|failed))", lambda it: "0".rjust(len(it[0])), told[told.index("skipped with") :])
        == """\
skipped with 3.11.2: tests.test_torch::: needs torch
Python  target     command              passed  failed  skipped  seconds  processor  result
3.11.2             installation                                        0          0  ok
3.11.2             make test                 6       3        1        0          0  ok
3.12.1             installation                                        0          0  failed (2)
3.11.2  x86-64-v3  pytest tests/engine       6       3        1        0          0  ok
"""
    )


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(("most", "status"), [("1", 0), ("0", 1)])
def test_more_skipped_tests_than_allowed_are_a_failure(
    most: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status == run(monkeypatch, "--most-skipped", most)
    told = "make test with Python 3.11.2: 1 tests were skipped, expected at most 0" in capsys.readouterr().out
    assert bool(status) is told


@pytest.mark.usefixtures("machine")
def test_a_checkout_without_targets_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run(monkeypatch)
    assert "The targets of compiled code are not tested: No module named fibsbot.engine.jit" in capsys.readouterr().out


# -- what is installed -------------------------------------------------------------------------------------------------

APT: Final = """#!/bin/sh
# Stands for apt-get, which installs what it can get: everything but what $UNKNOWN names.
for name; do :; done
case "$*" in
*update) exit "${UPDATE:-0}" ;;
*"$UNKNOWN"*) echo "E: Unable to locate package $UNKNOWN" >&2; exit 100 ;;
esac
while [ "$1" != --no-install-recommends ]; do shift; done
shift
for name; do touch "$MACHINE/$name"; done
"""
DPKG: Final = """#!/bin/sh
for name; do :; done
test -e "$MACHINE/$name" && echo "install ok installed"
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return a folder with the script, a list of three packages, a machine that has one, and the tools of Debian."""
    shutil.copy(ROOT / ".ci" / "install", tmp_path)
    (tmp_path / "packages.txt").write_text("# a list\n\nbash  a shell\ngnubg another engine\njq    questions\n")
    (tmp_path / "machine").mkdir()
    (tmp_path / "machine" / "bash").touch()
    (tmp_path / "bin").mkdir()
    for name, text in (("apt-get", APT), ("dpkg-query", DPKG), ("id", "#!/bin/sh\necho ${USER_ID:-0}\n")):
        executable(tmp_path / "bin" / name, text)
    return tmp_path


def install(here: Path, **environment: str) -> tuple[int, list[str], list[str]]:
    """Run the script; return its status, what it said in all, and the packages of the machine."""
    variables = {"PATH": f"{here / 'bin'}:{os.environ['PATH']}", "MACHINE": str(here / "machine"), "UNKNOWN": "-"}
    done = subprocess.run(
        ["bash", here / "install"],
        env={**os.environ, **variables, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines(), sorted(it.name for it in (here / "machine").iterdir())


def test_what_is_missing_is_installed(here: Path) -> None:
    assert (0, ["Installing gnubg jq ..."], ["bash", "gnubg", "jq"]) == install(here, UNKNOWN="nothing")
    assert (0, [], ["bash", "gnubg", "jq"]) == install(here)


def test_what_could_not_be_got_is_told_and_the_rest_is_there(here: Path) -> None:
    status, told, there = install(here, UNKNOWN="gnubg")
    assert (1, "Could not get gnubg: another engine", ["bash", "jq"]) == (status, told[1], there)
    assert "E: Unable to locate package gnubg" == told[-1]


def test_without_a_network_each_missing_package_is_told(here: Path) -> None:
    status, told, _ = install(here, UPDATE="100", UNKNOWN="install")
    assert (1, ["Could not get gnubg: another engine", "Could not get jq: questions"]) == (status, told[1:3])


def test_another_user_installs_nothing(here: Path) -> None:
    assert (1, ["Nothing was installed, as this is not root; missing: gnubg jq"], ["bash"]) == install(
        here, USER_ID="7"
    )
    for name in ("gnubg", "jq"):
        (here / "machine" / name).touch()
    assert 0 == install(here, USER_ID="7")[0]


def test_each_package_is_listed_once_with_a_reason() -> None:
    lines = (ROOT / ".ci" / "packages.txt").read_text().splitlines()
    packages = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert {2} == {len(it) for it in packages}
    names = [name for name, _ in packages]
    assert sorted(set(names)) == names


# -- other systems -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_needs_unix_is_skipped_elsewhere_with_the_reason() -> None:
    windows = "import pytest, sys; sys.modules['fcntl'] = None; sys.exit(pytest.main(sys.argv[1:]))"
    options = ("-p", "no:xdist", "-p", "no:cacheprovider", "tests/test_fast.py", "tests/test_files.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", windows, *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout
    assert "SKIPPED [1] tests/test_files.py:0: needs fcntl, which this system does not have" in done.stdout
    assert re.search(r"\b3 passed, 1 skipped", done.stdout)
