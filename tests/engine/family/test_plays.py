"""The kernel finds exactly the tables that the reference finds, for every game and each of its options."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from fibsbot.engine.family.parameters import MOST_THROWS, parameters_of, part_code, state_of, table_of
from fibsbot.engine.family.plays import NODES, new_play_search, search_plays
from fibsbot.evolve import evolve
from fibsbot.games import load_ruleset
from fibsbot.games.plays import resulting_tables
from fibsbot.games.ruleset import Part, Ruleset
from fibsbot.games.table import Side, Table
from fibsbot.rules.state import Stage
from tests.games.test_random_games import random_game, variants

SEARCH = new_play_search()
PARTS = 60
"""Parts that are compared for each ruleset, spread over two random games."""


def kernel_tables(rules: Ruleset, table: Table, part: Part) -> list[Table]:
    parameters = parameters_of(rules)
    assert parameters is not None
    count = search_plays(parameters, state_of(table), part_code(part), SEARCH)
    assert SEARCH.counter[1] < NODES - 1
    return [table_of(SEARCH.nodes[node]) for node in SEARCH.results[:count]]


def parts(rules: Ruleset, seed: int, count: int) -> Iterator[tuple[Table, Part]]:
    """Yield tables and parts of random games, equally often from all of their phases."""
    found = []
    for game in range(2):
        states = random_game(rules, random.Random(f"{rules.full_name} {seed} {game}"))
        found += [(it.table, it.part) for it in states if it.stage is Stage.MOVE]
    yield from found[:: max(1, len(found) // count)]


def limited(side: Side) -> Side:
    return evolve(side, throws=min(side.throws, MOST_THROWS))


@pytest.mark.parametrize("game", list(variants()))
def test_the_kernel_finds_the_tables_of_the_reference(game: str) -> None:
    rules = load_ruleset(game)
    for table, part in parts(rules, 1, PARTS):
        same = Table(limited(table.own), limited(table.opponent))
        found = kernel_tables(rules, same, part)
        assert len(found) == len(set(found)), (table, part)
        assert set(resulting_tables(rules, same, part)) == set(found), (table, part)
