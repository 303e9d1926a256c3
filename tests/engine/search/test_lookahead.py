"""Looking ahead: with nothing pruned it is what plain Python finds, and how it is done doesn't show."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import Boards, Outcomes, boards_of
from fibsbot.engine.bearoff import NO_TABLES, BearoffTables
from fibsbot.engine.cube import OWNED, OWNER_COLUMN, THEIRS, Stakes
from fibsbot.engine.network_evaluator import NetworkEvaluator
from fibsbot.engine.search import lookahead
from fibsbot.engine.search.lookahead import (
    CubeLine,
    DecisionCubes,
    Lookahead,
    LookaheadValues,
    SearchFilters,
)
from fibsbot.match import MatchState, Owner
from fibsbot.position import Position
from tests.engine.search.brute_force import NO_FILTERS, Cube, no_double_values, value
from tests.engine.toys import solved, some_positions, toy_network, toy_pruner

TOY = NetworkEvaluator("toy", toy_network())
SMALL = [
    Position.from_sides(own=[0, 0, 1] + [0] * 10 + [1] + [0] * 11, opponent=[0, 1, 0, 0, 1] + [0] * 20),
    Position.from_sides(own=[2] + [0] * 22 + [1, 0], opponent=[0, 2, 0, 2] + [0] * 21),
    Position.from_sides(own=[0, 1, 1] + [0] * 21 + [1], opponent=[1, 0, 1] + [0] * 22),
    Position.from_sides(own=[1, 1] + [0] * 23, opponent=[1] + [0] * 24),
]
"""Few checkers, so that plain Python finishes in time: contact, the bar, games that end on the way."""
STATES = {
    "money": MatchState(Position.start(), redoubles=2),
    "money by the Jacoby rule": MatchState(Position.start(), jacoby=True),
    "a redouble for money": MatchState(Position.start(), cube=2, owner=Owner.PLAYER),
    "a cube in the opponent's hands": MatchState(Position.start(), cube=2, owner=Owner.OPPONENT),
    "3-away, 5-away": MatchState(Position.start(), length=7, score=(4, 2)),
    "after the Crawford game": MatchState(Position.start(), length=5, score=(1, 4), post_crawford=True),
    "the Crawford game": MatchState(Position.start(), length=5, score=(4, 1), crawford=True),
    "without a cube": MatchState(Position.start(), cubeless=True),
}


def new_lookahead(
    filters: SearchFilters = NO_FILTERS, evaluator: NetworkEvaluator = TOY, size: int = 1024
) -> Lookahead:
    return Lookahead(evaluator, toy_pruner(), filters, size)


def look(state: MatchState, positions: list[Position], plies: int, by: Lookahead) -> LookaheadValues:
    """Look at positions with the cube of the state, and the same turned."""
    cubes = DecisionCubes.of(state, NO_TABLES)
    return by.no_double_values(cubes, 0, (cubes.start, CubeLine(1, THEIRS)), boards_of(positions), plies)


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.parametrize("plies", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_without_pruning_it_agrees_with_plain_python(state: MatchState, plies: int) -> None:
    positions = SMALL if plies == 1 else SMALL[:2]
    found = look(state, positions, plies, new_lookahead())
    cube = Cube(Stakes.of(state), OWNER_COLUMN[state.owner])
    for position, equities in zip(positions, found.equities, strict=True):
        rolled = no_double_values(TOY, position, cube, cube, plies)
        turned = no_double_values(TOY, position, cube.turned, cube, plies)
        assert [rolled, turned] == pytest.approx(equities.tolist(), abs=2e-5), position


def test_who_is_on_roll_doubles_where_that_gains() -> None:
    state = STATES["money"]
    cubes = DecisionCubes.of(state, NO_TABLES)
    cube = Cube(Stakes.of(state), OWNER_COLUMN[state.owner])
    found = new_lookahead().values(cubes, 0, (cubes.start,), boards_of(SMALL), 1)
    for position, worth in zip(SMALL, found.equities[:, 0], strict=True):
        assert value(TOY, position, cube, cube, 1) == pytest.approx(float(worth), abs=2e-5)


def test_a_double_is_not_forgotten_where_the_turned_cube_is_among_the_lines_already() -> None:
    cubes = DecisionCubes.of(MatchState(Position.start(), length=5, score=(3, 3)), NO_TABLES)
    lines = (cubes.start, CubeLine(1, THEIRS))
    rolled = cubes.lines_when_rolling(0, lines)
    assert lines == rolled
    settled = cubes.after_doubling(0, lines, rolled, np.array([[0.5, 0.75], [0.5, 1.5], [0.5, 0.25]]))
    assert [[0.75, 0.75], [1.0, 1.5], [0.5, 0.25]] == settled.tolist()


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_chances_are_consistent_at_any_depth(plies: int) -> None:
    found = look(STATES["money"], some_positions(6, 8), plies, new_lookahead(SearchFilters()))
    assert np.ones(6) == pytest.approx(found.outcomes[:, 0] + found.outcomes[:, 3], abs=1e-5)
    assert (found.outcomes > -1e-9).all()
    assert (np.diff(found.outcomes[:, :3]) <= 1e-6).all()
    assert (np.diff(found.outcomes[:, 3:]) <= 1e-6).all()


def test_many_are_looked_at_as_each_alone() -> None:
    positions = some_positions(50, 9)
    together = look(STATES["3-away, 5-away"], positions * 2, 1, new_lookahead(SearchFilters()))
    for row in (0, 20, 21, 49):
        alone = look(STATES["3-away, 5-away"], [positions[row]], 1, new_lookahead(SearchFilters()))
        for place in (row, row + 50):
            assert alone.equities[0] == pytest.approx(together.equities[place], abs=1e-5)
            assert alone.outcomes[0] == pytest.approx(together.outcomes[place], abs=1e-5)


@pytest.mark.parametrize("size", [1, 16, 1 << 14])
def test_what_is_remembered_does_not_show_in_the_result(size: int) -> None:
    state, positions = STATES["money"], some_positions(3, 10)
    ours, first = new_lookahead(SearchFilters(), size=size), new_lookahead(SearchFilters())
    expected = look(state, positions, 2, first)
    for _ in range(2):
        found = look(state, positions, 2, ours)
        assert expected.equities == pytest.approx(found.equities, abs=1e-5)
        assert expected.outcomes == pytest.approx(found.outcomes, abs=1e-5)


def test_what_is_remembered_is_not_valued_again() -> None:
    ours, positions = new_lookahead(SearchFilters(), size=1 << 14), some_positions(3, 10)
    look(STATES["money"], positions, 1, ours)
    once = ours.evaluations
    look(STATES["money"], positions, 1, ours)
    assert ours.evaluations < 1.05 * once, "a few had to make room for others"


def test_the_size_of_batches_does_not_show_in_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    positions = some_positions(3, 11)
    expected = look(STATES["money"], positions, 2, new_lookahead(SearchFilters()))
    monkeypatch.setattr(lookahead, "BATCH", 7)
    monkeypatch.setattr(lookahead, "CHUNK", 2)
    found = look(STATES["money"], positions, 2, new_lookahead(SearchFilters()))
    assert expected.equities == pytest.approx(found.equities, abs=1e-5)


def test_a_position_whose_evaluation_fails_is_evaluated_again() -> None:
    class Failing:
        name = "failing"
        fails = True

        def evaluate(self, boards: Boards) -> Outcomes:
            if self.fails:
                raise MemoryError
            return TOY.evaluate(boards)

    failing = Failing()
    ours = Lookahead(failing, toy_pruner(), SearchFilters(), 64)
    boards = boards_of(some_positions(20, 12))
    with pytest.raises(MemoryError):
        ours.evaluate(boards)
    failing.fails = False
    assert TOY.evaluate(boards) == pytest.approx(ours.evaluate(boards), abs=1e-6)


# -- bear-offs that are known --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables() -> BearoffTables:
    return solved(4)


def few(count: int, seed: int) -> list[Position]:
    """Return positions of up to four checkers on each side's home board."""
    rng = np.random.default_rng(seed)

    def side() -> list[int]:
        counts: list[int] = np.bincount(rng.integers(0, 6, rng.integers(1, 5)), minlength=6).tolist()
        return counts + [0] * 19

    return [Position.from_sides(side(), side()) for _ in range(count)]


class Reached:
    """Knows what the tables know, but does not say that it does: so it is looked ahead from there."""

    name = "tables"

    def __init__(self, tables: BearoffTables) -> None:
        self._inner = NetworkEvaluator("tables", toy_network(), tables.columns)

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return what the tables say."""
        return self._inner.evaluate(boards)


@pytest.mark.slow
@pytest.mark.parametrize("plies", [1, 2])
def test_exact_leaves_stay_exact(tables: BearoffTables, plies: int) -> None:
    """The chances of the tables follow from themselves: any number of rolls ahead they are the same."""
    positions = few(40 if plies == 1 else 6, 13)
    ours = Lookahead(Reached(tables), toy_pruner(), NO_FILTERS, 1024)
    found = look(STATES["without a cube"], positions, plies, ours)
    known = tables.evaluate(boards_of(positions))
    assert known == pytest.approx(found.outcomes, abs=2e-6)
    assert known[:, 0] - known[:, 3] == pytest.approx(found.equities[:, 0], abs=2e-6)


@pytest.mark.slow
def test_money_is_exact_where_the_tables_know_the_cube(tables: BearoffTables) -> None:
    """One roll ahead of positions that the tables don't cover for money, and in positions that they do."""
    positions = few(40, 14)
    known = [tables.money(board) for board in boards_of(positions)]
    for owner in Owner:
        state = MatchState(Position.start(), cube=2 if owner is not Owner.CENTRED else 1, owner=owner)
        cubes = DecisionCubes.of(state, tables.columns)
        expected = [[it.no_double(owner), it.double_take] for it in known if it]
        for plies in (0, 1):
            found = new_lookahead(NO_FILTERS, NetworkEvaluator("toy", toy_network(), tables.columns)).no_double_values(
                cubes, 0, (cubes.start, CubeLine(1, THEIRS)), boards_of(positions), plies
            )
            assert np.array(expected) == pytest.approx(found.equities, abs=1e-5)
        blind = _Blind.of(state, tables.columns)
        ahead = Lookahead(Reached(tables), toy_pruner(), NO_FILTERS, 1024).no_double_values(
            blind, 0, (cubes.start, CubeLine(1, THEIRS)), boards_of(positions), 1
        )
        assert np.array(expected) == pytest.approx(ahead.equities, abs=1e-5)


class _Blind(DecisionCubes):
    """Looks ahead even from where all is known: what the tables say one roll on must give what they say here."""

    def are_final(self, boards: Boards) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.asarray((boards <= 0).all(axis=1) | (boards >= 0).all(axis=1))


def test_the_owner_of_a_cube_that_wins_the_match_has_no_use_for_it() -> None:
    state = MatchState(Position.start(), length=3, score=(1, 0), cube=2, owner=Owner.PLAYER)
    cubes = DecisionCubes.of(state, NO_TABLES)
    assert not cubes.may_double(0, CubeLine(0, OWNED))
    assert (CubeLine(0, OWNED),) == cubes.lines_when_rolling(0, (CubeLine(0, OWNED),))
