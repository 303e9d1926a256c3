"""UBGI engines as strategies: one that fails costs a decision and its deadline, and is not left behind."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve

from fibsbot.config.checks import check as check_config
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.child_process.engine_process import EngineError, EngineTimeoutError, NotReadyError
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.loader import StrategyError, check, load
from fibsbot.strategies.ubgi import UbgiProcess, UbgiStrategy
from tests.engines import descendants, fake, gone, play_whole_matches
from tests.patience import SOON

OURS: Final = f"{shlex.quote(sys.executable)} -m fibsbot ubgi --strategy"
pytestmark = pytest.mark.slow

START: Final = MatchState(Position.start(), length=5)
DEADLINE: Final = 0.6


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    before = descendants()
    yield
    assert gone(*(descendants() - before))


def asked(strategy: UbgiStrategy) -> float:
    """Ask a question that fails; return the seconds that it took."""
    began = time.monotonic()
    with pytest.raises(EngineError):
        strategy.offer_double(START)
    return time.monotonic() - began


def test_a_strategy_without_a_command_or_program_is_refused() -> None:
    with pytest.raises(StrategyError, match="expected a command after the name: ubgi:COMMAND"):
        load("ubgi")
    with pytest.raises(StrategyError, match="there is no program called 'no-such-engine'"):
        load("ubgi:no-such-engine --plies 2")
    with pytest.raises(StrategyError, match="No closing quotation"):
        load("ubgi:sh 'x")


def test_the_command_is_run_without_a_shell(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    strategy = UbgiStrategy(f"{fake(tmp_path, 'answers')} ; touch '{trap}' $(touch '{trap}')")
    assert CubeAction.ROLL is strategy.offer_double(START).action
    strategy.close()
    assert not trap.exists()


@pytest.mark.parametrize(
    "mode",
    [
        "dies-at-start",
        "dies-when-greeted",
        "dies-when-ready",
        "dies-when-asked",
        "hangs-at-start",
        "hangs-when-asked",
        "floods-at-start",
        "floods-when-asked",
        "greets-without-end",
        "writes-without-end",
        "closes-its-output",
        "answers-garbage",
        "is-sorry",
    ],
)
def test_no_failure_of_an_engine_costs_more_than_the_deadline(tmp_path: Path, mode: str) -> None:
    strategy = UbgiStrategy(fake(tmp_path, mode), deadline=DEADLINE)
    assert asked(strategy) < DEADLINE + 20
    assert asked(strategy) < DEADLINE + 20
    strategy.close()
    strategy.close()


def test_the_error_has_exit_status_and_stderr_of_the_engine(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "dies-when-asked"))
    with pytest.raises(EngineError, match=r"ended \(exit status 5: out of memory\)"):
        strategy.offer_double(START)
    strategy.close()


def test_an_engine_that_keeps_failing_is_restarted_after_a_pause(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "dies-at-start"))
    for _ in range(2):
        asked(strategy)
    with pytest.raises(EngineError, match="has failed, and is started again in 1 s"):
        strategy.offer_double(START)
    strategy.close()


def test_an_engine_that_died_is_started_again_for_the_next_decision(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "once", f"'{tmp_path / 'died'}'"))
    asked(strategy)
    assert CubeAction.ROLL is strategy.offer_double(START).action
    strategy.close()


def test_no_decision_is_lost_if_an_engine_is_killed_between_two(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "answers"))
    for _ in range(3):
        before = descendants()
        assert CubeAction.ROLL is strategy.offer_double(START).action
        started = descendants() - before
        for pid in started:
            os.kill(pid, signal.SIGKILL)
        assert gone(*started)
    strategy.close()


def test_an_engine_that_starts_slowly_may_start_over_several_decisions(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "starts-slowly", f"'{tmp_path / 'never'}'"), deadline=0.05)
    before = descendants()
    started: set[int] = set()
    for _ in range(5):
        with pytest.raises(NotReadyError, match="is not ready yet"):
            strategy.offer_double(START)
        started = started or descendants() - before
    assert started
    assert started <= descendants(), "it was started again"
    strategy.close()


@pytest.mark.parametrize("answers", [True, False])
def test_an_engine_that_gets_ready_late_is_not_ended(tmp_path: Path, *, answers: bool) -> None:
    begin, go_on = tmp_path / "begin", tmp_path / "go on"
    engine = UbgiProcess(shlex.split(fake(tmp_path, "starts-slowly", f"'{begin}'", f"'{go_on}'")), 0.0)
    begin.touch()
    told = "is not ready yet"
    while told == "is not ready yet":
        with pytest.raises(NotReadyError) as late:
            engine.ask("", time.monotonic() + 0.2)
        told = str(late.value)
    assert "started during this decision, and gave no answer in the time left" == told
    if answers:
        go_on.touch()
        assert "roll" == engine.ask("", time.monotonic() + SOON), "the answer to the first question is not taken for it"
    else:
        with pytest.raises(EngineTimeoutError):
            engine.ask("", time.monotonic() + 0.2)
    engine.close()


def test_unread_output_and_stderr_do_not_block_the_engine(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "chatters"))
    with contextlib.suppress(EngineError):  # what was said before the question may come after it
        strategy.offer_double(START)
    assert CubeAction.ROLL is strategy.offer_double(START).action
    strategy.close()


def test_an_engine_that_does_not_read_xgid_is_sent_boards(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "reads-boards-only"))
    for _ in range(2):
        assert CubeAction.ROLL is strategy.offer_double(START).action
    strategy.close()


def test_an_engine_that_does_not_quit_is_killed(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "ignores-quit"))
    strategy.offer_double(START)
    began = time.monotonic()
    strategy.close()
    assert time.monotonic() - began < SOON


def test_the_children_of_an_engine_end_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    strategy = UbgiStrategy(fake(tmp_path, "leaves-a-child", f"'{note}'"))
    strategy.offer_double(START)
    pids = list(map(int, note.read_text().split()))
    strategy.close()
    assert gone(*pids)


def test_an_engine_ends_when_we_are_killed(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    script = (
        "import sys, time; from fibsbot.match import *; from fibsbot.position import *\n"
        "from fibsbot.strategies.ubgi import UbgiStrategy\n"
        "strategy = UbgiStrategy(sys.argv[1])\n"
        "strategy.offer_double(MatchState(Position.start(), length=5))\n"
        "print('asked', flush=True); time.sleep(3600)"
    )
    command = fake(tmp_path, "leaves-a-child", f"'{note}'")
    with subprocess.Popen([sys.executable, "-c", script, command], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert b"asked\n" == parent.stdout.readline()
        pids = list(map(int, note.read_text().split()))
        parent.kill()
    assert gone(*pids)


def test_an_engine_ends_when_its_strategy_is_garbage_collected(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    strategy = UbgiStrategy(fake(tmp_path, "leaves-a-child", f"'{note}'"))
    strategy.offer_double(START)
    del strategy
    assert gone(*map(int, note.read_text().split()))


def test_decisions_without_words_in_ubgi_are_made_by_heuristic(tmp_path: Path) -> None:
    strategy, heuristic = UbgiStrategy(fake(tmp_path, "answers-garbage")), HeuristicStrategy()
    resigned = evolve(START, phase=Phase.RESIGNED, resignation=1)
    assert heuristic.accept_resignation(resigned) == strategy.accept_resignation(resigned)
    assert 0 == strategy.resign(START)
    strategy.close()


def test_an_illegal_play_is_an_error(tmp_path: Path) -> None:
    strategy = UbgiStrategy(fake(tmp_path, "answers"))
    moving = evolve(START, phase=Phase.MOVE, dice=(3, 1))
    with pytest.raises(EngineError, match="expected a play such as 24/18 13/11, got 'roll'"):
        strategy.choose_play(moving, legal_plays(moving.position, (3, 1)))
    strategy.close()


def test_a_strategy_of_the_configuration_may_be_an_engine(tmp_path: Path) -> None:
    path = tmp_path / "fibsbot.toml"
    (tmp_path / "secret").write_text("towel")
    text = f'[[account]]\nname = "ford"\npassword_file = "{tmp_path / "secret"}"\n[bot]\nstrategy = "ubgi:%s"\n'
    path.write_text(text % f"{OURS} random")
    assert () == check_config(path).problems
    path.write_text(text % "no-such-engine")
    (problem,) = check_config(path).problems
    assert "there is no program called 'no-such-engine'" in problem.got


def test_our_strategy_plays_whole_matches_against_our_own_engine() -> None:
    ubgi = load(f"ubgi:{OURS} random")
    assert () == check(ubgi)
    play_whole_matches(ubgi, 5, 6)
    ubgi.close()
