"""`fibsbot rollout`: what is told of results, and rollouts that are really played, stopped and taken up again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from fibsbot.cli import EXIT_INTERRUPTED, EXIT_USAGE
from fibsbot.cli.rolling import running_result
from fibsbot.cli.rollout_output import RolloutOutput
from fibsbot.engine.rollout import (
    Candidate,
    CandidateResult,
    RolloutPlan,
    RolloutResult,
    cube_candidates,
    play_candidates,
    rollout,
)
from fibsbot.match import MatchState
from fibsbot.notation import parse_play, parse_state
from fibsbot.position import Position
from tests.cli.engine.runner import HOLDING, START, Asking, check
from tests.patience import SOON

QUICK = ("--truncate", "2", "--trials", "36", "--jobs", "1")


def rolled(candidate: Candidate, worth: float, games: int = 72) -> CandidateResult:
    """Return games that are worth so much on average."""
    scatter = np.linspace(-0.3, 0.3, games)[:, None] * (1, 0.5, 0.1, -1, -0.4, -0.1, 2)
    win = 0.5 + worth / 3
    return CandidateResult(candidate, np.array((win, win / 4, 0.01, 1 - win, (1 - win) / 4, 0.01, worth)) + scatter)


def of_plays(state: MatchState, plan: RolloutPlan, *, finished: bool = True) -> RolloutOutput:
    """Return the sheet of two plays of a 3-1, the second one better."""
    names = ["24/23 13/10", "8/5 6/5"]
    plays = [parse_play(name, state.position, (3, 1)) for name in names]
    candidates = play_candidates(state, plays, names)
    result = RolloutResult(plan, (rolled(candidates[0], -0.02), rolled(candidates[1], 0.15)), 12.34)
    return RolloutOutput(state, result, cube=False, finished=finished)


def text(sheet: RolloutOutput) -> str:
    return "\n".join(sheet.lines()) + "\n"


def test_plays_stand_with_the_best_first() -> None:
    state = parse_state("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10")
    check("rollout_plays", text(of_plays(state, RolloutPlan(trials=72, truncated=7, cubeful=False))))
    check("rollout_stopped", text(of_plays(evolve(state, length=5), RolloutPlan(trials=1296, stop_at_error=0.1))))
    check("rollout_interrupted", text(of_plays(state, RolloutPlan(trials=1296), finished=False)))


def test_a_cube_decision_has_a_verdict() -> None:
    state = parse_state(f"{HOLDING}:0:0:1:00:3:4:0:7:10")
    no_double, double_take = cube_candidates(state)
    result = RolloutResult(RolloutPlan(trials=72), (rolled(no_double, 0.3), rolled(double_take, 0.2)), 3.0)
    sheet = RolloutOutput(state, result, cube=True, finished=True)
    check("rollout_cube", text(sheet))
    row = sheet.row()
    assert ("No double, take", "roll", "take") == (row["verdict"].partition(" (")[0], row["action"], row["answer"])
    assert 1 == row["double_pass"]["equity"]


def test_what_is_best_so_far_is_told_in_a_few_words() -> None:
    state = parse_state("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10")
    assert running_result(of_plays(state, RolloutPlan()).result).startswith("8/5 6/5 +0.1500 ± ")


def test_the_better_play_loses_nothing() -> None:
    state = parse_state("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10")
    best, other = of_plays(state, RolloutPlan()).row()["candidates"]
    assert ("8/5 6/5", 0, 0) == (best["name"], best["loss"], best["loss_error"])
    assert 0.17 == pytest.approx(other["loss"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["rubbish"], "expected an XGID, a PositionID:MatchID or a PositionID of 14 characters"),
        ([START, "--plays", "2"], "expected a position with dice, or --dice, for --plays"),
        ([START, "--cube-decision", "--dice", "31"], "expected --cube-decision, or --dice, --plays and --within"),
        ([START, "--within", "0.1"], "expected a position with dice, or --dice, for --plays and --within"),
        ([], "expected a POSITION, or --openings"),
        (
            ["--openings", "--dice", "31"],
            "expected --openings, or one position with --dice or --cube-decision, got both",
        ),
        (["--openings", f"{HOLDING}:1:-1:1:00:0:0:0:0:10"], "expected the opening position for --openings"),
        (["--openings", "--output", "pyproject.toml"], "expected a folder for --output, got pyproject.toml"),
        (["--openings", "--output", "/dev/null/x"], "cannot make the folder /dev/null/x: Not a directory"),
        ([START, "--output", "tests"], "expected a file for --output, got tests"),
        ([START, "--cube-decision", "--cubeless"], "expected a cube decision or --cubeless, got both"),
        (
            [f"{HOLDING}:1:-1:1:00:0:0:0:0:10", "--cube-decision"],
            "expected a cube that the player may turn and can use",
        ),
        ([START, "--trials", "0"], "'--trials'"),
    ],
)
def test_errors_are_reported_in_one_line(ask: Asking, arguments: list[str], text: str) -> None:
    result = ask("rollout", *arguments)
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr


@pytest.mark.slow
def test_a_rollout_goes_on_from_its_file(ask: Asking, tmp_path: Path) -> None:
    out = ("--output", str(tmp_path / "rollout.jsonl"))
    words = ("rollout", START, "--dice", "31", "--plays", "2", *QUICK, *out, "--json")
    first = json.loads(ask.text(*words))
    again = json.loads(ask.text(*words, "--trials", "72"))
    assert (36, 72) == (first["games"], again["games"])
    whole = json.loads(ask.text("rollout", START, "--dice", "31", "--plays", "2", *QUICK, "--trials", "72", "--json"))
    assert whole["candidates"] == again["candidates"]
    other = ask("rollout", START, "--dice", "42", *QUICK, *out)
    assert EXIT_USAGE == other.exit_code
    assert "expected the same rollout, found one with other candidates" in other.stderr


@pytest.mark.slow
def test_a_pending_double_is_rolled_out_for_who_has_doubled(ask: Asking) -> None:
    row = json.loads(ask.text("rollout", f"{HOLDING}:0:0:1:D:3:4:0:7:10", *QUICK, "--json"))
    assert ["no double", "double, take"] == [it["name"] for it in row["candidates"]]
    assert "seen by the player who doubled" in row["note"]
    assert row["verdict"]


OPENINGS = ("rollout", "--openings", "--trials", "36", "--truncate", "1")


@pytest.mark.slow
def test_all_openings_make_a_table_and_go_on_from_their_files(ask: Asking, tmp_path: Path) -> None:
    words = (*OPENINGS, "--within", "0.02", "--plays", "2", "--output", str(tmp_path / "openings"))
    check("rollout_openings", re.sub(r"seed 1, .*", "seed 1", ask.text(*words)), 120)
    names = sorted(path.name for path in (tmp_path / "openings").iterdir())
    assert ["21.jsonl", "31.jsonl", "32.jsonl", "41.jsonl"] == names[:4]
    assert 15 == len(names)
    written = {path: path.read_bytes() for path in (tmp_path / "openings").iterdir()}
    rows = [json.loads(line) for line in ask.text(*words, "--json").splitlines()]
    assert [[2, 1], [3, 1], [3, 2]] == [row["dice"] for row in rows[:3]]
    assert 15 == len(rows)
    assert all(
        row["finished"] and 1 <= len(row["candidates"]) <= 2 and row["candidates"][0]["loss"] == 0 for row in rows
    )
    assert written == {path: path.read_bytes() for path in written}


@pytest.mark.slow
def test_openings_are_rolled_out_at_the_score_of_a_position(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    state = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:1:2:0:3:10"
    begun = False

    def first_only(*arguments: Any, **options: Any) -> RolloutResult:
        nonlocal begun
        if begun:  # the other rolls would show nothing else
            raise KeyboardInterrupt
        begun = True
        return rollout(*arguments, **options)

    monkeypatch.setattr("fibsbot.engine.rollout.rollout", first_only)
    (only,) = map(json.loads, ask(*OPENINGS, state, "--within", "0", "--json").stdout.splitlines())
    assert ":21:1:2:0:3:" in only["xgid"]
    assert only["candidates"][0]["match_chance"] is not None


@pytest.mark.parametrize("done", [0, 2])
def test_interrupted_openings_print_what_is_known(ask: Asking, monkeypatch: pytest.MonkeyPatch, done: int) -> None:
    left = done

    def interrupted(*_: object, on_progress: Callable[[RolloutResult], None], **__: object) -> RolloutResult:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        candidate = Candidate("position", MatchState(Position.start()))
        found = RolloutResult(RolloutPlan(trials=36), (rolled(candidate, 0.1, 36),), 1.0)
        on_progress(found)
        return found

    monkeypatch.setattr("fibsbot.engine.rollout.rollout", interrupted)
    result = ask(*OPENINGS)
    assert EXIT_INTERRUPTED == result.exit_code
    lines = result.stdout.splitlines()
    assert done == sum(line[:3] in {"2-1", "3-1"} for line in lines)
    note = "Interrupted after 36 games of 3-1." if done else "Interrupted before the first 36 games"
    assert any(line.startswith(note) for line in lines)


@pytest.mark.slow
def test_whoever_interrupts_gets_what_is_known(ask: Asking, tmp_path: Path) -> None:
    out = tmp_path / "rollout.jsonl"
    words = ["rollout", START, "--truncate", "2", "--trials", "1000000", "--jobs", "1", "--output", str(out), "--json"]
    environment = {**os.environ, "FIBSBOT_CACHE": str(ask.cache)}
    with subprocess.Popen(
        [sys.executable, "-m", "fibsbot", *words, "--networks", str(ask.networks)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        deadline = time.monotonic() + SOON
        while not (out.exists() and len(out.read_bytes().splitlines()) > 2) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=SOON)
    row = json.loads(told)
    assert (EXIT_INTERRUPTED, False) == (process.returncode, row["finished"])
    assert row["games"] >= 36
