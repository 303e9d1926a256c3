"""The kernel finds exactly the tables that the reference finds, for every game and each of its options."""

from __future__ import annotations

import pytest

from fibsbot.engine.rulesets.parameters import MOST_THROWS, parameters_of, part_code, sides_of_state, state_of
from fibsbot.engine.rulesets.plays import NODES, new_play_search, search_plays
from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import load_ruleset
from fibsbot.rules.general_plays import resulting_boards
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.sides import Mark, Side, Sides
from tests.games.boards import sides
from tests.games.random_games import decisions, variants
from tests.marks import is_long, some_slow

pytestmark = pytest.mark.compiles_games

SEARCH = new_play_search()
PARTS = 5
"""Parts of random games that are compared for each ruleset; `python -m bench.bench_tables` compares more."""


def kernel_tables(rules: Ruleset, before: Sides, part: Part) -> list[Sides]:
    count = search_plays(parameters_of(rules), state_of(before), part_code(part), SEARCH)
    assert SEARCH.counter[1] < NODES - 1
    return [sides_of_state(SEARCH.nodes[node]) for node in SEARCH.results[:count]]


def limited(side: Side) -> Side:
    """Return a side whose throws are counted as far as the kernel does."""
    return fast_evolve(side, throws=min(side.throws, MOST_THROWS))


@pytest.mark.parametrize("game", ["narde", "narde:home"])
@pytest.mark.parametrize("opponent", ["24:15", "24:14 8", "24:14 6"])
def test_the_kernel_knows_what_random_games_hardly_reach(game: str, opponent: str) -> None:
    board, part = sides("24:4 8:2 6:2 5:2 4:2 3:2 2", opponent), Part((4, 1))
    rules = load_ruleset(game)
    assert set(resulting_boards(rules, board, part)) == set(kernel_tables(rules, board, part))


@pytest.mark.parametrize("game", ["plakoto", "plakoto:exception"])
@pytest.mark.parametrize("own", ["24 7 6:12 4", "7 6:13 4"])
@pytest.mark.parametrize("numbers", [(6, 3), (3,) * 4])
def test_the_kernel_ends_a_play_that_traps_the_last_checker(game: str, own: str, numbers: tuple[int, ...]) -> None:
    board, part, rules = sides(own, "24 1:14"), Part(numbers), load_ruleset(game)
    assert set(resulting_boards(rules, board, part)) == set(kernel_tables(rules, board, part))


@pytest.mark.parametrize("game", ["swedish", "swedish:any", "swedish:empty"])
@pytest.mark.parametrize("captured", [0, 1])
@pytest.mark.parametrize("own", ["24 12:2 11:2 10:2 9:2 8:2 7:2 6:2", "12:3 11:3 10:3 9:2 8:2 7:2"])
def test_the_kernel_knows_who_can_enter_on_a_block_of_six(game: str, captured: int, own: str) -> None:
    rules, marks = load_ruleset(game), Mark.RELEASED | Mark.FIVE_LEFT
    board = sides(own, f"25:{captured} 6:{14 - captured} 17", marks=marks)
    board = Sides(board.own, fast_evolve(board.opponent, marks=marks, hit=captured))
    for part in (Part((6, 1)), Part((1,))):
        assert set(resulting_boards(rules, board, part)) == set(kernel_tables(rules, board, part))


@pytest.mark.parametrize("game", some_slow(variants(), is_long))
def test_the_kernel_finds_the_tables_of_the_reference(game: str) -> None:
    rules = load_ruleset(game)
    for it, part in decisions(game, PARTS):
        before = Sides(limited(it.own), limited(it.opponent))
        found = kernel_tables(rules, before, part)
        assert len(found) == len(set(found)), (before, part)
        assert set(resulting_boards(rules, before, part)) == set(found), (before, part)
