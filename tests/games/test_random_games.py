"""Random games of every ruleset end, and keep their checkers; brute force and the generator agree."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.game import TableGame, choices, name, play, roll, roll_contest, roll_opening, start_match
from fibsbot.games.plays import legal_plays
from fibsbot.games.ruleset import Ruleset
from fibsbot.games.table import HAND
from fibsbot.games.text import game_from_json, game_to_json
from fibsbot.position import Play
from fibsbot.rules.state import Stage

MOST_DECISIONS = 8_000
"""More than any random game of any ruleset has been seen to need."""


def variants() -> Iterator[str]:
    """Yield every game, and every game with each of its options."""
    for game in GAMES:
        yield game
        yield from (f"{game}:{option.name}" for option in load_ruleset(game).options)


def random_game(rules: Ruleset, rng: random.Random) -> Iterator[TableGame]:
    """Yield the states of a game in which everything is decided at random."""
    state = start_match(rules, 1)
    for _ in range(MOST_DECISIONS):
        yield state
        if state.stage is Stage.OVER:
            return
        state = advance(state, rng)
    raise AssertionError(f"{rules.full_name}: no end after {MOST_DECISIONS} decisions")


def advance(state: TableGame, rng: random.Random) -> TableGame:
    """Return the state after a random roll or decision."""
    if state.stage is Stage.OPENING:
        return roll_opening(state, rng.randint(1, 6), rng.randint(1, 6))
    if state.stage is Stage.CONTEST:
        return roll_contest(state, rng.randint(2, 12), rng.randint(2, 12))
    seat = state.decides
    assert seat is not None
    if state.stage is Stage.ROLL:
        return roll(state, seat, tuple(rng.randint(1, 6) for _ in range(state.rules.dice)))
    if state.stage is Stage.NAME:
        return name(state, seat, rng.choice(choices(state)))
    plays = legal_plays(state.rules, state.table, state.part)
    return play(state, seat, rng.choice(plays) if plays else Play())


@pytest.mark.parametrize("game", list(variants()))
def test_a_random_game_ends_keeps_its_checkers_and_can_be_saved(game: str) -> None:
    for number, state in enumerate(random_game(load_ruleset(game), random.Random(game))):
        for side in (state.table.own, state.table.opponent):
            assert state.rules.checkers == side.checkers
            assert min(side.row) >= 0
            assert 0 <= side.hit <= side.row[HAND]
        if number % 7 == 0:
            assert game_from_json(json.loads(json.dumps(game_to_json(state)))) == state
    assert state.drawn or state.result
