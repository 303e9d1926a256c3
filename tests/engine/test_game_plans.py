"""Networks by game plans: the plans are what a player sees on the board, and each position has its own network."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest

from fibsbot.engine.arrays import Board, boards_of, swapped
from fibsbot.engine.features import encode_all
from fibsbot.engine.game_plans import PAIRS, PLANS, NetworksByPlan, load_contact, networks_of, plans_of
from fibsbot.engine.network import Network, NetworkError, save_arrays
from fibsbot.engine.network_evaluator import NetworkEvaluator
from tests.engine.toys import some_positions, toy_network

BOARDS: Final = boards_of(some_positions(400, 5))
BY_PLAN: Final = NetworksByPlan(tuple(toy_network(seed) for seed in range(PAIRS)))


def plan_of(board: Board) -> int:
    """Return the plan of the player on roll, by counting."""
    back = [int(count) for count in board[19:26] if count > 0]
    anchors = sum(int(count) >= 2 for count in board[19:25])
    return 1 + min(anchors, 2) if back else 0


def test_plans_are_those_of_both_sides() -> None:
    expected = [PLANS * plan_of(board) + plan_of(other) for board, other in zip(BOARDS, swapped(BOARDS), strict=True)]
    assert expected == plans_of(BOARDS).tolist()
    assert {0, 5, 6, 9, 10} <= set(expected), "plays at random lead to most of them"
    assert (0,) == plans_of(BOARDS[:0]).shape


def test_a_position_is_evaluated_by_the_network_of_its_plans_whatever_is_beside_it() -> None:
    evaluator = NetworkEvaluator("by plan", BY_PLAN)
    together = evaluator.evaluate(BOARDS)
    order = np.random.default_rng(1).permutation(len(BOARDS))
    assert (together[order] == evaluator.evaluate(BOARDS[order])).all()
    for pair in np.unique(plans_of(BOARDS)):
        rows = plans_of(BOARDS) == pair
        alone = NetworkEvaluator("alone", BY_PLAN.networks[pair]).evaluate(BOARDS[rows])
        assert (together[rows] == alone).all()
        assert (alone == evaluator.evaluate(BOARDS[rows])).all()
    assert (0, 6) == evaluator.evaluate(BOARDS[:0]).shape


def test_a_file_gives_the_networks_back(tmp_path: Path) -> None:
    BY_PLAN.save(tmp_path / "all.npz", np.float16)
    found = load_contact(tmp_path / "all.npz")
    assert isinstance(found, NetworksByPlan)
    assert "16 x 260-12-8-5" == found.shape
    inputs = encode_all(BOARDS)
    for ours, read in zip(BY_PLAN.rounded(np.float16).networks, networks_of(found), strict=True):
        assert (ours.chances(inputs) == read.chances(inputs)).all()
    toy_network().save(tmp_path / "one.npz")
    one = load_contact(tmp_path / "one.npz")
    assert isinstance(one, Network)
    assert (one,) == networks_of(one)


def test_a_network_of_16_inputs_is_one_network_that_does_not_fit(tmp_path: Path) -> None:
    Network.new((4,), 1, PAIRS).save(tmp_path / "one.npz")
    assert isinstance(load_contact(tmp_path / "one.npz"), Network)


def test_others_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected 16 networks of one shape"):
        NetworksByPlan(BY_PLAN.networks[1:])
    with pytest.raises(ValueError, match="expected 16 networks of one shape"):
        NetworksByPlan((*BY_PLAN.networks[1:], toy_network(hidden=(3,))))
    path = tmp_path / "it.npz"
    save_arrays(path, weights0=np.zeros((PAIRS, 260, 5), np.float32), thresholds0=np.zeros((PAIRS, 4), np.float32))
    with pytest.raises(NetworkError, match="expected layers that lead to 5 outputs, found"):
        load_contact(path)
    save_arrays(path, weights0=np.zeros((15, 260, 5), np.float32), thresholds0=np.zeros((15, 5), np.float32))
    with pytest.raises(NetworkError, match="expected layers that lead to 5 outputs, found"):
        load_contact(path)
