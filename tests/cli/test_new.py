"""`fibsbot new strategy` writes the package that docs/how-to/strategies.md shows; it passes its own test."""

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

ROOT: Final = Path(__file__).parent.parent.parent
PAGE: Final = (ROOT / "docs/how-to/strategies.md").read_text(encoding="utf-8")


def new(name: str, folder: Path) -> str:
    """Run the command; return its output."""
    result = CliRunner().invoke(main, ["new", "strategy", name, "-o", str(folder)])
    return f"{result.exit_code} {result.output}{getattr(result.exception, 'message', '')}"


def test_the_package_is_the_one_of_the_page(tmp_path: Path) -> None:
    assert new("careful", tmp_path / "made").startswith("0 ")
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "made").iterdir()}
    shown = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))
    assert written["fibsbot_careful.py"] == shown["python"]
    assert written["pyproject.toml"] == shown["toml"]
    assert shown["py"].partition("\n")[0] in written["test_fibsbot_careful.py"]
    assert shown["py"].partition("\n")[2].strip() in written["test_fibsbot_careful.py"]
    assert "pip install ." in written["README.md"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Careful", "expected a name of small letters, digits and dashes, such as look-out, got 'Careful'"),
        ("../x", "expected a name of small letters"),
        ("random", "expected a new name, got 'random', which is the name of an installed strategy"),
    ],
)
def test_a_name_that_cannot_be_taken_is_refused(name: str, said: str, tmp_path: Path) -> None:
    assert said in new(name, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "expected a folder that is empty or does not exist" in new("careful", tmp_path)
    assert ["notes.txt"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.slow
def test_the_new_package_passes_its_test_and_plays_from_its_file(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)  # it may be made in a checkout
    made = tmp_path / "made"
    new("look-out", made)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'protocol'}"}
    commands: list[list[str]] = [
        ["-P", "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"],
        ["-m", "fibsbot", "duel", "./fibsbot_look_out.py:LookOut", "random", "--games", "2"],
    ]
    for command in commands:
        done = subprocess.run(
            [sys.executable, *command],
            capture_output=True,
            check=False,
            cwd=made,
            env=environment,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stdout + done.stderr
