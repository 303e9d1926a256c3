"""How fast matches are studied, with and without the luck of every throw.

Usage: bench_study.py [MATCHES [LENGTH [STRATEGY]]]

The matches are played by the strategy itself, from seed 1 on; times are those of one processor.
"""

from __future__ import annotations

import sys
import time
from random import Random
from typing import Final

from fibsbot.match import CubeAction, Phase
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.cube import refusal_to_double
from fibsbot.rules.laws import FIBS
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.judge import Judge
from fibsbot.strategies.loader import load
from fibsbot.study.analysis import study
from fibsbot.transcript import Cube, Entry, Game, Player, Throw, Transcript, apply

MATCHES: Final = 3
LENGTH: Final = 5


def play_match(strategy: Strategy, seed: int, length: int) -> Transcript:
    """Have a strategy play a match against itself."""
    random = Random(seed)
    games: list[Game] = []
    state = rules.start_match(FIBS, length)
    while True:
        start, entries = state, []
        while state.stage is not Stage.OVER:
            entry = next_entry(strategy, state, random)
            entries.append(entry)
            state = apply(state, entry)
        games.append(Game(len(games) + 1, start, tuple(entries), state.result))
        if rules.match_winner(state) is not None:
            return Transcript((Player("anna"), Player("bert")), length, tuple(games))
        state = rules.next_game(state)


def next_entry(strategy: Strategy, state: GameState, random: Random) -> Entry:
    """Return what happens next."""
    if state.stage is Stage.OPENING:
        dice = tuple(random.sample(range(1, 7), 2))
        seat = Seat.A if dice[0] > dice[1] else Seat.B
        high, low = max(dice), min(dice)
        thrown = rules.throw_opening(state, *((high, low) if seat is Seat.A else (low, high)))
        return Throw(seat=seat, dice=(high, low), play=chosen(strategy, thrown))
    if state.answering is not None:
        asked = rules.decision(state, state.answering)
        assert asked is not None
        return Cube(seat=state.answering, action=strategy.answer_double(asked).action)
    seat = state.turn
    asked = rules.decision(state, seat)
    assert asked is not None
    assert asked.phase is Phase.ROLL
    if not refusal_to_double(state, seat) and strategy.offer_double(asked).action is CubeAction.DOUBLE:
        return Cube(seat=seat, action=CubeAction.DOUBLE)
    dice = (random.randint(1, 6), random.randint(1, 6))
    return Throw(seat=seat, dice=dice, play=chosen(strategy, rules.roll(state, seat, dice)))


def chosen(strategy: Strategy, thrown: GameState) -> Play:
    """Return the strategy's play."""
    asked = rules.decision(thrown, thrown.turn)
    assert asked is not None
    assert asked.dice is not None
    plays = legal_plays(asked.position, asked.dice)
    if len(plays) < 2:
        return plays[0] if plays else Play()
    return strategy.choose_play(asked, plays).play


def main() -> None:
    """Print decisions and throws per second."""
    arguments = sys.argv[1:]
    matches, length, name = (*arguments, *(str(MATCHES), str(LENGTH), "handmade")[len(arguments) :])
    strategy = load(name)
    assert isinstance(strategy, Judge)
    played = [play_match(strategy, seed, int(length)) for seed in range(1, int(matches) + 1)]
    throws = sum(isinstance(entry, Throw) for match in played for game in match.games for entry in game.entries)
    for luck in (False, True):
        started = time.process_time()
        studies = [study(match, strategy, luck=luck) for match in played]
        seconds = time.process_time() - started
        decisions = sum(len(game.judged) for found in studies for game in found.games)
        print(f"{'with' if luck else 'without'} luck: {decisions} decisions, {throws} throws in {seconds:.1f} s")
        each = seconds / int(matches)
        print(f"  {decisions / seconds:.0f} decisions/s, {throws / seconds:.1f} throws/s, {each:.1f} s a match")


if __name__ == "__main__":
    main()
