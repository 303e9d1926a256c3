"""Recipes: how they are read, and that an invalid one is reported in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

import fibsbot.engine
from fibsbot.engine.pruner import PlayFilter
from fibsbot.engine.training.decision_labels import Comparison
from fibsbot.engine.training.random_positions import Variety
from fibsbot.engine.training.recipe import DecisionRecipe, FitRecipe, RecipeError, Refinement, TDRecipe, read_recipe

PAGE: Final = """
seed = 3
averaged = 2
chunk = 200
[student]
games = 100
[distilling]
positions = 300
hidden = [16, 8]
fit = { epochs = 2, rate = 1 }
variety = { wild = 0.1 }
[[rounds]]
labels = 600
times = 3
hidden = [12]
checkpoint = true
fit = { epochs = 1 }
filter = { margin = 0.25, most = 3 }
[[rounds]]
labels = 100
fit = { epochs = 4 }
[[refining]]
labels = 400
fit = { epochs = 1 }
decisions = { labels = 300, comparison = { deeper = 0.2 } }
"""


def read(folder: Path, page: str) -> object:
    path = folder / "recipe.toml"
    path.write_text(page)
    return read_recipe(path)


def test_a_recipe_is_read_with_what_is_usual_where_it_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(PAGE)
    recipe = read_recipe(tmp_path / "recipe.toml")
    assert TDRecipe(games=100) == recipe.student
    assert (16, 8) == recipe.distilling.hidden
    assert FitRecipe(epochs=2, rate=1.0) == recipe.distilling.fit
    assert Variety(wild=0.1) == recipe.distilling.variety
    assert (PlayFilter(0.25, 3), PlayFilter()) == tuple(one.filter for one in recipe.rounds)
    assert (Refinement(400, DecisionRecipe(300, comparison=Comparison(deeper=0.2)), FitRecipe(1)),) == recipe.refining


def test_a_round_done_several_times_begins_one_network(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(PAGE)
    rounds = read_recipe(tmp_path / "recipe.toml").expanded_rounds()
    assert [(12,), (), (), ()] == [one.hidden for one in rounds]
    assert [600, 600, 600, 100] == [one.labels for one in rounds]


def test_behind_a_checkpoint_nothing_is_learned_of_what_was_before(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(PAGE)
    recipe = read_recipe(tmp_path / "recipe.toml")
    assert [False, False, True, False] == [one.checkpoint for one in recipe.expanded_rounds()]
    assert [range(1), range(2), range(1, 3), range(3, 4)] == [recipe.learned(number, 2) for number in range(4)]


def test_the_recipes_that_come_along_can_be_followed() -> None:
    folder = Path(fibsbot.engine.__file__).parent / "recipes"
    found = sorted(set(folder.glob("*.toml")) - {folder / "games.toml"})  # the recipes of the tables games
    assert found
    for path in found:
        assert read_recipe(path).rounds


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 3", "seed = ", "expected a recipe in TOML"),
        ("averaged = 2", "averaged = 5", "expected at least 5 rounds, whose networks are to be averaged"),
        ("labels = 100\n", "labels = 100\nhidden = [3]\n", "expected networks that are averaged to have learned on"),
        ("labels = 100\n", "labels = 100\ncheckpoint = true\n", "expected no checkpoint in the end, where the mean"),
        ("seed = 3", "sead = 3", "extra fields found (sead) @ recipe"),
        ("games = 100", "games = 100\nweeks = 3", "extra fields found (weeks) @ recipe.student"),
        ("positions = 300", "", "required field missing @ recipe.distilling.positions"),
        ("games = 100", 'games = "100"', "expected a whole number, found '100' @ recipe.student.games"),
        ("games = 100", "games = 1.5", "expected a whole number, found 1.5 @ recipe.student.games"),
        ("games = 100", "games = true", "expected a whole number, found True @ recipe.student.games"),
        ("games = 100", "games = -1", "'games' must be >= 0: -1 @ recipe.student"),
        ("games = 100", "lesson = 0", "'lesson' must be >= 1: 0 @ recipe.student"),
        ("checkpoint = true", "checkpoint = 1", "expected true or false, found 1 @ recipe.rounds[0].checkpoint"),
        ("rate = 1 ", "rate = nan", "expected a number, found nan @ recipe.distilling.fit.rate"),
        ("rate = 1 ", "rate = 'much'", "expected a number, found 'much' @ recipe.distilling.fit.rate"),
        ("rate = 1 ", "rate = 0", "'rate' must be > 0.0: 0.0 @ recipe.distilling.fit"),
        ("wild = 0.1", "wild = -1", "'wild' must be >= 0.0: -1.0 @ recipe.distilling.variety"),
        ("hidden = [16, 8]", "hidden = 'many'", "expected a whole number, found 'm' @ recipe.distilling.hidden[0]"),
        ("hidden = [16, 8]", "hidden = [16, 0]", "'hidden' must be >= 1: 0 @ recipe.distilling"),
        ("hidden = [16, 8]", "hidden = 16", "expected a table or a list, found neither @ recipe.distilling.hidden"),
        ("fit = { epochs = 1 }", "fit = 1", "expected a table or a list, found neither @ recipe.rounds[0].fit"),
        ("most = 3", "most = 0", "'most' must be >= 1: 0 @ recipe.rounds[0].filter"),
        ("times = 3", "times = 999", "expected fewer than 1000 rounds @ recipe"),
        ("labels = 100\n", "labels = 20000000\n", "expected fewer than 100,000 chunks a round @ recipe"),
        ("labels = 400", "labels = 20000000", "expected fewer than 100,000 chunks a refinement @ recipe"),
        (
            "labels = 400",
            "labels = 400\nhidden = [13]",
            "expected a refinement to keep at most (12,) hidden units, found (13,)",
        ),
        (
            "labels = 400",
            "labels = 400\nhidden = [9, 3]",
            "expected a refinement to keep at most (12,) hidden units, found (9, 3)",
        ),
        ("labels = 300", "labels = 0", "'labels' must be >= 1: 0 @ recipe.refining[0].decisions"),
        ("deeper = 0.2", "deeper = 2", "'deeper' must be <= 1.0: 2.0 @ recipe.refining[0].decisions.comparison"),
        ("seed = 3", "seed = 42", "'seed' must be <= 41: 42 @ recipe"),
    ],
)
def test_what_cannot_be_followed_is_reported_in_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in PAGE
    with pytest.raises(RecipeError) as raised:
        read(tmp_path, PAGE.replace(old, new))
    text = str(raised.value)
    assert 1 == len(text.splitlines())
    assert text.startswith(f"{tmp_path}/recipe.toml: ")
    assert said in text


def test_other_bytes_than_text_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecipeError, match="expected a recipe in TOML, found 'utf-8' codec"):
        read_recipe(path)
    path.write_text("a = " + "[" * 100_000)
    with pytest.raises(RecipeError, match="expected a recipe in TOML"):
        read_recipe(path)
