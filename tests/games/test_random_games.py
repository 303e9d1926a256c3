"""Random games of every ruleset end, keep their checkers, and can be saved."""

from __future__ import annotations

import json
from typing import Final

import pytest

from fibsbot.games import load_ruleset
from fibsbot.games.state_json import state_from_json, state_to_json
from fibsbot.position import Position
from fibsbot.rules import plays as backgammon
from fibsbot.rules.general_plays import perft
from fibsbot.rules.sides import HAND
from tests.games.random_games import states, variants
from tests.marks import is_long, some_slow

PERFT: Final = {
    "tabula": (56,),
    "irish": (246,),
    "swedish": (36, 1296),
    "dutch": (21, 441),
    "acey-deucey": (21, 441),
    "buff": (56,),
    "around": (447,),
    "plakoto": (59, 3474),
    "gioul": (59, 3405),
    "greek": (59, 3474),
    "russian1": (39, 1434),
    "russian2": (442,),
    "ticktack": (42, 1764),
    "nackgammon": (547,),
    "hyper": (195,),
    "portes": (447,),
    "fevga": (22, 479),
    "narde": (22, 484),
    "gulbara": (53, 2768),
    "tapa": (59, 3474),
    "longgammon": (59, 3484),
    "misere": (447,),
}
"""Boards after one and two turns; longer counts in `python -m bench.bench_tables`."""


@pytest.mark.parametrize("game", some_slow(variants(), is_long))
def test_a_random_game_keeps_its_checkers_and_can_be_saved(game: str) -> None:
    for number, state in enumerate(states(game)):
        for side in (state.sides.own, state.sides.opponent):
            assert state.rules.checkers == side.checkers
            assert min(side.row) >= 0
            assert 0 <= side.hit <= side.row[HAND]
        if number % 7 == 0:
            assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state
    assert ":" in game or state.drawn or state.result


@pytest.mark.parametrize(("game", "counts"), PERFT.items())
def test_the_number_of_boards_after_each_turn_is_as_counted_before(game: str, counts: tuple[int, ...]) -> None:
    assert counts == tuple(perft(load_ruleset(game), depth) for depth in range(1, len(counts) + 1))


def test_games_with_backgammons_set_up_and_moves_have_as_many_boards_as_backgammon() -> None:
    assert perft(load_ruleset("portes"), 1) == sum(backgammon.perft_level({Position.start().points: 1}).values())
