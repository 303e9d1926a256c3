"""Matches of a strategy against itself, played without a server; for tests and benchmarks."""

from __future__ import annotations

from random import Random

from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS, Laws
from fibsbot.rules.permissions import match_winner, refusal_to_double
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import Strategy
from fibsbot.transcript import Cube, Entry, Game, Player, Throw, Transcript, apply


def play_match(strategy: Strategy, seed: int, length: int, laws: Laws = FIBS) -> Transcript:
    """Play a match of a strategy against itself."""
    random = Random(seed)
    games: list[Game] = []
    state = rules.start_match(laws, length)
    while True:
        start, entries = state, []
        while state.stage is not Stage.OVER:
            entry = next_entry(strategy, state, random)
            entries.append(entry)
            state = apply(state, entry)
        games.append(Game(len(games) + 1, start, tuple(entries), state.result))
        if match_winner(state) is not None:
            return Transcript((Player("anna"), Player("bert")), length, tuple(games))
        state = rules.next_game(state)


def next_entry(strategy: Strategy, state: GameState, random: Random) -> Entry:
    """Return the next entry."""
    if state.stage is Stage.OPENING:
        dice = tuple(random.sample(range(1, 7), 2))
        seat = Seat.A if dice[0] > dice[1] else Seat.B
        high, low = max(dice), min(dice)
        thrown = rules.roll_opening(state, *((high, low) if seat is Seat.A else (low, high)))
        return Throw(seat=seat, dice=(high, low), play=chosen(strategy, thrown))
    if state.answering is not None:
        asked = MatchState.of(state, state.answering)
        assert asked is not None
        return Cube(seat=state.answering, action=strategy.answer_double(asked).action)
    seat = state.turn
    asked = MatchState.of(state, seat)
    assert asked is not None
    assert asked.phase is Phase.ROLL
    if not refusal_to_double(state, seat) and strategy.offer_double(asked).action is CubeAction.DOUBLE:
        return Cube(seat=seat, action=CubeAction.DOUBLE)
    dice = (random.randint(1, 6), random.randint(1, 6))
    return Throw(seat=seat, dice=dice, play=chosen(strategy, rules.roll(state, seat, dice)))


def chosen(strategy: Strategy, thrown: GameState) -> Play:
    """Return the strategy's play."""
    asked = MatchState.of(thrown, thrown.turn)
    assert asked is not None
    assert asked.dice is not None
    plays = legal_plays(asked.position, asked.dice)
    if len(plays) < 2:
        return plays[0] if plays else Play()
    return strategy.choose_play(asked, plays).play
