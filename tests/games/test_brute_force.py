"""A search that tries everything agrees with the generator; illegal plays are refused with the law that they break."""

from __future__ import annotations

import random

import pytest

from fibsbot.games import GAMES, load_ruleset
from fibsbot.position import Play
from fibsbot.rules.errors import IllegalPlayError, PlayError
from fibsbot.rules.general_plays import check_play, legal_plays, resulting_boards
from tests.games.random_games import brute_force, decisions, mutated
from tests.marks import is_long, some_slow

POSITIONS = 5
"""Positions of each game; `python -m bench.bench_tables` looks at more."""


@pytest.mark.parametrize("game", some_slow(GAMES, is_long))
def test_trying_everything_finds_the_same_plays(game: str) -> None:
    rules = load_ruleset(game)
    for table, part in decisions(game, POSITIONS):
        assert brute_force(rules, table, part) == set(resulting_boards(rules, table, part))


@pytest.mark.parametrize("game", some_slow(GAMES, is_long))
def test_legal_plays_are_accepted_and_changed_ones_only_if_they_are_legal(game: str) -> None:
    rules = load_ruleset(game)
    rng = random.Random(game)
    refused = 0
    for table, part in decisions(game, POSITIONS):
        results = resulting_boards(rules, table, part)
        for play in legal_plays(rules, table, part)[:10]:
            assert check_play(rules, table, part, play)[1] in results
            assert check_play(rules, table, part, Play(play.moves[::-1]))[1] in results
            changed = mutated(play, rng)
            try:
                after = check_play(rules, table, part, changed)[1]
            except IllegalPlayError as error:
                refused += error.law.value in str(error)
            except PlayError:
                refused += 1
            else:
                assert after in results
    assert refused
