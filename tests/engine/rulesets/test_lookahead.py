"""Looking ahead chooses what the reference would: after every roll of the opponent, and after the rest of a turn."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from fibsbot.engine.rulesets.evaluator import CANDIDATES, RulesetEvaluator
from fibsbot.games import load_ruleset
from fibsbot.position import Play
from fibsbot.rules.game import play, roll, start_match_of
from fibsbot.rules.general_plays import outcome, parts_of, resulting_boards, rolls, turn_over
from fibsbot.rules.ruleset import Part, Ruleset, Turn
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import GameState, Seat, Stage
from tests.marks import some_slow

pytestmark = pytest.mark.compiles_games

WEIGHTS = {2: 36, 3: 216}


def greedy(rules: Ruleset, evaluator: RulesetEvaluator, sides: Sides, turn: Turn) -> float:
    """Return what a table is worth for the player on turn, who makes the best play of each part at once."""
    for place, part in enumerate(turn):
        assert isinstance(part, Part)
        plays = list(resulting_boards(rules, sides, part)) or [sides]
        best = best_at_once(rules, evaluator, sides, plays, goes_on=place + 1 < len(turn))
        if ended := outcome(rules, sides, best):
            return float(ended.winner * ended.points)
        sides = best
    return -float(evaluator.points([turn_over(sides)])[0])


def values_at_once(
    rules: Ruleset, evaluator: RulesetEvaluator, before: Sides, plays: Sequence[Sides], *, goes_on: bool
) -> list[float]:
    """Return what plays are worth by the network alone, if they do not end the game."""
    points = evaluator.points(plays) if goes_on else -evaluator.points([turn_over(it) for it in plays])
    ends = [outcome(rules, before, it) for it in plays]
    return [end.winner * end.points if end else value for end, value in zip(ends, points.tolist(), strict=True)]


def best_at_once(
    rules: Ruleset, evaluator: RulesetEvaluator, before: Sides, plays: Sequence[Sides], *, goes_on: bool
) -> Sides:
    values = values_at_once(rules, evaluator, before, plays, goes_on=goes_on)
    return plays[max(range(len(plays)), key=values.__getitem__)]


def before_roll(rules: Ruleset, evaluator: RulesetEvaluator, sides: Sides) -> float:
    """Return the mean over all rolls."""
    total = 0.0
    for dice, ways in rolls(rules.dice):
        noted, turn = parts_of(rules, sides, dice)
        total += ways * greedy(rules, evaluator, noted, turn)
    return total / WEIGHTS[rules.dice]


@pytest.mark.parametrize("game", some_slow(["hyper", "misere", "plakoto", "fevga"], {"misere", "plakoto"}.__contains__))
def test_with_one_ply_every_roll_of_the_opponent_is_looked_at(game: str) -> None:
    rules = load_ruleset(game)
    evaluator = RulesetEvaluator(rules)
    rng = random.Random(game)
    sides = rules.start()
    for _ in range(6):
        before, turn = parts_of(rules, sides, (rng.randint(1, 6), rng.randint(1, 6)))
        assert isinstance(turn[0], Part)
        plays = [(it, len(moves)) for it, moves in resulting_boards(rules, before, turn[0]).items()]
        if not plays:
            sides = turn_over(before)
            continue
        shallow = values_at_once(rules, evaluator, before, [it for it, _ in plays], goes_on=False)
        close = sorted(range(len(plays)), key=shallow.__getitem__, reverse=True)[:CANDIDATES]
        exact = {place: -before_roll(rules, evaluator, turn_over(plays[place][0])) for place in close}
        chosen = evaluator.best_play(before, turn, plays, plies=1)
        assert exact[chosen] == pytest.approx(max(exact.values()), abs=1e-4)
        assert max(range(len(plays)), key=shallow.__getitem__) == evaluator.best_play(before, turn, plays)
        sides = turn_over(plays[rng.choice(close)][0])


def followed(evaluator: RulesetEvaluator, state: GameState, seat: Seat) -> float:
    """Return what a game is worth for a player after the parts that are left, also those that pass to the opponent."""
    while state.stage is Stage.MOVE:
        plays = resulting_boards(state.rules, state.sides, state.part)
        goes_on = state.passed or len(state.todo) > 1
        best = best_at_once(state.rules, evaluator, state.sides, list(plays), goes_on=goes_on) if plays else None
        state = play(state, state.turn, Play(plays[best]) if best else Play())
    if state.stage is Stage.OVER:
        return float(state.scores[seat] - state.scores[seat.other])
    points = float(evaluator.points([state.sides])[0])
    return points if state.turn is seat else -points


@pytest.mark.parametrize("game", ["gioul", "gioul:may", "russian1"])
def test_the_parts_that_follow_are_played_before_a_part_is_judged(game: str) -> None:
    evaluator = RulesetEvaluator(load_ruleset(game))
    rng = random.Random(game)
    state = start_match_of(load_ruleset(game), 0, begins=Seat.A)
    checked = 0
    while state.stage is not Stage.OVER and checked < 12:
        if state.stage is Stage.ROLL:
            double = rng.randint(1, 6)
            state = roll(state, state.turn, (double, double) if rng.random() < 0.5 else (6, 5))
            continue
        plays = resulting_boards(state.rules, state.sides, state.part)
        if len(plays) in range(2, CANDIDATES + 1) and (state.passed or len(state.todo) > 1):
            found = [(sides, len(moves)) for sides, moves in plays.items()]
            values = [followed(evaluator, play(state, state.turn, Play(it)), state.turn) for it in plays.values()]
            chosen = evaluator.best_play(state.sides, state.todo, found, passed=state.passed)
            assert values[chosen] == pytest.approx(max(values), abs=1e-4)
            checked += 1
        state = play(state, state.turn, Play(rng.choice(list(plays.values()))) if plays else Play())
    assert checked
