"""`fibsbot train`: output and error messages."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import EXIT_INTERRUPTED, EXIT_USAGE, main
from fibsbot.engine.bearoff.storage import path_for, write_tables
from tests.engine.toys import TOY_RECIPE, solved
from tests.patience import SOON

ROOT: Final = Path(__file__).parents[2]
RECIPE: Final = f"""
rounds = []
{TOY_RECIPE}hidden = [4]
fit = {{ epochs = 1 }}
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE)
    return path


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache folder with bear-off tables."""
    folder = tmp_path_factory.mktemp("cache")
    write_tables(solved(6), path_for(6, folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "FIBSBOT_CACHE", str(folder))
        yield


def run(recipe: Path, *arguments: str) -> Result:
    folder = str(recipe.parent / "folder")
    return CliRunner().invoke(main, ["train", str(recipe), "--output", folder, *arguments])


def assert_refused(result: Result, said: str) -> None:
    assert EXIT_USAGE == result.exit_code, result.output
    assert said in result.stderr
    assert 1 == len(result.stderr.splitlines()), result.stderr


@pytest.mark.slow
def test_what_is_measured_is_printed(recipe: Path) -> None:
    result = run(recipe, "--json")
    assert 0 == result.exit_code, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [10, None] == [row.get("student_games") for row in rows]
    assert "260-4-5" == rows[1]["shape"]
    assert "" == run(recipe, "--json").stdout, "all is done"


@pytest.mark.slow
def test_measurements_are_printed_as_text(recipe: Path) -> None:
    assert re.fullmatch(r"student_games 10  seconds \d+", run(recipe).stdout.splitlines()[0])


@pytest.mark.slow
def test_what_was_measured_is_drawn(recipe: Path, tmp_path: Path) -> None:
    folder = recipe.parent / "folder"
    folder.mkdir()
    rows = [
        {"student_games": 10, "PR": 9.0},
        {"round": 0, "PR": 5.5, "race": 1.0},
        {"round": 1, "PR": 2.5, "race": 0.5},
    ]
    (folder / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    picture = tmp_path / "picture.svg"
    result = run(recipe, "--plot", str(picture))
    assert (0, f"{picture}\n") == (result.exit_code, result.stdout)
    text = picture.read_text()
    assert all(name in text for name in ("PR", "race", "round"))
    assert "contact" not in text
    (folder / "history.jsonl").write_text('{"round": 0}\n')
    assert_refused(run(recipe, "--plot", str(picture)), "expected rounds that were measured (--benchmark), found none")


@pytest.mark.slow
def test_a_recipe_that_cannot_be_followed_is_reported_in_one_line(recipe: Path) -> None:
    recipe.write_text(RECIPE.replace("games", "weeks"))
    assert_refused(run(recipe), f"{recipe}: extra fields found (weeks) @ recipe.student")
    assert not (recipe.parent / "folder").exists()


def test_other_decisions_than_rated_ones_are_reported_in_one_line(recipe: Path) -> None:
    assert_refused(run(recipe, "--benchmark", str(recipe)), f"{recipe}: expected rated decisions, found")


def test_a_damaged_file_in_the_folder_is_reported_in_one_line(recipe: Path) -> None:
    folder = recipe.parent / "folder"
    folder.mkdir()
    (folder / "student.npz").write_text("nonsense")
    assert_refused(run(recipe), f"{folder}/student.npz: expected a file of arrays")


def test_a_folder_that_cannot_be_made_is_reported_in_one_line(recipe: Path) -> None:
    result = CliRunner().invoke(main, ["train", str(recipe), "--output", f"{recipe}/below"])
    assert_refused(result, f"{recipe}/below: Not a directory")


@pytest.mark.parametrize("option", ["--pack", "--plot", "--start", "--backend", "--jobs"])
def test_options_of_a_recipe_are_refused_with_a_game(option: str, tmp_path: Path) -> None:
    value = {"--backend": "numpy", "--jobs": "1"}.get(option, str(tmp_path))
    if option == "--plot":
        value += "/plot.svg"
    result = CliRunner().invoke(main, ["train", "--game", "hyper", "-o", str(tmp_path / "folder"), option, value])
    assert EXIT_USAGE == result.exit_code
    assert "does not apply to --game" in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_interrupt_ends_all_processes_and_says_how_to_continue(recipe: Path) -> None:
    """Ctrl-C reaches every process that was started from a terminal."""
    labels = "chunk = 100\nrounds = [{ labels = 1_000_000, fit = { epochs = 1 } }]"
    recipe.write_text(RECIPE.replace("rounds = []", labels))
    command = [sys.executable, "-m", "fibsbot", "train", str(recipe), "--output", str(recipe.parent), "--jobs", "2"]
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        until = time.monotonic() + SOON
        while not (recipe.parent / "labels-0" / "0001.npz").exists() and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=SOON)
    assert EXIT_INTERRUPTED == process.returncode
    assert f"fibsbot train: interrupted; run the same command again to continue from {recipe.parent}\n" == said


GARBAGE: Final = {
    "text": "PR 0.854",
    "a list": "[1, 2]",
    "a number": "7",
    "deep": '{"PR": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "huge": '{"round": 1, "PR": ' + "9" * 5000 + "}",
    "no number": '{"round": 1, "PR": NaN}',
    "a round in words": '{"round": "last", "PR": 0.8}',
    "a round in parts": '{"round": 1.5, "PR": 0.8}',
    "an average of one": '{"averaged": [3]}',
    "null": '{"refined": null}',
    "other bytes": "\udcff\udcfe",
}


@pytest.mark.parametrize("line", GARBAGE.values(), ids=list(GARBAGE))
@pytest.mark.parametrize("option", ["--plot", "--pack"])
def test_a_history_with_anything_else_in_it_is_refused_in_a_line(recipe: Path, option: str, line: str) -> None:
    folder = recipe.parent / "folder"
    folder.mkdir()
    first = '{"round": 0, "PR": 5.5}'
    (folder / "history.jsonl").write_bytes(f"{first}\n{line}\n{first}\n".encode(errors="surrogateescape"))
    assert_refused(run(recipe, option, str(recipe.parent / "made")), f"{folder / 'history.jsonl'}, line 2: expected ")


def test_a_last_line_that_breaks_off_is_left_out_with_a_note(recipe: Path) -> None:
    folder, picture = recipe.parent / "folder", recipe.parent / "picture.svg"
    folder.mkdir()
    (folder / "history.jsonl").write_text('{"round": 0, "PR": 5.5}\n{"round": 1, "PR": 4.5}\n{"round": 2, "P')
    result = run(recipe, "--plot", str(picture))
    assert (0, f"{picture}\n") == (result.exit_code, result.stdout)
    assert f"fibsbot train: {folder / 'history.jsonl'}, line 3: left out, as it breaks off\n" == result.stderr
