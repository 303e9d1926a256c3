"""The command `python -m bench.chaos`: its report, the files that it leaves, and the options that it refuses."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from bench.chaos.__main__ import chaos
from bench.chaos.bot_records import missing_items
from bench.chaos.schedule import FaultKind
from fibsbot.cli import EXIT_INTERRUPTED
from tests.patience import SOON

SVG = "{http://www.w3.org/2000/svg}"


def children() -> set[str]:
    """Return the process IDs of this program's children."""
    return {it for path in Path("/proc/self/task").glob("*/children") for it in path.read_text().split()}


@pytest.fixture(scope="module")
def short_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any], Path]:
    """Run for some seconds with many faults; return the exit status, the report and the folder."""
    folder = tmp_path_factory.mktemp("chaos")
    command = ["--minutes", "0.1", "--pairs", "2", "--rate", "100", "--seed", "3", "--json"]
    result = CliRunner().invoke(
        chaos, [*command, "--length", "1", "--log-dir", str(folder / "logs"), "--plot", str(folder / "plot.svg")]
    )
    assert result.exit_code in {0, 1}, result.output
    return result.exit_code, json.loads(result.stdout), folder


@pytest.mark.slow
def test_a_short_run_passes(short_run: tuple[int, dict[str, Any], Path]) -> None:
    status, report, _ = short_run
    assert [] == [verdict for verdict in report["verdicts"] if not verdict["holds"]]
    assert (0, True) == (status, report["clean"])
    assert report["matches"] == report["matches_finished"] >= report["pairs"]


@pytest.mark.slow
def test_the_report_lists_every_kind_with_its_recoveries(short_run: tuple[int, dict[str, Any], Path]) -> None:
    _, report, _ = short_run
    assert [kind.value for kind in FaultKind] == [kind["kind"] for kind in report["by_kind"]]
    assert report["faults"] == sum(kind["struck"] for kind in report["by_kind"]) == len(report["struck"])
    assert report["faults"] >= 3, "of about 10 that are planned; a busy machine reaches fewer"
    assert report["kinds"] >= 3
    for kind in report["by_kind"]:
        assert kind["recovered"] <= kind["struck"] <= kind["planned"]
        assert (kind["recovered"] > 0) == (kind["median"] is not None)


@pytest.mark.slow
def test_logs_and_the_timeline_are_kept(short_run: tuple[int, dict[str, Any], Path]) -> None:
    _, report, folder = short_run
    for bot in ("bot_a", "bot_b"):
        assert list((folder / "logs" / bot / "logs").glob("*.jsonl"))
    circles = ET.parse(folder / "plot.svg").getroot().findall(f"{SVG}circle")  # noqa: S314 - our own
    assert report["faults"] + len(FaultKind) == len(circles)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--pairs", "1"], "1 is not in the range 2<=x<=500"),
        (["--minutes", "0"], "0.0 is not in the range x>0"),
        (["--strategy", "nobody"], "nobody"),
        (["--plot", "no/such/folder.svg"], "there is no folder no/such"),
    ],
)
def test_invalid_options_are_refused(options: list[str], text: str) -> None:
    result = CliRunner().invoke(chaos, options)
    assert 2 == result.exit_code
    assert text in result.output


def test_an_interrupt_ends_all_processes(tmp_path: Path) -> None:
    before, started = children(), set[str]()

    def interrupt_soon() -> None:
        limit = time.monotonic() + SOON
        while not started and time.monotonic() < limit:
            time.sleep(0.02)
            started.update(children() - before)
        os.kill(os.getpid(), signal.SIGINT)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(interrupt_soon)
        result = CliRunner().invoke(chaos, ["--log-dir", str(tmp_path)])
    assert (EXIT_INTERRUPTED, "") == (result.exit_code, result.stderr)
    assert started
    assert before >= children()


def test_logs_of_another_run_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "server.db").touch()
    result = CliRunner().invoke(chaos, ["--log-dir", str(tmp_path)])
    assert 2 == result.exit_code
    assert "expected an empty folder" in result.output


def test_every_kind_is_described_in_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs/lab/chaos.md").read_text("utf-8")
    assert [] == [kind.value for kind in FaultKind if f"| {kind.value} |" not in text]


@pytest.mark.parametrize(
    ("taken", "written", "lost"),
    [("abc", "abc", ""), ("abc", "xaybc", ""), ("abc", "acb", "c"), ("aa", "a", "a"), ("", "ab", ""), ("ab", "", "ab")],
)
def test_missing_lines_are_found_in_order(taken: str, written: str, lost: str) -> None:
    assert list(lost) == missing_items(taken, list(written))
