"""Evaluators: exact where the laws or the tables know, lawful everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine import arrays
from fibsbot.engine.bearoff import NO_TABLES, TableArrays
from fibsbot.engine.network_evaluator import ArrayEvaluator, NetworkEvaluator, is_known
from fibsbot.engine.training.td_network import TDEvaluator, new_td_network
from fibsbot.position import CHECKERS, Position
from tests.engine.toys import solved, some_positions, toy_network, toy_race
from tests.hypothesis_strategies import bear_offs, positions

EVALUATORS = [
    NetworkEvaluator("toy", toy_network()),
    NetworkEvaluator("toy", toy_network(), race=toy_race()),
    TDEvaluator("toy", new_td_network(6, 1)),
]
by_each = pytest.mark.parametrize("evaluator", EVALUATORS, ids=["network", "networks", "student"])


@pytest.fixture(scope="module")
def columns() -> TableArrays:
    """Bear-off tables whose two-sided part is for two checkers."""
    return solved(2).columns


def rearmost(position: Position) -> int:
    return max(point for point in range(1, 26) if position.points[point] > 0)


@by_each
@given(position=positions())
def test_chances_obey_the_laws(evaluator: ArrayEvaluator, position: Position) -> None:
    chances = evaluator.evaluate(arrays.boards_of([position]))
    assert (1, 6) == chances.shape
    one = chances[0]
    assert ((chances >= 0) & (chances <= 1)).all()
    assert 1 == pytest.approx(one[arrays.WIN] + one[arrays.LOSE])
    assert one[arrays.WIN] >= one[arrays.WIN_GAMMON] >= one[arrays.WIN_BACKGAMMON]
    assert one[arrays.LOSE] >= one[arrays.LOSE_GAMMON] >= one[arrays.LOSE_BACKGAMMON]
    if position.off:
        assert 0 == one[arrays.LOSE_GAMMON], "who has borne off a checker loses no gammon"
    if position.opponent_off:
        assert 0 == one[arrays.WIN_GAMMON]
    if not position.contact:
        assert rearmost(position) > 18 or one[arrays.LOSE_BACKGAMMON] == 0, "nobody can send a checker back any more"
        assert rearmost(position.swapped()) > 18 or one[arrays.WIN_BACKGAMMON] == 0
    elif not position.off:
        assert one[arrays.LOSE_BACKGAMMON] > 0


@by_each
def test_a_race_can_still_be_lost_by_a_backgammon(evaluator: ArrayEvaluator) -> None:
    late = Position.from_sides(own=[0] * 18 + [3] + [0] * 4 + [12] + [0], opponent=[0] * 24 + [0])
    late = Position(tuple(cell if point > 18 else 0 for point, cell in enumerate(late.points)))
    racing = Position.from_sides(own=[0] * 18 + [15] + [0] * 6, opponent=[2] + [0] * 24)
    assert not racing.contact
    assert evaluator.evaluate(arrays.boards_of([racing]))[0, arrays.LOSE_BACKGAMMON] > 0
    assert [0, 0, 0, 1, 1, 1] == evaluator.evaluate(arrays.boards_of([late]))[0].tolist()


@by_each
@given(points=st.lists(st.integers(1, arrays.BAR), min_size=1, max_size=CHECKERS))
def test_what_is_over_is_lost_by_who_is_on_roll(evaluator: ArrayEvaluator, points: list[int]) -> None:
    board = np.zeros((1, 26), np.int8)
    np.add.at(board[0], points, 1)
    gammon = len(points) == CHECKERS
    backgammon = gammon and max(points) > 18
    assert [0, 0, 0, 1, gammon, backgammon] == evaluator.evaluate(board)[0].tolist()
    assert is_known(board, NO_TABLES).all()


@by_each
def test_many_are_valued_as_each_alone_and_left_as_they_were(evaluator: ArrayEvaluator) -> None:
    boards = arrays.boards_of([*some_positions(30, 1), Position.from_sides([1] + [0] * 24, [0] * 25)])
    before = boards.copy()
    together = evaluator.evaluate(boards)
    alone = np.concatenate([evaluator.evaluate(board[None]) for board in boards])
    assert alone == pytest.approx(together, abs=1e-6)
    assert (before == boards).all()
    assert (0, 6) == evaluator.evaluate(boards[:0]).shape
    assert isinstance(evaluator, ArrayEvaluator)


@given(position=bear_offs())
def test_what_the_tables_cover_is_read_from_them(columns: TableArrays, position: Position) -> None:
    boards = arrays.boards_of([position])
    covered = rearmost(position.swapped()) < 7
    assert covered == is_known(boards, columns)[0]
    network, student = toy_network(), new_td_network(4, 1)
    by_network = NetworkEvaluator("n", network, columns).evaluate(boards)
    by_student = TDEvaluator("s", student, columns).evaluate(boards)
    if covered:
        assert (by_network == by_student).all()
    else:
        assert (NetworkEvaluator("n", network).evaluate(boards) == by_network).all()


def test_the_last_roll_is_exact_with_tables(columns: TableArrays) -> None:
    """Checkers on 5 and 2, the opponent about to bear off the last one: 19 of 36 rolls win."""
    last = Position.from_sides(own=[0, 1, 0, 0, 1, *[0] * 20], opponent=[1, *[0] * 24])
    chances = NetworkEvaluator("toy", toy_network(), columns).evaluate(arrays.boards_of([last]))[0]
    assert [19 / 36, 0, 0, 17 / 36, 0, 0] == pytest.approx(chances.tolist(), abs=1e-6)


def test_the_six_chances_make_the_equity_and_swap_sides() -> None:
    chances = np.array([[0.6, 0.2, 0.05, 0.4, 0.1, 0.01], [0, 0, 0, 1, 1, 1]])
    assert [0.34, -3] == pytest.approx(arrays.cubeless_equity(chances).tolist())
    assert (arrays.cubeless_equity(chances) == -arrays.cubeless_equity(arrays.other_side(chances))).all()
    assert (chances == arrays.other_side(arrays.other_side(chances))).all()
