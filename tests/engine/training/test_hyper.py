"""Hyper-backgammon is solved by its rules: values, chances and plays agree with what the rules core says."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from fibsbot.engine.rulesets.evaluator import RulesetEvaluator
from fibsbot.engine.rulesets.parameters import state_of
from fibsbot.engine.training import hyper, rulesets
from fibsbot.engine.training.hyper import (
    CHANCES,
    HAND,
    SCALE,
    SIDES,
    TOLERANCE,
    ExactTable,
    Positions,
    Solver,
    chances_of,
    exact_table,
    find_plays,
    new_positions,
    new_solver,
    points_of,
    solve,
    solve_all,
)
from fibsbot.engine.training.rulesets import RulesetRecipe, RulesetTraining
from fibsbot.games import load_ruleset
from fibsbot.rules.general_plays import outcome, parts_of, resulting_boards, rolls, turn_over
from fibsbot.rules.ruleset import Part
from fibsbot.rules.sides import Side, Sides

pytestmark = [pytest.mark.slow, pytest.mark.compiles_games]

RULES = load_ruleset("hyper")
RACES = 102
"""Arrangements that are so near to the end that no two of them meet."""


@pytest.fixture(scope="module")
def positions() -> Positions:
    return new_positions()


@pytest.fixture(scope="module")
def races() -> Positions:
    return new_positions(RACES)


def side_of(positions: Positions, arrangement: int) -> Side:
    row = [0] * 26
    for place in positions.triples[arrangement]:
        row[place] += 1
    return Side(tuple(row))


def sides_of_state(positions: Positions, number: int) -> Sides:
    own, other = positions.pairs[number]
    return Sides(side_of(positions, int(own)), side_of(positions, int(other)))


def number_of(positions: Positions, table: Sides) -> int:
    arrangements = []
    for side in (table.own, table.opponent):
        a, b, c = (place for place, checkers in enumerate(side.row) for _ in range(checkers))
        arrangements.append(int(positions.arrangements[(a * 26 + b) * 26 + c]))
    return int(positions.numbers[arrangements[0] * SIDES + arrangements[1]])


def value_by_the_rules(solver: Solver, table: Sides) -> float:
    """Return what a position is worth one roll later, by the values that the solver has."""
    total = 0.0
    for dice, ways in rolls(RULES.dice):
        (part,) = parts_of(RULES, table, dice)[1]
        assert isinstance(part, Part)
        plays = resulting_boards(RULES, table, part) or {table: ()}
        best = -9.0
        for after in plays:
            end = outcome(RULES, table, after)
            worth = float(end.points) if end else -solver.values[number_of(solver.positions, turn_over(after))]
            best = max(best, worth)
        total += best * ways
    return total / 36


def test_the_numbering_has_each_possible_position_once(positions: Positions) -> None:
    assert 7_953_353 == len(positions.pairs)
    own, other = positions.pairs[:, 0].astype(np.int64), positions.pairs[:, 1]
    assert np.array_equal(positions.numbers[own * SIDES + other], np.arange(len(own)))
    assert len(own) == np.count_nonzero(positions.numbers >= 0)


def test_a_pass_looks_at_the_plays_that_the_rules_allow(positions: Positions) -> None:
    solver = new_solver(positions)
    rng = np.random.default_rng(1)
    solver.values[:] = rng.uniform(-3, 3, len(solver.values)).astype(np.float32)
    change = np.zeros(1, np.float32)
    in_hand = [
        number
        for number in rng.integers(0, len(solver.values), 400)
        if HAND in positions.triples[positions.pairs[number]]
    ]
    for number in [*rng.integers(0, len(solver.values), 25), *in_hand[:15], *rng.integers(0, 20_000, 20)]:
        expected, before = value_by_the_rules(solver, sides_of_state(positions, number)), solver.values[number]
        find_plays(solver, number, number + 1, change)
        assert expected == pytest.approx(solver.values[number], abs=1e-5)
        assert abs(expected - before) == pytest.approx(change[0], abs=1e-5)


def test_solved_values_are_those_one_roll_later_and_follow_from_the_chances(races: Positions) -> None:
    solver = new_solver(races)
    assert TOLERANCE >= list(solve(solver))[-1]
    chances = chances_of(solver)
    points = 2 * chances[:, 0] - 1 + chances[:, 1] + chances[:, 2] - chances[:, 3] - chances[:, 4]
    assert points == pytest.approx(solver.values, abs=1e-4)
    for number in random.Random(1).sample(range(len(solver.values)), 20):
        assert value_by_the_rules(solver, sides_of_state(races, number)) == pytest.approx(
            solver.values[number], abs=1e-5
        )


def test_a_solver_that_was_killed_goes_on_and_the_table_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, races: Positions
) -> None:
    monkeypatch.setattr(hyper, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(hyper, "new_positions", lambda: races)
    killed = solve_all()
    next(killed)
    del killed
    (change,) = solve_all()
    assert TOLERANCE >= change
    assert not list(solve_all())
    assert ["hyper-v1.table"] == [path.name for path in tmp_path.iterdir()]
    table = exact_table()
    for number in (5, 500, 5000):
        assert points_of(table, state_of(sides_of_state(races, number))) == pytest.approx(
            value_by_the_rules(solved(races), sides_of_state(races, number)), abs=1e-4
        )


def solved(races: Positions) -> Solver:
    solver = new_solver(races)
    list(solve(solver))
    return solver


def test_a_network_learns_the_chances_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, positions: Positions
) -> None:
    chances = np.empty((len(positions.pairs), CHANCES), np.uint16)
    chances[:] = np.round(np.array((0.75, 0.25, 0.125, 0.0625, 0.0)) * SCALE)
    table = ExactTable(positions.arrangements, positions.numbers, chances)
    monkeypatch.setattr(rulesets, "solve_all", lambda: iter([0.5, 0.0]))
    monkeypatch.setattr(rulesets, "exact_table", lambda: table)
    training = RulesetTraining(RulesetRecipe("hyper", games=200, hidden=8, exact=True), tmp_path)
    assert [0.5, 0.0] == list(training.prepare())
    assert [200] == [it.done for it in training.run()]
    outputs = RulesetEvaluator(RULES, training.network).chances([RULES.start()])[0]
    assert [0.75, 0.25, 0.125, 0.25, 0.0625, 0.0] == pytest.approx(outputs, abs=0.03)
    assert not list(training.prepare())
