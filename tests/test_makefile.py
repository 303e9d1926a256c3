"""`make` installs once, in a folder of any name, and says what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

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
