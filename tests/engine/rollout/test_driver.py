"""Whole rollouts: in processes, stopped, continued."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fibsbot.engine.engine import Engine
from fibsbot.engine.rollout import (
    RolloutError,
    RolloutPlan,
    RolloutResult,
    cube_candidates,
    play_candidates,
    position_candidate,
    rollout,
)
from fibsbot.engine.rollout.driver import standard_error
from fibsbot.match import MatchState
from fibsbot.position import Play, Position
from fibsbot.workers.pool import InProcessPool, LocalPool
from fibsbot.workers.processes import THREAD_VARIABLES
from tests.engine.toy_engines import pip_engine

RACE = Position.from_sides(own=[0, 2, 0, 2, 0, 2] + [0] * 19, opponent=[0, 0, 0, 4, 1, 1] + [0] * 19)
ACTIONS = cube_candidates(MatchState(RACE, length=7))
PLAN = RolloutPlan(trials=108, truncated=6, min_trials=36)


def trials(result: RolloutResult) -> list[list[list[float]]]:
    return [rolled.trials.tolist() for rolled in result.results]


def no_engine() -> Engine:
    raise OSError("there is\nnone")


@pytest.mark.slow
def test_neither_the_number_of_jobs_nor_a_stop_in_between_shows_in_the_result(tmp_path: Path) -> None:
    shown: list[int] = []
    alone = rollout(
        pip_engine, ACTIONS, PLAN, pool=LocalPool(1), on_progress=lambda it: shown.append(it.results[0].count)
    )
    assert [36, 72, 108] == shown
    assert [108, 108] == [rolled.count for rolled in alone.results]

    file = tmp_path / "kept.jsonl"
    together = rollout(pip_engine, ACTIONS, PLAN, pool=LocalPool(2), file=file)
    assert trials(alone) == trials(together)

    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:2]) + lines[2][:50])  # killed in the middle of a line
    resumed = rollout(pip_engine, ACTIONS, PLAN, pool=LocalPool(2), file=file)
    assert trials(alone) == trials(resumed)
    assert len(lines) == len(file.read_text().splitlines())

    longer = rollout(no_engine, ACTIONS, PLAN, file=file)  # nothing is left to play
    assert trials(alone) == trials(longer)


@pytest.mark.slow
def test_it_stops_when_enough_is_known() -> None:
    exact = rollout(
        pip_engine, ACTIONS, RolloutPlan(trials=720, truncated=4, stop_at_error=0.02, min_trials=36), pool=LocalPool(1)
    )
    assert all(rolled.error <= 0.05 for rolled in exact.results)
    assert exact.results[0].count < 720
    clear = rollout(
        pip_engine,
        ACTIONS,
        RolloutPlan(trials=720, truncated=4, stop_at_deviations=2.0, min_trials=72),
        pool=LocalPool(2),
    )
    other = min(clear.results, key=lambda it: it.equity)
    by, error = clear.behind(other)
    assert clear.results[0].count < 720
    assert by > 2 * error


@pytest.mark.slow
def test_an_engine_that_cannot_be_made_is_reported_in_a_line() -> None:
    with pytest.raises(RolloutError, match="the engine cannot be made: there is none"):
        rollout(no_engine, ACTIONS, PLAN, pool=LocalPool(1))


def killed() -> Engine:
    """End this process as the system does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.mark.slow
def test_a_process_that_dies_ends_the_rollout() -> None:
    with pytest.raises(RolloutError, match="a process of the rollout was killed by signal 9"):
        rollout(killed, ACTIONS, PLAN, pool=LocalPool(2))
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_an_interrupt_leaves_no_process_behind_and_keeps_what_was_played(tmp_path: Path) -> None:
    def interrupt(_: RolloutResult) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "kept.jsonl"
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    with pytest.raises(KeyboardInterrupt):
        rollout(pip_engine, ACTIONS, PLAN, pool=LocalPool(1), file=file, on_progress=interrupt)
    assert not multiprocessing.active_children()
    assert before == {name: os.environ.get(name) for name in THREAD_VARIABLES}
    assert 2 <= len(file.read_text().splitlines())


def header(file: Path, **changes: object) -> None:
    """Write a file of this rollout, with changes."""
    with pytest.raises(RolloutError, match="cannot be made"):
        rollout(no_engine, ACTIONS, PLAN, pool=LocalPool(1), file=file)
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | changes) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 2}, "found one with other seed"),
        ({"engine": "x", "truncated": 7}, "found one with other engine, truncated"),
        ({"states": "0"}, "found one with other states"),
    ],
)
def test_a_file_of_another_rollout_is_refused(tmp_path: Path, changes: dict[str, object], told: str) -> None:
    file = tmp_path / "kept.jsonl"
    header(file, **changes)
    with pytest.raises(RolloutError, match=told):
        rollout(no_engine, ACTIONS, PLAN, file=file)


@pytest.mark.parametrize("text", ["nothing\n", "[1, 2]\n", "no line", "\n", "\x00" * 10 + "\n", "[" * 100_000 + "\n"])
def test_a_file_that_is_no_rollout_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other"
    file.write_text(text)
    with pytest.raises(RolloutError, match="expected a rollout, found something else"):
        rollout(no_engine, ACTIONS, PLAN, file=file)
    assert text == file.read_text(), "it is somebody else's"


@pytest.mark.slow
@pytest.mark.parametrize("line", ['{"block": 0}', '{"block": -1, "trials": []}', '{"block": 0, "trials": [[1]]}', "x"])
def test_a_damaged_block_is_reported_with_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "kept.jsonl"
    header(file)
    with file.open("a") as more:
        more.write(f"{line}\n")
    with pytest.raises(RolloutError, match="line 2: expected a block of 36 games"):
        rollout(no_engine, ACTIONS, PLAN, file=file)


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RolloutError, match="cannot keep the rollout in"):
        rollout(no_engine, ACTIONS, PLAN, file=tmp_path / "no" / "kept")


def test_plans_that_are_none_are_refused() -> None:
    for games, truncated in ((0, None), (-50, None), (36, 0)):
        with pytest.raises(ValueError, match="expected"):
            RolloutPlan(games, truncated)
    with pytest.raises(RolloutError, match="at least one candidate"):
        rollout(no_engine, (), PLAN)
    assert 144 == RolloutPlan(trials=110).trials, "blocks are whole"
    assert "position" == position_candidate(MatchState(RACE))[0].name


def test_a_single_game_says_nothing_about_the_error() -> None:
    assert [np.inf] == standard_error(np.zeros((1, 1))).tolist()
    assert [1.0] == standard_error(np.array([[0.0], [2.0]])).tolist()


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"stop_at_error": 0}, {"stop_at_deviations": float("nan")}])
def test_a_plan_that_could_not_be_followed_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected (a seed from 0|to stop at an error, or at deviations, above 0)"):
        RolloutPlan(**wrong)


def test_the_impossible_is_not_rolled_out() -> None:
    crowded = MatchState(Position.from_sides([16, *[0] * 24], [2, *[0] * 24]))
    with pytest.raises(ValueError, match="expected a possible position, got one with TOO_MANY_CHECKERS"):
        rollout(pip_engine, position_candidate(crowded), PLAN, pool=InProcessPool())
    with pytest.raises(ValueError, match="expected plays that can be made, got 23/20"):
        play_candidates(MatchState(Position.start(), dice=(3, 1)), [Play.of((23, 20))], ["a"])
