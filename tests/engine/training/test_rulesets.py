"""Networks of tables games are learned by self-play, can be continued after a kill, and are the bundled ones."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fibsbot.arena.duel.games import DuelPlan
from fibsbot.arena.duel.pairs import play_pairs
from fibsbot.arena.duel.results import DuelSummary
from fibsbot.cli import main
from fibsbot.engine.network import NetworkError
from fibsbot.engine.rulesets.network import GAME_NETWORKS, load_network, new_network, save_network
from fibsbot.engine.training import rulesets
from fibsbot.engine.training.rulesets import RulesetRecipe, RulesetTraining, bundled_recipe
from fibsbot.games import GAMES, load_ruleset
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.workers.pool import LocalPool
from fibsbot.workers.processes import usable_cores

pytestmark = pytest.mark.compiles_games

RECIPE = RulesetRecipe("hyper", games=500, hidden=8)
LARGEST = 200_000
"""Bytes of a network's file, at most."""
LEARNED = ("portes:tavla", *(game for game in GAMES if not is_backgammon(load_ruleset(game))))
"""The games that have a network."""


def share(game: str, opponent: str, games: int, network: Path | None = None) -> float:
    ours = f"engine:0,networks={network.parent}" if network else "engine:0"
    plan = DuelPlan((ours, opponent), seed=3, cube=False, game=game)
    assert plan.is_compiled
    tally = DuelSummary(plan)
    for pair in play_pairs(plan, range(games // 2), LocalPool(usable_cores())):
        tally.add(pair)
    return float(tally.report(games // 2)["share"]["mean"])


@pytest.mark.slow
def test_learning_that_was_killed_goes_on_to_the_same_network(tmp_path: Path) -> None:
    whole, first, second = (RulesetTraining(RECIPE, tmp_path / name) for name in ("whole", "parts", "other"))
    assert [200, 400, 500] == [it.done for it in whole.run()]
    assert [200] == [it.done for it in islice(first.run(), 1)]
    first.save()
    rest = RulesetTraining(RECIPE, tmp_path / "parts")
    assert [400, 500] == [it.done for it in rest.run()]
    assert whole.path.read_bytes() == rest.path.read_bytes()
    assert 0 == second.done
    assert any(not np.array_equal(*pair) for pair in zip(second.network, whole.network, strict=True))


@pytest.mark.slow
def test_a_checkpoint_of_another_recipe_is_not_continued(tmp_path: Path) -> None:
    list(RulesetTraining(RulesetRecipe("hyper", games=20, hidden=8), tmp_path).run())
    assert 0 == RulesetTraining(RECIPE, tmp_path).done


@pytest.mark.slow
@pytest.mark.thorough
def test_five_hundred_games_are_enough_to_beat_random_play(tmp_path: Path) -> None:
    training = RulesetTraining(RECIPE, tmp_path)
    list(training.run())
    assert share("hyper", "random", 200, training.path) > 0.6


def test_a_file_that_is_no_network_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    np.savez(path, weights=np.zeros(3))
    with pytest.raises(NetworkError, match="expected a network of a tables game, found weights"):
        load_network(path)
    save_network(new_network(4, (1, 1, 1), 1)._replace(hidden_bias=np.zeros(5, np.float32)), path)
    with pytest.raises(NetworkError, match="expected finite arrays of the shapes"):
        load_network(path)


@pytest.mark.parametrize("game", LEARNED)
def test_every_game_but_backgammon_has_a_recipe_and_a_small_network(game: str) -> None:
    path = GAME_NETWORKS / f"{load_ruleset(game).name}.npz"
    assert bundled_recipe(game).hidden == len(load_network(path).hidden_bias)
    assert path.stat().st_size <= LARGEST


def test_there_are_no_other_networks() -> None:
    assert {load_ruleset(game).name for game in LEARNED} == {path.stem for path in GAME_NETWORKS.glob("*.npz")}


@pytest.mark.parametrize("game", ["nackgammon", "longgammon", "portes"])
def test_a_game_by_the_rules_of_backgammon_needs_no_network(game: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["train", "--game", game, "-o", str(tmp_path)])
    assert 2 == result.exit_code
    assert f"{load_ruleset(game).title} has the rules of backgammon, whose networks play it" in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("game", LEARNED)
def test_the_bundled_network_beats_the_simple_players(game: str) -> None:
    assert all(share(game, opponent, 12) > 0.5 for opponent in ("pips", "blots"))


@pytest.mark.slow
def test_the_command_trains_by_the_recipe_of_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipes = tmp_path / "games.toml"
    recipes.write_text("[hyper]\ngames = 40\nhidden = 8\n")
    monkeypatch.setattr(rulesets, "RECIPES", recipes)
    command = ["train", "--game", "hyper", "-o", str(tmp_path / "run"), "--json"]
    result = CliRunner().invoke(main, command)
    assert 0 == result.exit_code, result.output
    row = json.loads(result.stdout)
    assert (40, 8) == (row["games"], row["hidden"])
    assert Path(row["file"]).stat().st_size == row["bytes"]
    assert 2 == CliRunner().invoke(main, [*command, str(recipes)]).exit_code
