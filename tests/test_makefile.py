"""`make` installs once, in a folder of any name, and says what is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import main

ROOT: Final = Path(__file__).parent.parent
PYTHON: Final = """#!/bin/sh
# Stands for Python: notes how it was called, and makes the environment that `-m venv` names.
echo "$*" >> "$CALLS"
case "$*" in
*"-m venv"*)
    for last; do :; done
    mkdir -p "$last/bin"
    cp "$0" "$last/bin/python"
    printf '#!/bin/sh\\necho played\\n' > "$last/bin/fibsbot"
    chmod +x "$last/bin/fibsbot" ;;
*"-m pip"*) exit "${PIP_STATUS:-0}" ;;
esac
"""

DEBIAN: Final = """The virtual environment was not created successfully because ensurepip is not
available.  On Debian/Ubuntu systems, you need to install the python3-venv
package using the following command.

    apt install python3.11-venv
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of what `make` needs, beside an interpreter."""
    found = tmp_path / "ein Ordner ü"
    (found / "config").mkdir(parents=True)
    (found / "protocol").mkdir()
    for name in ("Makefile", "pyproject.toml", "protocol/pyproject.toml", "config/constraints.txt"):
        shutil.copy(ROOT / name, found / name)
    python = tmp_path / "my python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    return found


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run make without what a surrounding make has set."""
    outside = {name: it for name, it in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", f"PYTHON={folder.parent / 'my python'}", *arguments],
        cwd=folder,
        env={**outside, "CALLS": str(folder.parent / "calls"), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def environments(folder: Path) -> list[str]:
    """Return how environments were made."""
    lines = (folder.parent / "calls").read_text().splitlines()
    return [line for line in lines if "-m venv" in line]


def test_it_installs_once(folder: Path) -> None:
    assert make(folder, "demo").stdout.splitlines() == ["Installing into .venv (once) ...", "played"]
    assert make(folder, "demo").stdout.splitlines() == ["played"]


def test_an_environment_is_made_anew_where_it_cannot_work(folder: Path) -> None:
    make(folder, "demo")
    moved = folder.with_name("moved")
    folder.rename(moved)
    assert make(moved, "demo").stdout.splitlines() == ["Installing into .venv (once) ...", "played"]
    (moved / ".venv" / "bin" / "python").unlink()  # the Python that it was made with has been removed
    assert make(moved, "demo").returncode == 0
    assert ["-m venv .venv", "-m venv --clear .venv", "-m venv --clear .venv"] == environments(moved)


def test_the_stamp_of_an_older_makefile_is_good(folder: Path) -> None:
    make(folder, "demo")
    (folder / ".venv" / ".installed").write_text("")
    assert make(folder, "demo").stdout == "played\n"


@pytest.mark.parametrize("python", ["nosuch", "false"])
def test_a_python_that_is_missing_or_too_old_is_named(folder: Path, python: str) -> None:
    failed = make(folder, "demo", f"PYTHON={python}")
    assert failed.returncode == 2
    assert f"fibsbot needs Python 3.11 or newer, which '{python}' is not; say 'make PYTHON=python3.11'" in failed.stderr


def test_a_failed_installation_is_no_installation(folder: Path) -> None:
    failed = make(folder, "demo", PIP_STATUS="1")
    assert "The installation failed: it needs a network. To continue it, run make again." in failed.stderr
    assert make(folder, "demo").stdout.splitlines() == ["Installing into .venv (once) ...", "played"]


def test_the_wheel_is_built_in_a_folder_with_blanks(folder: Path) -> None:
    (folder / ".ci").mkdir()
    (folder / ".ci" / "wheel").write_text('#!/bin/sh\necho "$PYTHON and $MYPY"\n')
    (folder / ".ci" / "wheel").chmod(0o755)
    tools = folder / ".venv" / "bin"
    assert make(folder, "-s", "test-wheel").stdout.splitlines()[-1] == f"{tools / 'python'} and {tools / 'mypy'}"


def test_a_python_without_venv_is_one_line(folder: Path) -> None:
    """As Debian's is without python3-venv."""
    python = folder.parent / "my python"
    python.write_text(PYTHON.replace('    mkdir -p "$last/bin"\n', f"    cat <<'END'\n{DEBIAN}END\n    exit 1\n"))
    failed = make(folder, "demo")
    told, *of_make = failed.stderr.splitlines()
    assert (
        f"'{python}' cannot make environments, as it lacks ensurepip; on Debian: apt-get install python3-venv" == told
    )
    assert 1 == len(of_make)
    assert (2, ["Installing into .venv (once) ..."]) == (failed.returncode, failed.stdout.splitlines())


def test_other_reasons_that_an_environment_cannot_be_made_are_told(folder: Path) -> None:
    reason = "Error: -m ensurepip returned exit status 1: no room"
    (folder.parent / "my python").write_text(
        PYTHON.replace("    mkdir -p", f"    echo '{reason}' >&2; exit 1; mkdir -p")
    )
    assert reason == make(folder, "demo").stderr.splitlines()[0]


def test_an_environment_may_be_elsewhere(folder: Path, tmp_path: Path) -> None:
    elsewhere = f"VENV={tmp_path / 'elsewhere'}"
    assert [f"Installing into {tmp_path / 'elsewhere'} (once) ...", "played"] == (
        make(folder, "demo", elsewhere).stdout.splitlines()
    )
    assert ["played"] == make(folder, "demo", elsewhere).stdout.splitlines()
    assert not (folder / ".venv").exists()
    assert ["Installing into .venv (once) ...", "played"] == make(folder, "demo").stdout.splitlines()


def test_an_environment_elsewhere_is_made_anew_for_other_sources_and_where_it_was_moved(
    folder: Path, tmp_path: Path
) -> None:
    there, moved = tmp_path / "there", tmp_path / "moved"
    make(folder, "demo", f"VENV={there}")
    there.rename(moved)
    make(folder, "demo", f"VENV={moved}")
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    make(other, "demo", f"VENV={moved}")
    assert [f"-m venv {there}", f"-m venv --clear {moved}", f"-m venv --clear {moved}"] == environments(folder)


def test_the_name_of_an_environment_has_no_blanks(folder: Path) -> None:
    failed = make(folder, "demo", "VENV=my environment")
    assert 2 == failed.returncode
    assert "VENV: expected a folder without blanks in its name, got 'my environment'" in failed.stderr


def test_lint_leaves_alone_what_readers_of_the_pages_write(folder: Path) -> None:
    """Tutorials are done in a checkout: their files and packages are not the project's."""
    for name in ("pyproject.toml", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    (folder / ".git").mkdir()
    program = re.compile(r'^```python\n"""(\w+\.py): ', re.MULTILINE)
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    written = [folder / name for page in pages for name in program.findall(page)]
    assert len(written) > 2
    CliRunner().invoke(main, ["new", "strategy", "careful", "-o", str(folder / "fibsbot-careful")])
    (folder / "fibsbot").mkdir()
    for file in (*written, folder / "fibsbot/ours.py"):
        file.touch()
    listed = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--show-files"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert {folder / "fibsbot/ours.py", folder / "pyproject.toml", folder / "protocol/pyproject.toml"} == set(
        map(Path, listed.stdout.splitlines())
    )
