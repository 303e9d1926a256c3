"""The training pipeline: killed and continued, with one process or several, it gives identical files."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any, Final

import pytest

from fibsbot.engine.bearoff import NO_TABLES
from fibsbot.engine.bearoff.storage import path_for, write_tables
from fibsbot.engine.game_plans import load_contact
from fibsbot.engine.network import Network, NetworkError
from fibsbot.engine.training.pipeline import Pipeline
from fibsbot.engine.training.recipe import structure
from fibsbot.workers.pool import InProcessPool
from tests.engine.toys import solved
from tests.engine.training.silent_listener import Silent
from tests.forked import start
from tests.patience import SOON

RECIPE: Final = """
seed = 3
averaged = 2
pruner_hidden = 8
pruner_positions = 600
chunk = 100
[student]
hidden = 8
games = 60
lesson = 20
[distilling]
positions = 600
hidden = [16, 8]
fit = { epochs = 2, batch = 256 }
[[rounds]]
labels = 300
times = 2
window = 2
fit = { epochs = 2, batch = 128 }
filter = { margin = 0.25, most = 3 }
[[rounds]]
labels = 200
times = 2
hidden = [24]
fit = { epochs = 1, batch = 100, equity = 0.0 }
[racing]
positions = 4000
hidden = [6]
fit = { epochs = 2, batch = 64 }
[[racing.rounds]]
sides = 30
hidden = [7]
fit = { epochs = 2, batch = 64 }
[[refining]]
labels = 240
sweeps = 2
fit = { epochs = 1, batch = 128 }
decisions = { labels = 60, chunk = 40, comparison = { deeper = 0.1 } }
[[refining]]
labels = 160
by_plan = true
hidden = [20]
fit = { epochs = 1, batch = 64, sparsity = 1e-6 }
decisions = { labels = 60, chunk = 40, comparison = { deeper = 0.0 } }
"""
MADE: Final = {
    "student.npz": 1,
    "distilled.npz": 1,
    "pruner-*.npz": 5,
    "labels-*/*.npz": 10,
    "network-*.npz": 4,
    "mean-2-3.npz": 1,
    "sides-*.npz": 1,
    "race-*.npz": 2,
    "games-0/*.npz": 3,
    "decisions-0/*.npz": 2,
    "refined-0-*.npz": 2,
    "refined-0.npz": 1,
    "refined-1-0-*.npz": 16,
    "refined-1-0.npz": 1,
    "refined-1.npz": 1,
    "history.jsonl": 1,
}
"""How many files of which kind lie in the folder in the end."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with bear-off tables."""
    folder = tmp_path_factory.mktemp("cache")
    write_tables(solved(6), path_for(6, folder))
    return folder


def train(folder: Path, cache: Path, *options: str, last: str = "") -> list[dict[str, Any]]:
    """Follow the recipe in a folder, as a user does; return what was measured.

    If a file is named, the process is killed as soon as it is there.
    """
    folder.parent.joinpath("recipe.toml").write_text(RECIPE)
    words = ("train", "../recipe.toml", "--output", ".", "--json", *options)
    folder.mkdir(exist_ok=True)
    program = ("tests.engine.training.killed_training", last) if last else ("fibsbot",)
    process = start(*program, *words, folder=folder, environment={**os.environ, "FIBSBOT_CACHE": str(cache)})
    done = process.finish(SOON)
    assert (-signal.SIGKILL if last else 0) == done.returncode, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def results(folder: Path) -> dict[str, bytes]:
    """Return all that was made, but not how long it took."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.npz"))}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A folder in which the recipe was followed by one process."""
    folder = tmp_path_factory.mktemp("training") / "whole"
    rows = train(folder, cache, "--jobs", "1")
    steps: list[tuple[str, Any]] = [
        ("round", 0),
        ("pruner", 1),
        ("round", 1),
        ("pruner", 2),
        ("round", 2),
        ("pruner", 3),
        ("round", 3),
    ]
    steps += [("pruner", 4), ("averaged", [2, 3]), ("race_round", 0), ("race_round", 1), ("refined", 0), ("refined", 1)]
    assert ("student_games", 60) == next(iter(rows[0].items()))
    assert "distilled" == next(iter(rows[1]))
    assert steps == [next(iter(row.items())) for row in rows[2:]]
    assert rows == [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    return folder


@pytest.mark.slow
def test_everything_is_made_and_what_is_there_is_not_made_again(uninterrupted: Path, cache: Path) -> None:
    assert MADE == {kind: len([*uninterrupted.glob(kind)]) for kind in MADE}
    shapes = [Network.load(uninterrupted / f"network-{number}.npz").shape for number in range(4)]
    assert ["260-16-8-5", "260-16-8-5", "260-24-5", "260-24-5"] == shapes
    assert "16 x 260-20-5" == load_contact(uninterrupted / "refined-1.npz").shape
    written = {path: path.stat().st_mtime_ns for path in uninterrupted.rglob("*")}
    assert [] == train(uninterrupted, cache)
    assert written == {path: path.stat().st_mtime_ns for path in uninterrupted.rglob("*")}


@pytest.mark.slow
def test_killed_again_and_again_it_makes_the_same_networks(uninterrupted: Path, tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "broken"
    kills = {"labels-0/0001.npz": 2, "network-1.npz": 1, "race-0.npz": 1, "games-0/0000.npz": 2, "refined-0-0.npz": 1}
    for last, jobs in kills.items():
        train(folder, cache, "--jobs", str(jobs), last=last)
        assert (folder / last).exists()
    assert not (folder / "refined-0.npz").exists()
    train(folder, cache, "--jobs", "2")
    assert results(uninterrupted) == results(folder)
    assert [] == [*folder.rglob("*.new")]


TINY: Final = {
    "student": {"hidden": 4, "games": 10, "lesson": 5},
    "distilling": {"positions": 50, "hidden": [4], "fit": {"epochs": 1}},
    "rounds": [],
    "pruner_hidden": 4,
    "pruner_positions": 50,
}


def follow(folder: Path, **other: Any) -> Network:
    recipe = structure({**TINY, **other})
    network = Pipeline(recipe, folder, NO_TABLES, InProcessPool(), Silent()).run()
    assert isinstance(network, Network)
    return network


def test_a_recipe_without_rounds_ends_with_the_distilled_network(tmp_path: Path) -> None:
    network = follow(tmp_path / "new" / "folder")
    assert network.checksum() == Network.load(tmp_path / "new" / "folder" / "distilled.npz").checksum()
    assert network.checksum() == follow(tmp_path / "new" / "folder").checksum()
    assert network.checksum() == follow(tmp_path / "other").checksum()
    assert network.checksum() != follow(tmp_path / "another", seed=2).checksum()


@pytest.mark.slow
def test_td_training_continues_if_the_recipe_asks_for_more_games(tmp_path: Path) -> None:
    rates = {"hidden": 4, "lesson": 5, "first_rate": 0.1, "last_rate": 0.1}
    follow(tmp_path, student={"games": 10, **rates})
    (tmp_path / "distilled.npz").unlink()
    (tmp_path / "pruner-0.npz").unlink()
    assert follow(tmp_path, student={"games": 20, **rates}).checksum() == (
        follow(tmp_path / "whole", student={"games": 20, **rates}).checksum()
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the tiny recipe was followed."""
    folder = tmp_path_factory.mktemp("tiny")
    follow(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["student.npz", "pruner-0.npz", "distilled.npz"])
@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_file_that_is_no_result_is_reported_in_one_line(
    tmp_path: Path, tiny: Path, name: str, content: bytes | None
) -> None:
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    other = {"student.npz": "distilled.npz", "pruner-0.npz": "student.npz", "distilled.npz": "student.npz"}[name]
    (tmp_path / name).write_bytes((tmp_path / other).read_bytes() if content is None else content)
    with pytest.raises(NetworkError, match=name) as raised:
        follow(tmp_path)
    assert 1 == len(str(raised.value).splitlines())
