"""The bundled networks match their cards, and play."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from fibsbot.engine.arrays import boards_of
from fibsbot.engine.engine import CARDS, NETWORKS_FOLDER, Engine
from fibsbot.engine.search import SearchLimits
from fibsbot.engine.training.recipe import read_recipe
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_play
from fibsbot.position import Position
from tests.engine.toys import some_positions


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load()


@pytest.mark.parametrize(
    ("dice", "play"), [((3, 1), "8/5 6/5"), ((4, 2), "8/4 6/4"), ((5, 3), "8/3 6/3"), ((6, 1), "13/7 8/7")]
)
def test_the_openings_on_which_everybody_agrees(engine: Engine, dice: tuple[int, int], play: str) -> None:
    state = MatchState(Position.start(), phase=Phase.MOVE, dice=dice)
    best = engine.rank(state, limits=SearchLimits(plies=1)).best
    assert play == format_play(best.play, state.position)


def test_boards_are_evaluated_alike_however_they_are_laid_out_in_memory(engine: Engine) -> None:
    boards = boards_of(some_positions(5, 3))
    every_other = np.repeat(boards, 2, axis=1)[:, ::2]
    for same in (np.asfortranarray(boards), every_other):
        assert engine.evaluate(boards).tolist() == engine.evaluate(same).tolist()


def test_each_network_has_a_card_about_its_training_and_strength() -> None:
    cards = tomllib.loads((NETWORKS_FOLDER / CARDS).read_text())
    assert {it.stem for it in NETWORKS_FOLDER.glob("*.npz")} == cards.keys() - {"name"}
    for name in cards.keys() - {"name"}:
        assert {"sha256", "recipe", "shape", "labels", "hours", "pr"} <= cards[name].keys()


def test_a_card_names_a_recipe_that_can_be_followed() -> None:
    card = tomllib.loads((NETWORKS_FOLDER / CARDS).read_text())["contact"]
    recipe = read_recipe(NETWORKS_FOLDER.parent / "recipes" / card["recipe"])
    assert card["rounds"] <= len(recipe.expanded_rounds())
    assert recipe.student.games == card["student_games"]
