"""Packed networks are what was trained, and what was packed after a checkpoint is enough to go on from."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Final

import pytest

from fibsbot.engine.bearoff import NO_TABLES
from fibsbot.engine.engine import CARDS, HISTORY, load_networks
from fibsbot.engine.network import Network
from fibsbot.engine.training.bundles import pack, unpack
from fibsbot.engine.training.pipeline import Pipeline
from fibsbot.engine.training.recipe import RecipeError, read_recipe
from fibsbot.engine.training.results import network_path, pruner_path
from fibsbot.workers.pool import InProcessPool
from tests.engine.toys import TOY_RECIPE
from tests.engine.training.silent_listener import Silent

pytestmark = pytest.mark.slow

BEFORE: Final = f"""
chunk = 60
{TOY_RECIPE}hidden = [6, 4]
fit = {{ epochs = 1 }}
[[rounds]]
labels = 100
times = 2
checkpoint = true
fit = {{ epochs = 2, batch = 32 }}
"""
AFTER: Final = """
[[rounds]]
labels = 60
times = 2
window = 4
fit = { epochs = 2, batch = 32 }
variety = { disputed = 0.5 }
"""

RACING: Final = """
[racing]
positions = 2000
hidden = [4]
fit = { epochs = 1 }
rounds = []
"""
REFINING: Final = """
[[refining]]
labels = 60
fit = { epochs = 1, batch = 32 }
decisions = { labels = 10, chunk = 10, comparison = { deeper = 0.0 } }
"""
BY_PLAN: Final = f"{REFINING}by_plan = true\n"


def follow(folder: Path, page: str, *, begin: Path | None = None) -> Path:
    """Follow a recipe, from nothing or from what was packed; return its file."""
    path = folder.with_suffix(".toml")
    path.write_text(page)
    recipe = read_recipe(path)
    if begin is not None:
        unpack(begin, folder, recipe)
    Pipeline(recipe, folder, NO_TABLES, InProcessPool(), Silent()).run()
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the recipe was followed up to its checkpoint, in `before`, and the networks packed, in `packed`."""
    home = tmp_path_factory.mktemp("home")
    pack(home / "before", follow(home / "before", BEFORE), home / "packed")
    return home


def test_what_is_packed_is_what_was_trained_with_its_history_and_a_card(home: Path) -> None:
    networks = load_networks(home / "packed")
    assert isinstance(networks.contact, Network)
    assert networks.contact.checksum() == Network.load(network_path(home / "before", 1)).checksum()
    card = tomllib.loads((home / "packed" / CARDS).read_text())["contact"]
    assert ("before.toml", 2, "260-6-4-5", 10, 240) == tuple(
        card[key] for key in ("recipe", "rounds", "shape", "student_games", "labels")
    )
    pruner = tomllib.loads((home / "packed" / CARDS).read_text())["pruner"]
    assert ("before.toml", "196-4-5", 240, 0.0) == tuple(pruner[key] for key in ("recipe", "shape", "labels", "hours"))
    assert (home / "before" / HISTORY).read_text() == (home / "packed" / HISTORY).read_text()


def test_from_a_checkpoint_the_rest_is_the_same_as_in_one_go(home: Path) -> None:
    follow(home / "whole", BEFORE + AFTER)
    follow(home / "rest", BEFORE + AFTER, begin=home / "packed")
    for path in (network_path, pruner_path):
        assert path(home / "whole", 3).read_bytes() == path(home / "rest", 3).read_bytes()
    kept = (home / "rest" / HISTORY).read_text()
    follow(home / "rest", BEFORE + AFTER, begin=home / "packed")
    assert kept == (home / "rest" / HISTORY).read_text(), "the same command does nothing twice"
    rows = [json.loads(line) for line in (home / "rest" / HISTORY).read_text().splitlines()]
    assert [0, 1, 2, 3] == [row["round"] for row in rows if "round" in row]


@pytest.mark.parametrize("laid", [1, 2, 3])
def test_what_a_kill_left_of_an_unpacking_is_laid_anew(home: Path, tmp_path: Path, laid: int) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(BEFORE + AFTER)
    unpack(home / "packed", tmp_path / "whole", read_recipe(recipe))
    (tmp_path / "half").mkdir()
    wanted = {it.name: it.read_bytes() for it in (tmp_path / "whole").iterdir()}
    for name in (HISTORY, pruner_path(tmp_path, 2).name, network_path(tmp_path, 1).name)[:laid]:
        (tmp_path / "half" / name).write_bytes(wanted[name][:100])
    unpack(home / "packed", tmp_path / "half", read_recipe(recipe))
    assert wanted == {it.name: it.read_bytes() for it in (tmp_path / "half").iterdir()}


def test_only_from_a_checkpoint_and_in_a_new_folder(home: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="expected networks of a checkpoint of the recipe, found those of round 1"):
        follow(tmp_path / "new", BEFORE.replace("checkpoint = true", "") + AFTER, begin=home / "packed")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "file").touch()
    with pytest.raises(RecipeError, match="expected a new folder to go on in, found one with files"):
        follow(tmp_path / "old", BEFORE + AFTER, begin=home / "packed")
    (tmp_path / "cards.toml").write_text("[contact]")
    with pytest.raises(RecipeError, match=r"cards.toml: expected cards of packed networks, found none"):
        follow(tmp_path / "other", BEFORE + AFTER, begin=tmp_path)


@pytest.mark.parametrize(("averaged", "second"), [(1, REFINING), (2, REFINING), (1, BY_PLAN)])
def test_refined_later_it_is_the_same_as_in_one_go(tmp_path: Path, averaged: int, second: str) -> None:
    rounds = f"averaged = {averaged}\n" + BEFORE.replace("checkpoint = true", "") + RACING
    pack(tmp_path / "rounds", follow(tmp_path / "rounds", rounds), tmp_path / "packed")
    whole = follow(tmp_path / "whole", rounds + REFINING + second)
    follow(tmp_path / "rest", rounds + REFINING, begin=tmp_path / "packed")
    pack(tmp_path / "rest", tmp_path / "rest.toml", tmp_path / "once")
    assert [1, 1] == [
        tomllib.loads((tmp_path / name / CARDS).read_text())["contact"].get("refinements", 1)
        for name in ("packed", "once")
    ]
    follow(tmp_path / "again", rounds + REFINING + second, begin=tmp_path / "once")
    pack(tmp_path / "whole", whole, tmp_path / "first")
    pack(tmp_path / "again", whole, tmp_path / "second")
    for name in ("contact.npz", "pruner.npz", "race.npz"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    card = tomllib.loads((tmp_path / "second" / CARDS).read_text())
    assert ("whole.toml", 2) == (card["contact"]["recipe"], card["contact"]["refinements"])
    assert card["name"].endswith(", refinement 1; races, round 0")
    with pytest.raises(RecipeError, match="expected networks of a checkpoint of the recipe, found those of round 1"):
        follow(tmp_path / "more", rounds + REFINING + second, begin=tmp_path / "second")
