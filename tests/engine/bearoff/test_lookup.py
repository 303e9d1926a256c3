"""Lookups in the bear-off tables, from Python and from compiled loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine import arrays
from fibsbot.engine.bearoff import NO_TABLES, BearoffTables, MoneyEquities, NotCoveredError
from fibsbot.engine.bearoff.tables import covered_chances, look_up
from fibsbot.match import Owner
from fibsbot.position import Position
from tests.engine.bearoff.references import NOTHING, board_of

SIDES = st.lists(st.integers(0, 6), max_size=15).map(lambda points: tuple(points.count(it) for it in range(1, 7)))
HOME = st.tuples(SIDES, SIDES).filter(lambda sides: any(map(any, sides))).map(lambda sides: board_of(*sides))
"""Boards that are covered: all home, not both sides done."""
CELL = st.integers(-3, 3)
ANY = st.tuples(st.integers(-3, 0), *[CELL] * 24, st.integers(0, 3)).map(lambda cells: np.array(cells, np.int8))
FIFTEEN = (3, 3, 3, 2, 2, 2)


@given(HOME)
def test_chances_are_chances(tables: BearoffTables, board: arrays.Board) -> None:
    assert tables.covers(board[None])[0]
    found = tables.evaluate(board[None])[0].astype(float)
    assert found[arrays.WIN] + found[arrays.LOSE] == pytest.approx(1, abs=1e-6)
    assert found[arrays.WIN] >= found[arrays.WIN_GAMMON] >= 0
    assert found[arrays.LOSE] >= found[arrays.LOSE_GAMMON] >= 0
    assert found[arrays.WIN_BACKGAMMON] == found[arrays.LOSE_BACKGAMMON] == 0
    position = arrays.position_of(board)
    assert found[arrays.WIN_GAMMON] == 0 or position.opponent_off == 0
    assert found[arrays.LOSE_GAMMON] == 0 or position.off == 0


@given(st.one_of(ANY, HOME))
def test_covered_is_what_has_passed_and_come_home(tables: BearoffTables, board: arrays.Board) -> None:
    position = arrays.position_of(board)
    home = position.all_home and position.swapped().all_home and min(position.off, position.opponent_off) >= 0
    covered = home and not (position.off == position.opponent_off == 15)
    assert covered == tables.covers(board[None])[0]


@given(HOME)
def test_one_board_and_many_are_reported_the_same(tables: BearoffTables, board: arrays.Board) -> None:
    _, own, opponent = look_up(board[None], tables.columns.rolls)
    one = covered_chances(own, opponent, tables.columns)
    assert np.array_equal(one[0].astype(np.float32), tables.evaluate(np.array([board, board]))[1])
    places, own, opponent = look_up(np.array([board, board]), tables.columns.pairs)
    assert ([0, 1] if tables.covers_money(board[None])[0] else []) == places.tolist()
    assert not len(places) or np.array_equal(
        tables.columns.pairs[own, opponent][:1], tables.evaluate_money(board[None])
    )


@pytest.mark.parametrize(
    ("own", "opponent", "expected"),
    [
        (NOTHING, FIFTEEN, (1, 1, 0, 0, 0, 0)),
        (NOTHING, (1, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)),
        (NOTHING, (9, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)),
        (FIFTEEN, NOTHING, (0, 0, 0, 1, 1, 0)),
        ((9, 0, 0, 0, 0, 0), NOTHING, (0, 0, 0, 1, 0, 0)),
        ((0, 0, 0, 0, 0, 1), NOTHING, (0, 0, 0, 1, 0, 0)),
    ],
)
def test_games_that_are_over_are_what_they_are(
    tables: BearoffTables, own: tuple[int, ...], opponent: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert expected == tuple(tables.evaluate(board_of(own, opponent)[None])[0])


def test_without_tables_nothing_is_known() -> None:
    board = board_of(FIFTEEN, FIFTEEN)
    assert not any(map(len, look_up(board[None], NO_TABLES.rolls)))
    assert not any(map(len, look_up(board[None], NO_TABLES.pairs)))
    assert not BearoffTables(NO_TABLES).covers(board[None])[0]
    with pytest.raises(NotCoveredError):
        BearoffTables(NO_TABLES).evaluate(board[None])


def test_what_is_not_covered_is_refused_by_its_place(tables: BearoffTables) -> None:
    boards = np.array([board_of(FIFTEEN, FIFTEEN), *arrays.boards_of([Position.start()])])
    with pytest.raises(NotCoveredError, match=r"at 1$"):
        tables.evaluate(boards)
    with pytest.raises(NotCoveredError, match=r"at 0$"):
        tables.evaluate_money(boards)
    with pytest.raises(NotCoveredError):
        tables.sides(boards[1])
    assert tables.money(boards[0]) is None


@pytest.mark.parametrize("boards", [np.zeros((1, 25), np.int8), np.zeros((1, 26), np.int64), np.zeros(26, np.int8)])
def test_what_are_no_boards_is_refused(tables: BearoffTables, boards: arrays.Board) -> None:
    with pytest.raises(ValueError, match="expected boards of shape"):
        tables.evaluate(boards)


def test_boards_are_looked_up_alike_however_they_are_laid_out_in_memory(tables: BearoffTables) -> None:
    boards = np.repeat(board_of(FIFTEEN, FIFTEEN)[None], 4, axis=0)
    assert tables.evaluate(boards).tolist() == tables.evaluate(np.asfortranarray(boards)).tolist()


def test_no_boards_have_no_chances(tables: BearoffTables) -> None:
    assert (0, 6) == tables.evaluate(np.empty((0, 26), np.int8)).shape


def test_effective_pips_are_pips_and_wastage(tables: BearoffTables) -> None:
    own, opponent = tables.sides(board_of((0, 0, 0, 0, 0, 15), (1, 0, 0, 0, 0, 0)))
    assert (90, 1) == (own.pips, opponent.pips)
    assert (0.0, 1.0) == opponent.throws
    assert opponent.deviation == 0
    assert opponent.effective_pips == pytest.approx(49 / 6)
    # gnubg's table, of 16 bits, says 10.175.
    assert own.wastage == pytest.approx(10.174, abs=5e-4)


def test_the_cube_is_turned_by_who_may() -> None:
    position = MoneyEquities(win=0.75, centred=0.6, owned=0.65, theirs=0.45)
    assert position.value(Owner.CENTRED) == position.value(Owner.PLAYER) == position.double_take == 0.9
    assert position.value(Owner.OPPONENT) == 0.45
    assert position.no_double(Owner.PLAYER) == 0.65
    assert position.cubeless == 0.5
    assert MoneyEquities(win=0.9, centred=0.7, owned=0.8, theirs=0.7).double == 1.0


def test_the_tables_are_read_only(tables: BearoffTables) -> None:
    with pytest.raises(ValueError, match="read-only"):
        tables.columns.pairs[1, 1, 0] = 0
