"""Partial plays: exactly the beginnings of legal plays are offered, in every game."""

from __future__ import annotations

from random import Random

import pytest

from fibsbot.games import GAMES, load_ruleset
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.game import choices, name, play, roll, roll_contest, roll_opening, start_match_of
from fibsbot.rules.partial_plays import PartialPlay
from fibsbot.rules.state import GameState, Stage
from tests.marks import is_no_quick_sample, some_slow


def on_the_way(game: str, seed: int, turns: int) -> list[GameState]:
    """Return the states of a random game in which something has to be played."""
    random, state = Random(seed), start_match_of(load_ruleset(game), 3)
    found: list[GameState] = []
    while state.stage is not Stage.OVER and len(found) < turns:
        dice = tuple(random.randint(1, 6) for _ in range(state.rules.dice))
        match state.stage:
            case Stage.OPENING:
                state = roll_opening(state, *dice[:2])
            case Stage.CONTEST:
                state = roll_contest(state, random.randint(2, 12), random.randint(2, 12))
            case Stage.ROLL:
                state = roll(state, state.turn, dice)
            case Stage.NAME:
                assert state.namer is not None
                state = name(state, state.namer, random.choice(choices(state)))
            case Stage.MOVE:
                found.append(state)
                decision = MatchState.of(state, state.turn)
                assert decision is not None
                state = play(state, state.turn, random.choice(decision.plays or (Play(),)))
    return found


@pytest.mark.parametrize("game", some_slow(["backgammon", *sorted(GAMES)], is_no_quick_sample))
def test_what_is_offered_leads_to_a_legal_play_and_every_legal_play_is_offered(game: str) -> None:
    random = Random(2)
    for state in on_the_way(game, 1, 60):
        begun = PartialPlay.of(state)
        while begun.following:
            begun = begun.after(random.choice(begun.following))
        assert begun.whole
        play(state, state.turn, begun.play)
        decision = MatchState.of(state, state.turn)
        assert decision is not None
        for legal in random.sample(decision.plays, min(5, len(decision.plays))):
            ways = [PartialPlay.of(state)]
            for move in legal.moves:
                ways = [one.after(step) for one in ways for step in one.following if step.move == move]
            assert any(one.whole for one in ways), legal
            whole = PartialPlay.of(state).after_all(legal)
            assert whole.whole
            assert play(state, state.turn, whole.play).board == play(state, state.turn, legal).board


@pytest.mark.parametrize("game", some_slow(["backgammon", *sorted(GAMES)], is_no_quick_sample))
def test_what_is_not_whole_is_refused_by_the_rules(game: str) -> None:
    random = Random(3)
    for state in on_the_way(game, 2, 30):
        begun = PartialPlay.of(state)
        while begun.following:
            if not begun.whole:
                with pytest.raises(PlayError):
                    play(state, state.turn, begun.play)
            begun = begun.after(random.choice(begun.following))
