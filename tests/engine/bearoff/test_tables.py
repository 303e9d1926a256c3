"""The tables are right: against recursions with fractions, against gnubg's tables, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import LOSE_BACKGAMMON, LOSE_GAMMON, WIN_BACKGAMMON, WIN_GAMMON
from fibsbot.engine.bearoff import BearoffTables
from fibsbot.engine.bearoff.tables import CENTRED, OWNED, THEIRS, WIN, indices_of, position_count
from tests.engine.bearoff.references import (
    Counts,
    board_of,
    equity,
    few,
    gnubg_chances,
    gnubg_equities,
    gnubg_throws,
    mean,
    no_double,
    requires_gnubg_tables,
    throws_needed,
)
from tests.formats.gnubg import requires_gnubg

STACK: Counts = (0, 0, 0, 0, 0, 15)


def number(counts: Counts) -> int:
    return int(indices_of(np.array(counts)))


def test_rolls_of_few_checkers_agree_with_a_recursion_with_fractions(tables: BearoffTables) -> None:
    for counts in few(3):
        expected = throws_needed(counts)
        found = tables.columns.rolls[number(counts)]
        assert list(map(float, expected)) == pytest.approx(found[: len(expected)], abs=1e-7)
        assert float(mean(expected)) == pytest.approx(tables.columns.means[number(counts)], abs=1e-6)


@pytest.mark.slow
def test_probabilities_of_rolls_add_up_to_one_and_no_column_is_missing(tables: BearoffTables) -> None:
    for table in (tables.columns.rolls, tables.columns.first):
        assert np.ones(len(table)) == pytest.approx(table.sum(axis=1, dtype=float), abs=1e-6)
        assert not table[:, -1].any()


@pytest.mark.slow
def test_means_are_the_means_of_the_chances(tables: BearoffTables) -> None:
    throws = tables.columns.rolls.astype(float)
    assert tables.columns.means == pytest.approx(throws @ np.arange(throws.shape[1]), abs=1e-5)


def test_the_first_of_fifteen_on_the_six_point_is_off_at_once_with_17_of_36_rolls(tables: BearoffTables) -> None:
    # Any 6, and 5-1, 4-2, 2-2 and 3-3 bear a checker off.
    found = tables.columns.first[number(STACK) - position_count(14)]
    assert 17 / 36 == pytest.approx(found[1], abs=1e-7)


@pytest.mark.slow
def test_equities_of_few_checkers_are_those_of_a_recursion_with_fractions(tables: BearoffTables) -> None:
    positions = [*few(2, points=3), (0, 0, 0, 0, 0, 2), (0, 0, 0, 1, 1, 0)]
    owners = {CENTRED: "centred", OWNED: "player", THEIRS: "opponent"}
    for own in positions:
        for opponent in positions:
            row = tables.columns.pairs[number(own), number(opponent)]
            assert float((equity(own, opponent, "nobody") + 1) / 2) == pytest.approx(row[WIN], abs=1e-6)
            for column, owner in owners.items():
                assert float(no_double(own, opponent, owner)) == pytest.approx(row[column], abs=1e-6)


def test_the_last_roll_is_doubled_and_taken_above_a_quarter(tables: BearoffTables) -> None:
    # 19 of 36 rolls bear off from 5 and 2; the opponent has one checker left and wins otherwise.
    money = tables.money(board_of((0, 1, 0, 0, 1, 0), (1, 0, 0, 0, 0, 0)))
    assert money is not None
    assert 19 / 36 == pytest.approx(money.win, abs=1e-6)
    assert 2 * (2 * 19 / 36 - 1) == pytest.approx(money.double_take, abs=1e-6)
    assert money.double > money.centred


def test_chances_from_rolls_are_near_the_exact_ones(tables: BearoffTables) -> None:
    count = position_count(6)
    throws = tables.columns.rolls[:count].astype(float)
    later = 1 - np.cumsum(throws, axis=1) + throws
    error = np.abs(throws @ later.T - tables.columns.pairs[..., WIN])[1:, 1:]
    assert error.max() < 0.014
    assert error.mean() < 0.0009


def test_to_be_on_roll_and_to_have_the_cube_never_hurts(tables: BearoffTables) -> None:
    pairs = tables.columns.pairs[1:, 1:].astype(float)
    assert (pairs[..., OWNED] >= pairs[..., CENTRED] - 1e-6).all()
    assert (pairs[..., CENTRED] >= pairs[..., THEIRS] - 1e-6).all()
    assert (pairs[..., WIN] + pairs[..., WIN].T >= 1 - 1e-6).all()


@pytest.mark.slow
@requires_gnubg_tables
def test_rolls_agree_with_gnubg(tables: BearoffTables) -> None:
    generator = np.random.default_rng(7)
    fifteen = position_count(14)
    asked = [
        *generator.integers(1, fifteen, 10),
        *generator.integers(fifteen, position_count(15), 20),
        position_count(15) - 1,
    ]
    for it in map(int, asked):
        everything, first = gnubg_throws(it)
        assert sum(everything) == pytest.approx(100, abs=0.05)
        assert sum(first) == pytest.approx(100, abs=0.05)
        assert everything == pytest.approx(100 * tables.columns.rolls[it, : len(everything)], abs=0.01)
        if it >= fifteen:
            columns = tables.columns.first.shape[1]
            assert first[:columns] == pytest.approx(100 * tables.columns.first[it - fifteen, : len(first)], abs=0.01)


@requires_gnubg_tables
def test_equities_are_those_of_gnubg(tables: BearoffTables) -> None:
    generator = np.random.default_rng(8)
    for own, opponent in generator.integers(1, position_count(6), (30, 2)).tolist():
        row = tables.columns.pairs[own, opponent]
        found = gnubg_equities(own, opponent)
        # gnubg keeps 16 bits, and what it rounds goes into what it computes next.
        assert 2 * row[WIN] - 1 == pytest.approx(found["Cubeless equity"], abs=3e-4)
        assert row[CENTRED] == pytest.approx(found["Centered cube"], abs=3e-4)
        assert row[OWNED] == pytest.approx(found["Owned cube"], abs=3e-4)
        assert row[THEIRS] == pytest.approx(found["Opponent owns cube"], abs=3e-4)


@requires_gnubg
def test_chances_and_gammons_are_those_of_gnubg(tables: BearoffTables) -> None:
    pairs: list[tuple[Counts, Counts]] = [
        ((3, 0, 0, 0, 0, 0), STACK),
        ((2, 2, 0, 0, 0, 0), (3, 3, 3, 2, 2, 2)),
        ((1, 1, 2, 0, 0, 0), (0, 0, 5, 5, 5, 0)),
        ((0, 0, 0, 5, 5, 5), (1, 2, 1, 0, 0, 0)),
        ((3, 3, 3, 2, 2, 2), (2, 3, 3, 3, 2, 2)),
        ((2, 1, 1, 2, 0, 0), (0, 3, 1, 0, 1, 1)),
        ((4, 2, 2, 2, 0, 0), (0, 3, 3, 0, 3, 1)),
    ]
    boards = [board_of(*pair) for pair in pairs]
    chances = tables.evaluate(np.array(boards))[:, [WIN, WIN_GAMMON, WIN_BACKGAMMON, LOSE_GAMMON, LOSE_BACKGAMMON]]
    assert np.array(gnubg_chances(boards)) == pytest.approx(chances, abs=6e-4)


def test_gammons_of_a_last_roll_can_be_counted(tables: BearoffTables) -> None:
    # Three on the ace point take one roll with a double, else two: then the opponent has one to save the gammon.
    found = tables.evaluate(board_of((3, 0, 0, 0, 0, 0), STACK)[None])[0]
    assert 1 / 6 + 5 / 6 * 19 / 36 == pytest.approx(found[WIN_GAMMON], abs=1e-6)
    found = tables.evaluate(board_of(STACK, (1, 0, 0, 0, 0, 0))[None])[0]
    assert 19 / 36 == pytest.approx(found[LOSE_GAMMON], abs=1e-6)
