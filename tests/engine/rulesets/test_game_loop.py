"""Compiled games are those that the reference plays with the same dice and the same players."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from attrs import evolve

from fibsbot.engine.rulesets.game_loop import BLOTS, NETWORK, NETWORK_1_PLY, PIPS, new_game_buffers, play_pairs
from fibsbot.engine.rulesets.network import GameNetwork, network_of_game, new_network
from fibsbot.engine.rulesets.parameters import parameters_of, start_of, state_of
from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.rules.game import name, play, roll, roll_contest, roll_opening, start_match
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import load
from tests.strategies.answers import chosen_name, chosen_play

pytestmark = [pytest.mark.slow, pytest.mark.compiles_games]

SEED = 5
UNUSED = new_network(4, (1, 1, 1), 1)
GAMES = (
    *("acey-deucey", "acey-deucey:extra-needs-all", "around", "gioul", "gioul:may", "greek", "gulbara"),
    *("irish:binding", "irish:1665", "narde", "narde:home-mars", "plakoto:exception", "portes:tavla", "russian1"),
    *("russian2", "swedish", "tabula:free", "ticktack", "misere", "fevga", "dutch"),
)
"""Together they have every law that the game loop knows."""


def random_numbers(seed: int, pair: int) -> Iterator[int]:
    """Yield the random numbers that the kernel makes its dice of."""
    state = (seed * 1000003 + pair) * 2654435769
    count = 0
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        count += 1
        if count > 4:
            yield state >> 33


def reference_game(game: str, players: tuple[Strategy, Strategy], numbers: Iterator[int]) -> GameState:
    def die() -> int:
        return next(numbers) % 6 + 1

    rules = load_ruleset(game)
    state = start_match(evolve(rules.laws, cube=False), 0, rules=rules)  # compiled games have no cube
    while state.stage is not Stage.OVER:
        seat = state.decides
        if state.stage is Stage.OPENING:
            state = roll_opening(state, die(), die())
        elif state.stage is Stage.CONTEST:
            pairs = [(die(), die()) for _ in range(2)]
            state = roll_contest(state, sum(a for a, _ in pairs), sum(b for _, b in pairs))
        elif seat is not None and state.stage is Stage.ROLL:
            state = roll(state, seat, tuple(die() for _ in range(state.rules.dice)))
        elif seat is not None and state.stage is Stage.NAME:
            state = name(state, seat, chosen_name(players[seat], state))
        elif seat is not None:
            state = play(state, seat, chosen_play(players[seat], state))
    return state


def compiled_pair(game: str, kind: int, network: GameNetwork, seed: int = SEED) -> list[int]:
    """Return what a player wins against `blots` in both games of a pair."""
    rules = load_ruleset(game)
    points = np.zeros(2, np.int64)
    kinds = np.array([[kind, BLOTS], [BLOTS, kind]], np.int64)
    buffers = new_game_buffers(start_of(rules), network)
    play_pairs(parameters_of(rules), kinds, network, network, buffers, seed, 0, points)
    return points.tolist()


def reference_pair(game: str, strategy: str, seed: int = SEED) -> list[int]:
    player, blots = load(strategy), load("blots")
    first = reference_game(game, (player, blots), random_numbers(seed, 0))
    second = reference_game(game, (blots, player), random_numbers(seed, 0))
    return [first.scores[Seat.A] - first.scores[Seat.B], second.scores[Seat.B] - second.scores[Seat.A]]


@pytest.mark.parametrize("game", GAMES)
def test_a_pair_of_games_ends_as_in_the_reference(game: str) -> None:
    assert reference_pair(game, "pips") == compiled_pair(game, PIPS, UNUSED)


@pytest.mark.parametrize(("game", "rolls_again"), [("acey-deucey", True), ("acey-deucey:extra-needs-all", False)])
def test_where_no_double_can_be_named_the_turn_ends_if_naming_ends_it(game: str, rolls_again: bool) -> None:  # noqa: FBT001
    """After a 1-2 the last checker stands before six points in a row, and no double moves it."""
    rules = load_ruleset(game)
    start = state_of(parse_sides("13 / 21:2 20:2 19:2 18:2 17:2 16:2 3:3", rules))
    buffers = new_game_buffers(start, UNUSED)
    again = []
    for pair in range(80):
        numbers = random_numbers(SEED, pair)
        while (next(numbers) - next(numbers)) % 6 == 0:
            pass
        if {next(numbers) % 6, next(numbers) % 6} == {0, 1}:
            kinds = np.array([[PIPS, PIPS]] * 2, np.int64)
            play_pairs(parameters_of(rules), kinds, UNUSED, UNUSED, buffers, SEED, pair, np.zeros(2, np.int64))
            again.append(bool(buffers.movers[0] == buffers.movers[1]))
    assert again
    assert {rolls_again} == set(again)


@pytest.mark.parametrize(
    ("game", "seed"),
    [
        ("acey-deucey", 6),
        ("gioul", 9),
        ("gioul:may", 9),
        ("hyper", SEED),
        ("plakoto", SEED),
        ("russian1", 10),
        ("russian2", SEED),
    ],
)
def test_the_network_plays_as_the_strategy_does(game: str, seed: int) -> None:
    """With these dice the games are short, and most do not end the same with and without lookahead."""
    network = network_of_game(game.partition(":")[0])
    assert reference_pair(game, "engine:0", seed) == compiled_pair(game, NETWORK, network, seed)
    assert reference_pair(game, "engine", seed) == compiled_pair(game, NETWORK_1_PLY, network, seed)
