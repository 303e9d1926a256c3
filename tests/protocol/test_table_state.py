"""A `table:` line is read as it was written; one that contradicts itself is refused with its reason; none raises."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import messages as m
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.grammar import parse
from fibs_protocol.session import Session, State
from fibs_protocol.table_state import TOKENS, SideState, TableCourse, TablePlayer, TableStage, TableState
from fibs_protocol.words import YOU, Colour, TableNaming
from tests.examples import more_examples
from tests.protocol.message_examples import PRINTABLE, tables

START = SideState((*[0] * 24, 15, 0))
TABLE = TableState(
    player=YOU,
    opponent="bob",
    game="plakoto:exception",
    course=TableCourse.CONTRARY,
    length=3,
    score=1,
    opponent_score=0,
    colour=Colour.X,
    stage=TableStage.MOVE,
    turn=TablePlayer.PLAYER,
    decides=TablePlayer.PLAYER,
    dice=(4, 2),
    rolls=1,
    todo=("42",),
    passed=False,
    naming=None,
    choices=(),
    cube=1,
    offered=0,
    resignation=0,
    may_double=False,
    opponent_may_double=False,
    side=START,
    opponent_side=START,
)


def test_the_tokens_have_the_order_of_the_documentation() -> None:
    row = ":".join(["0"] * 24 + ["15", "0"] + ["-", "0", "0", "-", "0", "-"])
    line = f"table:You:bob:plakoto+exception:contrary:3:1:0:X:move:player:player:42:1:42:0:-:-:1:0:0:0:0:{row}:{row}"
    assert line == TABLE.to_line()
    assert len(line.split(":")) == TOKENS
    assert m.TableBoard(TABLE) == parse(line)


@pytest.mark.parametrize("course", TableCourse)
def test_each_point_has_one_number_on_either_side(course: TableCourse) -> None:
    points = [course.facing(point) for point in range(1, 25)]
    assert list(range(1, 25)) == sorted(points) == [course.facing(point) for point in points]


def test_a_side_with_too_few_counts_is_not_written() -> None:
    short = attrs.evolve(TABLE, side=attrs.evolve(START, row=START.row[1:]))
    with pytest.raises(LocalProtocolError):
        short.to_line()


@pytest.mark.parametrize("cube", [-1, 0, 3, 6])
def test_a_cube_that_shows_no_power_of_two_is_refused(cube: int) -> None:
    assert f"expected a power of two on the cube, got {cube}" == attrs.evolve(TABLE, cube=cube).flaw()


@more_examples(2.5)
@given(tables(), st.data())
def test_a_damaged_line_is_refused_or_read_but_never_raises(table: TableState, data: st.DataObject) -> None:
    tokens = table.to_line().split(":")
    place = data.draw(st.integers(1, len(tokens) - 1))
    tokens[place] = data.draw(st.text(PRINTABLE, max_size=6) | st.integers(-9, 99999).map(str))
    read = parse(":".join(tokens))
    assert isinstance(read, m.TableBoard | m.RefusedBoard)
    if isinstance(read, m.TableBoard):
        assert read == parse(read.state.to_line())


@pytest.mark.parametrize(
    ("reason", "changes"),
    [
        ("expected a length above 0, got 0", {"length": 0}),
        ("expected a power of two on the cube, got 3", {"cube": 3}),
        ("expected equally many checkers a side, got 15 and 3", {"opponent_side": SideState((*[0] * 24, 3, 0))}),
        (
            "expected checkers of one side on point 24, got both",
            {"opponent_side": SideState((0, 1, *[0] * 22, 14, 0))},
        ),
        (
            "expected a pinned checker under another one on point 3",
            {"opponent_side": SideState((0, 0, 0, 1, *[0] * 20, 14, 0), pinned=(3,))},
        ),
        ("expected at most 0 checkers that were hit, got 1", {"side": attrs.evolve(START, hit=1)}),
        ("expected a player on turn in stage move", {"turn": None}),
        ("expected a player on turn in stage over", {"stage": TableStage.OVER}),
        ("expected a player who decides in stage move", {"decides": None}),
        ("expected a part to be played in stage move", {"todo": ("roll",)}),
        ("expected a part to be played in stage roll", {"stage": TableStage.ROLL}),
        ("expected dice in stage move", {"dice": ()}),
        ("expected no dice in stage roll", {"stage": TableStage.ROLL, "todo": ()}),
        ("expected something to name in stage name", {"stage": TableStage.NAME, "todo": ()}),
        ("expected choices in stage move", {"choices": (3,)}),
        (
            "expected choices in stage name",
            {"stage": TableStage.NAME, "todo": (), "naming": TableNaming.DOUBLE},
        ),
        ("expected an offered cube in stage doubled", {"stage": TableStage.DOUBLED, "todo": (), "dice": ()}),
        ("expected no offered cube in stage move", {"offered": 4}),
    ],
)
def test_a_contradiction_is_refused_with_its_reason(reason: str, changes: dict[str, Any]) -> None:
    flawed = attrs.evolve(TABLE, **changes)
    assert reason == flawed.flaw()
    with pytest.raises(LocalProtocolError, match=reason):
        flawed.to_line()


WAITS: dict[str, Any] = {"dice": (), "todo": ()}


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        (State.MY_MOVE, {}),
        (State.MY_ROLL, {"stage": TableStage.ROLL, **WAITS}),
        (State.THEIR_TURN, {"turn": TablePlayer.OPPONENT, "decides": TablePlayer.OPPONENT}),
        (State.MY_NAMING, {"stage": TableStage.NAME, "todo": (), "naming": TableNaming.POINT, "choices": (6,)}),
        (State.THEY_DOUBLED, {"stage": TableStage.DOUBLED, "offered": 2, **WAITS}),
        (State.I_DOUBLED, {"stage": TableStage.DOUBLED, "offered": 2, "decides": TablePlayer.OPPONENT, **WAITS}),
        (State.THEY_RESIGNED, {"resignation": 1}),
        (State.I_RESIGNED, {"resignation": 1, "decides": TablePlayer.OPPONENT}),
        (State.BETWEEN_GAMES, {"stage": TableStage.OVER, "turn": None, "decides": None, **WAITS}),
        (State.LOBBY, {"player": "ann"}),
    ],
)
def test_a_table_of_our_match_says_what_it_waits_for(state: State, changes: dict[str, Any]) -> None:
    session = Session()
    session.state = State.LOBBY
    assert state is session.server_says(m.TableBoard(attrs.evolve(TABLE, **changes)))
