"""`fibsbot duel` as a user runs it: processes, interrupts, kills, strategies that misbehave."""

from __future__ import annotations

import contextlib
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

import click
import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_INTERRUPTED, EXIT_USAGE, main
from fibsbot.cli.duel import duel
from tests import forked
from tests.arena.duel_strategies import install
from tests.commands import Finished
from tests.patience import SOON

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "duel.md").read_text("utf-8")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with the duellists installed."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    return install(folder)


def call(environment: dict[str, str], *arguments: str) -> Finished:
    """Run a duel to its end."""
    return forked.run("duel", *arguments, environment=environment)


def report_of(run: Finished) -> dict[str, Any]:
    """Parse a report, and check that there is no other output."""
    assert "" == run.stderr or run.stderr.startswith("going on from "), run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    return report


def figures(path: Path) -> dict[int, Any]:
    """Read the pairs of a file, without times."""
    rows = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    for row in rows:
        for performance in row["performances"]:
            del performance["plays"], performance["others"]
    return {row["number"]: row for row in rows}


def start(environment: dict[str, str], path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a duel as a terminal does, and wait until three pairs have been played."""
    command = [sys.executable, "-m", "fibsbot", "duel", *arguments, "--output", str(path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    wait_for_pairs(path, lambda: process.poll() is None)
    return process


def wait_for_pairs(path: Path, runs: Callable[[], bool]) -> None:
    """Wait until three pairs have been played."""
    until = time.monotonic() + SOON
    while not path.exists() or path.read_bytes().count(b"\n") < 4:
        assert runs()
        assert time.monotonic() < until
        time.sleep(0.02)


def living(group: int) -> list[str]:
    """Return the commands of the running processes of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
            if int(of) == group and state != "Z":
                found.append((path.parent / "cmdline").read_text())
    return found


# -- in this process ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--games", "5"], "expected an even number for --games, since all is played twice, got 5"),
        (["--length", "3", "--jacoby"], "--jacoby and --beavers belong to money games with a cube"),
        (["--no-cube", "--beavers"], "--jacoby and --beavers belong to money games with a cube"),
        (["--evaluator", "heuristic", "--no-luck"], "--evaluator makes sense only without --no-luck"),
        (["--evaluator", "random"], "strategy 'random' is not an evaluator: it cannot value positions"),
        (["--evaluator", "nosuch"], "no strategy is called 'nosuch'"),
        (["--mat", "/dev/null/x"], "cannot make the folder /dev/null/x: Not a directory"),
        (["--output", "/dev/null/x"], "there is no folder /dev/null for x"),
    ],
)
def test_invalid_options_are_refused_in_one_line(arguments: list[str], text: str) -> None:
    result = CliRunner().invoke(main, ["duel", "random", "random", *arguments])
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr


def test_every_option_is_described() -> None:
    known = {
        it for option in duel.params if isinstance(option, click.Option) for it in option.opts if it.startswith("--")
    }
    table = PAGE.partition("| option |")[2].partition("\n\n")[0]
    assert known == set(re.findall(r"`(--[a-z]+(?:-[a-z]+)*)", table)) - {"--no-cube", "--no-luck"}


# -- as processes ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_result_is_printed_as_text_and_as_json(environment: dict[str, str]) -> None:
    words = call(environment, "heuristic", "racer", "--games", "2", "--jobs", "1", "--evaluator", "racer")
    assert "" == words.stderr
    assert "heuristic against racer: 2 money games with a cube, the same dice twice, seed 1" in words.stdout
    assert "Fewer than two pairs: too few for a result." in words.stdout
    assert "PR as evaluated by racer" in words.stdout
    report = report_of(
        call(
            environment, "racer", "racer", "--games", "4", "-j", "1", "--json", "--evaluator", "racer", "--length", "1"
        )
    )
    assert (True, 2, 4, "racer") == (report["finished"], report["pairs"], report["games"], report["evaluator"])
    assert 0 <= report["result"]["low"] <= report["result"]["mean"] <= report["result"]["high"] <= 1


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_processes(environment: dict[str, str], tmp_path: Path) -> None:
    options = ("racer", "runner", "--games", "4", "--evaluator", "racer", "--no-cube", "--json")
    paths = [tmp_path / str(jobs) for jobs in (1, 2)]
    reports = [report_of(call(environment, *options, "--jobs", path.name, "--output", str(path))) for path in paths]
    assert figures(paths[0]) == figures(paths[1])
    for report in reports:
        del report["seconds"]
        for performance in report["performances"]:
            for times in (performance["plays"], performance["others"]):
                del times["median"], times["p99"]
    assert reports[0] == reports[1]
    assert reports[0]["adjusted"]["error"] > 0


@pytest.mark.slow
def test_a_killed_run_can_be_continued(environment: dict[str, str], tmp_path: Path) -> None:
    options = ("racer", "runner", "--no-luck", "--no-cube", "--jobs", "2")
    path = tmp_path / "duel.jsonl"
    words = ("duel", *options, "--games", "4000", "--output", path)
    process = forked.start("fibsbot", *words, environment=environment)
    wait_for_pairs(path, lambda: process.returncode is None)
    process.kill()
    process.finish()
    played = path.read_bytes().count(b"\n") - 1
    assert 3 <= played < 2000
    wanted = 2 * (played + 3)
    again = call(environment, *options, "--games", str(wanted), "--output", str(path), "--json")
    assert re.fullmatch(r"going on from \S+: \d+ of \d+ pairs are there\n", again.stderr)
    assert wanted // 2 == report_of(again)["pairs"]
    whole = call(environment, *options, "--games", str(wanted), "--output", str(tmp_path / "whole"), "--json")
    assert figures(tmp_path / "whole").items() <= figures(path).items()
    assert report_of(whole)["result"] == report_of(again)["result"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_prints_its_result(
    environment: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    process = start(environment, tmp_path / "duel", "racer", "racer", "--no-luck", "--games", "4000", "--jobs", "2")
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=SOON)
    assert (EXIT_INTERRUPTED, "") == (process.returncode, err)
    assert re.search(r"Interrupted after \d+ of 2000 pairs\.", out)
    assert "racer A +0.0000 points a game" in out
    until = time.monotonic() + SOON
    while left := living(process.pid):
        assert time.monotonic() < until, left
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("raising", (), "raising raised RuntimeError: no idea"),
        ("nonsense", (), "nonsense answered nonsense: expected "),
        ("hanging", ("--deadline", "0.05"), "hanging gave no answer within 0.05 s"),
    ],
)
def test_faults_are_counted_and_the_duel_goes_on(
    environment: dict[str, str], name: str, options: tuple[str, ...], text: str
) -> None:
    report = report_of(call(environment, name, "racer", "--games", "4", "--no-luck", "--json", *options))
    hostile, racer = report["performances"]
    assert (True, 0) == (report["finished"], racer["faults"])
    assert hostile["faults"] > 10
    assert f"pair 1: {text}" in report["examples"][0]


@pytest.mark.slow
def test_the_output_of_a_strategy_does_not_reach_stdout(environment: dict[str, str]) -> None:
    run = call(environment, "chatty", "racer", "--games", "2", "--no-luck", "--json", "--jobs", "1")
    assert 1 == json.loads(run.stdout)["pairs"]
    assert "thinking ..." in run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["unmakeable", "racer"],
            "fibsbot: strategy 'unmakeable' (tests.arena.duel_strategies:Unmakeable of duellists 1.0) ",
        ),
        (["racer", "nosuch"], "fibsbot: no strategy is called 'nosuch'"),
    ],
)
def test_fatal_errors_are_reported_in_one_line(environment: dict[str, str], arguments: list[str], text: str) -> None:
    run = call(environment, *arguments, "--games", "2", "--no-luck")
    assert (EXIT_USAGE, "") == (run.returncode, run.stdout)
    assert run.stderr.startswith(text)
    assert 1 == len(run.stderr.splitlines())


@pytest.mark.slow
def test_a_run_whose_worker_died_prints_its_result(environment: dict[str, str]) -> None:
    run = call(environment, "deadly", "racer", "--games", "400", "--no-luck", "--jobs", "1", "--no-cube")
    found = re.fullmatch(r"fibsbot: a process that played pair (\d+) ended with status 7\n", run.stderr)
    assert found, run.stderr
    assert EXIT_USAGE == run.returncode
    assert f"Interrupted after {int(found[1]) - 1} of 200 pairs." in run.stdout
