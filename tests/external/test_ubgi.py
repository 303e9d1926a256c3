"""Ours as a UBGI engine: it answers what it understands, is sorry for the rest, and never dies of it."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from fibsbot import __version__
from fibsbot.external import UbgiEngine, serve_ubgi
from fibsbot.match import MatchState, Phase
from fibsbot.notation import Xgid
from fibsbot.position import Position
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.child_process.wire_format import board_line
from fibsbot.strategies.random_play import RandomStrategy
from tests.hypothesis_strategies import match_states
from tests.patience import SOON

START = MatchState(Position.start(), length=5)
OPENING = str(Xgid.of(evolve(START, phase=Phase.MOVE, dice=(3, 1))))
BOARD = board_line(START)


def engine(made: list[Strategy] | None = None) -> UbgiEngine:
    """Return an engine that plays at random; loaded strategies are added to the list."""

    def load() -> Sequence[Strategy]:
        strategies = [RandomStrategy(1)]
        (made if made is not None else []).extend(strategies)
        return strategies

    return UbgiEngine(load)


def said(told: bytes) -> list[str]:
    """Return the output of an engine for an input."""
    target = io.BytesIO()
    serve_ubgi(engine(), io.BytesIO(told), target)
    return target.getvalue().decode().splitlines()


def test_it_introduces_itself_and_loads_nothing_before() -> None:
    made: list[Strategy] = []
    ours = engine(made)
    assert [] == made
    assert ["id name fibsbot random", "id author the authors of fibsbot", f"id version {__version__}", "readyok"] == (
        ours.answers("ubgi")
    )
    assert [] == ours.answers("stop")
    assert 1 == len(made)
    ours.close()


def test_positions_are_answered_with_or_without_a_greeting() -> None:
    first, second = said(f"{OPENING}\n{BOARD}\n".encode())
    assert len(first.split()) == 2
    assert second in {"roll", "double"}


def test_if_no_checker_can_move_the_answer_is_a_blank_line() -> None:
    closed = Position((0, *(0,) * 17, -3, -2, -2, -2, -2, -2, -2, 15))
    assert [""] == said(f"{Xgid.of(MatchState(closed, phase=Phase.MOVE, dice=(6, 1)))}\n".encode())


@given(match_states(resignations=False))
def test_xgid_and_raw_board_are_both_understood(state: MatchState) -> None:
    for position in (str(Xgid.of(state)), board_line(state)):
        (answer,) = engine().answers(position)
        assert "sorry" != answer


@pytest.mark.parametrize(
    "line",
    ["hello", "XGID=", "board:", "isready", "roll", OPENING[:-3], BOARD + ":1", BOARD.replace(":1:1:0:1:-1:", ":x:")],
)
def test_invalid_lines_are_answered_by_sorry(line: str) -> None:
    assert ["sorry"] == engine().answers(line)


def test_a_finished_game_is_answered_by_sorry() -> None:
    over = Position((0, *(0,) * 23, 1, 0)).swapped()
    assert ["sorry"] == engine().answers(str(Xgid(over, 0, 0, 1, "00", 0, 0, 0, 5)))


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@example(b"ubgi\nquit\nubgi\n")
@example(b"\0\n\xff\xfe\n\r\n")
def test_every_line_is_answered_by_one_line(told: bytes) -> None:
    lines = told.split(b"\n")
    assert len(said(told)) <= 4 * len(lines)


@given(st.text(alphabet=OPENING + BOARD, min_size=1, max_size=200))
def test_garbled_positions_are_answered_by_a_line(garbled: str) -> None:
    for line in (f"XGID={garbled}", f"board:{garbled}", OPENING[: len(garbled)] + garbled):
        assert 1 == len(engine().answers(line))


def test_a_line_that_is_too_long_is_answered_by_one_sorry() -> None:
    assert ["sorry", "sorry"] == said(b"x" * 1_000_000 + b"\nhello\n" + b"x" * 50)[:2]


def test_quit_and_the_end_of_the_input_end_it() -> None:
    assert [] == said(b"quit\nhello\n")
    assert [] == said(b"")


@pytest.mark.slow
def test_the_command_answers_as_a_process_and_ends_with_quit() -> None:
    run = [sys.executable, "-m", "fibsbot", "ubgi", "--strategy", "random", "--verbose"]
    done = subprocess.run(
        run, input=f"ubgi\n{OPENING}\nhello\nquit\n", capture_output=True, text=True, timeout=SOON, check=True
    )
    *_, ready, play, sorry = done.stdout.splitlines()
    assert ("readyok", "sorry") == (ready, sorry)
    assert play
    assert "expected an XGID of 10 fields" in done.stderr


@pytest.mark.slow
def test_the_command_reports_a_wrong_strategy() -> None:
    run = [sys.executable, "-m", "fibsbot", "ubgi", "--strategy", "nobody"]
    done = subprocess.run(run, input="ubgi\n", capture_output=True, text=True, timeout=SOON, check=False)
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("fibsbot: no strategy is called 'nobody'")
    assert 1 == len(done.stderr.splitlines())


@pytest.mark.slow
def test_a_closed_output_is_no_error() -> None:
    run = [sys.executable, "-m", "fibsbot", "ubgi", "--strategy", "random"]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"ubgi\n" * 3)
        process.stdin.close()
        assert b"" == process.stderr.read()
        assert 0 == process.wait(SOON)
