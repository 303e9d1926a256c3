"""The boards that gnubg sends to an external player are understood; all but the faults were recorded from 1.07.001."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.external import state_of_board
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Position

OPENING = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
RACE = "0:0:2:2:3:3:3:2:0:0:0:0:0:0:0:0:0:0:0:-3:-2:-2:-3:-3:-2:0"
START = Position.start()


def cells(text: str) -> Position:
    """Return the position of 26 cells as they stand."""
    return Position(tuple(map(int, text.split(":"))))


@pytest.mark.parametrize(
    ("line", "state"),
    [
        pytest.param(
            f"board:gnubg:root:7:2:5:{OPENING}:1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(START, length=7, score=(5, 2), phase=Phase.MOVE, dice=(3, 1)),
            id="player 1 has to move",
        ),
        pytest.param(
            f"board:gnubg:root:7:2:5:{OPENING}:-1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(START, length=7, score=(2, 5), phase=Phase.MOVE, dice=(3, 1)),
            id="player 0 has to move",
        ),
        pytest.param(
            f"board:gnubg:root:7:2:5:{OPENING}:-1:1:2:1:2:2:1:0:0:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(START, length=7, score=(2, 5), cube=2, owner=Owner.OPPONENT, phase=Phase.MOVE, dice=(1, 2)),
            id="player 0 has to move, player 1 owns the cube",
        ),
        pytest.param(
            f"board:gnubg:root:7:6:5:{OPENING}:1:1:2:1:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0",
            MatchState(START, length=7, score=(5, 6), crawford=True, phase=Phase.MOVE, dice=(1, 2)),
            id="the Crawford game",
        ),
        pytest.param(
            f"board:gnubg:root:7:6:5:{OPENING}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:1:1",
            MatchState(START, length=7, score=(5, 6), post_crawford=True),
            id="after the Crawford game player 1 may double",
        ),
        pytest.param(
            f"board:root:gnubg:7:0:0:{RACE}:-1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(cells(RACE), length=7, phase=Phase.DOUBLED),
            id="player 0 has doubled",
        ),
        pytest.param(
            f"board:root:gnubg:7:3:1:{RACE}:1:0:0:0:0:2:1:0:1:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(
                cells(RACE).swapped(), length=7, score=(1, 3), cube=2, owner=Owner.OPPONENT, phase=Phase.DOUBLED
            ),
            id="player 1 has redoubled",
        ),
        pytest.param(
            f"board:P0:P1:0:0:0:{OPENING}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(START, jacoby=True),
            id="an unlimited match",
        ),
        pytest.param(
            f"board:P0:P1:0:0:0:{OPENING}:1:0:0:0:0:2:0:1:1:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(START, cube=2, owner=Owner.PLAYER, phase=Phase.DOUBLED, jacoby=True),
            id="player 0 has beavered the double of player 1",
        ),
        pytest.param(
            "board:gnubg:root:3:0:0:0:-1:0:0:0:0:6:1:-1:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:1"
            ":1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(cells("0:-1:0:0:0:0:6:1:-1:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:1"), length=3),
            id="a checker on the bar",
        ),
        pytest.param(
            "board:gnubg:root:7:0:0:0:0:-13:-1:-1:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:1:0"
            ":1:5:2:5:2:1:1:1:0:1:-1:0:25:14:0:0:0:0:0:0:1",
            MatchState(cells("0:0:-13:-1:-1:" + "0:" * 19 + "1:0"), length=7, phase=Phase.MOVE, dice=(5, 2)),
            id="checkers borne off",
        ),
    ],
)
def test_a_recorded_board_is_understood(line: str, state: MatchState) -> None:
    assert state == state_of_board(line)
    assert state == state_of_board(f"\0{line}\r\n\0")


def test_the_jacoby_rule_is_what_we_say() -> None:
    line = f"board:P0:P1:0:0:0:{OPENING}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1"
    assert not state_of_board(line, jacoby=False).jacoby


@pytest.mark.parametrize(
    "line",
    [
        "",
        "board",
        "board:a:b",
        "roll",
        "evaluation fibsboard",
        f"board:a:b:7:0:0:{OPENING}:0:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"board:a:b:7:0:0:{OPENING}:5:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"board:a:b:7:0:0:{OPENING}:1:7:1:7:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"board:a:b:7:0:0:{OPENING}:1:0:0:0:0:7:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"board:a:b:7:0:0:{OPENING.replace('5', '9')}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"board:a:b:-7:0:0:{OPENING}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"board:a:b:7:0:0:{OPENING}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:x",
        f"board:a:b:7:0:0:{'0:' * 25}0:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
    ],
)
def test_what_is_no_board_of_gnubg_is_refused_in_one_line(line: str) -> None:
    with pytest.raises(ValueError, match=r"expected|negative") as caught:
        state_of_board(line)
    assert 1 == len(str(caught.value).splitlines())


@given(st.lists(st.integers(-20, 20), min_size=50, max_size=50))
def test_any_numbers_are_a_decision_or_refused(numbers: list[int]) -> None:
    try:
        state = state_of_board(f"board:a:b:{':'.join(map(str, numbers))}")
    except ValueError:
        return
    assert state.position.status().value == 0


@given(st.text(max_size=200))
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        state_of_board(f"board:{text}")
